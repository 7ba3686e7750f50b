"""Imports into every kind of store: rows are collected in tables of their own, and compared and written from there.

Only the last step, one transaction, keeps others from writing. If a commit since the comparison has touched plants of
the import, the rows are compared again.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import chain
from typing import Any

import sqlalchemy as sa
from sqlalchemy.schema import CreateTable
from sqlalchemy.types import Boolean
from typing_extensions import override

from plantdesk.domain.edits import Applied
from plantdesk.domain.errors import StoreBusyError, StoreError
from plantdesk.domain.folding import fold_all
from plantdesk.domain.history import ChangeKind, shorten_parameter
from plantdesk.domain.imports import (
    ImportConflict,
    ImportConflictError,
    ImportCounts,
    ImportRow,
    OnConflict,
    RowPosition,
)
from plantdesk.domain.protocols import PlantImport
from plantdesk.domain.records import Source, SourceKind
from plantdesk.store.change_writer import ChangeWriter
from plantdesk.store.database import TEMPORARY, Runner, StoreState
from plantdesk.store.models import BEFORE_IMAGE, NUMBER, PLANT, STRING, TEXTS, temporary_table
from plantdesk.store.rows import add_source, find_first_new_id

ReportRows = Callable[[int, int], None]

#: The most attempts to write an import: it is compared again if another writer has changed its plants meanwhile.
_MAX_ATTEMPTS = 20
#: Rows that are written between two reports of progress, and conflicts that are read together.
_PART_SIZE = 50_000
_PAGE_SIZE = 5_000

_POSITION_COLUMNS = {"place": NUMBER, "file": NUMBER, "line": NUMBER, "id": NUMBER}
#: All rows of the import.
_GIVEN = temporary_table("given", TEMPORARY, **_POSITION_COLUMNS, **dict.fromkeys(TEXTS, STRING))
#: Rows with the id of a plant, or of the `earlier` row of the import.
_KNOWN = temporary_table("known", TEMPORARY, place=NUMBER, conflicts=Boolean(), owner=STRING, earlier=NUMBER)
#: Rows that get a new id, the `nth` after the largest.
_FRESH = temporary_table("fresh", TEMPORARY, place=NUMBER, nth=NUMBER)
#: The last row for each plant that is replaced.
_REPLACING = temporary_table("replacing", TEMPORARY, id=NUMBER, place=NUMBER)
_COMPARED = (_KNOWN, _FRESH, _REPLACING)

_ROW = _GIVEN.c
_KNOWN_ROW = _KNOWN.c
_EARLIER = _GIVEN.alias("earlier_row")
_IS_KNOWN = sa.exists().where(_KNOWN_ROW.place == _ROW.place)


def _known_rows(*columns: Any) -> sa.Select[Any]:  # noqa: ANN401  columns and functions
    return sa.select(*columns).join_from(_KNOWN, _GIVEN, _ROW.place == _KNOWN_ROW.place)


_COUNTS = _known_rows(
    sa.func.count(),
    sa.func.count().filter(~_KNOWN_ROW.conflicts),
    sa.func.count().filter(_KNOWN_ROW.conflicts),
    sa.func.count(_ROW.id.distinct()).filter(_KNOWN_ROW.conflicts, _KNOWN_ROW.earlier.is_(None)),
)
_CONFLICTS = (
    _known_rows(_KNOWN_ROW.place, *(_ROW[column] for column in ImportRow._fields), _KNOWN_ROW.owner)
    .add_columns(_EARLIER.c.file, _EARLIER.c.line)
    .outerjoin(_EARLIER, _EARLIER.c.place == _KNOWN_ROW.earlier)
    .where(_KNOWN_ROW.conflicts)
    .order_by(_KNOWN_ROW.place)
    .limit(_PAGE_SIZE)
)
#: Of several rows with the same id, the last one replaces the others, even if it equals the plant as it was before.
_LAST_WINS = (
    sa.update(_KNOWN)
    .values(conflicts=sa.true())
    .where(
        ~_KNOWN_ROW.conflicts,
        _KNOWN_ROW.place.in_(
            sa.select(_ROW.place).where(_ROW.id.in_(_known_rows(_ROW.id).where(_KNOWN_ROW.conflicts)))
        ),
    )
)
_FIND_REPLACING = sa.insert(_REPLACING).from_select(
    ["id", "place"], _known_rows(_ROW.id, sa.func.max(_ROW.place)).where(_KNOWN_ROW.conflicts).group_by(_ROW.id)
)


class StaleError(Exception):
    """Plants of the import were changed in the store after the comparison; the import must be compared again."""


class StoreImport(PlantImport, ABC):
    """An import, whose tables are on the connection of `runner`. A subclass opens the transactions."""

    def __init__(self, runner: Runner) -> None:
        """Create the tables of the import on the connection of `runner`. Raises the driver's errors."""
        self._runner = runner
        self._lock = threading.Lock()
        self._is_cancelled = False
        #: The connection of the running call, for `cancel`.
        self._busy_connection: Any = None
        self._rows = 0
        for table in (_GIVEN, *_COMPARED):
            runner.run(CreateTable(table))

    @abstractmethod
    def _transaction(self) -> AbstractContextManager[object]:
        """Return a transaction on the connection of the tables. Its block raises StoreError and InterruptedError."""

    @abstractmethod
    def _write(self, step: Callable[[ChangeWriter], Applied]) -> Applied:
        """Run a step in a transaction that keeps others from writing. Raises StaleError and StoreError, too."""

    @override
    def add(self, rows: Sequence[ImportRow]) -> None:
        if not rows:
            return
        _, _, _, *texts = columns = [*zip(*rows, strict=True)]
        self._runner.database.check_storable(*chain.from_iterable(texts))
        places = range(self._rows + 1, self._rows + 1 + len(rows))
        with self._table_access() as runner:
            runner.database.insert_rows(runner, _GIVEN, zip(places, *columns, *map(fold_all, texts), strict=True))
        self._rows += len(rows)

    @override
    def compare(self, on_conflict: OnConflict, fields: Collection[str]) -> ImportCounts:
        self._on_conflict = on_conflict
        self._fields = [column for column in ("name", "tag", "note") if column in {"name", *fields}]
        with self._table_access() as runner:
            state = runner.database.read_state(runner)
            runner.database.analyze(runner, _GIVEN)
            for statement in _comparison_statements(on_conflict, self._fields):
                runner.run(statement)
            for table in _COMPARED:
                runner.database.analyze(runner, table)
            known, *counts = runner.run(_COUNTS).one()
        self._state = state
        self._counts = ImportCounts(self._rows - known, *counts)
        return self._counts

    @override
    def conflicts(self) -> Iterator[ImportConflict]:
        rows: Sequence[Sequence[Any]] = [(0,)]
        while rows:
            with self._table_access() as runner:
                rows = runner.run(_CONFLICTS.where(_KNOWN_ROW.place > rows[-1][0])).all()
            for _, *values, owner, file, line in rows:
                yield ImportConflict(ImportRow(*values), owner, None if file is None else RowPosition(file, line))

    @override
    def apply(self, label: str, progress: ReportRows | None = None) -> Applied:
        for _ in range(_MAX_ATTEMPTS):
            if self._counts.conflicting and self._on_conflict is OnConflict.REFUSE:
                raise ImportConflictError(self._counts.conflicting)
            if not self._counts.new and (not self._counts.conflicting or self._on_conflict is OnConflict.SKIP):
                return Applied(None)
            try:
                return self._write(partial(self._make_change, label, progress))
            except StaleError:
                self.compare(self._on_conflict, self._fields)
        raise StoreBusyError

    @override
    def cancel(self) -> None:
        with self._lock:
            self._is_cancelled = True
            if self._busy_connection is not None:
                self._busy_connection.interrupt()

    @contextmanager
    def _table_access(self) -> Iterator[Runner]:
        """Open a transaction on the tables of the import; it takes no lock of the store."""
        with self._interruptible(self._runner.driver), self._transaction():
            yield self._runner

    @contextmanager
    def _interruptible(self, connection: object) -> Iterator[None]:
        """Let `cancel` interrupt a connection during a block. Raises InterruptedError after `cancel`."""
        with self._lock:
            self._raise_if_cancelled()
            self._busy_connection = connection
        try:
            yield
        except StoreError:
            self._raise_if_cancelled()  # then this is what interrupted it
            raise
        finally:
            with self._lock:
                self._busy_connection = None

    def _raise_if_cancelled(self) -> None:
        if self._is_cancelled:
            raise InterruptedError

    # --- the last step ---

    def _make_change(self, label: str, progress: ReportRows | None, writer: ChangeWriter) -> Applied:
        """Write the compared rows as one change. Raises StaleError if their plants have changed since then."""
        runner = writer.runner
        state = runner.database.read_state(runner)
        if state != self._state and runner.run(_changed_since(self._state)).first() is not None:
            raise StaleError
        source = add_source(runner, SourceKind.IMPORT, label)
        self._insert(writer, source, progress)
        if self._on_conflict is OnConflict.REPLACE:
            values = {column: _ROW[column] for field in self._fields for column in (field, f"searched_{field}")}
            writer.change(sa.and_(PLANT.c.id == _REPLACING.c.id, _ROW.place == _REPLACING.c.place), values)
        self._raise_if_cancelled()
        return Applied(writer.record(source, ChangeKind.IMPORT, {"file": shorten_parameter(label)}))

    def _insert(self, writer: ChangeWriter, source: Source, progress: ReportRows | None) -> None:
        """Insert the new plants in parts, and report the progress after each."""
        runner = writer.runner
        last_seq = writer.last_seq
        added_at = runner.run(sa.select(runner.database.now())).scalar_one()
        fixed_values = {"added_at": added_at, "source_id": source.id, "change": writer.number}
        fresh_count = runner.run(sa.select(sa.func.count()).select_from(_FRESH)).scalar_one()
        new_id = _FRESH.c.nth + (find_first_new_id(runner, fresh_count, _GIVEN) - 1 if fresh_count else 0)
        for first in range(1, self._rows + 1, _PART_SIZE):
            part = range(first, min(first + _PART_SIZE, self._rows + 1))
            new_count = runner.run(self._new_plants_insert(part, new_id, last_seq, fixed_values)).rowcount
            writer.record_new_plants(PLANT.c.seq > last_seq)
            writer.reserve_seqs(new_count)
            last_seq += new_count
            if progress is not None:
                progress(part.stop - 1, self._rows)

    def _new_plants_insert(
        self, part: range, new_id: sa.ColumnElement[int], last_seq: int, fixed_values: dict[str, int]
    ) -> sa.Insert:
        """Return the INSERT of the new plants of a part of the rows, numbered after `last_seq`."""
        nth: sa.ColumnElement[int] = sa.func.row_number().over(order_by=_ROW.place)
        if self._counts.new == self._rows:  # to number the rows takes SQLite as long as to insert them
            nth = _ROW.place - (part.start - 1)
        is_left_out = _IS_KNOWN.where(~_KNOWN_ROW.conflicts) if self._on_conflict is OnConflict.NEW_ID else _IS_KNOWN
        values = (sa.literal(value, NUMBER) for value in fixed_values.values())
        rows = (
            sa.select(sa.func.coalesce(new_id, _ROW.id), nth + last_seq, *values, *(_ROW[text] for text in TEXTS))
            .outerjoin_from(_GIVEN, _FRESH, _FRESH.c.place == _ROW.place)
            .where(_ROW.place.between(part.start, part.stop - 1), ~is_left_out)
            .order_by(_ROW.place)
        )
        return sa.insert(PLANT).from_select(["id", "seq", *fixed_values, *TEXTS], rows)


