"""Backups of a shared store: PlantDesk's own SQLite files on this computer, each read in one snapshot.

A restore works as in `sqlite/backups/restoring`: the rows of the file are checked one by one, copied into a temporary
table of the server, and compared and exchanged there, as one change of the history.
"""

from __future__ import annotations

import hashlib
import logging
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from psycopg import DataError

from plantdesk.domain.backups import Backup, BackupKind, Difference, Group, Restored, RestorePreview
from plantdesk.domain.errors import StoreError
from plantdesk.domain.history import Change, ChangeKind, parameter
from plantdesk.domain.records import SourceKind, now_ms
from plantdesk.platform import paths
from plantdesk.platform.settings import BACKUP_INTERVALS, read_saved
from plantdesk.store.history import COLUMNS, EACH, IMAGE, TEXTS
from plantdesk.store.postgres.changes import ChangeEntry, record
from plantdesk.store.postgres.connections import LONG, NulRefusedError, execute, translate_errors
from plantdesk.store.postgres.copies import all_rows, copy_in, patient
from plantdesk.store.postgres.desks import desk_name
from plantdesk.store.postgres.tokens import add_source
from plantdesk.store.postgres.transactions import Transactions
from plantdesk.store.sqlite.backups.folder import Backups, check_is_new, unusable
from plantdesk.store.sqlite.backups.restore_source import Loaded, load
from plantdesk.store.sqlite.connections import connect
from plantdesk.store.sqlite.copies import new_copy

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.domain.copies import Progress, StoreRows
    from plantdesk.domain.records import Source
    from plantdesk.store.postgres.address import Address
    from plantdesk.store.postgres.connections import Connection, Transaction

_log = logging.getLogger(__name__)

#: Milliseconds between two automatic backups of one computer: each reads the whole store over the network.
_DAY = 86_400_000
#: Characters of a database's name in the name of its folder of backups.
_MAX_NAME = 40
#: Plants of each kind that a difference names.
_NAMED = 5
_TABLES = f"""
    CREATE TEMP TABLE restored (id bigint PRIMARY KEY, {", ".join(f'{each} text COLLATE "C"' for each in TEXTS)},
                                seq bigint, added_at bigint, source_id bigint);
    CREATE TEMP TABLE origin (theirs bigint PRIMARY KEY, ours bigint);
    CREATE TEMP TABLE differing (id bigint PRIMARY KEY)"""
_COLUMNS = ("id", *EACH)
_TYPES = ["int8", *["text"] * len(TEXTS), "int8", "int8", "int8"]
_RETURNING = "FROM restored AS b WHERE NOT EXISTS (SELECT FROM plant AS p WHERE p.id = b.id)"
_LEAVING = "FROM plant AS b WHERE NOT EXISTS (SELECT FROM restored AS p WHERE p.id = b.id)"
_CHANGING = """FROM restored AS b JOIN plant AS p ON p.id = b.id
               WHERE (p.name, p.tag, p.note) IS DISTINCT FROM (b.name, b.tag, b.note)"""
_DIFFERING = (
    """INSERT INTO differing SELECT id FROM plant AS p WHERE NOT EXISTS (
           SELECT FROM restored AS b JOIN origin ON theirs = b.source_id WHERE b.id = p.id AND
           (b.name, b.tag, b.note, b.seq, b.added_at, ours) IS NOT DISTINCT FROM
           (p.name, p.tag, p.note, p.seq, p.added_at, p.source_id))""",
    "INSERT INTO differing SELECT id FROM restored WHERE id NOT IN (SELECT id FROM plant)",
)
_EXCHANGE = (
    f"""{IMAGE}
       SELECT %(number)s, d.id, CASE WHEN b.id IS NULL THEN NULL ELSE %(number)s::bigint END,
              {", ".join(f"p.{each}" for each in EACH)}, p.change
       FROM differing AS d LEFT JOIN plant AS p ON p.id = d.id LEFT JOIN restored AS b ON b.id = d.id""",
    "DELETE FROM plant USING differing WHERE plant.id = differing.id AND %(number)s IS NOT NULL",
    f"""INSERT INTO plant (id, {COLUMNS}, change)
       SELECT b.id, {COLUMNS.replace("source_id", "ours")}, %(number)s
       FROM restored AS b JOIN origin ON theirs = source_id JOIN differing AS d ON d.id = b.id""",
)


