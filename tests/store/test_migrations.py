from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from sqlmodel import SQLModel, create_engine

from plantdesk.store import Store, tables
from plantdesk.store.sqlite import migrations
from plantdesk.store.sqlite.migrations import APPLICATION_ID, SCHEMA_VERSION, migrate

if TYPE_CHECKING:
    from pathlib import Path


_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
_COLUMNS = 'SELECT name, type, "notnull", pk FROM pragma_table_info(?)'
_INDEXES = 'SELECT "unique", partial FROM pragma_index_list(?)'
_REFERENCES = 'SELECT "from", "table", "to" FROM pragma_foreign_key_list(?)'


def described(path: Path) -> dict[str, object]:
    """Columns, indexes and references of every table, as SQLite sees them."""
    found: dict[str, object] = {}
    with closing(sqlite3.connect(path)) as database:
        for table in database.execute(_TABLES).fetchall():
            columns = _affine(database.execute(_COLUMNS, table))
            indexes = sorted(database.execute(_INDEXES, table))
            found[table[0]] = (set(columns), indexes, set(database.execute(_REFERENCES, table)))
    return found


def _affine(columns: sqlite3.Cursor) -> list[tuple[object, ...]]:
    affinity = {"VARCHAR": "TEXT", "BIGINT": "INTEGER"}
    return [(name, affinity.get(kind, kind), pk or null, pk) for name, kind, null, pk in columns]


def test_migrations_make_what_the_tables_describe(path: Path, tmp_path: Path) -> None:
    Store(path).close()
    other = tmp_path / "metadata.db"
    engine = create_engine(f"sqlite:///{other}")
    SQLModel.metadata.create_all(engine)
    engine.dispose()
    assert tables.PlantTable.metadata is SQLModel.metadata
    assert described(path) == described(other)


def test_a_store_carries_its_mark_and_version(path: Path) -> None:
    Store(path).close()
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert database.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_an_older_store_is_brought_up_to_date(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store(path).close()
    step = ("ALTER TABLE plant ADD COLUMN place TEXT",)
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, step))
    monkeypatch.setattr(migrations, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        migrate(database)
        assert "place" in {row[1] for row in database.execute("PRAGMA table_info(plant)")}
        assert database.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION + 1,)


def test_a_failed_migration_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store(path).close()
    step = ("ALTER TABLE plant ADD COLUMN place TEXT", "this is no SQL")
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, step))
    monkeypatch.setattr(migrations, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        with pytest.raises(sqlite3.OperationalError):
            migrate(database)
        assert "place" not in {row[1] for row in database.execute("PRAGMA table_info(plant)")}
        assert database.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
