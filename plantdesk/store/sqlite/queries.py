"""Reading the store: the order of the rows in a view, pages of rows by id, and short queries.

Search and sort are SQL over the whole table, which takes up to a second for a million plants, and which a newer query
interrupts. The first rows come from a query of their own, which need not sort the others.
"""

from __future__ import annotations

import sqlite3
import threading
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, groupby, repeat
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from plantdesk.domain.errors import StoreDamagedError
from plantdesk.domain.folding import SEPARATOR, natural_key
from plantdesk.domain.protocols import FindsRows, LinePages, PlantReader
from plantdesk.domain.records import Source, SourceKind
from plantdesk.domain.selections import Selection
from plantdesk.domain.views import KnownName, Order, View, find_insertion_points
from plantdesk.store.history import history_summary, newest_changes
from plantdesk.store.sql import VERSION, placeholders
from plantdesk.store.sqlite.connections import snapshot, translate_errors
from plantdesk.store.sqlite.counts import count_plants
from plantdesk.store.sqlite.dialect import add_functions, alike_key, condition_of, order_by
from plantdesk.store.sqlite.history import history_entries, last_number, plant_history
from plantdesk.store.sqlite.row_reads import (
    CsvPages,
    JsonPages,
    all_ids,
    chunks,
    has_pages,
    last_id,
    last_seq,
    pages,
    rows_by_id,
    rows_cut,
)

if TYPE_CHECKING:
    from plantdesk.domain.desks import Desk
    from plantdesk.domain.duplicates import PlantGroups
    from plantdesk.domain.events import EventPage
    from plantdesk.domain.history import Change, HistoryEntry, PlantChange
    from plantdesk.domain.protocols import HistorySummary, LinePage
    from plantdesk.domain.records import PlantRow
    from plantdesk.domain.views import Counts, InsertionPoint
    from plantdesk.store.conditions import Condition
    from plantdesk.store.sqlite.files.store_file import StoreFile

#: Ids in the first chunk of a view: a few screens, available at once.
_FIRST_CHUNK = 512
#: Ids in later chunks: the window repaints its rows after each.
_CHUNK = 200_000
#: Plants among which the first chunk of a search is looked for, newest first: 40 ms.
_NEWEST = 20_000
#: Plants that are read together.
_PAGE = 5_000
#: Plants among which names are counted.
_MAX_COUNTED = 50_000
# Beside max() SQLite takes the tag from the same row (https://sqlite.org/lang_select.html#bareagg).
_KNOWN_NAMES = """SELECT name, tag, max(seq) AS latest, count(*) AS plants FROM (
                      SELECT name, tag, seq FROM plant WHERE {} {} LIMIT {})
                  GROUP BY name ORDER BY plants DESC, latest DESC LIMIT {}"""
_LISTED = "plant_id IN (SELECT value FROM json_each(:ids))"


