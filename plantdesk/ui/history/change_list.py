"""The list of the history: its changes in pages, newest first, with a heading before each day, and its view."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractListModel,
    QDate,
    QDateTime,
    QLocale,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    QTime,
    Signal,
)
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QMenu, QStyle, QStyledItemDelegate
from typing_extensions import override

from plantdesk.domain.errors import Text, shortened
from plantdesk.domain.history import ChangeKind
from plantdesk.domain.records import SourceKind
from plantdesk.ui.texts import clock_time, long_time, one_line, short_time, shown, source_text, tag_text, translate
from plantdesk.ui.theme.metrics import ICON, XS, FontRole, L, M, S, tabular
from plantdesk.ui.widgets.dialog import ENTER_KEYS
from plantdesk.ui.widgets.painting import draw_line, paint_row
from plantdesk.ui.widgets.plain_table import is_menu_key, menu_position

if TYPE_CHECKING:
    from PySide6.QtCore import QObject
    from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent
    from PySide6.QtWidgets import QStyleOptionViewItem, QWidget

    from plantdesk.domain.history import Change, HistoryEntry
    from plantdesk.domain.protocols import HistorySummary, PlantReader
    from plantdesk.domain.records import Source
    from plantdesk.ui.background import StoreQueries, Task
    from plantdesk.ui.qt import Index
    from plantdesk.ui.theme.theme import Theme

    #: Some entries, and the summary of the whole history if it was requested.
    _Page = tuple[list[HistoryEntry], HistorySummary | None]


#: The role under which a delegate gets the HistoryEntry itself, None for the heading of a day.
ENTRY_ROLE = Qt.ItemDataRole.UserRole

_PAGE = 200


class HistoryModel(QAbstractListModel):
    """Reads on the worker of `queries`.

    `loaded(summary)`: the first page is there; `failed(error)`: it is not. `extended`: the next page is there.
    """

    loaded = Signal(object)
    extended = Signal()
    failed = Signal(object)

    def __init__(self, queries: StoreQueries, parent: QObject) -> None:
        super().__init__(parent)
        self._queries = queries
        self._rows: list[HistoryEntry | str] = []
        self._last: HistoryEntry | None = None
        self._text = ""
        self._source: Source | str | None = None
        #: Whether there are changes to be shown that are not read yet.
        self.has_more = False
        self._task: Task | None = None

    def show(self, text: str, source: Source | str | None) -> None:
        """Show the changes that contain `text` and were made by `source`, or on the desk of this name; None: any."""
        self._text, self._source = text, source
        self.reload()

    def reload(self) -> None:
        """Read the changes again; the present ones stay until the new ones are loaded."""
        self._ask(None, max(_PAGE, self.entry_count()), self._on_loaded)

    def entry_count(self) -> int:
        """Return the number of changes that were read."""
        return sum(not isinstance(row, str) for row in self._rows)

    def entry_at(self, row: int) -> HistoryEntry | None:
        """Return the entry of a row; None for a heading."""
        found = self._rows[row] if 0 <= row < len(self._rows) else ""
        return None if isinstance(found, str) else found

    def row_of(self, number: int) -> int | None:
        """Return the row of the change of a number."""
        entries = ((row, each) for row, each in enumerate(self._rows) if not isinstance(each, str))
        return next((row for row, each in entries if each.change.number == number), None)

    @override
    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if isinstance(row, str):
            return row if role == Qt.ItemDataRole.DisplayRole else None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return title_text(row)
            case Qt.ItemDataRole.ToolTipRole:
                return long_time(row.change.made_at)
            case Qt.ItemDataRole.AccessibleTextRole:
                return _spoken(row)
            case _:
                return row if role == ENTRY_ROLE else None

    @override
    def flags(self, index: Index) -> Qt.ItemFlag:
        is_heading = self.entry_at(index.row()) is None
        return Qt.ItemFlag.NoItemFlags if is_heading else super().flags(index)

    @override
    def canFetchMore(self, parent: Index) -> bool:
        return self.has_more and not parent.isValid()

    @override
    def fetchMore(self, parent: Index) -> None:
        if self.has_more and self._last is not None:
            self.has_more = False  # until the page is loaded
            self._ask(self._last.change.number, _PAGE, self._on_more)

    def _ask(self, before: int | None, limit: int, done: Callable[[int, _Page], object]) -> None:
        if self._task is not None:
            self._task.cancel()
        read = partial(_read, before=before, limit=limit, text=self._text, source=self._source)
        self._task = self._queries.ask(self, read, partial(done, limit), self._on_failed)

    def _on_failed(self, error: Exception) -> None:
        self.has_more = self._last is not None  # scrolling requests it again
        self.failed.emit(error)

    def _on_loaded(self, limit: int, page: _Page) -> None:
        entries, summary = page
        self.beginResetModel()
        self._last = None
        self._rows = self._with_headings(entries)
        self.has_more = len(entries) == limit
        self.endResetModel()
        self.loaded.emit(summary)

    def _on_more(self, limit: int, page: _Page) -> None:
        entries, _ = page
        self.has_more = len(entries) == limit
        rows = self._with_headings(entries)
        if rows:
            self.beginInsertRows(QModelIndex(), len(self._rows), len(self._rows) + len(rows) - 1)
            self._rows += rows
            self.endInsertRows()
        self.extended.emit()

    def _with_headings(self, entries: list[HistoryEntry]) -> list[HistoryEntry | str]:
        rows: list[HistoryEntry | str] = []
        for entry in entries:
            if self._last is None or _day(self._last) != _day(entry):
                rows.append(_day_text(entry))
            rows.append(entry)
            self._last = entry
        return rows


def title_text(entry: HistoryEntry) -> str:
    """Return what a change did, and whether it is undone."""
    is_insert = entry.change.kind is ChangeKind.INSERT and entry.change.is_undone
    if is_insert or entry.change.kind is ChangeKind.UNDO:  # the undo of an addition, or its redo
        return _title(entry.last)
    title = _title(entry.change)
    return translate("History", "Undone: {title}").format(title=title) if entry.change.is_undone else title


def _title(change: Change) -> str:
    return one_line(shown(change.title))


def detail_text(entry: HistoryEntry) -> str:
    """Return where and by whom a change was made, its plants, when it was undone, and why it cannot be undone."""
    change, last, _ = entry
    parts = [one_line(change.desk)] if change.desk else []
    if change.source.kind is not SourceKind.FORM:
        parts.append(source_text(change.source))
    parts.append(_plants(entry))
    if change.is_undone and change.kind is not ChangeKind.UNDO:
        parts.append(_undone_text(change, last))
    elif not last.can_undo:
        parts.append(translate("History", "too old to be undone"))
    return " · ".join(parts)


def _undone_text(change: Change, undo: Change) -> str:
    """Return when a change was undone, and by whom if another computer or a program did it."""
    by = one_line(undo.desk) if undo.desk != change.desk else ""
    if not by and undo.source != change.source and undo.source.kind is not SourceKind.FORM:
        by = source_text(undo.source)
    if by:
        return translate("History", "undone {time} by {who}").format(time=short_time(undo.made_at), who=by)
    return translate("History", "undone {time}").format(time=short_time(undo.made_at))


def _plants(entry: HistoryEntry) -> str:
    """Return the details of the plants that are not in the title."""
    change, _, first = entry
    if first is None:
        return shown(Text("{count:,} plants", one="1 plant", count=change.plants))
    plant_id, name, tag = first
    if change.plants > 1:
        template = Text("{name} and {count:,} more", one="{name} and 1 more")
        return shown(template.filled(count=change.plants - 1, name=one_line(shortened(name))))
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
    """Return what can be done with a change: Undo, Redo, or nothing."""
    if not entry.last.can_undo:
        return ""
    is_undo = entry.last.kind is ChangeKind.UNDO
    return translate("History", "Redo") if is_undo else translate("History", "Undo")


def widest_clock() -> str:
    """Return a time of day that is as wide as any, if all digits have the same width."""
    return QLocale().toString(QTime(22, 0), QLocale.FormatType.ShortFormat)


def _spoken(entry: HistoryEntry) -> str:
    action = action_text(entry)
    press = translate("History", " Press Enter: {action}.").format(action=action) if action else ""
    return f"{clock_time(entry.change.made_at)}, {title_text(entry)}, {detail_text(entry)}.{press}"


def _day(entry: HistoryEntry) -> QDate:
    return QDateTime.fromMSecsSinceEpoch(entry.change.made_at).date()


def _day_text(entry: HistoryEntry) -> str:
    day = _day(entry)
    days = day.daysTo(QDate.currentDate())
    near = {0: translate("History", "Today"), 1: translate("History", "Yesterday")}.get(days)
    return near or QLocale().toString(day, QLocale.FormatType.LongFormat)


def _read(
    reader: PlantReader,
    _task: Task,
    before: int | None,
    limit: int,
    text: str,
    source: Source | str | None,
) -> _Page:
    entries = reader.history_entries(limit, before, text, source, _title)
    return entries, reader.history_summary() if before is None else None


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


class ChangeList(QListView):
    """The view of a `HistoryModel`. `action_requested(change)`: Enter, Space, a link or a menu: take this back."""

    action_requested = Signal(object)

    def __init__(self, model: HistoryModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._changes = model
        self._theme = theme
        self._delegate = _ChangeDelegate(theme, self)
        self._pressed = QPersistentModelIndex()  # the change whose action is being clicked
        self.setAccessibleName(self.tr("Changes"))
        self.setProperty("card", "true")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformItemSizes(False)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setModel(model)
        self.setItemDelegate(self._delegate)
        theme.changed.connect(self.scheduleDelayedItemsLayout)

    def current_number(self) -> int | None:
        """Return the number of the current change."""
        entry = self._changes.entry_at(self.currentIndex().row())
        return None if entry is None else entry.change.number

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER_KEYS or event.key() == Qt.Key.Key_Space:
            self._act(self.currentIndex())
        elif is_menu_key(event):
            self._open_menu(menu_position(self, self.currentIndex()))
        else:
            super().keyPressEvent(event)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        pressed, self._pressed = self._pressed, QPersistentModelIndex()
        link = self._link_at(event)
        if link.isValid() and pressed == link:
            self._act(link)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        is_left = event.button() is Qt.MouseButton.LeftButton
        self._pressed = QPersistentModelIndex(self._link_at(event) if is_left else QModelIndex())

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Ignore the second press: another change may have come to lie under the pointer."""
        super().mouseDoubleClickEvent(event)
        self._pressed = QPersistentModelIndex()

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        on_link = self._link_at(event).isValid()
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if on_link else Qt.CursorShape.ArrowCursor)

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self._open_menu(menu_position(self, self.currentIndex(), event))

    def _open_menu(self, position: QPoint) -> None:
        index = self.currentIndex()
        entry = self._changes.entry_at(index.row())
        text = "" if entry is None else action_text(entry)
        if text:
            menu = QMenu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.addAction(text).triggered.connect(partial(self._act, QPersistentModelIndex(index)))
            menu.popup(position)

    def link_rect(self, row: int) -> QRect:
        """Return the rectangle of the action of a row; empty if it has none."""
        return self._link_rect(self._changes.index(row, 0))

    def _link_at(self, event: QMouseEvent) -> QModelIndex:
        """Return the change whose action is under the pointer."""
        index = self.indexAt(event.position().toPoint())
        return index if self._link_rect(index).contains(event.position().toPoint()) else QModelIndex()

    def _link_rect(self, index: QModelIndex) -> QRect:
        entry = self._changes.entry_at(index.row())
        text = "" if entry is None else action_text(entry)
        return self._delegate.link_rect(self.visualRect(index), text) if text else QRect()

    def _act(self, index: Index) -> None:
        entry = self._changes.entry_at(index.row())
        if entry is not None and action_text(entry):
            self.action_requested.emit(entry.last)


