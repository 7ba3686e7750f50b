"""What a reader takes from the indexes of `view_index`: candidates of a search, and whole orders."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections import deque
from contextlib import ExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import bindparam, func, text
from sqlmodel import col, select

from plantdesk.errors import StoreUnreachableError
from plantdesk.store.placing import find_places
from plantdesk.store.sqlite.connections import snapshot
from plantdesk.store.sqlite.engines import driver_connection
from plantdesk.store.sqlite.ordering import ordering
from plantdesk.store.sqlite.text_index import candidates
from plantdesk.store.tables import PlantTable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from sqlalchemy import Connection, TextClause

    from plantdesk.selections import Selection
    from plantdesk.store.placing import Place
    from plantdesk.store.sqlite.text_index import Candidates
    from plantdesk.store.sqlite.view_index import ViewIndex
    from plantdesk.store.views import View

#: More candidates than this are not worth it: a scan gives the first rows at once.
_MAX_CANDIDATES = 60_000


class IndexedReads:
    """The indexes as one reader uses them. All methods return None where there is none, or it is of no use."""

    def __init__(self, connection: Connection, index: ViewIndex | None) -> None:
        self._connection = connection
        self._raw = driver_connection(connection)
        self._index = index
        self._attached: Path | None = None

    def sorted_ids(self, view: View, sizes: Iterable[int]) -> Iterator[array[int]] | None:
        """Return all ids in the order of a view, in chunks of these sizes.

        Raises sqlite3.Error; the iterator raises StoreUnreachableError, and the query is to be repeated.
        """
        indexed = None if self._index is None else self._index.indexed
        if indexed is None or not view.plants.is_everything or view.order not in indexed.orders:
            return None
        with suppress(OSError), ExitStack() as stack:
            known = stack.enter_context(indexed.opened_order(view.order, descending=view.descending))
            with snapshot(self._raw):
                changed = indexed.changed(self._raw)
                if changed is None:
                    return None
                in_order = partial(sort_ids, self._connection, view=view)
                places = find_places(in_order(list(changed.before | changed.added)), known, in_order, changed.before)
            if places is not None:
                return self._placed(stack.pop_all(), _Placed(known, places, changed.before), sizes)
        return None

    def candidates(self, selection: Selection) -> TextClause | None:
        """Return the condition that narrows a search down to the candidates of the index.

        Not within a transaction, which would end with the tables that this makes. Raises sqlite3.Error.
        """
        found = candidates(selection)
        indexed = None if self._index is None or found is None else self._index.indexed
        if self._index is None or found is None or indexed is None or not indexed.is_known(self._raw):
            return None
        try:
            self._attach(indexed.words)
            count = self._collect(found)
        except sqlite3.DatabaseError as error:  # of the index: it is damaged, or gone
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
                raise
            self._index.drop()
            return None
        if count > _MAX_CANDIDATES:
            return None
        ranges = "".join(f" OR id BETWEEN {first} AND {last}" for first, last in found.ids)
        return text(
            f"""plant.id IN (
                SELECT plant.id FROM temp.candidate JOIN plant ON plant.seq = candidate.seq
                UNION ALL SELECT id FROM plant WHERE seq > :indexed_seq{ranges}
                UNION ALL SELECT plant_id FROM before_image WHERE change > :indexed_change)"""
        ).bindparams(bindparam("indexed_seq", indexed.seq), bindparam("indexed_change", indexed.change))

    def _placed(self, opened: ExitStack, placed: _Placed, sizes: Iterable[int]) -> Iterator[array[int]]:
        with opened:
            try:
                yield from placed.chunks(sizes)
            except OSError as error:
                if self._index is not None:
                    self._index.drop()
                raise StoreUnreachableError from error

    def _attach(self, path: Path) -> None:
        if self._attached == path:
            return
        self._raw.execute("CREATE TEMP TABLE IF NOT EXISTS candidate (seq INTEGER PRIMARY KEY)")
        if self._attached is not None:
            self._attached = None
            self._raw.execute("DETACH indexed")
        self._raw.execute("ATTACH ? AS indexed", (f"{path.as_uri()}?mode=ro",))
        self._attached = path

    def _collect(self, found: Candidates) -> int:
        """Put the candidates into a table of this connection, up to one more than are allowed; return their number."""
        self._raw.execute("DELETE FROM temp.candidate")
        sql = "INSERT INTO temp.candidate SELECT rowid FROM indexed.words WHERE words MATCH ? LIMIT ?"
        return self._raw.execute(sql, (found.match, _MAX_CANDIDATES + 1)).rowcount


def sort_ids(connection: Connection, ids: Sequence[int], view: View) -> list[int]:
    """Return those of `ids` that exist, in the order of a view. Raises sqlite3.Error."""
    listed = select(func.json_each(json.dumps(ids)).table_valued("value").c.value)
    statement = select(PlantTable.id).where(col(PlantTable.id).in_(listed))
    return list(connection.scalars(statement.order_by(*ordering(view.order, descending=view.descending))))


class _Placed(NamedTuple):
    """An order that is brought up to date: the places of new ids in it, and ids that have left theirs."""

    known: Sequence[int]
    places: Sequence[Place]
    left: Collection[int]

    def chunks(self, sizes: Iterable[int]) -> Iterator[array[int]]:
        """Yield the ids, about so many at a time. Raises OSError."""
        places, start, count = deque(self.places), 0, len(self.known)
        for size in sizes:
            end, chunk = min(start + size, count), array("q")
            while places and (places[0].row < end or end == count):
                place = places.popleft()
                chunk += self._part(start, place.row)
                chunk.append(place.id)
                start = place.row
            chunk += self._part(start, end)
            yield chunk
            if end == count:
                return
            start = end

    def _part(self, start: int, end: int) -> array[int]:
        part = array("q", self.known[start:end])
        return array("q", [plant_id for plant_id in part if plant_id not in self.left]) if self.left else part
