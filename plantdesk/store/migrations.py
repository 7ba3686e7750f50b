"""The schema, step by step, from an empty file to the present one.

Why not Alembic: SQLite itself keeps the version (`PRAGMA user_version`) and makes schema changes transactional, so a
step and its version number commit together or not at all, which Alembic on SQLite does not give; and the list below
needs no script folder in the installers and nothing to import at start. A migration, once released, is never edited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk.store.engine import transaction

if TYPE_CHECKING:
    import sqlite3

#: Marks the file as a PlantDesk store (`PRAGMA application_id`): "PLNT" in ASCII.
APPLICATION_ID = 0x504C4E54

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
)

#: The version that this PlantDesk writes and reads.
SCHEMA_VERSION = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the open store up to `SCHEMA_VERSION`, all steps in one transaction.

    `connection` must be in autocommit mode (`isolation_level=None`).
    """
    with transaction(connection):
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        for step in MIGRATIONS[version:]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {max(version, SCHEMA_VERSION)}")
