"""Shared stores on a real server."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from plantdesk.domain.protocols import PlantStore
from plantdesk.store.locations import PostgresLocation
from tests.support.postgres_server import PostgresServer


@pytest.fixture
def location(postgres: PostgresServer) -> PostgresLocation:
    return postgres.new_store()


@pytest.fixture
def store(location: PostgresLocation) -> Iterator[PlantStore]:
    with closing(location.open()) as store:
        yield store
