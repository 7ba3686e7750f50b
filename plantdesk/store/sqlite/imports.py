"""Imports: rows are collected and compared in a file beside the store, and written by few statements.

The writer takes the write lock only for the last step, one transaction. What was committed since the comparison and
touches a row of the import makes it compare again.
"""

from __future__ import annotations

import sqlite3
import threading
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from operator import itemgetter, lt
from typing import TYPE_CHECKING, NamedTuple, cast

from typing_extensions import override

from plantdesk.domain.edits import Applied
from plantdesk.domain.errors import StoreBusyError
from plantdesk.domain.history import ChangeKind, parameter
from plantdesk.domain.import_batches import (
    ImportBatch,
    ImportConflict,
    ImportConflictError,
    ImportCounts,
    ImportRow,
    OnConflict,
)
from plantdesk.domain.protocols import PlantImport
from plantdesk.domain.records import Changes, SourceKind, now_ms
from plantdesk.store.history import TEXTS, replaced, text_columns
from plantdesk.store.sqlite.changes import FULL_IMAGE_SIZE, IMAGE_SIZE, ChangeEntry, Extent, begin, record, store_images
from plantdesk.store.sqlite.connections import transaction, translate_errors
from plantdesk.store.sqlite.files.table_file import connect_with_table_file
from plantdesk.store.sqlite.inserts import new_source
from plantdesk.store.sqlite.numbers import last_id, last_number, last_seq

if TYPE_CHECKING:
    from concurrent.futures import Future

    from plantdesk.store.sqlite.files.store_file import StoreFile
    from plantdesk.store.sqlite.writer import Writer

#: Comparisons of one import, repeated where another writer has changed its plants meanwhile.
_MAX_TRIES = 20
#: Rows that a statement collects, and rows that are written between two reports of progress.
_AT_ONCE, _PART_SIZE = 50, 50_000

#: `known` are rows that are not new, with the `earlier` row that has the id where no plant does, `fresh` those that get
#: an id from the store: the `nth` after the largest;
#: `replacing` has the rows that replace plants.
_TABLES = (
    """CREATE TABLE other.row (place INTEGER PRIMARY KEY, id INTEGER, name TEXT NOT NULL, tag TEXT, note TEXT,
        searched_name TEXT NOT NULL, searched_tag TEXT, searched_note TEXT, line INTEGER) STRICT""",
    """CREATE TABLE other.known (place INTEGER PRIMARY KEY, conflicts INTEGER NOT NULL, owner TEXT NOT NULL,
                                  earlier INTEGER) STRICT""",
    "CREATE TABLE other.fresh (place INTEGER PRIMARY KEY, nth INTEGER NOT NULL) STRICT",
    f"CREATE TABLE other.replacing (id INTEGER PRIMARY KEY, {', '.join(f'{each} TEXT' for each in TEXTS)}) STRICT",
)
_INSERT_ROWS = "INSERT INTO other.row ({columns}) VALUES "
_COLUMNS = ("id", *TEXTS, "line")
#: SQLite stores NaN as NULL (https://sqlite.org/floatingpoint.html). To bind None takes Python ten times as long.
_NULL = float("nan")
#: The first loop keeps an empty store from being looked up for each row.
_KNOWN_IN_STORE = """INSERT INTO other.known SELECT r.place, NOT ({same}), p.name, NULL
                     FROM (SELECT 1 FROM main.plant LIMIT 1) CROSS JOIN other.row AS r
                     CROSS JOIN main.plant AS p ON p.id = r.id"""
_KNOWN_IN_FILE = """INSERT OR IGNORE INTO other.known SELECT r.place, NOT ({same}), p.name, p.place
    FROM (SELECT id, min(place) AS place FROM other.row WHERE id IS NOT NULL GROUP BY id HAVING count(*) > 1) AS first
    JOIN other.row AS r ON r.id = first.id AND r.place > first.place JOIN other.row AS p ON p.place = first.place"""
#: Of several rows with one id the last replaces the others, also when it is as the plant was before.
_LAST_WINS = """UPDATE other.known SET conflicts = 1 FROM other.row AS r WHERE r.place = known.place AND r.id IN (
    SELECT id FROM other.known JOIN other.row USING (place) WHERE conflicts)"""
_COUNT = """SELECT :rows - count(*), count(*) - total(conflicts), total(conflicts),
    (SELECT count(DISTINCT id) FROM other.known CROSS JOIN other.row USING (place) WHERE conflicts AND earlier IS NULL)
    FROM other.known"""
