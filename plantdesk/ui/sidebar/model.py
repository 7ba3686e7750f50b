"""The model of the sidebar's list: it changes entry by entry, so that focus and editor stay where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QLocale, QModelIndex, QObject, QPersistentModelIndex, Qt

from plantdesk.domain.errors import Text
from plantdesk.domain.search import parse_terms
from plantdesk.ui.qt import override
from plantdesk.ui.sidebar.entries import Kind, SidebarEntry
from plantdesk.ui.texts import one_line, shown
from plantdesk.ui.widgets.plain_text import tool_tip

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Index = QModelIndex | QPersistentModelIndex

ENTRY_ROLE = Qt.ItemDataRole.UserRole
ACTIVE_ROLE = Qt.ItemDataRole.UserRole + 1
#: More changed entries than this are a reset.
_MAX_STEPS = 50


class SidebarModel(QAbstractListModel):
    """The entries, and which of them are active: those of the present search."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: list[SidebarEntry] = []
        self._search = ""
        self._terms: frozenset[object] = frozenset()

    def entry(self, index: Index) -> SidebarEntry:
        """Return the entry at an index."""
        return self._entries[index.row()]

    def index_of(self, key: tuple[object, ...]) -> QModelIndex:
        """Return the index of the entry with this key, an invalid one where there is none."""
        row = next((row for row, entry in enumerate(self._entries) if entry.key == key), -1)
        return self.index(row, 0)

    def set_search(self, text: str) -> None:
        """Mark the entries of this search as active."""
        self._search, self._terms = text, frozenset(parse_terms(text))
        self._notify()

    def set_entries(self, entries: Sequence[SidebarEntry]) -> None:
        """Show other entries."""
        keys, old = {entry.key for entry in entries}, {entry.key for entry in self._entries}
        if len(keys ^ old) > _MAX_STEPS or not self._step_to(entries, keys):
            self.beginResetModel()
            self._entries = list(entries)
            self.endResetModel()
        self._notify()

    @override
    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._entries)

    @override
    def flags(self, index: Index) -> Qt.ItemFlag:
        entry = self.entry(index) if index.isValid() else None
        if entry is None or entry.kind is Kind.HEADING:
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        flags |= Qt.ItemFlag.ItemIsEditable if entry.can_be_renamed else Qt.ItemFlag.NoItemFlags
        return flags | (Qt.ItemFlag.ItemIsDropEnabled if entry.takes_plants else Qt.ItemFlag.NoItemFlags)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        entry = self.entry(index)
        values: dict[int, Callable[[], Any]] = {
            Qt.ItemDataRole.DisplayRole: lambda: one_line(entry.text),
            Qt.ItemDataRole.ToolTipRole: lambda: _tool_tip(entry),
            Qt.ItemDataRole.AccessibleTextRole: lambda: self._spoken(entry),
            ENTRY_ROLE: lambda: entry,
            ACTIVE_ROLE: lambda: self._is_active(entry),
        }
        return values[role]() if role in values else None

    def _is_active(self, entry: SidebarEntry) -> bool:
        if entry.kind is Kind.EVERYTHING:
            return not self._search
        if entry.search is not None:
            return bool(self._terms) and frozenset(parse_terms(entry.search.text)) == self._terms
        return entry.term is not None and entry.term in self._terms

    def _spoken(self, entry: SidebarEntry) -> str:
        text = one_line(entry.text)
        if entry.plants is not None:
            plants = shown(Text("{count:,} plants", one="1 plant", count=entry.plants))
            text = self.tr("{name}, {plants}").format(name=text, plants=plants)
        return self.tr("{entry}, shown").format(entry=text) if self._is_active(entry) else text

    def _step_to(self, entries: Sequence[SidebarEntry], keys: set[tuple[object, ...]]) -> bool:
        """Remove and insert entries one by one; False where some have changed their order."""
        for row in reversed(range(len(self._entries))):
            if self._entries[row].key not in keys:
                self.beginRemoveRows(QModelIndex(), row, row)
                del self._entries[row]
                self.endRemoveRows()
        for row, entry in enumerate(entries):
            if row >= len(self._entries) or self._entries[row].key != entry.key:
                self.beginInsertRows(QModelIndex(), row, row)
                self._entries.insert(row, entry)
                self.endInsertRows()
            self._entries[row] = entry
        return len(self._entries) == len(entries)

    def _notify(self) -> None:
        if self._entries:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._entries) - 1, 0))


def _tool_tip(entry: SidebarEntry) -> str:
    return tool_tip(entry.text if entry.search is None else f"{entry.text}: {entry.search.text}")


def count_text(entry: SidebarEntry) -> str:
    """Return the number of an entry's plants."""
    return "…" if entry.plants is None else QLocale().toString(entry.plants)
