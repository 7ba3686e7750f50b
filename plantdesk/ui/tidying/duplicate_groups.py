"""Groups of plants that are alike, as items: a heading for each group, then its plants, read as one scrolls."""

from __future__ import annotations

from array import array
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, Qt, Signal

from plantdesk.domain.duplicates import Kept, PlantGroups, differences_of
from plantdesk.domain.edits import MergePlants
from plantdesk.domain.errors import Text, joined
from plantdesk.domain.folding import SEPARATOR
from plantdesk.domain.values import NamedTuple
from plantdesk.ui.qt import override
from plantdesk.ui.texts import long_date, one_line, shown, source_text, tag_text, translate

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from plantdesk.domain.protocols import PlantReader
    from plantdesk.domain.records import PlantRow
    from plantdesk.ui.background import StoreQueries, Task
    from plantdesk.ui.qt import Index

#: The role under which a delegate gets the Item itself.
ITEM_ROLE = Qt.ItemDataRole.UserRole
#: Groups, and plants, that are read together; plants of one group that are shown.
_PAGE, _PAGE_PLANTS, _MAX_SHOWN = 100, 400, 100


class Item(NamedTuple):
    """A plant of a group, or the heading of the group (None)."""

    group: int
    row: PlantRow | None


class DuplicateModel(QAbstractListModel):
    """Reads on the worker of `queries`. `changed`: other groups, or other plants of them, are to be merged."""

    changed = Signal()

    def __init__(self, queries: StoreQueries, parent: QObject) -> None:
        super().__init__(parent)
        self._queries = queries
        self._task: Task | None = None
        self._keep = Kept.LOWEST_ID
        self.set_groups(PlantGroups.of([]))

    def set_groups(self, groups: PlantGroups) -> None:
        """Show other groups; all of them are to be merged."""
        self.beginResetModel()
        self._groups = groups
        self._starts = array("q", accumulate(groups.sizes, initial=0))
        self._items: list[Item] = []
        self._rows: dict[int, list[PlantRow]] = {}
        self._chosen: dict[int, int] = {}
        self._is_merged, self._exceptions = True, set[int]()
        if self._task is not None:
            self._task.cancel()
        self._task, self._next = None, 0
        self.endResetModel()
        self.changed.emit()
        self.fetchMore(QModelIndex())

    def set_keep(self, keep: Kept) -> None:
        """Keep plants by another rule, whatever was chosen."""
        self._keep = keep
        self._chosen.clear()
        self._emit_changed()

    def set_all(self, *, is_merged: bool) -> None:
        """Merge all groups, or none."""
        self._is_merged = is_merged
        self._exceptions.clear()
        self._emit_changed()

    # --- what is to be merged ---

    @property
    def plants(self) -> int:
        """The number of plants in all groups."""
        return len(self._groups.ids)

    @property
    def group_count(self) -> int:
        """The number of groups."""
        return len(self._groups.sizes)

    @property
    def kept(self) -> int:
        """The number of groups that are merged, of each of which one plant is kept."""
        merged = self.group_count - len(self._exceptions)
        return merged if self._is_merged else len(self._exceptions)

    @property
    def going(self) -> int:
        """The number of plants that go."""
        others = sum(self._groups.sizes[group] - 1 for group in self._exceptions)
        return self.plants - self.group_count - others if self._is_merged else others

    def edit(self) -> MergePlants:
        """Return the edit that merges what is to be merged."""
        left = self._exceptions
        if not self._is_merged:
            left = {*range(self.group_count)} - self._exceptions
        return MergePlants(self._groups.without(left), self._keep, frozenset(self._chosen.values()))

    def is_merged(self, group: int) -> bool:
        """Whether a group is to be merged."""
        return self._is_merged is not (group in self._exceptions)

    def kept_id(self, group: int) -> int | None:
        """Return the id of the plant of a group that is kept; None where it is not among those that are shown."""
        if not self.is_merged(group):
            return None
        rows = self._rows[group]
        is_known = len(rows) == self._groups.sizes[group] or self._keep is Kept.LOWEST_ID
        return self._chosen.get(group, self._keep.of(rows).id if is_known else None)

    def act(self, index: Index) -> None:
        """Merge a group or leave it, or keep the plant of the index, whose group is merged then."""
        item = self._items[index.row()]
        if item.row is None or not self.is_merged(item.group):
            self._exceptions ^= {item.group}
        if item.row is not None:
            self._chosen[item.group] = item.row.id
        self._emit_changed()

    def remark(self, group: int) -> str:
        """Return how many plants a group has, in what they differ, and what becomes of it."""
        rows, size = self._rows[group], self._groups.sizes[group]
        differences = differences_of([f"{row.name}{SEPARATOR}{row.tag or ''}" for row in rows], _without_blanks)
        text = Text("{count:,} alike", count=size)
        if differences:
            text = Text(
                "{count:,} alike but for {what}", count=size, what=joined(differences, Text("{first}, {second}"))
            )
        parts = [shown(text)]
        if size > len(rows):
            parts.append(shown(Text("the first {count:,} are shown", count=len(rows))))
        if not self.is_merged(group):
            parts.append(translate("Duplicates", "left as they are"))
        elif group in self._chosen:
            parts.append(translate("Duplicates", "{id} chosen").format(id=self._chosen[group]))
        return ", ".join(parts)

    # --- QAbstractListModel ---

    @override
    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._items)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        item = self._items[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return one_line((item.row or self._rows[item.group][0]).name)
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._spoken(item)
            case Qt.ItemDataRole.CheckStateRole:
                is_checked = self.is_merged(item.group) if item.row is None else self._is_kept(item)
                return Qt.CheckState.Checked if is_checked else Qt.CheckState.Unchecked
            case Qt.ItemDataRole.ToolTipRole:
                return item.row.note if item.row is not None else None
            case _:
                return item if role == ITEM_ROLE else None

    @override
    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)  # checkable, else screen readers do not say which is kept
        return flags | Qt.ItemFlag.ItemIsUserCheckable if index.isValid() else flags

    @override
    def canFetchMore(self, parent: Index) -> bool:
        return not parent.isValid() and self._task is None and self._next < self.group_count

    @override
    def fetchMore(self, parent: Index) -> None:
        if self.canFetchMore(parent):
            groups: list[tuple[int, list[int]]] = []
            ids: list[int] = []
            while self._next < self.group_count and len(groups) < _PAGE and len(ids) < _PAGE_PLANTS:
                start, end = self._starts[self._next], self._starts[self._next + 1]
                groups.append((self._next, self._groups.ids[start : min(end, start + _MAX_SHOWN)].tolist()))
                ids += groups[-1][1]
                self._next += 1
            self._task = self._queries.ask(self, partial(_read, ids=ids), partial(self._on_read, groups))

    def _on_read(self, groups: list[tuple[int, list[int]]], rows: dict[int, PlantRow]) -> None:
        self._task = None
        added: list[Item] = []
        for group, ids in groups:
            found = [rows[plant_id] for plant_id in ids if plant_id in rows]
            if found:  # else they were deleted meanwhile
                self._rows[group] = found
                added += [Item(group, None), *(Item(group, row) for row in found)]
        if added:
            self.beginInsertRows(QModelIndex(), len(self._items), len(self._items) + len(added) - 1)
            self._items += added
            self.endInsertRows()

    def _emit_changed(self) -> None:
        if self._items:
            self.dataChanged.emit(self.index(0), self.index(len(self._items) - 1))
        self.changed.emit()

    def _is_kept(self, item: Item) -> bool:
        return item.row is not None and item.row.id == self.kept_id(item.group)

    def _spoken(self, item: Item) -> str:
        if item.row is None:
            return f"{one_line(self._rows[item.group][0].name)}, {self.remark(item.group)}"
        kept = translate("Duplicates", "Keep") if self._is_kept(item) else ""
        parts = [kept, translate("Duplicates", "ID {id}").format(id=item.row.id), *self.lines(item.row)]
        tag = tag_text(item.row.tag) if item.row.tag is not None else translate("Duplicates", "no tag")
        return ", ".join(filter(None, [*parts, tag, note_text(item.row)]))

    @staticmethod
    def lines(row: PlantRow) -> tuple[str, str]:
        """Return the name of a plant, in which blanks that nobody sees are marked, and when and how it was added."""
        return tag_text(row.name), f"{long_date(row.added_at)} · {source_text(row.source)}"


def note_text(row: PlantRow) -> str:
    """Return the note of a plant on one line, or that it has none."""
    return one_line(row.note) if row.note else translate("Duplicates", "no note")


def _read(reader: PlantReader, _task: Task, ids: list[int]) -> dict[int, PlantRow]:
    return reader.rows(ids)


def _without_blanks(text: str) -> str:
    return SEPARATOR.join(" ".join(part.split()) for part in text.split(SEPARATOR))
