"""Shared stores on a real server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
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