_CONFLICTS = """SELECT r.place, r.line, r.id, r.name, r.tag, r.note, owner, e.place, e.line
    FROM other.known CROSS JOIN other.row AS r USING (place) LEFT JOIN other.row AS e ON e.place = known.earlier
    WHERE conflicts ORDER BY r.place"""
_FRESH = """INSERT INTO other.fresh SELECT place, row_number() OVER (ORDER BY place)
            FROM other.row WHERE id IS NULL OR (:new_id AND place IN (SELECT place FROM other.known WHERE conflicts))"""
_TOUCHED = """SELECT EXISTS (SELECT 1 FROM other.row WHERE id IN (
    SELECT id FROM main.plant WHERE seq > :seq UNION SELECT plant_id FROM main.before_image WHERE change > :change))"""
_PART = "r.place BETWEEN :from AND :to"
_NEW = f"""FROM other.row AS r LEFT JOIN other.fresh AS f ON f.place = r.place
           WHERE {_PART} AND (f.place IS NOT NULL OR r.place NOT IN (SELECT place FROM other.known))"""
_ALL_ROWS = f"FROM other.row AS r WHERE {_PART}"
_ID = "coalesce(f.nth + :base, r.id)"
_INSERT_IMAGES = """INSERT INTO main.before_image (change, plant_id, after) SELECT :number, id, :number
                    FROM main.plant WHERE seq BETWEEN :last + :from AND :last + :to ORDER BY id"""
_INSERT_PLANTS = f"""INSERT INTO main.plant (id, seq, added_at, source_id, change, {{columns}})
    SELECT {_ID}, :last + r.place, :now, :source, :number, {{columns}} {_NEW} ORDER BY r.place"""
#: Filled in the order of the rows: the last one of an id wins.
_REPLACING = f"""INSERT OR REPLACE INTO other.replacing SELECT id, {", ".join(TEXTS)}
                FROM other.known JOIN other.row USING (place) WHERE conflicts ORDER BY place"""
_REPLACE = """UPDATE main.plant SET change = :number, {columns} FROM other.replacing AS r WHERE plant.id = r.id"""


class _StaleError(Exception):
    """The store has changed since the comparison."""


class _Part(NamedTuple):
    """Rows of a file from a place on. Their lines are their places plus `lines_after`, or stored if that is None."""

    place: int
    file: int
    lines_after: int | None


class _Compared(NamedTuple):
    """The state of the store at the comparison, and its result."""

    seq: int
    change: int
    counts: ImportCounts
    #: Whether all rows are new and have ascending ids of their own.
    is_plain: bool
    #: Bytes of the before-images of the plants that are replaced; None if several rows may have one id.
    replaced_size: int | None
    #: The columns in which a row has a value.
    given: set[str]


