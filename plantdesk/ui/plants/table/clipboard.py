"""Puts rows on the clipboard as a table: tab-separated text with a header, as spreadsheets paste it."""

from __future__ import annotations

import csv
import io
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QLocale, QObject, Signal, Slot
from PySide6.QtGui import QGuiApplication

from plantdesk.ui.plants.table.cells import Column, column_title, source_text
from plantdesk.ui.reader_thread import ReaderThread

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable

    from plantdesk.records import PlantRow
    from plantdesk.store import Reader, Store
    from plantdesk.ui.reader_thread import Run

#: More is no use on a clipboard, and would hold the desktop up.
MAX_ROWS = 100_000
_MOST_CHARACTERS = 50_000_000
_CHUNK = 2000
#: What makes a spreadsheet evaluate a cell (https://owasp.org/www-community/attacks/CSV_Injection).
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


class _Table(NamedTuple):
    """The text for the clipboard, how many rows it has, and how many cells had to be marked as text."""

    text: str
    rows: int
    formulas: int


class RowCopier(QObject):
    """Copies rows in the background. `told` carries a sentence about what was copied, `refused` why nothing was."""

    told = Signal(str)
    refused = Signal(str)
    failed = Signal(object)
    _written = Signal(object)
    _too_long = Signal()

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread = ReaderThread("plant copier", store)
        self._written.connect(self._on_written)
        self._too_long.connect(self._on_too_long)

    def copy(self, count: int, ids: Callable[[], array[int]]) -> None:
        """Copy `count` plants, whose ids are only asked for when there are not too many."""
        if count > MAX_ROWS:
            text = self.tr("Up to {most} plants can be copied at once. Select fewer, then copy again.")
            self.refused.emit(text.format(most=QLocale().toString(MAX_ROWS)))
            return
        wanted = ids()
        headings = [column_title(column) for column in Column]

        def job(reader: Reader, run: Run) -> None:
            table = _table(reader, run, wanted, headings)
            if run.cancelled:
                return
            if table is None:
                self._too_long.emit()
            else:
                self._written.emit(table)

        self._thread.submit_alone(job, self.failed.emit)

    def close(self) -> None:
        """End the thread; no signal follows."""
        self._thread.close()

    @Slot(object)
    def _on_written(self, table: _Table) -> None:
        QGuiApplication.clipboard().setText(table.text)
        one, many = self.tr("Copied 1 plant."), self.tr("Copied {count} plants.")
        sentences = [one if table.rows == 1 else many.format(count=QLocale().toString(table.rows))]
        if table.formulas:
            one = self.tr("1 cell that a spreadsheet would take for a formula begins with ' now.")
            many = self.tr("{count} cells that a spreadsheet would take for formulas begin with ' now.")
            count = table.formulas
            sentences.append(one if count == 1 else many.format(count=QLocale().toString(count)))
        self.told.emit(" ".join(sentences))

    @Slot()
    def _on_too_long(self) -> None:
        self.refused.emit(self.tr("These plants are too long to be copied at once. Select fewer, then copy again."))


def _table(reader: Reader, run: Run, ids: array[int], headings: list[str]) -> _Table | None:
    """Return the rows as text; None when it gets too long or the run is cancelled."""
    text, formulas, count = io.StringIO(), 0, 0
    writer = csv.writer(text, "excel-tab", lineterminator="\n")
    writer.writerow(headings)
    for start in range(0, len(ids), _CHUNK):
        chunk = ids[start : start + _CHUNK]
        rows = reader.rows(chunk)
        values = [_values(rows[plant_id]) for plant_id in chunk if plant_id in rows]
        formulas += sum(cell.startswith(_FORMULA_STARTS) for row in values for cell in row[1:])
        writer.writerows([plant_id, *map(_as_text, cells)] for plant_id, *cells in values)
        count += len(values)
        if text.tell() > _MOST_CHARACTERS or run.cancelled:
            return None
    return _Table(text.getvalue(), count, formulas)


def _as_text(cell: str) -> str:
    """Return a cell that no spreadsheet evaluates: any program with a token may have chosen the name."""
    return f"'{cell}" if cell.startswith(_FORMULA_STARTS) else cell


def _values(row: PlantRow) -> list[str]:
    added = datetime.fromtimestamp(row.added_at / 1000).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    name, tag = (text.replace("\0", "␀") for text in (row.name, row.tag or ""))  # NUL ends a text on most clipboards
    return [str(row.id), name, tag, added, source_text(row)]