class Reader(PlantReader, LinePages, FindsRows):
    """A read connection. One thread at a time may use it, but any thread may interrupt it.

    Every method raises StoreError where the file cannot be read, and InterruptedError after `interrupt()`.
    """

    def __init__(
        self,
        file: StoreFile,
        on_damage: Callable[[StoreDamagedError], object] | None = None,
    ) -> None:
        self._file = file
        self._on_damage = on_damage
        self._swapping = threading.Lock()
        with translate_errors():
            self._open()

    @override
    def ids(self, view: View) -> Iterator[array[int]]:
        with self._query(), snapshot(self._connection):
            if view.plants.is_everything and has_pages(view.order):
                sizes = chain((_FIRST_CHUNK,), repeat(_CHUNK))
                yield from pages(self._connection, view.order, sizes, descending=view.descending)
                return
            found = condition_of(view.plants)
            in_order = f"SELECT id FROM plant WHERE {found.sql} {order_by(view)}"
            if view.order is Order.ADDED and view.descending:
                first, is_all = self._newest_ids(view.plants), False
            else:  # with LIMIT SQLite sorts no more rows than it returns
                first = self._column(f"{in_order} LIMIT {_FIRST_CHUNK}", found.values)
                is_all = len(first) < _FIRST_CHUNK
            if first:
                yield array("q", first)
            for chunk in () if is_all else all_ids(self._connection, in_order, found.values, _CHUNK):
                if rest := chunk[len(first) :]:
                    yield rest
                first = []

    def _newest_ids(self, plants: Selection) -> list[int]:
        """Return the first chunk of a search, newest first, if the newest plants fill it: they need no sort."""
        found = condition_of(plants).require("seq > :seq", seq=last_seq(self._connection) - _NEWEST)
        sql = f"SELECT id FROM plant WHERE {found.sql} ORDER BY seq DESC LIMIT {_FIRST_CHUNK}"
        ids = self._column(sql, found.values)
        return ids if len(ids) == _FIRST_CHUNK else []

    @override
    def matching(self, ids: Sequence[int], view: View) -> set[int]:
        with self._query():
            return set(_ids(self._connection, condition_of(view.plants).among(ids)))

    @override
    def insertion_points(self, ids: Sequence[int], view: View, known: array[int]) -> list[InsertionPoint] | None:
        matching = list(self.matching(ids, view))
        with self._query():

            def in_order(listed: Sequence[int]) -> list[int]:
                return _ids(self._connection, condition_of(Selection(ids=listed)), order_by(view))

            return find_insertion_points(in_order(matching), known, in_order)

    @override
    def rows(self, ids: Sequence[int]) -> dict[int, PlantRow]:
        with self._query():
            return rows_by_id(self._connection, ids)

    @override
    def rows_cut(self, ids: Sequence[int], longest: int) -> dict[int, PlantRow]:
        with self._query():
            return rows_cut(self._connection, ids, longest)

    @override
    def plant(self, plant_id: int) -> PlantRow | None:
        return self.rows([plant_id]).get(plant_id)

    @override
    def count(self) -> int:
        with self._query():
            return self._count(condition_of(Selection()))

    @override
    def next_free_id(self) -> int:
        with self._query():
            return last_id(self._connection) + 1

    @override
    def tags(self) -> list[str]:
        with self._query():
            return sorted(self._column("SELECT DISTINCT tag FROM plant WHERE tag IS NOT NULL"), key=natural_key)

    @override
    def tag_counts(self) -> dict[str, int]:
        statement = "SELECT tag, count(*) FROM plant WHERE tag IS NOT NULL GROUP BY tag"
        with self._query():
            counts = self._connection.execute(statement).fetchall()
        return dict(sorted(counts, key=lambda item: natural_key(item[0])))

    @override
    def known_names(self, start: str, limit: int) -> list[KnownName]:
        return self._names(condition_of(Selection()).begin(start), "ORDER BY id DESC", limit)

    @override
    def near_names(self, name: str, limit: int) -> list[KnownName]:
        from plantdesk.domain.spelling import MAX_COMPARED, maybe_near, nearest  # not of commands

        if (near := maybe_near(name)) is None:
            return []
        plants, lengths = near
        names = self._names(condition_of(plants).has_length(lengths), "", MAX_COMPARED)
        return nearest(name, names, limit, attrgetter("name"))

    def _names(self, found: Condition, order: str, limit: int) -> list[KnownName]:
        """Return the names of the first plants in an order, the most frequent first."""
        sql = _KNOWN_NAMES.format(found.sql, order, _MAX_COUNTED, found.bind(limit))
        with self._query():
            rows = self._connection.execute(sql, found.values).fetchall()
        return [KnownName(name, tag, count) for name, tag, _, count in rows]

    @override
    def first_with_name(self, view: View, start: str) -> int | None:
        with self._query():
            found = _ids(self._connection, condition_of(view.plants).begin(start), f"{order_by(view)} LIMIT 1")
        return found[0] if found else None

    @override
    def names_in_use(self, names: Collection[str]) -> set[str]:
        found: set[str] = set()
        with self._query():
            for chunk in chunks(list(names)):
                sql = f"SELECT name FROM plant WHERE name IN ({placeholders(len(chunk))})"
                found.update(self._column(sql, tuple(chunk)))
        return found

    @override
    def duplicates(self, *, by_tag: bool) -> PlantGroups:
        from plantdesk.domain.duplicates import PlantGroups  # not of commands

        # Grouped here: SQLite would make texts of the ids and versions of each group, which takes as long as the sort.
        statement = f"SELECT id, {VERSION}, {alike_key(by_tag=by_tag)} AS alike FROM plant ORDER BY alike, id"
        found = PlantGroups(array("q"), array("q"), array("q"))
        with self._query():
            for alike, rows in groupby(self._connection.execute(statement), itemgetter(2)):
                first, *others = rows
                if others and alike and not alike.startswith(SEPARATOR):
                    for plant_id, version, _ in (first, *others):
                        found.ids.append(plant_id)
                        found.versions.append(version)
                    found.sizes.append(1 + len(others))
        return found

    @override
    def counts(self, before: Counts | None = None) -> Counts:
        with self._query():
            return count_plants(self._connection, before, self._file.epoch)

    @override
    def sources(self) -> list[Source]:
        with self._query():
            rows = self._connection.execute("SELECT id, kind, label FROM source").fetchall()
        return [Source(source_id, SourceKind(kind), label) for source_id, kind, label in rows]

    @override
    def two_sources(self) -> list[int]:
        first = "SELECT source_id FROM plant"
        other = f"{first} WHERE source_id <> ({first} LIMIT 1)"
        with self._query():
            return [each for query in (first, other) for each in self._column(f"{query} LIMIT 1")]

    @override
    def desks_at_work(self) -> list[Desk]:
        return []

    @override
    def count_selected(self, selection: Selection) -> int:
        with self._query():
            return self._count(condition_of(selection))

    @override
    def selected(self, selection: Selection, limit: int | None = None) -> Iterator[PlantRow]:
        with self._query():
            order = f"{order_by(View(selection))} LIMIT {-1 if limit is None else limit}"
            ids = _ids(self._connection, condition_of(selection), order)
        for chunk in chunks(ids):
            rows = self.rows(chunk)
            yield from (rows[plant_id] for plant_id in chunk if plant_id in rows)

    @override
    def pages(self, selection: Selection) -> Iterator[list[PlantRow]]:
        last = 0
        while True:
            condition = condition_of(selection).require("seq > :last", last=last)
            sql = f"SELECT id, seq FROM plant WHERE {condition.sql} ORDER BY seq LIMIT {_PAGE}"
            with self._query():
                found = self._connection.execute(sql, condition.values).fetchall()
                rows = rows_by_id(self._connection, [plant_id for plant_id, _ in found])
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
                page = pages.next(self._connection)
            if page is None:
                return
            yield page

    @override
    def history(self, limit: int = 100) -> list[Change]:
        with self._query():
            return newest_changes(self._connection.execute, limit)

    @override
    def history_entries(
        self,
        limit: int = 100,
        before: int | None = None,
        text: str = "",
        source: Source | str | None = None,
        shown: Callable[[Change], str] | None = None,
    ) -> list[HistoryEntry]:
        with self._query():
            return history_entries(self._connection, limit, before, text, source, shown or _english)

    @override
    def history_summary(self) -> HistorySummary:
        with self._query():
            return history_summary(self._connection.execute)

    @override
    def plant_history(self, plant_id: int, limit: int = 100) -> list[PlantChange]:
        with self._query():
            return plant_history(self._connection, plant_id, limit)

    @override
    def events(self, since: str | None, limit: int = _PAGE) -> EventPage:
        from plantdesk.store.events import StoreState, read_events

        with self._query(), snapshot(self._connection):
            (identity,) = self._connection.execute("SELECT identity FROM store").fetchone() or ("",)
            state = StoreState(identity, last_seq(self._connection), last_number(self._connection))
            return read_events(self._connection.execute, state, since, limit, _LISTED)

    @override
    def interrupt(self) -> None:
        with self._swapping, suppress(sqlite3.ProgrammingError):  # it is closed
            self._connection.interrupt()

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

    def _column(self, sql: str, values: Sequence[object] | dict[str, Any] = ()) -> list[Any]:
        return [row[0] for row in self._connection.execute(sql, values).fetchall()]

    def _count(self, found: Condition) -> int:
        (number,) = self._column(f"SELECT count(*) FROM plant WHERE {found.sql}", found.values)
        return int(number)

    def _open(self) -> None:
        generation = self._file.generation
        self._connection = self._file.connect()  # where it fails, nothing changes
        add_functions(self._connection)
        self._generation = generation


def _ids(connection: sqlite3.Connection, found: Condition, order: str = "") -> list[int]:
    """Return the ids of plants. Raises sqlite3.Error."""
    sql = f"SELECT id FROM plant WHERE {found.sql} {order}"
    return [plant_id for (plant_id,) in connection.execute(sql, found.values).fetchall()]


def _english(change: Change) -> str:
    return str(change.title)
