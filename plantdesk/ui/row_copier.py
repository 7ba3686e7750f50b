"""Puts rows on the clipboard as a table: tab-separated text with a header, as spreadsheets paste it."""

from __future__ import annotations

import csv
import io
from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QObject, Signal, Slot
from PySide6.QtGui import QGuiApplication

from plantdesk.ui.plant_cells import Column, column_title, source_text
from plantdesk.ui.reader_thread import ReaderThread

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable

    from plantdesk.records import PlantRow
    from plantdesk.store import Reader, Store
    from plantdesk.ui.reader_thread import Run

#: More is no use on a clipboard, and would hold the desktop up.
MOST_ROWS = 100_000
_MOST_CHARACTERS = 50_000_000
_CHUNK = 2000


class RowCopier(QObject):
    """Copies rows in the background. `told` says in a sentence what was copied, or why nothing was."""

    told = Signal(str)
    failed = Signal(object)
    _written = Signal(str, int)
    _too_long = Signal()

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread = ReaderThread("plant copier", store)
        self._written.connect(self._on_written)
        self._too_long.connect(self._on_too_long)

    def copy(self, count: int, ids: Callable[[], array[int]]) -> None:
        """Copy `count` plants, whose ids are only asked for when there are not too many."""
        if count > MOST_ROWS:
            text = self.tr("Up to {most} plants can be copied at once. Select fewer, then copy again.")
            self.told.emit(text.format(most=QLocale().toString(MOST_ROWS)))
            return
        wanted = ids()
        headings = [column_title(column) for column in Column]

        def job(reader: Reader, run: Run) -> None:
            text = _table(reader, run, wanted, headings)
            if text is None:
                self._too_long.emit()
            elif not run.cancelled:
                self._written.emit(text, len(wanted))

        self._thread.submit_alone(job, self.failed.emit)

    def close(self) -> None:
        """End the thread; nothing is told after that."""
        self._thread.close()

    @Slot(str, int)
    def _on_written(self, text: str, count: int) -> None:
        QGuiApplication.clipboard().setText(text)
        one, many = self.tr("Copied 1 plant."), self.tr("Copied {count} plants.")
        self.told.emit(one if count == 1 else many.format(count=QLocale().toString(count)))

    @Slot()
    def _on_too_long(self) -> None:
        self.told.emit(self.tr("These plants are too long to be copied at once. Select fewer, then copy again."))


def _table(reader: Reader, run: Run, ids: array[int], headings: list[str]) -> str | None:
    """Return the rows as text, or None when it gets too long."""
    text = io.StringIO()
    writer = csv.writer(text, "excel-tab", lineterminator="\n")
    writer.writerow(headings)
    for start in range(0, len(ids), _CHUNK):
        chunk = ids[start : start + _CHUNK]
        rows = reader.rows(chunk)
        writer.writerows(_values(rows[plant_id]) for plant_id in chunk if plant_id in rows)
        if text.tell() > _MOST_CHARACTERS or run.cancelled:
            return None if not run.cancelled else ""
    return text.getvalue()


def _values(row: PlantRow) -> list[str]:
    added = datetime.fromtimestamp(row.added_at / 1000).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    name, tag = (text.replace("\0", "␀") for text in (row.name, row.tag or ""))  # NUL ends a text on most clipboards
    return [str(row.id), name, tag, added, source_text(row)]
