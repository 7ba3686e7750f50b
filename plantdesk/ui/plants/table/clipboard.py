"""Copies rows to the clipboard: tab-separated with a header, for spreadsheets, or in a file format."""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QDateTime, QLocale, QObject, Signal
from PySide6.QtGui import QGuiApplication

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.protocols import PlantReader, PlantStore
from plantdesk.domain.records import PlantRow
from plantdesk.domain.texts import Text
from plantdesk.transfer.formats import FORMULA_STARTS, Format
from plantdesk.ui.background import Task
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.plants.table.cells import Column, cell_text, column_title
from plantdesk.ui.texts import error_text, translated

#: A larger clipboard would block the desktop.
MAX_ROWS = 100_000
_MAX_CHARACTERS = 50_000_000
_CHUNK_ROWS = 2000


class _Copied(NamedTuple):
    """The text for the clipboard, and the numbers of its rows and of the cells marked as text."""

    text: str
    rows: int
    formulas: int


class RowCopier(QObject):
    """Reads plants on another thread, and puts them on the clipboard as text."""

    #: (text) Rows were copied; a sentence about it.
    copied = Signal(str)
    #: (text) Rows were not copied; the reason as a sentence.
    refused = Signal(str)

    def __init__(self, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge
        #: The store of the rows, while it is open.
        self.store: PlantStore | None = None
        self._task: Task | None = None

    def copy(self, ids: array[int], file_format: Format | None = None) -> None:
        """Copy plants in a file format, or (None) the cells of the table; cancel a running copy."""
        if len(ids) > MAX_ROWS:
            text = self.tr("Up to {most} plants can be copied at once. Select fewer, then copy again.")
            self.refused.emit(text.format(most=QLocale().toString(MAX_ROWS)))
            return
        self._cancel()
        if self.store is not None:
            headings = [column_title(column) for column in Column]
            read = partial(_read, store=self.store, ids=ids, headings=headings, file_format=file_format)
            self._task = self._bridge.long_tasks.run(self, read, self._on_read, self._on_failed)

    def close(self) -> None:
        """Cancel a copy, and block until the store is not read any more; emits no signal."""
        self.store = None
        self._cancel()
        if self._task is not None:
            self._task.wait()

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _on_read(self, copied: _Copied) -> None:
        QGuiApplication.clipboard().setText(copied.text)
        sentences = [translated(Text("Copied {count:,} plants.", one="Copied 1 plant.", count=copied.rows))]
        if copied.formulas:
            template = Text(
                "{count:,} cells that a spreadsheet would take for formulas begin with ' now.",
                one="1 cell that a spreadsheet would take for a formula begins with ' now.",
            )
            sentences.append(translated(template.filled(count=copied.formulas)))
        self.copied.emit(" ".join(sentences))

    def _on_failed(self, error: Exception) -> None:
        self.refused.emit(error_text(error))


def _read(task: Task, store: PlantStore, ids: array[int], headings: list[str], file_format: Format | None) -> _Copied:
    """Read plants and return their text; runs on the task's thread. Raises PlantDeskError if it is too long."""
    from plantdesk.transfer.writing import text_pieces

    text = io.StringIO()
    count = 0
    formulas = 0

    def read_batches(reader: PlantReader) -> Iterator[list[PlantRow]]:
        nonlocal count
        for start in range(0, len(ids), _CHUNK_ROWS):
            chunk = ids[start : start + _CHUNK_ROWS]
            rows = reader.rows(chunk)
            batch = [rows[plant_id] for plant_id in chunk if plant_id in rows]
            count += len(batch)
            yield batch

    with closing(store.reader()) as reader, task.interrupted_by(reader.interrupt):
        rows = read_batches(reader)
        parts = (
            _format_cells(rows, headings) if not file_format else ((part, 0) for part in text_pieces(rows, file_format))
        )
        for piece, marked_count in parts:
            text.write(piece)
            formulas += marked_count
            task.raise_if_cancelled()
            if text.tell() > _MAX_CHARACTERS:
                raise PlantDeskError(
                    Text("These plants are too long to be copied at once. Select fewer, then copy again.")
                )
    # NUL ends a text on most clipboards.
    return _Copied(text.getvalue().replace("\r\n", "\n").replace("\0", "␀"), count, formulas)


def _format_cells(batches: Iterable[list[PlantRow]], headings: list[str]) -> Iterator[tuple[str, int]]:
    """Yield lines for a spreadsheet, and the number of their cells that were marked as text."""
    yield _format_lines([headings]), 0
    for batch in batches:
        values = [[_value_text(row, column) for column in Column] for row in batch]
        formulas = sum(cell.startswith(FORMULA_STARTS) for row in values for cell in row[1:])
        yield _format_lines([plant_id, *map(_as_text, cells)] for plant_id, *cells in values), formulas


def _format_lines(rows: Iterable[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, "excel-tab", lineterminator="\n").writerows(rows)
    return text.getvalue()


def _as_text(cell: str) -> str:
    """Return a cell with a leading ' if a spreadsheet would evaluate it as a formula."""
    return f"'{cell}" if cell.startswith(FORMULA_STARTS) else cell


def _value_text(row: PlantRow, column: Column) -> str:
    match column:
        case Column.NAME:
            return row.name
        case Column.TAG:
            return row.tag or ""
        case Column.ADDED:
            return QDateTime.fromMSecsSinceEpoch(row.added_at).toString("yyyy-MM-dd HH:mm:ss")
        case _:
            return cell_text(row, column)
