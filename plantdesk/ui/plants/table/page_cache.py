"""Recently used rows by id, which are read in pages on a thread of their own."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal

from plantdesk.domain.protocols import PlantReader, PlantStore
from plantdesk.domain.records import PlantRow
from plantdesk.domain.selections import View
from plantdesk.ui.background import StoreQueries, Task
from plantdesk.ui.bridge import Bridge

_MAX_ROWS = 8000
#: Characters of a text in the cache: a name may be a megabyte long, but a cell and its tooltip show no more.
MAX_TEXT = 600
#: Pages that may wait: while the user drags the scroll bar, only the newest ones are worth reading.
_MAX_WAITING = 6


class PageCache(QObject):
    """Rows by id. Belongs to the GUI thread. `loaded`: requested rows are loaded; `failed(error)`: or not."""

    loaded = Signal()
    failed = Signal(object)

    def __init__(self, bridge: Bridge, store: PlantStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: dict[int, tuple[int, PlantRow | None]] = {}  # each with the generation in which it was requested
        self._generation = 0
        self._waiting: deque[Sequence[int]] = deque(maxlen=_MAX_WAITING)
        self._finding: Task | None = None
        self._worker = bridge.worker("plant-pages")
        self._queries = StoreQueries(self._worker, store)

    def row(self, plant_id: int) -> PlantRow | None:
        """Return a row if it is loaded, with shortened texts; an expired row is returned until it is read again."""
        return self._rows.get(plant_id, (0, None))[1]

    def is_missing(self, plant_id: int) -> bool:
        """Return whether the row has to be read. A row that the store no longer has counts as loaded."""
        return self._rows.get(plant_id, (-1, None))[0] < self._generation

    def ask(self, ids: Sequence[int]) -> None:
        """Read the rows of `ids` in the background. When too many pages wait, the oldest are dropped."""
        self._waiting.append(ids)
        self._queries.ask(self, self._read, partial(self._on_read, self._generation), self.failed.emit)

    def find(self, view: View, start: str, found: Callable[[int | None], object]) -> None:
        """Find the first plant of a view whose name begins with `start`, and cancel an earlier search."""
        if self._finding is not None:
            self._finding.cancel()
        self._finding = self._queries.ask(
            self, lambda reader, _task: reader.first_with_name(view, start), found, self.failed.emit
        )

    def put(self, rows: Iterable[PlantRow]) -> None:
        """Store rows that are known already."""
        self._set(self._generation, {row.id: _cut(row) for row in rows})

    def expire(self) -> None:
        """Read each row again when it is next needed: it may have changed."""
        self._generation += 1

    def close(self) -> None:
        """Cancel the queries and end the thread; no signal follows."""
        self._queries.close()
        self._worker.close()

    def _read(self, reader: PlantReader, _task: Task) -> dict[int, PlantRow | None]:
        """Read the newest page that waits; on the thread of the pages."""
        if not self._waiting:  # the page was dropped, but not its query
            return {}
        ids = self._waiting.pop()
        rows = reader.rows_cut(ids, MAX_TEXT)
        return {plant_id: _cut(rows[plant_id]) if plant_id in rows else None for plant_id in ids}

    def _on_read(self, generation: int, rows: dict[int, PlantRow | None]) -> None:
        """Store a page, except for rows that became known while it was read."""
        self._set(generation, {plant_id: row for plant_id, row in rows.items() if self.is_missing(plant_id)})
        if rows:
            self.loaded.emit()

    def _set(self, generation: int, rows: Mapping[int, PlantRow | None]) -> None:
        for plant_id, row in rows.items():
            self._rows.pop(plant_id, None)  # so that it becomes the newest
            self._rows[plant_id] = (generation, row)
        while len(self._rows) > _MAX_ROWS:  # drop the rows that were read first
            del self._rows[next(iter(self._rows))]


def _cut(row: PlantRow) -> PlantRow:
    tag = row.tag[:MAX_TEXT] if row.tag is not None else None
    return row._replace(name=row.name[:MAX_TEXT], tag=tag, note=None)
