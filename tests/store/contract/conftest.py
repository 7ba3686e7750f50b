"""The stores that must keep the contract. Another kind of store is one more parameter here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plantdesk.store import location_of
from tests.support.memory_store import MemoryLocation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from plantdesk.domain.protocols import PlantStore

    #: Opens the same store once more, as another process does.
    Open = Callable[[], PlantStore]


@pytest.fixture(params=["sqlite", "memory"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    location = location_of(tmp_path / "plants.db") if request.param == "sqlite" else MemoryLocation()
    return location.open


@pytest.fixture
def store(open_store: Open) -> Iterator[PlantStore]:
    store = open_store()
    yield store
    store.close()
