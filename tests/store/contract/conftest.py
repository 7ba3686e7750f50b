"""The stores that must keep the contract. Another kind of store is one more parameter here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plantdesk.store.sqlite.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from plantdesk.domain.protocols import PlantStore

    #: Opens the same store once more, as another process does.
    Open = Callable[[], PlantStore]


@pytest.fixture(params=["sqlite"])
def open_store(tmp_path: Path) -> Open:
    return lambda: Store(tmp_path / "plants.db")


@pytest.fixture
def store(open_store: Open) -> Iterator[PlantStore]:
    store = open_store()
    yield store
    store.close()
