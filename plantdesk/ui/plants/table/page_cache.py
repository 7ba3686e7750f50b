"""Recently used rows by id; missing ones are read on a thread."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from plantdesk.domain.search import parse_search
from plantdesk.ui.store_queries import StoreQueries

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plantdesk.domain.protocols import PlantReader, PlantStore
    from plantdesk.domain.records import PlantRow
    from plantdesk.domain.views import View
    from plantdesk.ui.background import Task
    from plantdesk.ui.bridge import Bridge

_MAX_ROWS = 8000
#: Characters; a name may be a megabyte long, a cell and its tooltip show no more than this.
MAX_TEXT = 600
#: While the user drags the scroll bar, only the newest pages are worth reading.
_MAX_WAITING = 6


class PageCache(QObject):
    """Rows by id. Belongs to the GUI thread.

    `loaded`: requested rows are loaded. `checked(plant_id, found)` answers `check`, `found(plant_id)` answers `find`.
    """

    loaded = Signal()
    checked = Signal(object, bool)
    found = Signal(object)
    failed = Signal(object)

    def __init__(self, bridge: Bridge, store: PlantStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: dict[int, PlantRow | None] = {}
        self._expired: set[int] = set()
        self._waiting: deque[Sequence[int]] = deque(maxlen=_MAX_WAITING)
        self._finding: Task | None = None
        self._worker = bridge.worker("plant-pages")
        self._queries = StoreQueries(self._worker, store)

    def row(self, plant_id: int) -> PlantRow | None:
        """Return a row if it is loaded, its texts shortened; an expired one until it is read again."""
        return self._rows.get(plant_id)

    def lacks(self, plant_id: int) -> bool:
        """Whether the row has to be read. A row that the store no longer has counts as loaded."""
        return plant_id not in self._rows or plant_id in self._expired

    def ask(self, ids: Sequence[int]) -> None:
        """Read the rows of `ids` in the background. When too many pages wait, the oldest are dropped."""
        self._waiting.append(ids)
        self._queries.ask(self, self._read, self._on_read, self.failed.emit)

    def check(self, plant_id: int, text: str) -> None:
        """Check whether a search for `text` finds a plant."""

        def matches(reader: PlantReader, _task: Task) -> bool:
            from plantdesk.domain.views import View

            return bool(reader.matching([plant_id], View(parse_search(text))))

        self._queries.ask(self, matches, lambda found: self.checked.emit(plant_id, found), self.failed.emit)

    def find(self, view: View, start: str) -> None:
        """Find the first plant of a view whose name begins with `start`, instead of what was searched before."""

        def first(reader: PlantReader, _task: Task) -> int | None:
            return reader.first_with_name(view, start)

        if self._finding is not None:
            self._finding.cancel()
        self._finding = self._queries.ask(self, first, self._on_found, self.failed.emit)

    def put(self, rows: Iterable[PlantRow]) -> None:
        """Store rows that are known already."""
        for row in rows:
            self._set(row.id, _cut(row))
        self._trim()

    def expire(self) -> None:
        """Read every row again when it is next needed: it may have changed."""
        self._expired = set(self._rows)

    def close(self) -> None:
        """Cancel the queries and end the thread; no signal follows."""
        self._queries.close()
        self._worker.close()

    def _read(self, reader: PlantReader, _task: Task) -> dict[int, PlantRow | None]:
        """Read the newest page that waits; on the thread of the pages."""
        try:
            ids = self._waiting.pop()
        except IndexError:  # the page was dropped, its query was not
            return {}
        rows = reader.rows_cut(ids, MAX_TEXT)
        return {plant_id: _cut(rows[plant_id]) if plant_id in rows else None for plant_id in ids}

    def _on_found(self, plant_id: int | None) -> None:
        if plant_id is not None:
            self.found.emit(plant_id)

    def _on_read(self, rows: dict[int, PlantRow | None]) -> None:
        for plant_id, row in rows.items():
            self._set(plant_id, row)
        self._trim()
        if rows:
            self.loaded.emit()

    def _set(self, plant_id: int, row: PlantRow | None) -> None:
        self._rows.pop(plant_id, None)  # so that it counts as the newest
        self._rows[plant_id] = row
        self._expired.discard(plant_id)

    def _trim(self) -> None:
        """Remove the rows that were read first."""
        while len(self._rows) > _MAX_ROWS:
            plant_id = next(iter(self._rows))
            del self._rows[plant_id]
            self._expired.discard(plant_id)


def _cut(row: PlantRow) -> PlantRow:
    tag = row.tag[:MAX_TEXT] if row.tag is not None else None
    return row._replace(name=row.name[:MAX_TEXT], tag=tag, note=None)
