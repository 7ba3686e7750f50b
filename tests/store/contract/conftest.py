"""The stores that must keep the contract. Another kind of store is one more parameter here."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.protocols import PlantStore
from plantdesk.store import location_of
from plantdesk.store.locations import PostgresLocation
from tests.support.postgres_server import PostgresServer

Open = Callable[[], PlantStore]

KINDS = ["sqlite", "postgres"]


@pytest.fixture(params=KINDS)
def location(request: pytest.FixtureRequest, tmp_path: Path) -> StoreLocation:
    return _location(request, tmp_path)


@pytest.fixture(scope="module", params=KINDS)
def shared_location(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> StoreLocation:
    """For a store that all tests of a module read."""
    return _location(request, tmp_path_factory.mktemp("store"))


def _location(request: pytest.FixtureRequest, folder: Path) -> StoreLocation:
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        return server.new_store()
    return location_of(folder / "plants.db")


@pytest.fixture
def nul(location: StoreLocation) -> str:
    """U+0000, or a space where the store cannot keep it."""
    return " " if isinstance(location, PostgresLocation) else "\0"


@pytest.fixture
def open_store(location: StoreLocation) -> Open:
    return partial(location.open)


@pytest.fixture
def store(open_store: Open) -> Iterator[PlantStore]:
    store = open_store()
    yield store
    store.close()