def _comparison_statements(on_conflict: OnConflict, fields: Collection[str]) -> Iterator[Any]:
    """Yield the statements that compare the given rows with the store, and with each other."""
    yield from map(sa.delete, _COMPARED)
    yield from (_known_in_store_insert(fields), _known_in_file_insert(fields))
    if on_conflict is OnConflict.REPLACE:
        yield from (_LAST_WINS, _FIND_REPLACING)
    conflicts = [_IS_KNOWN.where(_KNOWN_ROW.conflicts)] if on_conflict is OnConflict.NEW_ID else []
    fresh = sa.select(_ROW.place, sa.func.row_number().over(order_by=_ROW.place))
    yield sa.insert(_FRESH).from_select(["place", "nth"], fresh.where(sa.or_(_ROW.id.is_(None), *conflicts)))


def _known_in_store_insert(fields: Collection[str]) -> sa.Insert:
    """Return the INSERT of the rows with the id of a plant in the store; those with other `fields` conflict."""
    rows = sa.select(_ROW.place, _differs(PLANT, fields), PLANT.c.name).join_from(_GIVEN, PLANT, PLANT.c.id == _ROW.id)
    return sa.insert(_KNOWN).from_select(["place", "conflicts", "owner"], rows)


def _known_in_file_insert(fields: Collection[str]) -> sa.Insert:
    """Return the INSERT of the rows with the id of an earlier row, unless a plant in the store has it."""
    repeated = sa.select(_ROW.id, sa.func.min(_ROW.place).label("first")).where(_ROW.id.is_not(None))
    first = repeated.group_by(_ROW.id).having(sa.func.count() > 1).subquery("several").c
    rows = (
        sa.select(_ROW.place, _differs(_EARLIER, fields), _EARLIER.c.name, _EARLIER.c.place)
        .join(first.id.table, (_ROW.id == first.id) & (_ROW.place > first.first))
        .join(_EARLIER, _EARLIER.c.place == first.first)
        .where(~_IS_KNOWN)
    )
    return sa.insert(_KNOWN).from_select(["place", "conflicts", "owner", "earlier"], rows)


def _differs(table: sa.FromClause, fields: Collection[str]) -> sa.ColumnElement[bool]:
    return sa.or_(*(table.c[column].is_distinct_from(_ROW[column]) for column in fields))


def _changed_since(since: StoreState) -> sa.Select[Any]:
    """Return the SELECT of a row of the import whose plant was added or changed after a state of the store."""
    plants = sa.select(PLANT.c.id).where(PLANT.c.seq > since.seq)
    images = sa.select(BEFORE_IMAGE.c.plant_id).where(BEFORE_IMAGE.c.change > since.change)
    return sa.select(_ROW.place).where(_ROW.id.in_(sa.union(plants, images))).limit(1)
