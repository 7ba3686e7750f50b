"""Recently used rows by id; missing ones are read on a thread."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from plantdesk.ui.reader_thread import ReaderThread

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plantdesk.records import PlantRow
    from plantdesk.store import Reader, Store
    from plantdesk.ui.reader_thread import Run

_MOST_ROWS = 8000
#: A name may be a megabyte long: rows here hold no more than a cell and its tool tip can show.
MAX_TEXT = 600
#: While somebody drags the scroll bar, only the newest pages are still worth reading.
_PAGES_WAITING = 6


class PageCache(QObject):
    """Rows by id. Belongs to the GUI thread.

    `loaded`: rows that were asked for are here. `checked(plant_id, found)` answers `check`.
    """

    loaded = Signal()
    checked = Signal(object, bool)
    failed = Signal(object)
    _rows_read = Signal(object, object)

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: dict[int, PlantRow | None] = {}
        self._expired: set[int] = set()
        self._waiting: deque[Sequence[int]] = deque(maxlen=_PAGES_WAITING)
        self._rows_read.connect(self._on_rows_read)
        self._thread = ReaderThread("plant pages", store)

    def row(self, plant_id: int) -> PlantRow | None:
        """Return a row if it is here, its texts cut short; perhaps an outdated one until the new one is read."""
        return self._rows.get(plant_id)

    def lacks(self, plant_id: int) -> bool:
        """Whether the row has to be asked for. A row that the store no longer has counts as here."""
        return plant_id not in self._rows or plant_id in self._expired

    def ask(self, ids: Sequence[int]) -> None:
        """Read the rows of `ids` in the background. When too many pages wait, the oldest are dropped."""
        self._waiting.append(ids)
        self._thread.submit(self._read, self.failed.emit)

    def check(self, plant_id: int, text: str) -> None:
        """Ask whether a search for `text` finds a plant."""

        def job(reader: Reader, _run: Run) -> None:
            from plantdesk.store import View

            self.checked.emit(plant_id, bool(reader.matching([plant_id], View(text))))

        self._thread.submit(job, self.failed.emit)

    def put(self, rows: Iterable[PlantRow]) -> None:
        """Take in rows that are known already."""
        for row in rows:
            self._set(row.id, _cut(row))
        self._trim()

    def expire(self) -> None:
        """Read every row again when it is next needed: it may have changed."""
        self._expired = set(self._rows)

    def close(self) -> None:
        """End the thread; no signal follows."""
        self._thread.close()

    def _read(self, reader: Reader, _run: Run) -> None:
        try:
            ids = self._waiting.pop()
        except IndexError:  # a page was dropped, its job was not
            return
        rows = reader.rows_cut(ids, MAX_TEXT)
        self._rows_read.emit(ids, {plant_id: _cut(row) for plant_id, row in rows.items()})

    @Slot(object, object)
    def _on_rows_read(self, ids: Sequence[int], rows: dict[int, PlantRow]) -> None:
        for plant_id in ids:
            self._set(plant_id, rows.get(plant_id))
        self._trim()
        self.loaded.emit()

    def _set(self, plant_id: int, row: PlantRow | None) -> None:
        self._rows.pop(plant_id, None)  # so that it counts as the newest
        self._rows[plant_id] = row
        self._expired.discard(plant_id)

    def _trim(self) -> None:
        """Forget what was read longest ago."""
        while len(self._rows) > _MOST_ROWS:
            plant_id = next(iter(self._rows))
            del self._rows[plant_id]
            self._expired.discard(plant_id)


def _cut(row: PlantRow) -> PlantRow:
    tag = row.tag[:MAX_TEXT] if row.tag is not None else None
    return row._replace(name=row.name[:MAX_TEXT], tag=tag)
