"""The model and the table of the history: changes, newest first, with a heading for each day, read in pages."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from functools import partial
from typing import Any

from PySide6.QtCore import (
    QDate,
    QDateTime,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    Qt,
    QTime,
    Signal,
    Slot,
)
from PySide6.QtGui import QFont, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QMenu, QStyleOptionViewItem
from typing_extensions import override

from plantdesk.domain.history import Change, ChangeKind, HistoryEntry, HistorySummary
from plantdesk.domain.protocols import PlantReader
from plantdesk.domain.records import Source, SourceKind
from plantdesk.domain.texts import Text, plants_text, shortened
from plantdesk.ui.background import StoreQueries, Task
from plantdesk.ui.qt import Index
from plantdesk.ui.texts import clock_time, long_time, one_line, short_time, source_text, tag_text, translate, translated
from plantdesk.ui.theme.metrics import ICON, XL, FontRole, L
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.dialog import ENTER_KEYS
from plantdesk.ui.widgets.painting import draw_line
from plantdesk.ui.widgets.plain_table import CellDelegate, PlainTable, RowModel

#: Entries, and with the first page the summary of the whole history.
_Page = tuple[list[HistoryEntry], HistorySummary | None]
#: The role under which a delegate gets the HistoryEntry itself, None for the heading of a day.
ENTRY_ROLE = Qt.ItemDataRole.UserRole

_PAGE_SIZE = 200
_ICONS = {
    ChangeKind.DELETE: "trash-2",
    ChangeKind.INSERT: "plus",
    ChangeKind.IMPORT: "file-down",
    ChangeKind.RESTORE: "refresh-cw",
    ChangeKind.TAG: "tag",
    ChangeKind.MERGE: "merge",
    ChangeKind.NOTE: "sticky-note",
    ChangeKind.UNDO: "undo-2",
}


class HistoryColumn(IntEnum):
    """The columns of the table of changes; ACTION has the label Undo or Redo."""

    TIME = 0
    TEXT = 1
    ACTION = 2


class HistoryModel(RowModel["HistoryEntry | str"]):
    """The model of the changes, with a heading for each day. It reads them in pages with `queries`."""

    #: (summary) The first page was read.
    loaded = Signal(object)
    #: A further page was read.
    extended = Signal()
    #: (error) A page could not be read.
    failed = Signal(object)

    def __init__(self, queries: StoreQueries, theme: Theme, parent: QObject) -> None:
        super().__init__([""] * len(HistoryColumn), parent)
        self._queries = queries
        self._theme = theme
        self._last_entry: HistoryEntry | None = None
        self._text = ""
        self._source: Source | str | None = None
        #: Whether there are matching changes that were not read yet.
        self.has_more = False
        self._task: Task | None = None

    def set_filter(self, text: str, source: Source | str | None) -> None:
        """Show only changes that contain `text`, of a source or of a computer by name (None: of all)."""
        self._text = text
        self._source = source
        self.reload()

    def reload(self) -> None:
        """Read the changes again; the present rows stay until then."""
        self._query(None, max(_PAGE_SIZE, self.entry_count()), self._on_loaded)

    def entry_count(self) -> int:
        """Return the number of loaded changes, without headings."""
        return sum(not isinstance(row, str) for row in self.rows)

    def entry_at(self, row: int) -> HistoryEntry | None:
        """Return the entry of a row; None for a heading."""
        if not 0 <= row < len(self.rows):
            return None
        entry = self.rows[row]
        return None if isinstance(entry, str) else entry

    def row_of(self, number: int) -> int | None:
        """Return the row of the change with this number; None if it is not loaded."""
        for row, entry in enumerate(self.rows):
            if not isinstance(entry, str) and entry.change.number == number:
                return row
        return None

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self.rows[index.row()]
        column = HistoryColumn(index.column())
        if isinstance(row, str):
            return row if role == Qt.ItemDataRole.DisplayRole and column is HistoryColumn.TIME else None
        return row if role == ENTRY_ROLE else self._entry_data(row, column, role)

    def _entry_data(self, row: HistoryEntry, column: HistoryColumn, role: int) -> object:
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return _cell_text(row, column)
            case Qt.ItemDataRole.DecorationRole if column is HistoryColumn.TEXT:
                icon = "undo-2" if row.change.is_undone else _ICONS.get(row.change.kind, "pencil")
                return self._theme.icons.icon(icon, "muted", self._theme.metrics.scaled(ICON))
            case Qt.ItemDataRole.ForegroundRole if column is not HistoryColumn.TEXT:
                name = "muted" if column is HistoryColumn.TIME else "ok"  # both are readable if selected
                return self._theme.colors.color(name)
            case Qt.ItemDataRole.ToolTipRole:
                return long_time(row.change.made_at)
            case Qt.ItemDataRole.AccessibleTextRole:
                return _spoken_text(row)
        return None

    @override
    def flags(self, index: Index) -> Qt.ItemFlag:
        is_heading = self.entry_at(index.row()) is None
        return Qt.ItemFlag.NoItemFlags if is_heading else super().flags(index)

    @override
    def canFetchMore(self, parent: Index) -> bool:
        return self.has_more and not parent.isValid()

    @override
    def fetchMore(self, parent: Index) -> None:
        if self.has_more and self._last_entry is not None:
            self.has_more = False  # until the page is loaded
            self._query(self._last_entry.change.number, _PAGE_SIZE, self._on_page_read)

    def _query(self, before: int | None, limit: int, done: Callable[[int, _Page], object]) -> None:
        if self._task is not None:
            self._task.cancel()
        read = partial(_read_page, before=before, limit=limit, text=self._text, source=self._source)
        self._task = self._queries.run(self, read, partial(done, limit), self._on_failed)

    def _on_failed(self, error: Exception) -> None:
        self.has_more = self._last_entry is not None  # scrolling requests it again
        self.failed.emit(error)

    def _on_loaded(self, limit: int, page: _Page) -> None:
        entries, summary = page
        self._last_entry = None
        self.has_more = len(entries) == limit
        self.set_rows(self._with_headings(entries))
        self.loaded.emit(summary)

    def _on_page_read(self, limit: int, page: _Page) -> None:
        entries, _ = page
        self.has_more = len(entries) == limit
        self.append(self._with_headings(entries))
        self.extended.emit()

    def _with_headings(self, entries: list[HistoryEntry]) -> list[HistoryEntry | str]:
        rows: list[HistoryEntry | str] = []
        for entry in entries:
            if self._last_entry is None or _local_day(self._last_entry) != _local_day(entry):
                rows.append(_day_text(entry))
            rows.append(entry)
            self._last_entry = entry
        return rows


def _cell_text(entry: HistoryEntry, column: HistoryColumn) -> str:
    match column:
        case HistoryColumn.TIME:
            return clock_time(entry.change.made_at)
        case HistoryColumn.TEXT:
            return title_text(entry)
        case HistoryColumn.ACTION:
            return action_text(entry)


def title_text(entry: HistoryEntry) -> str:
    """Return the title of a change, with “Undone” if the change is undone."""
    is_insert = entry.change.kind is ChangeKind.INSERT and entry.change.is_undone
    if is_insert or entry.change.kind is ChangeKind.UNDO:  # the undo of an addition, or its redo
        return _change_title(entry.last)
    title = _change_title(entry.change)
    return translate("History", "Undone: {title}").format(title=title) if entry.change.is_undone else title


def _change_title(change: Change) -> str:
    return one_line(translated(change.title))


def detail_text(entry: HistoryEntry) -> str:
    """Return author and plants of a change, and when it was undone, or that it is too old to be undone."""
    change, last, _ = entry
    parts = [one_line(change.desk)] if change.desk else []
    if change.source.kind is not SourceKind.FORM:
        parts.append(source_text(change.source))
    parts.append(_plant_details(entry))
    if change.is_undone and change.kind is not ChangeKind.UNDO:
        parts.append(_undone_text(change, last))
    elif not last.can_undo:
        parts.append(translate("History", "too old to be undone"))
    return " · ".join(parts)


def _undone_text(change: Change, undo: Change) -> str:
    """Return when a change was undone, and by which other computer or program."""
    author = one_line(undo.desk) if undo.desk != change.desk else ""
    if not author and undo.source != change.source and undo.source.kind is not SourceKind.FORM:
        author = source_text(undo.source)
    if author:
        return translate("History", "undone {time} by {who}").format(time=short_time(undo.made_at), who=author)
    return translate("History", "undone {time}").format(time=short_time(undo.made_at))


def _plant_details(entry: HistoryEntry) -> str:
    """Return details of the plants of a change that its title does not have."""
    change, _, first = entry
    if first is None:
        return translated(plants_text(change.plants))
    plant_id, name, tag = first
    if change.plants > 1:
        template = Text("{name} and {count:,} more", one="{name} and 1 more")
        return translated(template.filled(count=change.plants - 1, name=one_line(shortened(name))))
    if change.kind is ChangeKind.TAG:
        return (
            translate("History", "had no tag")
            if tag is None
            else translate("History", "was {tag}").format(tag=tag_text(tag))
        )
    if change.kind in {ChangeKind.MERGE, ChangeKind.IMPORT, ChangeKind.RESTORE}:
        return one_line(shortened(name))
    return translate("History", "ID {id}").format(id=plant_id)


def action_text(entry: HistoryEntry) -> str:
    """Return the label of the action of a change, Undo or Redo; empty if there is none."""
    if not entry.last.can_undo:
        return ""
    is_undo = entry.last.kind is ChangeKind.UNDO
    return translate("History", "Redo") if is_undo else translate("History", "Undo")


def widest_clock_text() -> str:
    """Return a time of day that is as wide as any other one, to set the width of the column."""
    return QLocale().toString(QTime(22, 0), QLocale.FormatType.ShortFormat)


def _spoken_text(entry: HistoryEntry) -> str:
    action = action_text(entry)
    key_hint = translate("History", " Press Enter: {action}.").format(action=action) if action else ""
    return f"{clock_time(entry.change.made_at)}, {title_text(entry)}, {detail_text(entry)}.{key_hint}"


def _local_day(entry: HistoryEntry) -> QDate:
    return QDateTime.fromMSecsSinceEpoch(entry.change.made_at).date()


def _day_text(entry: HistoryEntry) -> str:
    day = _local_day(entry)
    days = day.daysTo(QDate.currentDate())
    relative_day = {0: translate("History", "Today"), 1: translate("History", "Yesterday")}.get(days)
    return relative_day or QLocale().toString(day, QLocale.FormatType.LongFormat)


def _read_page(
    reader: PlantReader,
    _task: Task,
    before: int | None,
    limit: int,
    text: str,
    source: Source | str | None,
) -> _Page:
    entries = reader.history_entries(limit, before, text, source, _change_title)
    return entries, reader.history_summary() if before is None else None


class ChangeList(PlainTable):
    """The table of the changes. Enter, Space, or a click on Undo or Redo, requests that action."""

    #: (change) Undo or redo this change.
    action_requested = Signal(object)

    def __init__(self, model: HistoryModel, theme: Theme) -> None:
        super().__init__(theme, translate("ChangeList", "Changes"), [""] * len(HistoryColumn), wide=HistoryColumn.TEXT)
        self._history = model
        self._theme = theme
        self.setModel(model)
        self.horizontalHeader().hide()
        self.horizontalHeader().setResizeContentsPrecision(0)  # the visible rows
        self.setItemDelegateForColumn(HistoryColumn.TEXT, _TextDelegate(theme, self))
        model.modelReset.connect(self._on_reset)
        model.rowsInserted.connect(self._on_inserted)
        self.clicked.connect(self._on_clicked)
        self.menu_requested.connect(self._open_menu)

    def current_number(self) -> int | None:
        """Return the number of the current change; None on a heading, or if there is none."""
        entry = self._history.entry_at(self.currentIndex().row())
        return None if entry is None else entry.change.number

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER_KEYS or event.key() == Qt.Key.Key_Space:
            self._request_action(self.currentIndex())
        else:
            super().keyPressEvent(event)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Ignore the second press, as another change may be under the pointer by now."""

    @Slot()
    def _on_reset(self) -> None:
        self.clearSpans()
        self.verticalHeader().setDefaultSectionSize(2 * self._theme.metrics.line + L)  # of all rows
        self.setColumnWidth(HistoryColumn.TIME, self.fontMetrics().horizontalAdvance(widest_clock_text()) + XL)
        self._on_inserted(QModelIndex(), 0, self._history.rowCount() - 1)

    @Slot(QModelIndex, int, int)
    def _on_inserted(self, _parent: QModelIndex, first: int, last: int) -> None:
        for row in range(first, last + 1):
            if self._history.entry_at(row) is None:
                self.setRowHeight(row, self._theme.metrics.control)
                self.setSpan(row, 0, 1, len(HistoryColumn))

    @Slot(QModelIndex)
    def _on_clicked(self, index: QModelIndex) -> None:
        if index.column() == HistoryColumn.ACTION:
            self._request_action(index)

    @Slot(QPoint)
    def _open_menu(self, position: QPoint) -> None:
        index = self.currentIndex()
        entry = self._history.entry_at(index.row())
        text = "" if entry is None else action_text(entry)
        if text:
            menu = QMenu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.addAction(text).triggered.connect(partial(self._request_action, QPersistentModelIndex(index)))
            menu.popup(position)

    def _request_action(self, index: Index) -> None:
        entry = self._history.entry_at(index.row())
        if entry is not None and action_text(entry):
            self.action_requested.emit(entry.last)


class _TextDelegate(CellDelegate):
    """Paints the title of a change, and its details below it."""

    def __init__(self, theme: Theme, table: PlainTable) -> None:
        super().__init__(table)
        self._theme = theme

    @override
    def paint_text(self, painter: QPainter, cell: QStyleOptionViewItem, rect: QRect, index: Index) -> None:
        entry: HistoryEntry = index.data(ENTRY_ROLE)
        line = self._theme.metrics.line
        colors = self._theme.colors
        title_rect = QRect(rect.left(), rect.center().y() - line + 1, rect.width(), line)
        painter.setFont(cell.font)
        painter.setPen(colors.color("muted" if entry.change.is_undone else "text"))
        draw_line(painter, title_rect, cell.text, cell.direction)
        painter.setFont(self._theme.font(FontRole.CAPTION, QFont.Weight.Normal))
        painter.setPen(colors.color("muted"))
        draw_line(painter, title_rect.translated(0, line), detail_text(entry), cell.direction)
