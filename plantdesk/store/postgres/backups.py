"""Backups of a shared store: PlantDesk's own SQLite files on this computer, each read in one snapshot.

A restore works as in `sqlite/backups/restoring`: the rows of the file are checked one by one, copied into a temporary
table of the server, and compared and exchanged there, as one change of the history.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from psycopg import DataError
from typing_extensions import override

from plantdesk.domain.backups import BackupKind, Restored, RestorePreview
from plantdesk.domain.history import Change, ChangeKind, parameter
from plantdesk.platform import paths
from plantdesk.store.change_writer import ChangeEntry
from plantdesk.store.copies import rows_of
from plantdesk.store.postgres.connections import NulRefusedError, execute, translate_errors
from plantdesk.store.postgres.copies import all_rows, copy_in, patient
from plantdesk.store.postgres.database import runner
from plantdesk.store.postgres.desks import desk_name
from plantdesk.store.postgres.transactions import Transactions
from plantdesk.store.restoring import RESTORED, RESTORED_SOURCE, create_tables, difference, exchange
from plantdesk.store.sqlite.backups.jobs import MadeBackups, State
from plantdesk.store.sqlite.backups.restore_source import load
from plantdesk.store.sqlite.copies import new_copy

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.domain.records import Source
    from plantdesk.store.postgres.address import Address
    from plantdesk.store.postgres.connections import Connection
    from plantdesk.store.postgres.transactions import PostgresChange

#: Characters of a database's name in the name of its folder of backups.
_MAX_NAME = 40


class SharedBackups(MadeBackups):
    """The backups that this computer has made of a shared store."""

    is_shared = True
    #: A day: each reads the whole store over the network.
    min_interval = 86_400

    def __init__(self, address: Address) -> None:
        self._address = address
        digest = hashlib.sha256(address.key.encode()).hexdigest()[:8]
        name = re.sub(r"[^\w-]", "_", address.name)[:_MAX_NAME]
        super().__init__(paths.database_file(with_folder=False).with_name(f"{name}-{digest}"))

    @override
    @contextmanager
    def _state(self) -> Iterator[State]:
        paths.data_folder()
        with all_rows(self._address) as rows:
            yield State(rows.last_seq, rows.last_change, rows.identity, partial(new_copy, source=rows, is_backup=True))

    def preview(self, backup: Path) -> RestorePreview:
        """Return what restoring a backup would do."""
        with self._loaded(backup) as (preview, _):
            return preview

    def restore(self, backup: Path, source: Source) -> Restored:
        """Make the plants of a backup those of the store."""
        with self._loaded(backup) as (preview, transactions):
            if preview.changes_nothing:
                return Restored(preview, None, tokens_retained=True)
            transactions.check_may_change()
            saved = self.make(BackupKind.BEFORE_RESTORE)
            change = transactions.write(partial(_exchange, source, backup.name))
        return Restored(preview, saved.path, tokens_retained=True, change=change)

    @contextmanager
    def _loaded(self, backup: Path) -> Iterator[tuple[RestorePreview, Transactions]]:
        """Copy the plants of a file into the temporary table `restored` of a connection, and compare them."""
        with closing(sqlite3.connect("", isolation_level=None, uri=True)) as reading:  # a temporary file
            loaded = load(reading, backup)
            address = patient(self._address)
            with (
                closing(Transactions(address, desk_name(address), is_large=True)) as transactions,
                translate_errors(address),
            ):
                connection = transactions.open()
                create_tables(runner(connection))
                _copy(reading, connection)
                yield loaded._replace(difference=difference(runner(connection))), transactions


def _copy(reading: sqlite3.Connection, connection: Connection) -> None:
    try:
        for table in (RESTORED, RESTORED_SOURCE):
            copy_in(connection, table, reading.execute(rows_of(table)))
    except DataError as error:
        raise NulRefusedError from error
    connection.execute("ANALYZE restored")


def _exchange(source: Source, name: str, writer: PostgresChange) -> Change:
    """Make the plants of `restored` those of the store, as a change of the history."""
    exchange(writer.runner, writer.number)
    (last_seq,) = execute(writer.connection, "SELECT coalesce(max(seq), 0) FROM restored").fetchone() or (0,)
    writer.seq = max(writer.seq, last_seq)
    return writer.record(ChangeEntry(source, ChangeKind.RESTORE, {"backup": parameter(name)}))
