"""The changes of the history in pages, newest first, with a heading before each day."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QAbstractListModel, QDate, QDateTime, QLocale, QModelIndex, Qt, QTime, Signal

from plantdesk.domain.errors import Text, shortened
from plantdesk.domain.history import ChangeKind
from plantdesk.domain.records import SourceKind
from plantdesk.ui.qt import override
from plantdesk.ui.texts import clock_time, long_time, one_line, short_time, shown, source_text, tag_text, translate

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QObject, QPersistentModelIndex

    from plantdesk.domain.history import Change, HistoryEntry
    from plantdesk.domain.protocols import HistorySummary, PlantReader
    from plantdesk.domain.records import Source
    from plantdesk.ui.background import StoreQueries, Task

    Index = QModelIndex | QPersistentModelIndex

#: The role under which a delegate gets the HistoryEntry itself, None for the heading of a day.
ENTRY_ROLE = Qt.ItemDataRole.UserRole

_PAGE = 200


class HistoryPage(NamedTuple):
    """Some entries, and what the whole history consists of where that was asked for."""

    entries: list[HistoryEntry]
    summary: HistorySummary | None


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
        self._source: Source | None = None
        #: Whether there are changes to be shown that are not read yet.
        self.has_more = False
        self._task: Task | None = None

    def show(self, text: str, source: Source | None) -> None:
        """Show the changes that contain `text` and were made by `source`; None: by any."""
        self._text, self._source = text, source
        self.reload()

    def reload(self) -> None:
        """Read the changes again; the present ones stay until the others are there."""
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
            self.has_more = False  # until the page is there
            self._ask(self._last.change.number, _PAGE, self._on_more)

    def _ask(self, before: int | None, limit: int, done: Callable[[int, HistoryPage], object]) -> None:
        if self._task is not None:
            self._task.cancel()
        read = partial(_read, before=before, limit=limit, text=self._text, source=self._source)
        self._task = self._queries.ask(self, read, partial(done, limit), self._on_failed)

    def _on_failed(self, error: Exception) -> None:
        self.has_more = self._last is not None  # scrolling asks again
        self.failed.emit(error)

    def _on_loaded(self, limit: int, page: HistoryPage) -> None:
        self.beginResetModel()
        self._last = None
        self._rows = self._with_headings(page.entries)
        self.has_more = len(page.entries) == limit
        self.endResetModel()
        self.loaded.emit(page.summary)

    def _on_more(self, limit: int, page: HistoryPage) -> None:
        self.has_more = len(page.entries) == limit
        rows = self._with_headings(page.entries)
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
    title = _title(entry.change)
    return translate("History", "Undone: {title}").format(title=title) if entry.change.is_undone else title


def _title(change: Change) -> str:
    return one_line(shown(change.title))


def detail_text(entry: HistoryEntry) -> str:
    """Return who made a change, its plants, when it was undone, and why it cannot be."""
    change, last, _ = entry
    parts = [] if change.source.kind is SourceKind.FORM else [source_text(change.source)]
    parts.append(_plants(entry))
    if change.is_undone:
        parts.append(translate("History", "undone {time}").format(time=short_time(last.made_at)))
    elif not last.can_undo:
        parts.append(translate("History", "too old to be undone"))
    return " · ".join(parts)


def _plants(entry: HistoryEntry) -> str:
    """Return what the title does not say of the plants."""
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
    return translate("History", "Redo") if entry.change.is_undone else translate("History", "Undo")


def widest_clock() -> str:
    """Return a time of day that is as wide as any, where digits have equal widths."""
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
    reader: PlantReader, _task: Task, before: int | None, limit: int, text: str, source: Source | None
) -> HistoryPage:
    entries = reader.history_entries(limit, before, text, source, _title)
    return HistoryPage(entries, reader.history_summary() if before is None else None)
