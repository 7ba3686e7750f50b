"""Edits that are computed before they are written: other texts for a set of plants by a rule, and merges.

They are computed in Python, as SQLite has no folding, by a reader and into a file beside the store, so that others
write meanwhile. The writer takes its lock for few statements; what was committed since the computation decides which
plants of a rule it looks at once more, and whether a merge is computed again.
"""

from __future__ import annotations

from contextlib import ExitStack, closing, suppress
from typing import TYPE_CHECKING

from plantdesk.domain.edits import Applied, MergePlants, Rewrite
from plantdesk.domain.records import Changes
from plantdesk.store.events import Position
from plantdesk.store.sqlite.changes import FULL_IMAGE_SIZE, Extent, apply, begin, compute, finish, write_computed
from plantdesk.store.sqlite.connections import transaction, translate_errors
from plantdesk.store.sqlite.files.table_file import connect_with_table_file
from plantdesk.store.sqlite.numbers import last_number, last_seq

if TYPE_CHECKING:
    import sqlite3

    from plantdesk.domain.records import Source
    from plantdesk.store.sqlite.files.store_file import StoreFile
    from plantdesk.store.sqlite.writer import Writer

_TOUCHED = """SELECT id FROM main.plant WHERE seq > :seq
              UNION SELECT plant_id FROM main.before_image WHERE change > :change"""
_NOT_TOUCHED = " AND plant.id NOT IN (SELECT id FROM temp.touched)"
#: Plants that were changed, not added, since the position of an edit.
_SKIPPED = """SELECT id FROM other.rewritten WHERE id IN (SELECT id FROM temp.touched)
              AND id IN (SELECT plant_id FROM main.before_image WHERE change > :change) ORDER BY id"""
_EXTENT = f"""SELECT count(*), total({FULL_IMAGE_SIZE}), (SELECT count(*) FROM other.deleted) FROM main.plant
              WHERE id IN (SELECT id FROM other.rewritten UNION ALL SELECT id FROM other.deleted)"""
#: How often a merge is computed while others change its plants.
_MAX_TRIES = 3


class _StaleError(Exception):
    """Others have changed plants of a merge since it was computed."""


class Rewriting:
    """One edit as a change of its own. Belongs to one thread, which it blocks."""

    def __init__(self, file: StoreFile, writer: Writer, edit: Rewrite | MergePlants, source: Source) -> None:
        self._file, self._writer = file, writer
        self._edit, self._source = edit, source
        self._skipped: set[int] = set()

    def run(self) -> Applied:
        """Compute and write. Raises InvalidPlantError, InvalidPatternError, UnknownPositionError and StoreError."""
        for _ in range(_MAX_TRIES):
            with suppress(_StaleError):
                return self._run()
        return self._writer.submit(self._change_at_once).result()

    def _run(self) -> Applied:
        with ExitStack() as stack:
            connection, file = connect_with_table_file(self._file, stack)
            with translate_errors(), closing(connection), transaction(connection, mode="DEFERRED"):
                self._compute(connection)
            if not self._extent.plants:
                return Applied.without(self._skipped, None)
            return self._writer.submit(self._change, attached=file).result()

    def _compute(self, connection: sqlite3.Connection) -> None:
        self._state = {"seq": last_seq(connection), "change": last_number(connection)}
        compute(connection, "other", self._edit)
        if self._since is not None and self._find_touched(connection, _numbers(self._since)):
            connection.execute("DELETE FROM other.rewritten WHERE id IN (SELECT id FROM temp.touched)")
        self._extent = Extent(*connection.execute(_EXTENT).fetchone())

    @property
    def _since(self) -> str | None:
        return self._edit.since if isinstance(self._edit, Rewrite) else None

    def _find_touched(self, connection: sqlite3.Connection, state: dict[str, int]) -> bool:
        """Find which plants were added or changed since a state; return whether there are any."""
        connection.execute("CREATE TEMP TABLE IF NOT EXISTS touched (id INTEGER PRIMARY KEY)")
        connection.execute("DELETE FROM temp.touched")
        is_touched = connection.execute(f"INSERT INTO temp.touched {_TOUCHED}", state).rowcount > 0
        if is_touched and self._since is not None:
            self._skipped |= {plant_id for (plant_id,) in connection.execute(_SKIPPED, state)}
        return is_touched

    def _change(self, connection: sqlite3.Connection) -> tuple[Applied, Changes]:
        """Write all rows as one change, on the writer thread. Raises _StaleError."""
        is_same = self._state == {"seq": last_seq(connection), "change": last_number(connection)}
        touched = set[int]()
        if not is_same and self._find_touched(connection, self._state):
            touched = {plant_id for (plant_id,) in connection.execute("SELECT id FROM temp.touched")}
        if isinstance(self._edit, MergePlants) and not touched.isdisjoint(self._edit.groups.ids):
            raise _StaleError
        number = begin(connection)
        plants = write_computed(connection, "other", number, _NOT_TOUCHED if touched else "")
        if isinstance(self._edit, Rewrite) and touched and self._since is None:
            compute(connection, "temp", self._edit._replace(plants=self._edit.plants.among(touched)))
            plants += write_computed(connection, "temp", number)
        # What others have added or changed meanwhile is not in its size, which only limits what the history takes.
        extent = self._extent._replace(plants=plants)
        change = finish(connection, [self._edit], self._source, number, extent)
        return Applied.without(self._skipped, change), Changes(history=change is not None)

    def _change_at_once(self, connection: sqlite3.Connection) -> tuple[Applied, Changes]:
        """Compute and write on the writer thread, which keeps others from changing plants."""
        applied = apply(connection, [self._edit], self._source)
        return applied, Changes(history=applied.change is not None)


def _numbers(position: str) -> dict[str, int]:
    found = Position.parse(position)
    return {"seq": found.seq, "change": found.change}
