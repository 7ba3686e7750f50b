"""Reads all rows of the store in a file, and fills a new or empty one, for a copy to or from any kind of store."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from sqlalchemy import Table

from plantdesk.domain.errors import NoStoreError
from plantdesk.domain.locations import Copied, CopyRefusedError, Progress, Row, StoreRows, TargetNotEmptyError
from plantdesk.domain.records import now_ms
from plantdesk.store.copies import TABLES, rows_of, transfer
from plantdesk.store.models import BEFORE_IMAGE, PLANT
from plantdesk.store.sqlite.connections import connect, snapshot, transaction, translate_errors
from plantdesk.store.sqlite.database import DATABASE, runner_of
from plantdesk.store.sqlite.files.disk import new_file, remove_old_temporary_files
from plantdesk.store.sqlite.files.open_checks import is_absent, resolved
from plantdesk.store.sqlite.files.opening import naming
from plantdesk.store.sqlite.files.store_file import StoreFile
from plantdesk.store.sqlite.migrations import migrate
from plantdesk.store.sqlite.numbers import count_commit, position

_HAS_NUL = " OR ".join(f"instr(CAST({each} AS BLOB), x'00')" for each in ("name", "tag", "note"))
_IS_USED = "SELECT EXISTS (SELECT 1 FROM plant) OR EXISTS (SELECT 1 FROM change) OR EXISTS (SELECT 1 FROM token)"


@contextmanager
def all_rows(path: Path) -> Iterator[StoreRows]:
    """Read the store at `path` in one snapshot. Raises NoStoreError and StoreError."""
    with naming(path):
        if is_absent(resolved(path)):
            raise NoStoreError(path.name)
    with closing(StoreFile(path)) as file, translate_errors(), closing(file.connect()) as connection:
        file.refuse_outdated()
        with snapshot(connection):
            identity, last_id = connection.execute("SELECT identity, last_id FROM store").fetchone()
            now = position(connection)
            state = identity, now.seq, now.change, last_id
            yield StoreRows(
                *state, partial(_count, connection), partial(_rows, connection), partial(_with_nul, connection)
            )


def fill_file(path: Path, source: StoreRows, progress: Progress | None = None) -> Copied:
    """Copy all rows to a new file, or to the empty store at `path`. Raises StoreError; then nothing has changed."""
    with naming(path):
        target = resolved(path)
        is_new = is_absent(target) and not os.path.lexists(f"{target}-wal")
    if is_new:
        return new_copy(target, source, progress)
    with (
        closing(StoreFile(path)) as file,
        translate_errors(),
        closing(file.connect()) as connection,
        transaction(connection),
    ):
        if connection.execute(_IS_USED).fetchone() != (0,):
            raise TargetNotEmptyError(target=path.name)
        return _fill(connection, source, progress)


def new_copy(path: Path, source: StoreRows, progress: Progress | None = None, *, is_backup: bool = False) -> Copied:
    """Copy all rows to a new file, which is there only when it is complete and durable. Raises StoreError.

    `is_backup`: it keeps the identity of the store, and no token is valid in it.
    """
    remove_old_temporary_files(path.parent, path.name)
    with naming(path), new_file(path) as temporary, translate_errors(), closing(connect(temporary)) as connection:
        connection.execute("PRAGMA synchronous = OFF")  # the finished file is flushed
        connection.execute("PRAGMA journal_mode = MEMORY")  # a file of it would be left by a kill
        migrate(connection)
        with transaction(connection):
            copied = _fill(connection, source, progress)
            if is_backup:
                connection.execute("UPDATE store SET identity = ?", (source.identity,))
                connection.execute("UPDATE token SET revoked_at = ? WHERE revoked_at IS NULL", (now_ms(),))
        return copied


def _fill(connection: sqlite3.Connection, source: StoreRows, progress: Progress | None) -> Copied:
    """Fill empty tables within the caller's transaction. Raises StoreError and sqlite3.Error."""
    connection.execute("DELETE FROM source")
    try:
        copied = transfer(source, partial(DATABASE.fill, runner_of(connection)), partial(_rows, connection), progress)
    except sqlite3.IntegrityError as error:
        raise CopyRefusedError from error
    connection.execute("UPDATE store SET last_seq = ?, last_id = ?", (source.last_seq, source.last_id))
    count_commit(connection)
    return copied


def _count(connection: sqlite3.Connection) -> int:
    counts = (connection.execute(f"SELECT count(*) FROM {table.name}").fetchone() for table in TABLES)
    return sum(count for (count,) in counts)


def _with_nul(connection: sqlite3.Connection) -> tuple[list[int], list[int]]:
    plants = connection.execute(f"SELECT id FROM {PLANT.name} WHERE {_HAS_NUL}")
    changes = connection.execute(f"SELECT DISTINCT change FROM {BEFORE_IMAGE.name} WHERE {_HAS_NUL}")
    return [number for (number,) in plants], [number for (number,) in changes]


def _rows(connection: sqlite3.Connection, table: Table) -> Iterator[Row]:
    return connection.execute(rows_of(table))
