"""Reading the store: the order of the rows in a view, pages of rows by id, and short queries.

Search and sort are SQL over the whole table, which takes up to a second for a million plants, and which a newer query
interrupts. Where there is a `ViewIndex`, it narrows a search down, or gives the sorted ids.
"""

from __future__ import annotations

import threading
from array import array
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from sqlalchemy import func
from sqlalchemy import select as sql_select
from sqlmodel import col, select
from typing_extensions import override

from plantdesk.domain.errors import StoreDamagedError
from plantdesk.domain.folding import natural_key
from plantdesk.domain.protocols import FindsRows, LinePages, PlantReader
from plantdesk.domain.records import Source, SourceKind
from plantdesk.domain.views import KnownName, Order, View, find_insertion_points
from plantdesk.store.sqlite.conditions import MAX_PATTERN, add_functions, ids_of, name_begins, ordering
from plantdesk.store.sqlite.connections import snapshot, translate_errors
from plantdesk.store.sqlite.counts import count_plants
from plantdesk.store.sqlite.engines import driver_connection, make_engine
from plantdesk.store.sqlite.history import history_entries, history_summary, newest_changes, plant_history
from plantdesk.store.sqlite.indexed_reads import IndexedReads, IndexUnusableError, sort_ids
from plantdesk.store.sqlite.row_reads import (
    CsvPages,
    JsonPages,
    all_ids,
    chunks,
    has_pages,
    last_seq,
    next_free_id,
    pages,
    rows_by_id,
    rows_cut,
)
from plantdesk.store.tables import PlantTable, SourceTable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from sqlalchemy import ColumnElement, Select, TextClause
    from sqlmodel.sql.expression import SelectOfScalar

    from plantdesk.domain.history import Change, HistoryEntry, PlantChange
    from plantdesk.domain.protocols import HistorySummary, LinePage
    from plantdesk.domain.records import PlantRow
    from plantdesk.domain.selections import Selection
    from plantdesk.domain.views import Counts, InsertionPoint
    from plantdesk.store.sqlite.files.store_file import StoreFile
    from plantdesk.store.sqlite.view_index import ViewIndex

#: Ids in the first chunk of a view: a few screens, available at once.
_FIRST_CHUNK = 512
#: Ids in the second chunk and in later ones: the window repaints its rows after each.
_CHUNK, _LARGE_CHUNK = 50_000, 200_000
#: Plants among which the first chunk of a search is looked for, in the order of the table: 40 ms.
_NEWEST = 20_000
#: Plants that are read together.
_PAGE = 5_000
#: Plants among which names are counted.
_MAX_COUNTED = 50_000


