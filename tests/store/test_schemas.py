"""The schema of each version is the recorded one, and that of a new store is where the steps lead.

Where a new version adds one, `python -m tests.support.schemas` writes the records.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from plantdesk.store.postgres import schema
from plantdesk.store.sqlite import migrations
from tests.support.schemas import FOLDER, migrated_file, migrated_server, of_file, of_server

if TYPE_CHECKING:
    from tests.support.postgres_server import PostgresServer


def recorded(kind: str, version: int) -> str:
    return (FOLDER / f"{kind}-{version}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("version", range(1, migrations.SCHEMA_VERSION + 1))
def test_the_schema_of_a_file(version: int) -> None:
    assert migrated_file(version) == recorded("sqlite", version)


@pytest.mark.parametrize("version", range(1, schema.SCHEMA_VERSION + 1))
def test_the_schema_of_a_server(postgres: PostgresServer, version: int) -> None:
    assert migrated_server(postgres, version) == recorded("postgres", version)


def test_a_new_file_is_made_of_the_models() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrations.migrate(connection)
        assert of_file(connection) == recorded("sqlite", migrations.SCHEMA_VERSION)


def test_new_tables_of_a_server_are_made_of_the_models(postgres: PostgresServer) -> None:
    with psycopg.connect(postgres.url(postgres.new_store().name)) as connection:
        found = of_server(connection).splitlines()
    indexes = [line for line in found if "plant_by_" in line or "plant_searched" in line]
    assert len(indexes) >= 2
    assert [line for line in found if line not in indexes] == recorded("postgres", schema.SCHEMA_VERSION).splitlines()
