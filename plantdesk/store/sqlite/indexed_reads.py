"""Queries of a reader that use the indexes of `view_index`: candidates of a search, and sorted ids."""

from __future__ import annotations

import json
import sqlite3
import zlib
from array import array
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from plantdesk.domain.views import Order, find_insertion_points
from plantdesk.store.sql import Sql, sql, where
from plantdesk.store.sqlite.conditions import conditions_of, order_by
from plantdesk.store.sqlite.row_reads import among, first_column, gathered
from plantdesk.store.sqlite.text_index import candidates, find_letter, letter_of

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from plantdesk.domain.selections import Selection
    from plantdesk.domain.views import InsertionPoint, View
    from plantdesk.store.sqlite.text_index import Candidates
    from plantdesk.store.sqlite.view_index import ViewIndex

#: More candidates than this are not worth it: a scan gives the first rows at once.
_MAX_CANDIDATES = 60_000
#: The name under which a reader attaches the index of texts.
_SCHEMA = "indexed"


class IndexUnusableError(Exception):
    """There is no index, or it cannot be used for this view."""


class IndexedReads:
    """The index queries of one reader."""

    def __init__(self, connection: sqlite3.Connection, index: ViewIndex | None) -> None:
        self._connection = connection
        self._index = index
        self._attached: Path | None = None

    def ids(self, view: View, sizes: Iterator[int]) -> Iterator[array[int]]:
        """Yield the ids of a view that has no `candidates`, in chunks of about these sizes. Within a snapshot.

        Raises sqlite3.Error, and IndexUnusableError also after some chunks, which are right.
        """
        return self._sorted_ids(view, sizes) if view.plants.is_everything else self._found_ids(view, sizes)

    def _sorted_ids(self, view: View, sizes: Iterator[int]) -> Iterator[array[int]]:
        indexed = None if self._index is None else self._index.indexed
        if indexed is None or view.order not in indexed.orders:
            raise IndexUnusableError
        changed = indexed.changed(self._connection)
        if changed is None:
            raise IndexUnusableError
        with self._dropping_damaged(), indexed.opened_order(view.order, descending=view.descending) as known:
            yield from self._merged(known, changed, view, sizes)

    def _merged(
        self, known: Sequence[int], changed: AbstractSet[int], view: View, sizes: Iterator[int]
    ) -> Iterator[array[int]]:
        """Merge the changed ids with the known ones: the first chunk by sorting, the others by bisection."""
        in_order = partial(sort_ids, self._connection, view=view)
        start = min(next(sizes), len(known))
        first = [plant_id for plant_id in known[:start] if plant_id not in changed]
        late = in_order([*changed, *first[-1:]]) if changed else first[-1:]
        if first:
            if first[-1] not in late:
                raise IndexUnusableError
            end = late.index(first[-1])
            yield array("q", in_order([*late[:end], *first]) if end else first)
            late = late[end + 1 :]
        points = find_insertion_points(late, known, in_order, changed, start)
        if points is None:
            raise IndexUnusableError
        yield from _chunks(known, points, changed, sizes, start)

    def _found_ids(self, view: View, sizes: Iterator[int]) -> Iterator[array[int]]:
        """Yield the ids of the plants that contain a letter, in the order of adding."""
        indexed, letter = None if self._index is None else self._index.indexed, letter_of(view.plants)
        if indexed is None or self._attached != indexed.texts or view.order is not Order.ADDED:
            raise IndexUnusableError
        edited = indexed.edited(self._connection)
        if edited is None or indexed.letters is None or letter not in indexed.letters.marked:
            raise IndexUnusableError
        edited |= indexed.letters.unmarked_plants
        conditions = conditions_of(view.plants)
        late = self._found_rows(*conditions, among("id", edited), Sql("seq <= ?", (indexed.seq,)))
        late += self._found_rows(*conditions, Sql("seq > ?", (indexed.seq,)))
        with self._dropping_damaged():
            found = find_letter(self._connection, _SCHEMA, letter, edited, late, descending=view.descending)
            yield from gathered(found, sizes)

    def _found_rows(self, *conditions: Sql | str) -> list[tuple[int, int]]:
        return self._connection.execute(*sql("SELECT id, seq FROM plant", where(conditions))).fetchall()

    def candidates(self, selection: Selection) -> Sql | None:
        """Return the condition that narrows a search down to the candidates of the index; None where it does not help.

        To be called before `ids`, and not within a transaction, which would end with the tables that this makes.
        Raises sqlite3.Error.
        """
        found = candidates(selection)
        indexed = None if self._index is None else self._index.indexed
        if indexed is None or not (found or letter_of(selection)):
            return None
        if (edited := indexed.edited(self._connection)) is None:
            return None
        try:
            with self._dropping_damaged():
                self._attach(indexed.checked(indexed.texts))
                if found is None or self._collect(found) > _MAX_CANDIDATES:
                    return None
        except IndexUnusableError:
            return None
        ranges = "".join(f" OR id BETWEEN {first} AND {last}" for first, last in found.ids)
        return Sql(
            f"""id IN (
                SELECT plant.id FROM temp.candidate JOIN plant ON plant.seq = candidate.seq
                UNION ALL SELECT id FROM plant WHERE seq > ?{ranges}
                UNION ALL SELECT value FROM json_each(?))""",
            (indexed.seq, json.dumps([*edited])),
        )

    def _attach(self, path: Path) -> None:
        if self._attached == path:
            return
        self._connection.execute("CREATE TEMP TABLE IF NOT EXISTS candidate (seq INTEGER PRIMARY KEY)")
        if self._attached is not None:
            self._attached = None
            self._connection.execute(f"DETACH {_SCHEMA}")
        self._connection.execute(f"ATTACH ? AS {_SCHEMA}", (f"{path.as_uri()}?mode=ro",))
        self._attached = path

    def _collect(self, found: Candidates) -> int:
        """Store the candidates in a temporary table, at most one more than allowed; return their number."""
        self._connection.execute("DELETE FROM temp.candidate")
        collect = f"INSERT INTO temp.candidate SELECT rowid FROM {_SCHEMA}.words WHERE words MATCH ? LIMIT ?"
        return self._connection.execute(collect, (found.match, _MAX_CANDIDATES + 1)).rowcount

    @contextmanager
    def _dropping_damaged(self) -> Iterator[None]:
        """Drop an index that is damaged, or gone, and raise IndexUnusableError."""
        try:
            yield
        except (sqlite3.DatabaseError, zlib.error, OSError) as error:
            if self._index is None or getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
                raise
            self._index.drop()
            raise IndexUnusableError from error


def sort_ids(connection: sqlite3.Connection, ids: Sequence[int], view: View) -> list[int]:
    """Return those of `ids` that exist, in the order of a view. Raises sqlite3.Error."""
    sort = order_by(view.order, descending=view.descending)
    return first_column(connection, sql("SELECT id FROM plant", where([among("id", ids)]), sort))


def _chunks(
    known: Sequence[int], new: Sequence[InsertionPoint], changed: AbstractSet[int], sizes: Iterator[int], start: int
) -> Iterator[array[int]]:
    """Yield the unchanged ids of an order from a row on, and the new ones at their insertion points. Raises OSError."""

    def unchanged(start: int, end: int) -> array[int]:
        ids = array("q", known[start:end])
        return array("q", [plant_id for plant_id in ids if plant_id not in changed]) if changed else ids

    points = deque(new)
    while start < len(known) or points:
        end, chunk = min(start + next(sizes), len(known)), array("q")
        while points and (points[0].row < end or end == len(known)):
            point = points.popleft()
            chunk += unchanged(start, point.row)
            chunk.append(point.id)
            start = point.row
        yield chunk + unchanged(start, end)
        start = end