class Reader(PlantReader, LinePages, FindsRows):
    """A read connection. One thread at a time may use it, but any thread may interrupt it.

    Every method raises StoreError where the file cannot be read, and InterruptedError after `interrupt()`.
    """

    def __init__(
        self,
        file: StoreFile,
        index: ViewIndex | None = None,
        on_damage: Callable[[StoreDamagedError], object] | None = None,
    ) -> None:
        self._file = file
        self._on_damage = on_damage
        self._index = index
        self._swapping = threading.Lock()
        with translate_errors():
            self._open()

    @override
    def ids(self, view: View) -> Iterator[array[int]]:
        with self._query():
            candidates = self._indexed.candidates(view.plants)
            with snapshot(self._raw):
                given = 0
                if candidates is None:
                    with suppress(IndexUnusableError):
                        for chunk in self._indexed.ids(view, _sizes()):
                            given += len(chunk)
                            yield chunk
                        return
                yield from self._selected_ids(view, candidates, given)

    def _selected_ids(self, view: View, candidates: TextClause | None, given: int) -> Iterator[array[int]]:
        """Yield the ids of a view by SQL, without the first `given` ones."""
        if view.plants.is_everything and has_pages(view.order):
            yield from pages(self._raw, view.order, _sizes(), descending=view.descending)
            return
        statement, sizes = ids_of(view.plants), _sizes()
        if candidates is not None:
            statement = statement.where(candidates)
        elif not given and view.order is Order.ADDED and view.descending and (newest := self._newest_ids(statement)):
            yield newest
            given = next(sizes)
        for chunk in all_ids(self._connection, statement.order_by(*_ordering(view)), sizes):
            if rest := chunk[given:]:
                yield rest
            given = max(0, given - len(chunk))

    def _newest_ids(self, statement: SelectOfScalar[int]) -> array[int]:
        """Return the first chunk of a search, newest first, if the newest plants fill it: the rest has to be sorted."""
        newest = statement.where(col(PlantTable.seq) > last_seq(self._raw) - _NEWEST)
        ids = self._connection.scalars(newest.order_by(col(PlantTable.seq).desc()).limit(_FIRST_CHUNK)).all()
        return array("q", ids if len(ids) == _FIRST_CHUNK else [])

    @override
    def matching(self, ids: Sequence[int], view: View) -> set[int]:
        found: set[int] = set()
        with self._query():
            for chunk in chunks(ids):
                statement = ids_of(view.plants).where(col(PlantTable.id).in_(chunk))
                found.update(self._connection.scalars(statement))
        return found

    @override
    def insertion_points(self, ids: Sequence[int], view: View, known: array[int]) -> list[InsertionPoint] | None:
        matching = list(self.matching(ids, view))
        with self._query():
            in_order = partial(sort_ids, self._connection, view=view)
            return find_insertion_points(in_order(matching), known, in_order)

    @override
    def rows(self, ids: Sequence[int]) -> dict[int, PlantRow]:
        with self._query():
            return rows_by_id(self._raw, ids)

    @override
    def rows_cut(self, ids: Sequence[int], longest: int) -> dict[int, PlantRow]:
        with self._query():
            return rows_cut(self._raw, ids, longest)

    @override
    def plant(self, plant_id: int) -> PlantRow | None:
        return self.rows([plant_id]).get(plant_id)

    @override
    def count(self) -> int:
        with self._query():
            return self._connection.execute(select(func.count()).select_from(PlantTable)).scalar_one()

    @override
    def next_free_id(self) -> int:
        with self._query():
            return next_free_id(self._raw)

    @override
    def tags(self) -> list[str]:
        statement = select(PlantTable.tag).where(col(PlantTable.tag).is_not(None)).distinct()
        with self._query():
            return sorted(map(str, self._connection.scalars(statement)), key=natural_key)

    @override
    def tag_counts(self) -> dict[str, int]:
        tag = col(PlantTable.tag)
        statement = select(PlantTable.tag, func.count()).where(tag.is_not(None)).group_by(tag)
        with self._query():
            counts = {str(name): int(count) for name, count in self._connection.execute(statement)}
        return dict(sorted(counts.items(), key=lambda item: natural_key(item[0])))

    @override
    def known_names(self, start: str, limit: int) -> list[KnownName]:
        if len(start) > MAX_PATTERN:
            return []
        plants = _begins_with(start).subquery()
        latest, number = func.max(plants.c.seq), func.count()
        # Beside max() SQLite takes the tag from the same row (https://sqlite.org/lang_select.html#bareagg).
        statement = select(plants.c.name, plants.c.tag, latest, number).group_by(plants.c.name)
        with self._query():
            rows = self._connection.execute(statement.order_by(number.desc(), latest.desc()).limit(limit))
            return [KnownName(name, tag, count) for name, tag, _, count in rows]

    @override
    def first_with_name(self, view: View, start: str) -> int | None:
        statement = ids_of(view.plants).where(name_begins(start)).order_by(*_ordering(view)).limit(1)
        with self._query():
            return self._connection.scalars(statement).first()

    @override
    def names_in_use(self, names: Collection[str]) -> set[str]:
        found: set[str] = set()
        with self._query():
            for chunk in chunks(list(names)):
                found.update(self._connection.scalars(select(PlantTable.name).where(col(PlantTable.name).in_(chunk))))
        return found

    @override
    def counts(self, before: Counts | None = None) -> Counts:
        with self._query():
            return count_plants(self._raw, before, self._file.epoch)

    @override
    def sources(self) -> list[Source]:
        statement = select(SourceTable.id, SourceTable.kind, SourceTable.label)
        with self._query():
            rows = self._connection.execute(statement)
            return [Source(source_id, SourceKind(kind), label) for source_id, kind, label in rows]

    @override
    def two_sources(self) -> list[int]:
        source_id = col(PlantTable.source_id)
        first = select(source_id).limit(1)
        other = select(source_id).where(source_id != first.scalar_subquery()).limit(1)
        with self._query():
            return [*self._connection.scalars(first), *self._connection.scalars(other)]

    @override
    def count_selected(self, selection: Selection) -> int:
        with self._query():
            statement = select(func.count()).select_from(self._ids_of(selection).subquery())
            return self._connection.execute(statement).scalar_one()

    @override
    def selected(self, selection: Selection, limit: int | None = None) -> Iterator[PlantRow]:
        with self._query():
            statement = self._ids_of(selection).order_by(*_ordering(View(selection))).limit(limit)
            ids: list[int] = list(self._connection.scalars(statement))
        for chunk in chunks(ids):
            rows = self.rows(chunk)
            yield from (rows[plant_id] for plant_id in chunk if plant_id in rows)

    @override
    def pages(self, selection: Selection) -> Iterator[list[PlantRow]]:
        seq, last = col(PlantTable.seq), 0
        while True:
            statement = ids_of(selection).add_columns(seq).where(seq > last).order_by(seq).limit(_PAGE)
            with self._query():
                found = [(plant_id, place) for plant_id, place in self._connection.execute(statement)]
                rows = rows_by_id(self._raw, [plant_id for plant_id, _ in found])
            if not found:
                return
            yield [rows[plant_id] for plant_id, _ in found if plant_id in rows]
            last = found[-1][1]

    @override
    def csv_pages(self, delimiter: str) -> Iterator[LinePage]:
        return self._line_pages(CsvPages(delimiter))

    @override
    def json_pages(self, separator: str) -> Iterator[LinePage]:
        return self._line_pages(JsonPages(separator))

    def _line_pages(self, pages: CsvPages | JsonPages) -> Iterator[LinePage]:
        while True:
            with self._query():
                page = pages.next(self._raw)
            if page is None:
                return
            yield page

    @override
    def history(self, limit: int = 100) -> list[Change]:
        with self._query():
            return newest_changes(self._raw, limit)

    @override
    def history_entries(
        self,
        limit: int = 100,
        before: int | None = None,
        text: str = "",
        source: Source | None = None,
        shown: Callable[[Change], str] | None = None,
    ) -> list[HistoryEntry]:
        with self._query():
            return history_entries(self._raw, limit, before, text, source, shown or _english)

    @override
    def history_summary(self) -> HistorySummary:
        with self._query():
            return history_summary(self._raw)

    @override
    def plant_history(self, plant_id: int, limit: int = 100) -> list[PlantChange]:
        with self._query():
            return plant_history(self._raw, plant_id, limit)

    @override
    def interrupt(self) -> None:
        with self._swapping:
            if not self._connection.closed:
                self._raw.interrupt()

    @override
    def close(self) -> None:
        with self._swapping:
            self._connection.close()

    @contextmanager
    def _query(self) -> Iterator[None]:
        """Use the file that the writer has open now, which may be another one than at the last query."""
        try:
            with translate_errors():
                if self._generation != self._file.generation:
                    with self._swapping:
                        old = self._connection
                        self._open()
                        old.close()
                yield
        except StoreDamagedError as error:
            if self._on_damage is not None:
                self._on_damage(error)
            raise

    def _ids_of(self, selection: Selection) -> SelectOfScalar[int]:
        """Return the query for the ids of a set, of the candidates of the index alone where there is one."""
        statement, candidates = ids_of(selection), self._indexed.candidates(selection)
        return statement if candidates is None else statement.where(candidates)

    def _open(self) -> None:
        generation = self._file.generation
        connection = make_engine(self._file.connect).connect()  # where it fails, nothing changes
        self._connection, self._raw = connection, driver_connection(connection)
        add_functions(self._raw)
        self._generation = generation
        self._indexed = IndexedReads(connection, self._index)


def _sizes() -> Iterator[int]:
    """Return an infinite iterator over the sizes of the chunks of a view."""
    return chain((_FIRST_CHUNK, _CHUNK), repeat(_LARGE_CHUNK))


def _ordering(view: View) -> list[ColumnElement[Any]]:
    return ordering(view.order, descending=view.descending, all_plants=view.plants.is_everything)


def _begins_with(start: str) -> Select[str, str | None, int]:
    """Return the query for name, tag and place of the plants whose name begins with a text."""
    columns = col(PlantTable.name), col(PlantTable.tag), col(PlantTable.seq)
    return sql_select(*columns).where(name_begins(start)).order_by(col(PlantTable.id).desc()).limit(_MAX_COUNTED)


def _english(change: Change) -> str:
    return str(change.title)
