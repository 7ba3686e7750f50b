"""Widgets with the real look, over real stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QApplication

from plantdesk.store import Store
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.questions import Questions
from plantdesk.ui.theme import Theme, ThemeMode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    return Theme(qapp, ThemeMode.LIGHT)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "plants.db")
    yield store
    store.close()


@pytest.fixture
def bridge(store: Store) -> Iterator[Bridge]:
    """A bridge that the store tells its changes."""
    bridge = Bridge()
    unsubscribe = store.subscribe(bridge.tell_changes)
    yield bridge
    unsubscribe()
    bridge.close()


@pytest.fixture
def questions(bridge: Bridge, store: Store) -> Iterator[Questions]:
    questions = Questions(bridge, store)
    yield questions
    questions.close()