class _ChangeDelegate(QStyledItemDelegate):
    """Paints headings and changes. Everything is laid out from the leading edge, so that it mirrors."""

    def __init__(self, theme: Theme, view: QListView) -> None:
        super().__init__(view)
        self._theme = theme
        self._view = view

    def link_rect(self, rect: QRect, text: str) -> QRect:
        """Return the rectangle of the action in a row; its text ends at the edge at which the lines end."""
        width = QFontMetrics(self._theme.font(weight=QFont.Weight.DemiBold)).horizontalAdvance(text) + 2 * S
        link = QRect(rect.right() + 1 - M + S - width, rect.top() + XS, width, rect.height() - 2 * XS)
        return QStyle.visualRect(self._view.layoutDirection(), rect, link)

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        metrics = self._theme.metrics
        is_heading = index.data(ENTRY_ROLE) is None
        return QSize(100, metrics.control if is_heading else 2 * metrics.line + L)

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        entry: HistoryEntry | None = index.data(ENTRY_ROLE)
        inner = option.rect.adjusted(M, 0, -M, 0)
        if entry is None:
            painter.setFont(self._theme.font(FontRole.CAPTION))
            self._text(painter, option, inner, inner.adjusted(0, S, 0, 0), str(index.data()), "text_2")
        else:
            has_line = index.sibling(index.row() + 1, 0).data(ENTRY_ROLE) is not None
            paint_row(painter, self._theme, option, has_line=has_line)
            self._paint_change(painter, option, inner, entry)
        painter.restore()

    def _paint_change(self, painter: QPainter, option: QStyleOptionViewItem, inner: QRect, entry: HistoryEntry) -> None:
        clock = QFontMetrics(tabular(option.font)).horizontalAdvance(widest_clock()) + L
        line, size = self._theme.metrics.line, self._theme.metrics.scaled(ICON)
        painter.setFont(tabular(option.font))
        clock_rect = QRect(inner.left(), inner.top(), clock, inner.height())
        self._text(painter, option, inner, clock_rect, clock_time(entry.change.made_at), "text_2")
        icon = QRect(inner.left() + clock, inner.center().y() - size // 2, size, size)
        name = "undo-2" if entry.change.is_undone else _ICONS.get(entry.change.kind, "pencil")
        self._theme.icons.paint(painter, QStyle.visualRect(option.direction, inner, icon), name)
        link, action = QRect(), action_text(entry)
        if action:
            link = self.link_rect(option.rect, action)
            painter.setFont(self._theme.font(weight=QFont.Weight.DemiBold))
            selected = option.state & QStyle.StateFlag.State_Selected
            painter.setPen(self._theme.colors.color("text" if selected else "accent"))
            painter.drawText(link, Qt.AlignmentFlag.AlignCenter, action)
        left = icon.right() + M
        texts = QRect(left, inner.top() + S, inner.right() - left - (link.width() + M if action else 0), line)
        painter.setFont(option.font)
        self._text(painter, option, inner, texts, title_text(entry), "text_2" if entry.change.is_undone else "text")
        painter.setFont(self._theme.font(FontRole.CAPTION, QFont.Weight.Normal))
        self._text(painter, option, inner, texts.translated(0, line), detail_text(entry), "text_2")

    def _text(
        self, painter: QPainter, option: QStyleOptionViewItem, within: QRect, rect: QRect, text: str, color: str
    ) -> None:
        painter.setPen(self._theme.colors.color(color))
        draw_line(painter, QStyle.visualRect(option.direction, within, rect), text, option.direction)
