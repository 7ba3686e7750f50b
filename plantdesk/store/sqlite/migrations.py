"""The migrations of a file, step by step, from the first version of the schema to the present one.

A new store is created from `plantdesk.store.models`; the steps bring older ones to the same schema. A released step is
never edited.

Why not Alembic (1.20 was tried): a file keeps its version in `PRAGMA user_version`, by which every PlantDesk that was
released refuses a newer one, so `alembic_version` would be a second version to keep in step, in a table that the check
of foreign files does not expect; its batch mode leaves out CHECK constraints without a name; what a step does is to
copy rows by SQL, for which it has no operation; and file and server differ in their steps.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Container, Iterator
from contextlib import closing
from functools import lru_cache

from plantdesk.domain.errors import ForeignSchemaError
from plantdesk.store.sqlite.connections import add_functions, transaction

#: Marks the file as a PlantDesk store (`PRAGMA application_id`): "PLNT" in ASCII.
APPLICATION_ID = 0x504C4E54

#: The tables of version 7.
_TABLES = ("plant", "before_image", "change", "token", "source", "store")
#: Step n brings a store from version n to n + 1.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE source (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, label TEXT NOT NULL)",
        "INSERT INTO source (id, kind, label) VALUES (1, 'form', ''), (2, 'command', '')",
        """CREATE TABLE plant (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            tag TEXT,
            seq INTEGER NOT NULL UNIQUE,
            added_at INTEGER NOT NULL,
            source_id INTEGER NOT NULL REFERENCES source (id),
            folded TEXT
        )""",
        """CREATE TABLE token (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            digest BLOB NOT NULL UNIQUE,
            source_id INTEGER NOT NULL REFERENCES source (id),
            created_at INTEGER NOT NULL,
            expires_at INTEGER,
            revoked_at INTEGER,
            last_used_at INTEGER,
            plants_added INTEGER NOT NULL
        )""",
        "CREATE UNIQUE INDEX token_name ON token (name) WHERE revoked_at IS NULL",
    ),
    (
        "CREATE TABLE revision (id INTEGER PRIMARY KEY CHECK (id = 1), rewritten INTEGER NOT NULL)",
        "INSERT INTO revision (id, rewritten) VALUES (1, 0)",
    ),
    (
        # STRICT tables refuse values of the wrong type, also from other programs. Every old row is kept: what the new
        # checks would refuse is converted. `seq` is numbered anew, so that it cannot be at its end.
        "ALTER TABLE plant RENAME TO old_plant",
        "ALTER TABLE token RENAME TO old_token",
        "ALTER TABLE source RENAME TO old_source",
        "DROP INDEX token_name",
        "CREATE TABLE source (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, label TEXT NOT NULL) STRICT",
        "INSERT INTO source SELECT id, CAST(kind AS TEXT), CAST(label AS TEXT) FROM old_source",
        """CREATE TABLE plant (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            tag TEXT,
            seq INTEGER NOT NULL UNIQUE CHECK (seq BETWEEN 1 AND 4611686018427387904),
            added_at INTEGER NOT NULL CHECK (added_at BETWEEN -62135596800000 AND 253402300799999),
            source_id INTEGER NOT NULL REFERENCES source (id),
            folded TEXT,
            note TEXT,
            change INTEGER NOT NULL DEFAULT 0
        ) STRICT""",
        """INSERT INTO plant (id, name, tag, seq, added_at, source_id, folded)
           SELECT id, CAST(name AS TEXT), CAST(tag AS TEXT), row_number() OVER (ORDER BY seq),
               max(-62135596800000, min(253402300799999, CAST(added_at AS INTEGER))), CAST(source_id AS INTEGER),
               CAST(folded AS TEXT)
           FROM old_plant""",
        """CREATE TABLE token (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
            source_id INTEGER NOT NULL REFERENCES source (id),
            created_at INTEGER NOT NULL,
            expires_at INTEGER,
            revoked_at INTEGER,
            last_used_at INTEGER,
            plants_added INTEGER NOT NULL,
            max_plants INTEGER
        ) STRICT""",
        "CREATE UNIQUE INDEX token_name ON token (name) WHERE revoked_at IS NULL",
        """INSERT OR IGNORE INTO token SELECT id, CAST(name AS TEXT), digest, CAST(source_id AS INTEGER),
               CAST(created_at AS INTEGER), CAST(expires_at AS INTEGER), CAST(revoked_at AS INTEGER),
               CAST(last_used_at AS INTEGER), CAST(plants_added AS INTEGER), NULL
           FROM old_token WHERE typeof(digest) = 'blob' AND length(digest) = 32""",
        "DROP TABLE old_plant",
        "DROP TABLE old_token",
        "DROP TABLE old_source",
        """CREATE TABLE store (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            identity TEXT NOT NULL,
            last_seq INTEGER NOT NULL CHECK (last_seq BETWEEN 0 AND 4611686018427387904),
            other_commits INTEGER NOT NULL,
            counted_seq INTEGER NOT NULL CHECK (counted_seq BETWEEN 0 AND 4611686018427387904)
        ) STRICT""",
        "INSERT INTO store SELECT 1, lower(hex(randomblob(16))), 0, 0, coalesce(max(seq), 0) FROM plant",
        "DROP TABLE revision",
        """CREATE TABLE change (
            number INTEGER PRIMARY KEY CHECK (number BETWEEN 1 AND 4611686018427387904),
            made_at INTEGER NOT NULL,
            source_id INTEGER NOT NULL REFERENCES source (id),
            kind TEXT NOT NULL,
            title TEXT NOT NULL,
            plants INTEGER NOT NULL CHECK (plants >= 0),
            undoes INTEGER CHECK (undoes < number),
            undone INTEGER NOT NULL DEFAULT 0,
            size INTEGER CHECK (size >= 0)
        ) STRICT""",
        """CREATE TABLE before_image (
            change INTEGER NOT NULL,
            plant_id INTEGER NOT NULL,
            after INTEGER,
            name TEXT,
            tag TEXT,
            note TEXT,
            seq INTEGER,
            added_at INTEGER,
            source_id INTEGER,
            folded TEXT,
            plant_change INTEGER,
            PRIMARY KEY (change, plant_id),
            CHECK (seq IS NULL OR (name IS NOT NULL AND source_id IS NOT NULL AND plant_change IS NOT NULL
                                   AND seq BETWEEN 1 AND 4611686018427387904
                                   AND added_at IS NOT NULL AND added_at BETWEEN -62135596800000 AND 253402300799999))
        ) STRICT, WITHOUT ROWID""",
    ),
    (
        """CREATE TABLE counted_at (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            seq INTEGER NOT NULL,
            change INTEGER NOT NULL,
            day_start INTEGER NOT NULL,
            day_stop INTEGER NOT NULL,
            today INTEGER NOT NULL CHECK (today >= 0)
        ) STRICT""",
        """CREATE TABLE plant_count (
            id INTEGER PRIMARY KEY,
            tag TEXT,
            source_id INTEGER,
            plants INTEGER NOT NULL CHECK (plants > 0)
        ) STRICT""",
    ),
    (
        # What a change did is stored as a kind and parameters instead of an English sentence, which stays a parameter.
        "ALTER TABLE change RENAME TO old_change",
        """CREATE TABLE change (
            number INTEGER PRIMARY KEY CHECK (number BETWEEN 1 AND 4611686018427387904),
            made_at INTEGER NOT NULL,
            source_id INTEGER NOT NULL REFERENCES source (id),
            kind TEXT NOT NULL,
            parameters TEXT NOT NULL,
            plants INTEGER NOT NULL CHECK (plants >= 0),
            undoes INTEGER CHECK (undoes < number),
            undone INTEGER NOT NULL DEFAULT 0,
            size INTEGER CHECK (size >= 0)
        ) STRICT""",
        """INSERT INTO change SELECT number, made_at, source_id, kind,
               CASE WHEN kind IN ('undo', 'redo')
                   THEN json_object('of', json_object('parameters', json_object('title', substr(title, 7))))
                   ELSE json_object('title', title) END,
               plants, undoes, undone, size
           FROM old_change""",
        "DROP TABLE old_change",
    ),
    (
        # No id is given twice: the store remembers the largest one that a deleted plant may have had.
        "ALTER TABLE store RENAME TO old_store",
        """CREATE TABLE store (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            identity TEXT NOT NULL,
            last_seq INTEGER NOT NULL CHECK (last_seq BETWEEN 0 AND 4611686018427387904),
            other_commits INTEGER NOT NULL,
            counted_seq INTEGER NOT NULL CHECK (counted_seq BETWEEN 0 AND 4611686018427387904),
            last_id INTEGER NOT NULL DEFAULT 0 CHECK (last_id BETWEEN 0 AND 4611686018427387903)
        ) STRICT""",
        """INSERT INTO store SELECT id, identity, last_seq, other_commits, counted_seq,
               (SELECT coalesce(max(plant_id), 0) FROM before_image WHERE plant_id BETWEEN 0 AND 4611686018427387903)
           FROM old_store""",
        "DROP TABLE old_store",
    ),
    (
        # The plants are counted when the counts are asked for.
        "DROP TABLE counted_at",
        "DROP TABLE plant_count",
    ),
    (
        # Each row has its texts as they are searched and sorted, so that no statement has to fold.
        *(f"ALTER TABLE {table} RENAME TO old_{table}" for table in _TABLES),
        "DROP INDEX token_name",
        """CREATE TABLE store (
            id INTEGER NOT NULL,
            identity TEXT NOT NULL,
            last_seq INTEGER NOT NULL,
            other_commits INTEGER NOT NULL,
            counted_seq INTEGER NOT NULL,
            last_id INTEGER DEFAULT 0 NOT NULL,
            PRIMARY KEY (id),
            CHECK (id = 1),
            CHECK (last_seq BETWEEN 0 AND 4611686018427387904),
            CHECK (counted_seq BETWEEN 0 AND 4611686018427387904),
            CHECK (last_id BETWEEN 0 AND 4611686018427387903)
        ) STRICT""",
        "INSERT INTO store SELECT * FROM old_store",
        """CREATE TABLE source (
            id INTEGER NOT NULL,
            kind TEXT NOT NULL,
            label TEXT NOT NULL,
            searched_label TEXT DEFAULT '' NOT NULL,
            PRIMARY KEY (id)
        ) STRICT""",
        "INSERT INTO source SELECT id, kind, label, searched(CAST(label AS BLOB)) FROM old_source",
        """CREATE TABLE plant (
            id INTEGER NOT NULL,
            name TEXT NOT NULL,
            tag TEXT,
            seq INTEGER NOT NULL,
            added_at INTEGER NOT NULL,
            source_id INTEGER NOT NULL,
            note TEXT,
            change INTEGER DEFAULT 0 NOT NULL,
            searched_name TEXT NOT NULL,
            searched_tag TEXT,
            searched_note TEXT,
            PRIMARY KEY (id),
            CHECK (seq BETWEEN 1 AND 4611686018427387904),
            CHECK (added_at BETWEEN -62135596800000 AND 253402300799999),
            UNIQUE (seq),
            FOREIGN KEY(source_id) REFERENCES source (id)
        ) STRICT""",
        """INSERT INTO plant SELECT id, name, tag, seq, added_at, source_id, note, change,
               searched(CAST(name AS BLOB)), searched(CAST(tag AS BLOB)), searched(CAST(note AS BLOB))
           FROM old_plant""",
        """CREATE TABLE change (
            number INTEGER NOT NULL,
            made_at INTEGER NOT NULL,
            source_id INTEGER NOT NULL,
            kind TEXT NOT NULL,
            parameters TEXT NOT NULL,
            plants INTEGER NOT NULL,
            undoes INTEGER,
            undone INTEGER DEFAULT 0 NOT NULL,
            size INTEGER,
            PRIMARY KEY (number),
            CHECK (undoes < number),
            CHECK (number BETWEEN 1 AND 4611686018427387904),
            CHECK (plants >= 0),
            CHECK (size >= 0),
            FOREIGN KEY(source_id) REFERENCES source (id)
        ) STRICT""",
        "INSERT INTO change SELECT * FROM old_change",
        """CREATE TABLE before_image (
            change INTEGER NOT NULL,
            plant_id INTEGER NOT NULL,
            "after" INTEGER,
            name TEXT,
            tag TEXT,
            note TEXT,
            seq INTEGER,
            added_at INTEGER,
            source_id INTEGER,
            plant_change INTEGER,
            searched_name TEXT,
            searched_tag TEXT,
            searched_note TEXT,
            PRIMARY KEY (change, plant_id),
            CHECK (seq IS NULL OR (name IS NOT NULL AND searched_name IS NOT NULL AND source_id IS NOT NULL
                AND plant_change IS NOT NULL AND seq BETWEEN 1 AND 4611686018427387904
                AND added_at IS NOT NULL AND added_at BETWEEN -62135596800000 AND 253402300799999))
        ) WITHOUT ROWID, STRICT""",
        """INSERT INTO before_image SELECT change, plant_id, after, name, tag, note, seq, added_at, source_id,
               plant_change,
               searched(CAST(name AS BLOB)), searched(CAST(tag AS BLOB)), searched(CAST(note AS BLOB))
           FROM old_before_image""",
        """CREATE TABLE token (
            id INTEGER NOT NULL,
            name TEXT NOT NULL,
            digest BLOB NOT NULL,
            source_id INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            expires_at INTEGER,
            revoked_at INTEGER,
            last_used_at INTEGER,
            plants_added INTEGER DEFAULT 0 NOT NULL,
            max_plants INTEGER,
            PRIMARY KEY (id),
            CHECK (length(digest) = 32),
            UNIQUE (digest),
            FOREIGN KEY(source_id) REFERENCES source (id)
        ) STRICT""",
        "CREATE UNIQUE INDEX token_name ON token (name) WHERE revoked_at IS NULL",
        "INSERT INTO token SELECT * FROM old_token",
        *(f"DROP TABLE old_{table}" for table in _TABLES),
    ),
)

#: The state of a new store.
_FIRST_STATE = """INSERT INTO store (id, identity, last_seq, other_commits, counted_seq)
                  VALUES (1, lower(hex(randomblob(16))), 0, 0, 0)"""

#: The version that this PlantDesk writes and reads.
SCHEMA_VERSION = len(MIGRATIONS)

#: Tables that ANALYZE makes. Their contents only guide the query planner.
_STATISTICS = {"CREATE TABLE sqlite_stat1(tbl,idx,stat)", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"}
#: An index that the user has added: not UNIQUE (it could refuse plants), over columns only, for all rows. SQLite keeps
#: what follows CREATE INDEX as it was typed.
_PLAIN_INDEX = r'CREATE INDEX "?\w+"? ON "?\w+"? ?\((?:"?\w+"?(?: COLLATE \w+)?(?: ASC| DESC)?(?:, ?|(?=\))))+\)'


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the open store up to `SCHEMA_VERSION`, all steps in one transaction. Takes 4 s for a million plants.

    `connection` must be in autocommit mode (`isolation_level=None`). Raises sqlite3.Error; then nothing has changed.
    """
    connection.execute("PRAGMA foreign_keys = OFF")  # tables are exchanged (https://sqlite.org/lang_altertable.html)
    try:
        with transaction(connection):
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version:
                apply_steps(connection, version, SCHEMA_VERSION)
            else:
                create_tables(connection)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {max(version, SCHEMA_VERSION)}")
    finally:
        connection.execute("PRAGMA foreign_keys = ON")


