"""What a reader takes from the indexes of `view_index`: candidates of a search, and whole orders."""

from __future__ import annotations

import json
import sqlite3
from array import array
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, func, text
from sqlmodel import col, select

from plantdesk.store.placing import find_places
from plantdesk.store.sqlite.connections import snapshot
from plantdesk.store.sqlite.engines import driver_connection
from plantdesk.store.sqlite.ordering import ordering
from plantdesk.store.sqlite.text_index import candidates
from plantdesk.store.tables import PlantTable
from plantdesk.store.views import Order

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sqlalchemy import Connection, TextClause

    from plantdesk.selections import Selection
    from plantdesk.store.placing import Place
    from plantdesk.store.sqlite.text_index import Candidates
    from plantdesk.store.sqlite.view_index import Indexed, ViewIndex
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

    def sorted_ids(self, view: View) -> array[int] | None:
        """Return all ids in the order of a view. Raises sqlite3.Error."""
        indexed = None if self._index is None else self._index.indexed
        if indexed is None or not view.plants.is_everything or view.order not in indexed.orders:
            return None
        with suppress(OSError), snapshot(self._raw):
            return self._brought_up_to_date(indexed, view)
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

    def _brought_up_to_date(self, indexed: Indexed, view: View) -> array[int] | None:
        changed = indexed.changed(self._raw)
        if changed is None:
            return None
        known = indexed.order(view.order)
        if view.descending:
            untagged_from = indexed.tagged if view.order is Order.TAG else len(known)
            known = known[:untagged_from][::-1] + known[untagged_from:][::-1]
        if changed.before:
            known = array("q", [plant_id for plant_id in known if plant_id not in changed.before])
        in_order = partial(sort_ids, self._connection, view=view)
        places = find_places(in_order(list(changed.before | changed.added)), known, in_order)
        return None if places is None else _with_places(known, places)

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


def _with_places(known: array[int], places: Sequence[Place]) -> array[int]:
    whole, start = array("q"), 0
    for place in places:
        whole += known[start : place.row]
        whole.append(place.id)
        start = place.row
    return whole + known[start:]