class SqliteImport(PlantImport):
    """An import into a SQLite store."""

    def __init__(self, file: StoreFile, writer: Writer) -> None:
        """Begin. Raises StoreError and OSError."""
        self._writer = writer
        self._lock = threading.Lock()
        self._write: _Write | None = None
        self._is_working = self._cancelled = False
        self._parts: list[_Part] = []
        self._rows = 0
        #: The columns in which a row has a value.
        self._given: set[str] = set()
        self._ascending, self._lacks_ids = True, False
        self._last = -(2**63) - 1
        with ExitStack() as stack, translate_errors():
            self._connection, self._temporary = connect_with_table_file(file, stack)
            for table in _TABLES:
                self._connection.execute(table)
            self._stack = stack.pop_all()

    @override
    def add(self, batch: ImportBatch) -> None:
        _, lines, ids, names, tags, notes = batch
        if not lines:
            return
        part = _Part(self._rows + 1, batch.file, lines[0] - self._rows - 1 if isinstance(lines, range) else None)
        if not self._parts or self._parts[-1][1:] != part[1:]:
            self._parts.append(part)
        self._rows += len(lines)
        known = cast("Sequence[int]", ids) if all(ids) else [each for each in ids if each is not None]
        self._lacks_ids = self._lacks_ids or len(known) < len(ids)
        self._ascending = self._ascending and all(map(lt, [self._last, *known], known))
        self._last = known[-1] if known else self._last
        texts = zip(*map(text_columns, names, tags, notes), strict=True)
        columns = (ids, *texts, () if part.lines_after is not None else lines)
        with self._work():
            self._insert(dict(zip(_COLUMNS, columns, strict=True)))

    def _insert(self, columns: dict[str, Sequence[int | str | None]]) -> None:
        """Insert `_AT_ONCE` rows per statement, and the rest one by one."""
        given = {name: _bound(column) for name, column in columns.items() if any(column) or set(column) - {None}}
        self._given |= given.keys()
        width, count = len(given), len(given["name"])
        values: list[int | str | float | None] = [None] * (width * count)
        for at, column in enumerate(given.values()):
            values[at::width] = column
        many = width * (count - count % _AT_ONCE)
        for size, start, end in ((width * _AT_ONCE, 0, many), (width, many, width * count)):
            row = f"({', '.join('?' * width)})"
            insert = _INSERT_ROWS.format(columns=", ".join(given)) + ", ".join([row] * (size // width))
            self._connection.executemany(insert, (values[each : each + size] for each in range(start, end, size)))

    @override
    def compare(self, on_conflict: OnConflict, fields: Collection[str]) -> ImportCounts:
        self._on_conflict, self._fields = on_conflict, fields
        same = " AND ".join(f"p.{each} IS r.{each}" for each in ("name", "tag", "note") if each in {"name", *fields})
        with self._work():
            state = (last_seq(self._connection), last_number(self._connection))
            for table in ("known", "fresh", "replacing"):
                self._connection.execute(f"DELETE FROM other.{table}")
            self._connection.execute(_KNOWN_IN_STORE.format(same=same))
            if not self._ascending:
                self._connection.execute("CREATE INDEX IF NOT EXISTS other.row_id ON row (id)")
                self._connection.execute(_KNOWN_IN_FILE.format(same=same))
                if on_conflict is OnConflict.REPLACE:
                    self._connection.execute(_LAST_WINS)
            if on_conflict is OnConflict.REPLACE:
                self._connection.execute(_REPLACING)
            if self._lacks_ids or on_conflict is OnConflict.NEW_ID:
                self._connection.execute(_FRESH, {"new_id": on_conflict is OnConflict.NEW_ID})
            counts = ImportCounts(*map(int, self._connection.execute(_COUNT, {"rows": self._rows}).fetchone()))
            replaced_size = self._replaced_size() if self._ascending else None
            (has_fresh,) = self._connection.execute("SELECT EXISTS (SELECT 1 FROM other.fresh)").fetchone()
        is_plain = self._ascending and not has_fresh and counts.new == self._rows
        self._compared = _Compared(*state, counts, is_plain, replaced_size, self._given)
        return self._compared.counts

    def _replaced_size(self) -> int:
        sql = f"SELECT total({FULL_IMAGE_SIZE}) FROM main.plant WHERE id IN (SELECT id FROM other.replacing)"
        size: float = self._connection.execute(sql).fetchone()[0]
        return round(size)

    @override
    def conflicts(self) -> Iterator[ImportConflict]:
        with translate_errors():
            self._check()
            for place, line, *values, owner, earlier, earlier_line in self._connection.execute(_CONFLICTS):
                found = None if earlier is None else self._position(earlier, earlier_line)
                yield ImportConflict(ImportRow(*self._position(place, line), *values), owner, found)

    def _position(self, place: int, line: int | None) -> tuple[int, int]:
        """Return file and line of a row."""
        _, file, lines_after = self._parts[bisect_right(self._parts, place, key=itemgetter(0)) - 1]
        return file, line or place + (lines_after or 0)

    @override
    def apply(self, label: str, progress: Callable[[int, int], None] | None = None) -> Applied:
        for _ in range(_MAX_TRIES):
            counts = self._compared.counts
            if counts.clashing and self._on_conflict is OnConflict.REFUSE:
                raise ImportConflictError(counts.clashing)
            if not counts.new and (not counts.clashing or self._on_conflict is OnConflict.SKIP):
                return Applied(None)
            try:
                return self._written(label, progress)
            except (_StaleError, sqlite3.IntegrityError):
                self.compare(self._on_conflict, self._fields)
        raise StoreBusyError

    def _written(self, label: str, progress: Callable[[int, int], None] | None) -> Applied:
        write = _Write(self._compared, self._on_conflict, self._fields, label, progress)
        with self._lock:
            self._check()
            self._write = write
        future: Future[Applied] = self._writer.submit(write.run, attached=self._temporary)
        try:
            return future.result()
        except KeyboardInterrupt:
            write.cancel()
            try:
                return future.result()  # it may have been committed already
            except InterruptedError:
                raise KeyboardInterrupt from None
        finally:
            self._write = None

    @override
    def cancel(self) -> None:
        with self._lock:
            self._cancelled = True
            if self._write is not None:
                self._write.cancel()
            elif self._is_working:
                self._connection.interrupt()

    @override
    def close(self) -> None:
        self._stack.close()

    @contextmanager
    def _work(self) -> Iterator[None]:
        """Hold a transaction of the temporary file, which takes no lock of the store."""
        with self._lock:
            self._check()
            self._is_working = True
        try:
            with translate_errors(), transaction(self._connection, mode="DEFERRED"):
                yield
        finally:
            with self._lock:
                self._is_working = False

    def _check(self) -> None:
        if self._cancelled:
            raise InterruptedError


class _Write:
    """The last step, on the writer thread."""

    def __init__(
        self,
        compared: _Compared,
        on_conflict: OnConflict,
        fields: Collection[str],
        label: str,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self._compared, self._on_conflict, self._fields, self._label = compared, on_conflict, fields, label
        self._progress = progress
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._cancelled = False

    def cancel(self) -> None:
        """Let the write fail with InterruptedError, unless it is done. Any thread may call it."""
        with self._lock:
            self._cancelled = True
            if self._connection is not None:
                self._connection.interrupt()

    def run(self, connection: sqlite3.Connection) -> tuple[Applied, Changes]:
        """Write all rows as one change. Raises _StaleError, InterruptedError, sqlite3.Error."""
        with self._lock:
            if self._cancelled:
                raise InterruptedError
            self._connection = connection
        try:
            applied = self._change(connection)
        finally:
            with self._lock:
                self._connection = None
        if self._cancelled:
            raise InterruptedError
        return applied, Changes(history=True, needs_reload=True)

    def _change(self, connection: sqlite3.Connection) -> Applied:
        state = {"seq": self._compared.seq, "change": self._compared.change}
        if state != {"seq": last_seq(connection), "change": last_number(connection)}:
            (is_stale,) = connection.execute(_TOUCHED, state).fetchone()
            if is_stale:
                raise _StaleError
        number = begin(connection)
        source = new_source(connection, SourceKind.IMPORT, self._label)
        values = {
            "number": number,
            "base": _base(connection),
            "last": last_seq(connection),
            "now": now_ms(),
            "source": source.id,
        }
        counts, replaced_size = self._compared.counts, self._compared.replaced_size
        plants = self._insert(connection, values) if counts.new or self._on_conflict is OnConflict.NEW_ID else 0
        size = None if replaced_size is None else IMAGE_SIZE * plants + replaced_size
        if self._on_conflict is OnConflict.REPLACE:
            plants += self._replace(connection, number)
        file = {"file": parameter(self._label)}
        extent = None if size is None else Extent(plants, size)
        return Applied(record(connection, ChangeEntry(number, source, ChangeKind.IMPORT, file, extent=extent)))

    def _insert(self, connection: sqlite3.Connection, values: dict[str, int]) -> int:
        """Insert the new plants in parts, for the progress; return their number."""
        (rows,) = connection.execute("SELECT coalesce(max(place), 0) FROM other.row").fetchone()
        plants = 0
        for first in range(1, rows + 1, _PART_SIZE):
            part = {**values, "from": first, "to": first + _PART_SIZE - 1}
            insert_plants, insert_images = self._inserts()
            plants += connection.execute(insert_plants, part).rowcount
            connection.execute(insert_images, part)
            if self._progress is not None:
                self._progress(min(part["to"], rows), rows)
        return plants

    def _inserts(self) -> tuple[str, str]:
        """Return the statements; faster ones in the usual case that all rows are new and have ascending ids."""
        insert = _INSERT_PLANTS.format(columns=", ".join(sorted(self._compared.given - {"id", "line"})))
        if not self._compared.is_plain:
            return insert, _INSERT_IMAGES
        plants = insert.replace(_NEW, _ALL_ROWS).replace(_ID, "r.id")
        return plants, _INSERT_IMAGES.replace("BY id", "BY seq")

    def _replace(self, connection: sqlite3.Connection, number: int) -> int:
        store_images(connection, number, number, "id IN (SELECT id FROM other.replacing)")
        return connection.execute(_REPLACE.format(columns=replaced(self._fields)), {"number": number}).rowcount


def _bound(column: Sequence[int | str | None]) -> Sequence[int | str | float | None]:
    return column if all(column) else [_NULL if each is None else each for each in column]


def _base(connection: sqlite3.Connection) -> int:
    """Return the id after which those without one follow."""
    (count,) = connection.execute("SELECT count(*) FROM other.fresh").fetchone()
    return last_id(connection, count, "other.row") if count else 0