def check_schema(connection: sqlite3.Connection, version: int) -> None:
    """Raise ForeignSchemaError unless the schema is exactly that of `version`; plain extra indexes may be there.

    A trigger, view, virtual table, generated column or changed table of a foreign file would be executed by the first
    query (https://sqlite.org/security.html): this reads `sqlite_schema` alone, so it must come before all others.
    Raises sqlite3.Error.
    """
    expected = expected_schema(version)
    schema = {row for row in _read_schema(connection) if not _is_harmless(row, expected)}
    if schema != expected or version < 0:  # which would count from the newest version
        raise ForeignSchemaError


@lru_cache(maxsize=4)
def expected_schema(version: int) -> frozenset[tuple[str, str, str, str | None]]:
    """Return the content of `sqlite_schema` in a store of `version`, by running the steps in memory (4 ms)."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        apply_steps(connection, 0, version)
        return frozenset(_read_schema(connection))


def _read_schema(connection: sqlite3.Connection) -> Iterator[tuple[str, str, str, str | None]]:
    """Yield kind, name, table and SQL of each entry of `sqlite_schema`, the SQL with single blanks."""
    for kind, name, table, sql in connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema"):
        yield kind, name, table, sql and " ".join(sql.split())


def create_tables(connection: sqlite3.Connection) -> None:
    """Create the tables of a new store, as the models define them. Raises sqlite3.Error."""
    from sqlalchemy.dialects import sqlite  # not imported when a file is only checked

    from plantdesk.store.models import creation_statements

    for statement in (*creation_statements(sqlite.dialect()), _FIRST_STATE):
        connection.execute(statement)


def apply_steps(connection: sqlite3.Connection, first: int, last: int) -> None:
    """Bring the tables from version `first` to `last`. Raises sqlite3.Error."""
    add_functions(connection)
    for step in MIGRATIONS[first:last]:
        for statement in step:
            connection.execute(statement)


def _is_harmless(row: tuple[str, str, str, str | None], expected: Container[tuple[str, str, str, str | None]]) -> bool:
    """Return whether a row of `sqlite_schema` is the result of ANALYZE or an index over plain columns."""
    kind, _, _, sql = row
    if row in expected or sql is None:
        return False
    return sql in _STATISTICS or (kind == "index" and re.fullmatch(_PLAIN_INDEX, sql, re.IGNORECASE) is not None)
