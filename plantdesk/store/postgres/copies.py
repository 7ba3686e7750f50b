"""Reads all rows of a shared store, and fills an empty one, by the COPY protocol in its binary format."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from psycopg import errors
from sqlalchemy import TEXT, BigInteger, LargeBinary

from plantdesk.domain.copies import Copied, CopyRefusedError, NulInStoreError, StoreRows, TargetNotEmptyError
from plantdesk.store.copies import columns_of, rows_of, transfer
from plantdesk.store.postgres.connections import LONG, READER, connect, execute, translate_errors
from plantdesk.store.postgres.desks import create_tables, desk_name
from plantdesk.store.postgres.schema import INDEXES, LAST_ID, add_indexes, check_readable, version_of
from plantdesk.store.postgres.transactions import Transactions

if TYPE_CHECKING:
    from sqlalchemy import Table

    from plantdesk.domain.copies import Progress, Row
    from plantdesk.store.postgres.address import Address
    from plantdesk.store.postgres.connections import Connection
    from plantdesk.store.postgres.transactions import PostgresChange

#: The server may need longer than two seconds to take what is sent. A parameter of the address wins.
_PATIENT = ("tcp_user_timeout", "60000")
_COUNTS = """SELECT plants + last_change + (SELECT count(*) FROM before_image) FROM state"""
_STATE = f"SELECT identity, last_seq, last_change, {LAST_ID} FROM state"
_IS_USED = "SELECT last_seq > 0 OR last_change > 0 OR EXISTS (SELECT FROM token) FROM state"
_NEXT_ID = "SELECT setval(pg_get_serial_sequence('plantdesk.{0}', 'id'), max(id)) FROM {0} HAVING max(id) > 0"


@contextmanager
def all_rows(address: Address) -> Iterator[StoreRows]:
    """Read a store in one snapshot. Raises StoreError."""
    with translate_errors(address), closing(connect(patient(address), READER, LONG)) as connection:
        check_readable(version_of(connection), address.name, address.server)
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        identity, seq, change, last_id = execute(connection, _STATE).fetchone() or ("", 0, 0, 0)
        reads = partial(_count, connection), partial(_rows, connection)
        yield StoreRows(identity, seq, change, last_id, *reads, lambda: ([], []))
        # closing ends the transaction: a rollback would wait for rows that nobody reads


def fill_database(address: Address, source: StoreRows, progress: Progress | None = None) -> Copied:
    """Copy all rows to the empty tables of a database. Raises NulInStoreError and StoreError; then all is as before."""
    with_nul = source.with_nul()
    if any(with_nul):
        raise NulInStoreError(*with_nul)
    address = patient(address)
    create_tables(address)
    with closing(Transactions(address, desk_name(address), is_large=True)) as transactions:
        copied = transactions.write(partial(_fill, address, source, progress))
        with translate_errors(address):
            connection = transactions.open()
            add_indexes(connection)
            connection.execute("ANALYZE")
        return copied


def _fill(address: Address, source: StoreRows, progress: Progress | None, writer: PostgresChange) -> Copied:
    connection = writer.connection
    if execute(connection, _IS_USED).fetchone() != (False,):
        raise TargetNotEmptyError(target=address.name)
    connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
    connection.execute(
        f"DROP INDEX IF EXISTS {', '.join(INDEXES)}".encode()
    )  # made at the end in a fraction of the time
    connection.execute("DELETE FROM source")
    try:
        copied = transfer(source, partial(copy_in, connection), partial(_rows, connection), progress)
    except errors.IntegrityError as error:
        raise CopyRefusedError from error
    for table in ("source", "token"):
        execute(connection, _NEXT_ID.format(table))
    execute(connection, "UPDATE state SET last_id = %s", (source.last_id,))
    writer.seq, writer.last_change, writer.tokens = source.last_seq, source.last_change, copied.rows["token"]
    writer.grew(copied.rows["plant"])
    return copied


def copy_in(connection: Connection, table: Table, rows: Iterator[Row]) -> None:
    """Copy rows into a table. Raises psycopg.Error."""
    sql = f"COPY {table.name} ({columns_of(table)}) FROM STDIN (FORMAT BINARY)"
    with connection.cursor() as cursor, cursor.copy(sql.encode()) as copy:
        copy.set_types(_types(table))
        for row in rows:
            copy.write_row(row)


def patient(address: Address) -> Address:
    """Return the address with timeouts for much data."""
    return replace(address, parameters=(_PATIENT, *address.parameters))


def _count(connection: Connection) -> int:
    (count,) = execute(connection, _COUNTS).fetchone() or (0,)
    return int(count)


def _rows(connection: Connection, table: Table) -> Iterator[Row]:
    sql = f"COPY ({rows_of(table)}) TO STDOUT (FORMAT BINARY)"
    with connection.cursor() as cursor, cursor.copy(sql.encode()) as copy:
        copy.set_types(_types(table))
        yield from copy.rows()


def _types(table: Table) -> list[str]:
    names = {BigInteger: "int8", LargeBinary: "bytea", TEXT: "text"}
    return [names[type(column.type)] for column in table.columns]
