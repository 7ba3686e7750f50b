"""Migrations of a file, and the schema of each version: the recorded one, to which models and steps lead.

Where a new version adds one, `python -m tests.support.schemas` writes the records.
"""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from plantdesk.domain.errors import ForeignSchemaError, StoreInUseError
from plantdesk.store.postgres import schema
from plantdesk.store.sqlite import migrations
from plantdesk.store.sqlite.migrations import APPLICATION_ID, SCHEMA_VERSION, apply_steps, check_schema, migrate
from plantdesk.store.sqlite.store import SqliteStore
from tests.hostile_stores.generator import store as store_of
from tests.support.postgres_server import PostgresServer
from tests.support.schemas import FOLDER, migrated_file, migrated_server, of_file, of_server
from tests.support.store_files import make_older


def test_no_schema_has_a_negative_version() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        apply_steps(database, 0, SCHEMA_VERSION - 1)
        check_schema(database, SCHEMA_VERSION - 1)
        with pytest.raises(ForeignSchemaError):
            check_schema(database, -1)


def test_a_store_carries_its_mark_and_version(path: Path) -> None:
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert database.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_failed_migration_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    SqliteStore(path).close()
    step = ("ALTER TABLE plant ADD COLUMN place TEXT", "this is no SQL")
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, step))
    monkeypatch.setattr(migrations, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        with pytest.raises(sqlite3.OperationalError):
            migrate(database)
        assert "place" not in {row[1] for row in database.execute("PRAGMA table_info(plant)")}
        assert database.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)


def test_an_older_store_remembers_the_ids_of_deleted_plants(path: Path) -> None:
    store_of(path, f"INSERT INTO before_image (change, plant_id) VALUES (1, 9), (1, -5), (1, {2**63 - 1})", version=5)
    with closing(SqliteStore(path)) as store, closing(store.reader()) as reader:
        assert reader.next_free_id() == 10


def test_an_older_store_is_not_updated_while_another_program_has_it_open(path: Path) -> None:
    make_older(path)
    count = "print(*c.execute('SELECT count(*) FROM plant').fetchone(), flush=True)"
    waits = f"import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); {count}"
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
    command = [sys.executable, "-c", f"{waits}; sys.stdin.read(); {count}", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "1\n"
        with pytest.raises(StoreInUseError, match="Close that program"):
            SqliteStore(path)
        rest, _ = other.communicate("")
    assert rest == "1\n", "it could go on"
    with closing(SqliteStore(path)) as store, closing(store.reader()) as reader:
        assert reader.count() == 1


def test_the_titles_of_changes_in_an_older_store_stay(path: Path) -> None:
    title = "Rename tag “hall” to “attic”"
    store_of(
        path,
        f"""INSERT INTO change (number, made_at, source_id, kind, title, plants, undoes) VALUES
            (1, 0, 1, 'edit', '{title}', 3, NULL), (2, 0, 1, 'undo', 'Undo: {title}', 3, 1),
            (3, 0, 1, 'redo', 'Redo: {title}', 3, 2)""",
        version=4,
    )
    with closing(SqliteStore(path)) as store, closing(store.reader()) as reader:
        assert [str(change.title) for change in reader.history()] == [f"Redo: {title}", f"Undo: {title}", title]


def test_the_texts_of_an_older_store_are_searched_as_new_ones(path: Path) -> None:
    """Also those that are not UTF-8, which only another program can have written."""
    store_of(
        path,
        "DELETE FROM plant",
        """INSERT INTO plant (id, name, tag, seq, added_at, source_id, folded, note) VALUES
               (1, 'Érable', 'Küche', 1, 0, 1, 'erable' || char(31) || 'kuche', 'Größe'),
               (2, 'Rosa “Ilse”', NULL, 2, 0, 1, NULL, NULL),
               (3, CAST(x'41ff' AS TEXT), NULL, 3, 0, 1, NULL, NULL)""",
        "INSERT INTO change VALUES (1, 0, 1, 'edit', '{}', 1, NULL, 0, 50)",
        """INSERT INTO before_image (change, plant_id, after, name, tag, note, seq, added_at, source_id, plant_change)
           VALUES (1, 1, 1, 'Ahorn', 'Küche', NULL, 1, 0, 1, 0), (1, 4, 1, NULL, NULL, NULL, NULL, NULL, NULL, 0)""",
        "INSERT INTO source VALUES (3, 'import', 'Bäume.csv')",
        version=7,
    )
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as database:
        texts = "SELECT searched_name, searched_tag, searched_note FROM {} ORDER BY 1"
        assert database.execute(texts.format("plant")).fetchall() == [
            ("a\ufffd", None, None),
            ("erable", "kuche", "grosse"),
            ("rosa 'ilse'", None, None),
        ]
        assert database.execute(texts.format("before_image")).fetchall() == [
            (None, None, None),
            ("ahorn", "kuche", None),
        ]
        assert database.execute("SELECT searched_label FROM source").fetchall() == [("",), ("",), ("baume.csv",)]


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
