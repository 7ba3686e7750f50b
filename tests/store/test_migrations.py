from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
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


def test_a_migration_reports_its_progress(path: Path) -> None:
    write_old_store(path, plants=60_000)
    shares: list[float] = []
    Store(path, progress=shares.append).close()
    assert len(shares) > 2
    assert shares == sorted(shares)
    assert 0 < shares[0] < 0.5 < shares[-1] <= 1


def test_a_terminal_shows_the_progress_of_a_migration_and_then_the_plants(path: Path) -> None:
    pty = pytest.importorskip("pty")
    write_old_store(path, plants=60_000)
    terminal, theirs = pty.openpty()
    command = [sys.executable, "-m", "plantdesk", "get", "7", "--database", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        printed, _ = process.communicate(timeout=60)
    assert b"Plant 7" in printed
    assert b"%" in os.read(terminal, 10_000)
    os.close(terminal)


def write_old_store(path: Path, plants: int) -> None:
    """Write a store as PlantDesk 0.1.0 did."""
    with closing(sqlite3.connect(path)) as database:
        for step in migrations.MIGRATIONS[:2]:
            for statement in step:
                database.execute(statement)
        rows = ((number, f"Plant {number}", None, number, 0, 1, None) for number in range(1, plants + 1))
        database.executemany("INSERT INTO plant VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        database.execute("PRAGMA user_version = 2")
        database.commit()
