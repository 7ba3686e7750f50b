"""Reads all rows of a shared store, and fills an empty one, by the COPY protocol: for copies and backups.

Backups are SQLite files on this computer, each read in one snapshot. A restore works as in `sqlite/backups`, in
temporary tables of the server.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import sqlalchemy as sa
from psycopg import DataError, errors
from typing_extensions import override

from plantdesk.domain.backups import BackupKind, Restored, RestorePreview
from plantdesk.domain.copying import (
    Copied,
    CopyRefusedError,
    NulInStoreError,
    ReportFraction,
    StoreRows,
    TableRow,
    TargetNotEmptyError,
)
from plantdesk.domain.history import Change
from plantdesk.domain.records import Source
from plantdesk.platform import paths
from plantdesk.store.copies import copy_rows, rows_sql
from plantdesk.store.database import StoreState
from plantdesk.store.postgres.address import Address
from plantdesk.store.postgres.administration import create_tables
from plantdesk.store.postgres.connections import LONG_TIMEOUT, READER, Connection, connect, execute
from plantdesk.store.postgres.database import DATABASE, runner_of
from plantdesk.store.postgres.errors import NulRefusedError, translate_errors
from plantdesk.store.postgres.schema import INDEXES, LAST_ID, add_indexes, check_readable, read_version
from plantdesk.store.postgres.transactions import PostgresChangeWriter, PostgresTransactions
from plantdesk.store.restoring import RESTORED, RESTORED_SOURCE, compare_plants, create_restore_tables, replace_plants
from plantdesk.store.sqlite.backups import BackupMaker, WriteCopy, new_copy
from plantdesk.store.sqlite.restore_source import load_backup

#: Milliseconds for the server to acknowledge sent data: it may need more than 2 s. The address takes precedence.
_LONG_TIMEOUT = ("tcp_user_timeout", "60000")
_COUNTS = """SELECT plants + last_change + (SELECT count(*) FROM before_image) FROM state"""
_STATE = f"SELECT identity, last_seq, last_change, {LAST_ID} FROM state"
_IS_USED = "SELECT last_seq > 0 OR last_change > 0 OR EXISTS (SELECT FROM token) FROM state"
_NEXT_ID = "SELECT setval(pg_get_serial_sequence('plantdesk.{0}', 'id'), max(id)) FROM {0} HAVING max(id) > 0"
_TYPES = {sa.BigInteger: "int8", sa.LargeBinary: "bytea", sa.TEXT: "text"}
#: Characters of a database's name in the name of its folder of backups.
_MAX_NAME_LENGTH = 40


@contextmanager
def open_all_rows(address: Address) -> Iterator[StoreRows]:
    """Connect; in the block, all rows are read in one snapshot. Raises StoreError."""
    with translate_errors(address), closing(connect(with_long_timeouts(address), READER, LONG_TIMEOUT)) as connection:
        check_readable(read_version(connection), address.name, address.server)
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        ((identity, seq, change, last_id),) = execute(connection, _STATE)
        reads = partial(_count_rows, connection), partial(_read_rows, connection)
        yield StoreRows(identity, seq, change, last_id, *reads, lambda: ([], []))
        # closing ends the transaction: a rollback would wait for rows that nobody reads


def fill_database(address: Address, source: StoreRows, progress: ReportFraction | None = None) -> Copied:
    """Copy all rows to the empty tables of a database. Raises NulInStoreError and StoreError; then all is as before."""
    with_nul = source.find_nul()
    if any(with_nul):
        raise NulInStoreError(*with_nul)
    address = with_long_timeouts(address)
    create_tables(address)
    with closing(PostgresTransactions(address, is_large=True)) as transactions:
        copied = transactions.write(partial(_fill, address, source, progress))
        with translate_errors(address):
            connection = transactions.open_connection()
            add_indexes(connection)
            connection.execute("ANALYZE")
        return copied


def _fill(address: Address, source: StoreRows, progress: ReportFraction | None, writer: PostgresChangeWriter) -> Copied:
    """Fill the tables in the transaction of `writer`. Raises TargetNotEmptyError and CopyRefusedError."""
    connection = writer.connection
    if execute(connection, _IS_USED).fetchone() != (False,):
        raise TargetNotEmptyError(target=address.name)
    connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
    # They are made at the end, in a fraction of the time.
    connection.execute(f"DROP INDEX IF EXISTS {', '.join(INDEXES)}".encode())
    connection.execute("DELETE FROM source")
    try:
        insert_rows = partial(DATABASE.insert_rows, writer.runner)
        copied = copy_rows(source, insert_rows, partial(_read_rows, connection), progress)
    except errors.IntegrityError as error:
        raise CopyRefusedError from error
    for table in ("source", "token"):
        execute(connection, _NEXT_ID.format(table))
    execute(connection, "UPDATE state SET last_id = %s", (source.last_id,))
    writer.seq = source.last_seq
    writer.last_change = source.last_change
    writer.tokens = copied.rows["token"]
    writer.add_to_plant_count(copied.rows["plant"])
    return copied


def with_long_timeouts(address: Address) -> Address:
    """Return the address with a longer timeout for sending much data."""
    return replace(address, parameters=(_LONG_TIMEOUT, *address.parameters))


def _count_rows(connection: Connection) -> int:
    ((count,),) = execute(connection, _COUNTS)
    return int(count)


def _read_rows(connection: Connection, table: sa.Table) -> Iterator[TableRow]:
    sql = f"COPY ({rows_sql(table)}) TO STDOUT (FORMAT BINARY)"
    with connection.cursor() as cursor, cursor.copy(sql.encode()) as copy:
        copy.set_types([_TYPES[type(column.type)] for column in table.columns])
        yield from copy.rows()


# --- backups ---


class SharedBackups(BackupMaker):
    """The backups that this computer has made of a shared store."""

    is_shared = True
    #: A day: each reads the whole store over the network.
    min_interval = 86_400

    def __init__(self, address: Address) -> None:
        self._address = address
        digest = hashlib.sha256(address.key.encode()).hexdigest()[:8]
        name = re.sub(r"[^\w-]", "_", address.name)[:_MAX_NAME_LENGTH]
        super().__init__(paths.database_file(with_folder=False).with_name(f"{name}-{digest}"))

    @override
    @contextmanager
    def _open_source(self) -> Iterator[tuple[StoreState, WriteCopy]]:
        paths.data_folder()
        with open_all_rows(self._address) as rows:
            state = StoreState(rows.identity, rows.last_seq, rows.last_change)
            yield state, partial(new_copy, rows=rows, is_backup=True)

    def preview(self, backup: Path) -> RestorePreview:
        """Return the effect of restoring a backup, which is compared in temporary tables of the server."""
        with self._load_backup(backup) as (preview, _):
            return preview

    def restore(self, backup: Path, source: Source) -> Restored:
        """Back up the store, and replace its plants with those of a backup."""
        with self._load_backup(backup) as (preview, transactions):
            if preview.changes_nothing:
                return Restored(preview, None, tokens_retained=True)
            transactions.check_may_change()
            saved = self.make(BackupKind.BEFORE_RESTORE)
            change = transactions.write(partial(_replace_plants, source, backup.name))
        return Restored(preview, saved.path, tokens_retained=True, change=change)

    @contextmanager
    def _load_backup(self, backup: Path) -> Iterator[tuple[RestorePreview, PostgresTransactions]]:
        """Copy the plants of a file into the temporary table `restored` of a connection, and compare them."""
        with closing(sqlite3.connect("", isolation_level=None, uri=True)) as reading:  # a temporary file
            loaded = load_backup(reading, backup)
            address = with_long_timeouts(self._address)
            with closing(PostgresTransactions(address, is_large=True)) as transactions, translate_errors(address):
                connection = transactions.open_connection()
                create_restore_tables(runner_of(connection))
                _copy_restored(reading, connection)
                yield loaded._replace(difference=compare_plants(runner_of(connection))), transactions


def _copy_restored(reading: sqlite3.Connection, connection: Connection) -> None:
    try:
        for table in (RESTORED, RESTORED_SOURCE):
            DATABASE.insert_rows(runner_of(connection), table, reading.execute(rows_sql(table)))
    except DataError as error:
        raise NulRefusedError from error
    connection.execute("ANALYZE restored")


def _replace_plants(source: Source, name: str, writer: PostgresChangeWriter) -> Change:
    ((last_seq,),) = execute(writer.connection, "SELECT coalesce(max(seq), 0) FROM restored")
    writer.seq = max(writer.seq, last_seq)
    return replace_plants(writer, source, name)