class SharedBackups(Backups):
    """The backups that this computer has made of a shared store, see `StoreBackups`."""

    suffix = ".db"
    is_shared = True

    def __init__(self, address: Address) -> None:
        self._address = address
        digest = hashlib.sha256(address.key.encode()).hexdigest()[:8]
        name = re.sub(r"[^\w-]", "_", address.name)[:_MAX_NAME]
        super().__init__(paths.database_file(with_folder=False).with_name(f"{name}-{digest}"))

    def make(self, kind: BackupKind = BackupKind.BY_HAND, progress: Progress | None = None) -> Backup:
        """Back up what is committed."""
        paths.data_folder()
        with all_rows(self._address) as rows:
            return self.make_by(partial(_write, rows, progress=progress), kind)

    def make_if_due(self) -> bool:
        """Make an automatic backup where one is due by the settings, daily at most; thin them out.

        Returns whether one was made: none where nothing has changed since the last one. Raises StoreError.
        """
        settings = read_saved()
        every = BACKUP_INTERVALS[settings.backup_every]
        if not every:
            return False
        paths.data_folder()
        with all_rows(self._address) as rows:
            known, now = self.of_store(rows.identity), now_ms()
            if any(now - max(every * 1000, _DAY) < each.made_at <= now for each in known):
                return False
            if known and _position(known[0].path) == (rows.last_seq, rows.last_change):
                return False
            made = self.make_by(partial(_write, rows), BackupKind.AUTOMATIC)
            _log.info("Backed up to %s (%d bytes)", made.path.name, made.size)
            self.prune(rows.identity, settings.backup_count)
        return True

    def copy_to(self, file: Path) -> None:
        """Copy the store to a new file."""
        try:
            check_is_new(file)
            with all_rows(self._address) as rows:
                _write(rows, file)
        except OSError as error:
            raise unusable(file, error) from error

    def preview(self, backup: Path) -> RestorePreview:
        """Return what restoring a backup would do."""
        with self._loaded(backup) as (loaded, transactions):
            return _preview(transactions.open(), loaded)

    def restore(self, backup: Path, source: Source) -> Restored:
        """Make the plants of a backup those of the store."""
        with self._loaded(backup) as (loaded, transactions):
            preview = _preview(transactions.open(), loaded)
            if preview.changes_nothing:
                return Restored(preview, None, tokens_retained=True)
            transactions.check_may_change()
            saved = self.make(BackupKind.BEFORE_RESTORE)
            change = transactions.write(partial(_exchange, source, backup.name))
        return Restored(preview, saved.path, tokens_retained=True, change=change)

    @contextmanager
    def _loaded(self, backup: Path) -> Iterator[tuple[Loaded, Transactions]]:
        """Copy the plants of a file into the temporary table `restored` of a connection."""
        with closing(sqlite3.connect("", isolation_level=None, uri=True)) as reading:  # a temporary file
            loaded = load(reading, backup)
            address = patient(self._address)
            with (
                closing(Transactions(address, desk_name(address), reconnects=False)) as transactions,
                translate_errors(address),
            ):
                connection = transactions.open()
                connection.limit = LONG
                connection.execute(f"SET statement_timeout = '{LONG}s'".encode())
                connection.execute(_TABLES.encode())
                _copy(reading, connection)
                yield loaded, transactions


def _write(rows: StoreRows, path: Path, progress: Progress | None = None) -> None:
    new_copy(path, rows, progress, is_backup=True)


def _position(backup: Path) -> tuple[int, int] | None:
    """Return the last sequence number and change of a backup, None for one that cannot be read."""
    with suppress(StoreError, sqlite3.Error), closing(connect(backup, immutable=True)) as connection:
        sql = "SELECT last_seq, (SELECT coalesce(max(number), 0) FROM change) FROM store"
        seq, change = connection.execute(sql).fetchone()
        return int(seq), int(change)
    return None


def _copy(reading: sqlite3.Connection, connection: Connection) -> None:
    rows = reading.execute(f"SELECT {', '.join(_COLUMNS)} FROM temp.restored")
    try:
        copy_in(connection, "restored", _COLUMNS, _TYPES, rows)
    except DataError as error:
        raise NulRefusedError from error
    sources = reading.execute("SELECT id, kind, label FROM temp.restored_source").fetchall()
    connection.execute("CREATE TEMP TABLE restored_source (id bigint, kind text, label text)")
    copy_in(connection, "restored_source", ("id", "kind", "label"), ["int8", "text", "text"], iter(sources))
    connection.execute("ANALYZE restored")


def _preview(connection: Connection, loaded: Loaded) -> RestorePreview:
    groups = (_group(connection, which) for which in (_RETURNING, _LEAVING, _CHANGING))
    return RestorePreview(loaded.plants, Difference(*groups), loaded.is_damaged, loaded.has_foreign_log)


def _group(connection: Connection, which: str) -> Group:
    (count,) = execute(connection, f"SELECT count(*) {which}").fetchone() or (0,)
    newest = execute(connection, f"SELECT b.id, b.name {which} ORDER BY b.seq DESC LIMIT {_NAMED}").fetchall()
    return Group(count, tuple((plant_id, name) for plant_id, name in newest))


def _exchange(source: Source, name: str, transaction: Transaction) -> Change:
    """Make the plants of `restored` those of the store, as a change of the history."""
    connection, number = transaction.connection, transaction.last_change + 1
    present = _sources(connection, "source", "id DESC")
    same, known = {*present}, {(kind, label): each for each, kind, label in present}
    for theirs, kind, label in _sources(connection, "restored_source", "id"):
        ours = theirs if (theirs, kind, label) in same else known.get((kind, label))
        if ours is None:
            ours = known[kind, label] = add_source(transaction, SourceKind(kind), label)
        execute(connection, "INSERT INTO origin VALUES (%s, %s)", (theirs, ours))
    for statement in _DIFFERING:
        execute(connection, statement)
    for statement in _EXCHANGE:
        execute(connection, statement, {"number": number})
    (last_seq,) = execute(connection, "SELECT coalesce(max(seq), 0) FROM restored").fetchone() or (0,)
    transaction.last_seq = max(transaction.last_seq, last_seq)
    return record(transaction, ChangeEntry(source, ChangeKind.RESTORE, {"backup": parameter(name)}))


def _sources(connection: Connection, table: str, order: str) -> list[tuple[int, str, str]]:
    return execute(connection, f"SELECT id, kind, label FROM {table} ORDER BY {order}").fetchall()
