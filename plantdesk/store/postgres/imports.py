"""Imports: rows are copied into temporary tables of a connection of their own, compared there, and added as one change.

Only the last step holds the lock on `state`. What was committed since the comparison and touches a row of the import
makes it compare again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

import psycopg
from typing_extensions import override

from plantdesk.domain.edits import Applied
from plantdesk.domain.errors import StoreBusyError, StoreError
from plantdesk.domain.history import ChangeKind, parameter
from plantdesk.domain.import_batches import ImportConflict, ImportConflictError, ImportCounts, ImportRow, OnConflict
from plantdesk.domain.protocols import PlantImport
from plantdesk.domain.records import Source, SourceKind
from plantdesk.store.history import COLUMNS, TEXTS, replaced, text_columns
from plantdesk.store.postgres.changes import ChangeEntry, keep_images, record
from plantdesk.store.postgres.connections import NOW, NulRefusedError, execute, storable, translate_errors
from plantdesk.store.postgres.rows import last_id
from plantdesk.store.postgres.tokens import add_source

if TYPE_CHECKING:
    from plantdesk.domain.import_batches import ImportBatch
    from plantdesk.store.postgres.connections import Connection, Transaction
    from plantdesk.store.postgres.transactions import Transactions
    from plantdesk.store.postgres.writer import Writer

#: Comparisons of one import, repeated where another writer has changed its plants meanwhile.
_MAX_TRIES = 20
#: Rows that are written between two reports of progress.
_PART_SIZE = 50_000

#: `known` are rows that are not new, with the `earlier` row that has the id where no plant does, `fresh` those that get
#: an id from the store: the `nth` after the largest;
#: `replacing` has the rows that replace plants.
_TEXTS = ", ".join(f'{each} text COLLATE "C"' for each in TEXTS)
_TABLES = f"""
    CREATE TEMP TABLE given (place bigint PRIMARY KEY, file bigint, line bigint, id bigint, {_TEXTS});
    CREATE TEMP TABLE known (place bigint PRIMARY KEY, conflicts boolean, owner text COLLATE "C", earlier bigint);
    CREATE TEMP TABLE fresh (place bigint PRIMARY KEY, nth bigint);
    CREATE TEMP TABLE replacing (id bigint PRIMARY KEY, {_TEXTS})"""
_COPY = f"COPY given (place, file, line, id, {', '.join(TEXTS)}) FROM STDIN"
_KNOWN_IN_STORE = (
    """INSERT INTO known SELECT r.place, NOT ({same}), p.name FROM given AS r JOIN plant AS p ON p.id = r.id"""
)
_KNOWN_IN_FILE = """INSERT INTO known SELECT r.place, NOT ({same}), p.name, p.place
    FROM (SELECT id, min(place) AS place FROM given WHERE id IS NOT NULL GROUP BY id HAVING count(*) > 1) AS first
    JOIN given AS r ON r.id = first.id AND r.place > first.place JOIN given AS p ON p.place = first.place
    ON CONFLICT (place) DO NOTHING"""
#: Of several rows with one id the last replaces the others, also when it is as the plant was before.
_LAST_WINS = """UPDATE known SET conflicts = true FROM given AS r WHERE r.place = known.place AND r.id IN (
    SELECT id FROM known JOIN given USING (place) WHERE conflicts)"""
_REPLACING = f"""INSERT INTO replacing SELECT DISTINCT ON (id) id, {", ".join(TEXTS)}
                FROM known JOIN given USING (place) WHERE conflicts ORDER BY id, place DESC"""
_FRESH = """INSERT INTO fresh SELECT place, row_number() OVER (ORDER BY place) FROM given
            WHERE id IS NULL OR (%s AND place IN (SELECT place FROM known WHERE conflicts))"""
_COUNT = """SELECT (SELECT count(*) FROM given) - count(*), count(*) FILTER (WHERE NOT conflicts),
                   count(*) FILTER (WHERE conflicts),
                   count(DISTINCT given.id) FILTER (WHERE conflicts AND earlier IS NULL)
            FROM known JOIN given USING (place)"""
_CONFLICTS = """SELECT r.file, r.line, r.id, r.name, r.tag, r.note, owner, e.file, e.line
                FROM known JOIN given AS r USING (place) LEFT JOIN given AS e ON e.place = known.earlier
                WHERE conflicts ORDER BY r.place"""
_TOUCHED = """SELECT EXISTS (SELECT FROM given WHERE id IN (
    SELECT id FROM plant WHERE seq > %s UNION SELECT plant_id FROM before_image WHERE change > %s))"""
_INSERT = f"""
    WITH new AS MATERIALIZED (
        SELECT coalesce(fresh.nth + %(base)s, r.id) AS new_id, r.*, row_number() OVER (ORDER BY r.place) AS nth
        FROM given AS r LEFT JOIN fresh ON fresh.place = r.place
        WHERE r.place BETWEEN %(from)s AND %(to)s
            AND (fresh.place IS NOT NULL OR NOT EXISTS (SELECT FROM known WHERE known.place = r.place))
    ), image AS (
        INSERT INTO before_image (change, plant_id, after) SELECT %(number)s, new_id, %(number)s FROM new
    )
    INSERT INTO plant (id, {COLUMNS}, change)
    SELECT new_id, {", ".join(TEXTS)}, %(last)s + nth, %(now)s, %(source)s, %(number)s FROM new ORDER BY nth"""


class _StaleError(Exception):
    """The store has changed since the comparison."""


class PostgresImport(PlantImport):
    """An import into a shared store."""

    def __init__(self, transactions: Transactions, writer: Writer) -> None:
        """Begin; `transactions` have a connection for this import alone. Raises StoreError."""
        self._transactions, self._writer = transactions, writer
        self._lock = threading.Lock()
        self._is_working = self._is_cancelled = False
        self._rows = 0
        self._connection: Connection = transactions.open()
        with translate_errors():
            self._connection.execute("SET statement_timeout = '1h'")
            self._connection.limit = 3600
            self._connection.execute(_TABLES.encode())

    @override
    def add(self, batch: ImportBatch) -> None:
        file, lines, ids, names, tags, notes = batch
        if not all(map(storable, names, tags, notes)):
            raise NulRefusedError
        places = range(self._rows + 1, self._rows + 1 + len(lines))
        rows = zip(places, lines, ids, map(text_columns, names, tags, notes), strict=True)
        with self._work() as connection, connection.cursor() as cursor, cursor.copy(_COPY) as copy:
            for place, line, plant_id, texts in rows:
                copy.write_row((place, file, line, plant_id, *texts))
        self._rows += len(lines)

    @override
    def compare(self, on_conflict: OnConflict, fields: Collection[str]) -> ImportCounts:
        self._on_conflict, self._fields = on_conflict, fields
        compared = (each for each in ("name", "tag", "note") if each in {"name", *fields})
        same = " AND ".join(f"p.{each} IS NOT DISTINCT FROM r.{each}" for each in compared)
        with self._work() as connection, connection.transaction():
            state = execute(connection, "SELECT last_seq, last_change FROM state").fetchone() or (0, 0)
            connection.execute("TRUNCATE known, fresh, replacing; ANALYZE given")
            execute(connection, _KNOWN_IN_STORE.format(same=same))
            execute(connection, _KNOWN_IN_FILE.format(same=same))
            if on_conflict is OnConflict.REPLACE:
                execute(connection, _LAST_WINS)
                execute(connection, _REPLACING)
            execute(connection, _FRESH, (on_conflict is OnConflict.NEW_ID,))
            connection.execute("ANALYZE known, fresh")
            self._counts = ImportCounts(*(execute(connection, _COUNT).fetchone() or (0, 0, 0, 0)))
        self._state = state
        return self._counts

    @override
    def conflicts(self) -> Iterator[ImportConflict]:
        with self._work() as connection:
            rows = execute(connection, _CONFLICTS).fetchall()
        for *values, owner, file, line in rows:
            yield ImportConflict(ImportRow(*values), owner, None if file is None else (file, line))

    @override
    def apply(self, label: str, progress: Callable[[int, int], None] | None = None) -> Applied:
        for _ in range(_MAX_TRIES):
            if self._counts.clashing and self._on_conflict is OnConflict.REFUSE:
                raise ImportConflictError(self._counts.clashing)
            if not self._counts.new and (not self._counts.clashing or self._on_conflict is OnConflict.SKIP):
                return Applied(None)
            try:
                with self._work() as connection:
                    applied = self._transactions.write(partial(self._write, label, progress))
                    with suppress(psycopg.Error):  # it is only for the plans of later queries
                        connection.execute("ANALYZE plant, before_image")
                    return applied
            except _StaleError:
                self.compare(self._on_conflict, self._fields)
            finally:
                self._writer.poll()
        raise StoreBusyError

    @override
    def cancel(self) -> None:
        with self._lock:
            self._is_cancelled = True
            if self._is_working:
                threading.Thread(target=self._cancel, name="query-cancel", daemon=True).start()

    @override
    def close(self) -> None:
        self._connection.close()

    def _cancel(self) -> None:
        with suppress(psycopg.Error):
            self._connection.cancel_safe(timeout=2)

    @contextmanager
    def _work(self) -> Iterator[Connection]:
        """Use the connection; what fails after `cancel` was interrupted."""
        with self._lock:
            if self._is_cancelled:
                raise InterruptedError
            self._is_working = True
        try:
            with translate_errors():
                yield self._connection
        except StoreError:
            if self._is_cancelled:
                raise InterruptedError from None
            raise
        finally:
            with self._lock:
                self._is_working = False

    # --- in the transaction ---

    def _write(self, label: str, progress: Callable[[int, int], None] | None, transaction: Transaction) -> Applied:
        connection = transaction.connection
        is_same = self._state == (transaction.last_seq, transaction.last_change)
        if not is_same and execute(connection, _TOUCHED, self._state).fetchone() == (True,):
            raise _StaleError
        source = Source(add_source(transaction, SourceKind.IMPORT, label), SourceKind.IMPORT, label)
        self._insert(transaction, source, progress)
        if self._on_conflict is OnConflict.REPLACE:
            self._replace(transaction)
        if self._is_cancelled:
            raise InterruptedError
        return Applied(record(transaction, ChangeEntry(source, ChangeKind.IMPORT, {"file": parameter(label)})))

    def _insert(self, transaction: Transaction, source: Source, progress: Callable[[int, int], None] | None) -> None:
        """Insert the new plants in parts, for the progress."""
        connection = transaction.connection
        (now,) = execute(connection, f"SELECT {NOW}").fetchone() or (0,)
        values = {"base": _base(connection), "now": now, "source": source.id, "number": transaction.last_change + 1}
        for first in range(1, self._rows + 1, _PART_SIZE):
            part = {"from": first, "to": first + _PART_SIZE - 1, "last": transaction.last_seq}
            transaction.next_seq(execute(connection, _INSERT, values | part).rowcount)
            if progress is not None:
                progress(min(first + _PART_SIZE - 1, self._rows), self._rows)

    def _replace(self, transaction: Transaction) -> None:
        number = transaction.last_change + 1
        keep_images(transaction.connection, number, "plant.id IN (SELECT id FROM replacing)")
        sql = f"UPDATE plant SET change = %s, {replaced(self._fields)} FROM replacing AS r WHERE plant.id = r.id"
        execute(transaction.connection, sql, (number,))


def _base(connection: Connection) -> int:
    """Return the id after which those without one follow."""
    (count,) = execute(connection, "SELECT count(*) FROM fresh").fetchone() or (0,)
    return last_id(connection, count, "given") if count else 0
