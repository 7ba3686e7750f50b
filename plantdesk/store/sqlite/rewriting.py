"""Other texts for a set of plants by a rule.

The rule is computed in Python, as SQLite has no folding, by a reader and into a file beside the store, so that others
write meanwhile. The writer takes its lock for few statements; what was committed since the computation decides which
plants it looks at once more.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from plantdesk.domain.edits import Applied
from plantdesk.domain.records import Changes
from plantdesk.store.events import Position
from plantdesk.store.sqlite.changes import (
    FULL_IMAGE_SIZE,
    Extent,
    begin,
    extent_of,
    fill_rewritten,
    finish,
    rewrite,
    write_rewritten,
)
from plantdesk.store.sqlite.connections import transaction, translate_errors
from plantdesk.store.sqlite.files.table_file import connect_with_table_file
from plantdesk.store.sqlite.history import last_number
from plantdesk.store.sqlite.row_reads import last_seq

if TYPE_CHECKING:
    import sqlite3

    from plantdesk.domain.edits import Rewrite
    from plantdesk.domain.records import Source
    from plantdesk.domain.selections import Selection
    from plantdesk.store.sqlite.files.store_file import StoreFile
    from plantdesk.store.sqlite.writer import Writer

_TOUCHED = """SELECT id FROM main.plant WHERE seq > :seq
              UNION SELECT plant_id FROM main.before_image WHERE change > :change"""
_NOT_TOUCHED = " AND {id} NOT IN (SELECT id FROM temp.touched)"
#: Plants that were changed, not added, since the position of an edit.
_SKIPPED = """SELECT id FROM other.rewritten WHERE id IN (SELECT id FROM temp.touched)
              AND id IN (SELECT plant_id FROM main.before_image WHERE change > :change) ORDER BY id"""
_EXTENT = f"""SELECT count(*), total({FULL_IMAGE_SIZE}) FROM main.plant
              WHERE id IN (SELECT id FROM other.rewritten)"""


class Rewriting:
    """One Rewrite as a change of its own. Belongs to one thread, which it blocks."""

    def __init__(self, file: StoreFile, writer: Writer, edit: Rewrite, source: Source) -> None:
        self._file, self._writer = file, writer
        self._edit, self._source = edit, source
        self._skipped: set[int] = set()

    def run(self) -> Applied:
        """Compute and write. Raises InvalidPlantError, InvalidPatternError, UnknownPositionError and StoreError."""
        with ExitStack() as stack:
            connection, file = connect_with_table_file(self._file, stack)
            with translate_errors(), closing(connection), transaction(connection, mode="DEFERRED"):
                self._compute(connection)
            if not self._extent.plants:
                return Applied.without(self._skipped, None)
            return self._writer.submit(self._change, attached=file).result()

    def _compute(self, connection: sqlite3.Connection) -> None:
        self._state = {"seq": last_seq(connection), "change": last_number(connection)}
        fill_rewritten(connection, "other.rewritten", self._edit)
        if self._edit.since is not None and self._find_touched(connection, _numbers(self._edit.since)):
            connection.execute("DELETE FROM other.rewritten WHERE id IN (SELECT id FROM temp.touched)")
        self._extent = Extent(*connection.execute(_EXTENT).fetchone())

    def _find_touched(self, connection: sqlite3.Connection, state: dict[str, int]) -> bool:
        """Find which plants were added or changed since a state; return whether there are any."""
        connection.execute("CREATE TEMP TABLE IF NOT EXISTS touched (id INTEGER PRIMARY KEY)")
        connection.execute("DELETE FROM temp.touched")
        is_touched = connection.execute(f"INSERT INTO temp.touched {_TOUCHED}", state).rowcount > 0
        if is_touched and self._edit.since is not None:
            self._skipped |= {plant_id for (plant_id,) in connection.execute(_SKIPPED, state)}
        return is_touched

    def _change(self, connection: sqlite3.Connection) -> tuple[Applied, Changes]:
        """Write all rows as one change, on the writer thread."""
        is_same = self._state == {"seq": last_seq(connection), "change": last_number(connection)}
        is_touched = not is_same and self._find_touched(connection, self._state)
        number = begin(connection)
        write_rewritten(connection, "other.rewritten", number, _NOT_TOUCHED if is_touched else "")
        if is_touched and self._edit.since is None:
            rewrite(connection, number, self._edit._replace(plants=self._touched(connection)))
        extent = extent_of(connection, number) if is_touched else self._extent
        change = finish(connection, [self._edit], self._source, number, extent)
        return Applied.without(self._skipped, change), Changes(history=change is not None)

    def _touched(self, connection: sqlite3.Connection) -> Selection:
        """Return those plants of the edit that somebody else has touched."""
        ids = {plant_id for (plant_id,) in connection.execute("SELECT id FROM temp.touched")}
        return self._edit.plants.among(ids)


def _numbers(position: str) -> dict[str, int]:
    found = Position.parse(position)
    return {"seq": found.seq, "change": found.change}
