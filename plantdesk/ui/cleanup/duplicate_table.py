"""The table of plants that are alike: below the heading of each group its plants, of which one is kept."""

from __future__ import annotations

from array import array
from collections.abc import Collection
from enum import IntEnum
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal, Slot
from PySide6.QtGui import QFont, QKeyEvent
from PySide6.QtWidgets import QHeaderView
from typing_extensions import override

from plantdesk.domain.duplicates import KeepRule, PlantGroups, addition_of, kinds_of_difference, were_added_together
from plantdesk.domain.edits import MergePlants
from plantdesk.domain.folding import SEPARATOR
from plantdesk.domain.protocols import PlantReader
from plantdesk.domain.records import PlantRow
from plantdesk.domain.texts import LISTED, Text, joined
from plantdesk.ui.background import StoreQueries, Task
from plantdesk.ui.qt import Index
from plantdesk.ui.texts import date, long_date, one_line, source_text, tag_text, translate, translated
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.plain_table import PlainTable, RowModel
from plantdesk.ui.widgets.plain_text import tool_tip

#: The number of groups, and of plants, that are read together, and of the plants of a group that are shown.
_PAGE, _PAGE_PLANTS, _MAX_SHOWN = 100, 400, 100


class _Column(IntEnum):
    PLANT = 0
    ID = 1
    TAG = 2
    ADDED = 3
    NOTE = 4


class Item(NamedTuple):
    """A plant of a group, or the heading of the group (None)."""

    group: int
    row: PlantRow | None


class DuplicateModel(RowModel[Item]):
    """Reads on the worker of `queries`. `changed`: other groups, or other plants of them, are to be merged."""

    changed = Signal()

    def __init__(self, queries: StoreQueries, parent: QObject) -> None:
        headings = (
            translate("Duplicates", "Keep"),
            translate("PlantTable", "ID"),
            translate("PlantTable", "Tag"),
            translate("PlantTable", "Added"),
            translate("ChangedTexts", "Note"),
        )
        super().__init__(headings, parent)
        self._queries = queries
        self._task: Task | None = None
        self._keep = KeepRule.LOWEST_ID
        self._groups = PlantGroups.of([])
        #: The groups that are not to be merged.
        self._left: set[int] = set()
        self._chosen: dict[int, int] = {}
        self.set_groups(self._groups)

    def set_groups(self, groups: PlantGroups, left: Collection[int] = ()) -> None:
        """Show other groups; those of the numbers in `left` are not to be merged.

        Groups that were shown before keep their marks.
        """
        known, chosen = {*self._groups.ids}, {*self._chosen.values()}
        were_left = {plant_id for group in self._left for plant_id in self._ids(group)}
        self.beginResetModel()
        self._groups = groups
        self._starts = array("q", accumulate(groups.sizes, initial=0))
        self.rows = []
        self._plants: dict[int, list[PlantRow]] = {}
        self._chosen = {}
        self._left = set(left)
        if known:
            self._restore(known, were_left, chosen)
        if self._task is not None:
            self._task.cancel()
        self._task, self._next = None, 0
        self.endResetModel()
        self.changed.emit()
        self.fetchMore(QModelIndex())

    def _restore(self, known: set[int], were_left: set[int], chosen: set[int]) -> None:
        for group in range(self.group_count):
            ids = self._ids(group)
            if not known.isdisjoint(ids):
                self._left.discard(group)
            if not were_left.isdisjoint(ids):
                self._left.add(group)
            for plant_id in chosen.intersection(ids):
                self._chosen[group] = plant_id

    def set_keep(self, keep: KeepRule) -> None:
        """Choose the plants to keep by another rule, whatever the user chose."""
        self._keep = keep
        self._chosen.clear()
        self._emit_changed()

    def set_all(self, *, is_merged: bool) -> None:
        """Merge all groups, or none."""
        self._left = set() if is_merged else {*range(self.group_count)}
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
    def merged_count(self) -> int:
        """The number of groups that are merged. One plant of each is kept."""
        return self.group_count - len(self._left)

    @property
    def removed_count(self) -> int:
        """The number of plants that are removed."""
        left = sum(self._groups.sizes[group] - 1 for group in self._left)
        return self.plants - self.group_count - left

    def edit(self) -> MergePlants:
        """Return the edit that merges the ticked groups."""
        return MergePlants(self._groups.without(self._left), self._keep, frozenset(self._chosen.values()))

    def _ids(self, group: int) -> array[int]:
        return self._groups.ids[self._starts[group] : self._starts[group + 1]]

    def is_merged(self, group: int) -> bool:
        """Return whether a group is to be merged."""
        return group not in self._left

    def kept_id(self, group: int) -> int | None:
        """Return the id of the plant of a group that is kept; None if it is not among those that are shown."""
        if not self.is_merged(group):
            return None
        rows = self._plants[group]
        is_known = len(rows) == self._groups.sizes[group] or self._keep is KeepRule.LOWEST_ID
        return self._chosen.get(group, self._keep.select(rows).id if is_known else None)

    def act(self, index: Index) -> None:
        """Merge a group or leave it. For the index of a plant, keep this plant and merge its group."""
        item = self.rows[index.row()]
        if item.row is None or not self.is_merged(item.group):
            self._left ^= {item.group}
        if item.row is not None:
            self._chosen[item.group] = item.row.id
        self._emit_changed()

    def _remark(self, group: int) -> str:
        """Return how many plants a group has, how they differ, and what happens to it."""
        rows, size = self._plants[group], self._groups.sizes[group]
        differences = kinds_of_difference([f"{row.name}{SEPARATOR}{row.tag or ''}" for row in rows], _without_blanks)
        text = Text("{count:,} alike", count=size)
        if differences:
            text = Text("{count:,} alike but for {what}", count=size, what=joined(differences, LISTED))
        parts = [translated(text)]
        if not differences and were_added_together({*map(addition_of, rows)}):
            parts.append(translate("Duplicates", "added together"))
        if size > len(rows):
            parts.append(translated(Text("the first {count:,} are shown", count=len(rows))))
        return ", ".join([*parts, self._outcome(group)])

    def _outcome(self, group: int) -> str:
        """Return which plant of a group stays, and why."""
        if not self.is_merged(group):
            return translate("Duplicates", "left as they are")
        if group in self._chosen:
            return translate("Duplicates", "{id} chosen").format(id=self._chosen[group])
        if self._keep is KeepRule.NEWEST:
            return translate("Duplicates", "the newest stays")
        if self._keep is KeepRule.LONGEST_NOTE and any(row.note for row in self._plants[group]):
            return translate("Duplicates", "the longest note stays")
        return translate("Duplicates", "the lowest ID stays")

    def is_heading(self, row: int) -> bool:
        """Return whether a row is the heading of a group."""
        return self.rows[row].row is None

    # --- QAbstractTableModel ---

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        item = self.rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._text(item, _Column(index.column()))
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._spoken(item)
            case Qt.ItemDataRole.CheckStateRole if index.column() == _Column.PLANT:
                return self._check_state(item)
            case Qt.ItemDataRole.FontRole if item.row is None:
                font = QFont()
                font.setWeight(QFont.Weight.DemiBold)
                return font
            case Qt.ItemDataRole.ToolTipRole if item.row is not None:
                return tool_tip(item.row.note or item.row.name)
        return None

    @override
    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)  # checkable, or screen readers do not say which is kept
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
                groups.append((self._next, self._ids(self._next)[:_MAX_SHOWN].tolist()))
                ids += groups[-1][1]
                self._next += 1
            self._task = self._queries.ask(self, partial(_read, ids=ids), partial(self._on_read, groups))

    def _on_read(self, groups: list[tuple[int, list[int]]], rows: dict[int, PlantRow]) -> None:
        self._task = None
        added: list[Item] = []
        for group, ids in groups:
            found = [rows[plant_id] for plant_id in ids if plant_id in rows]
            if found:  # else they were deleted meanwhile
                self._plants[group] = found
                added += [Item(group, None), *(Item(group, row) for row in found)]
        self.append(added)

    def _emit_changed(self) -> None:
        self.report_changed()
        self.changed.emit()

    def _check_state(self, item: Item) -> Qt.CheckState:
        is_checked = self.is_merged(item.group) if item.row is None else self._is_kept(item)
        return Qt.CheckState.Checked if is_checked else Qt.CheckState.Unchecked

    def _is_kept(self, item: Item) -> bool:
        return item.row is not None and item.row.id == self.kept_id(item.group)

    def _spoken(self, item: Item) -> str:
        if item.row is None:
            return self._heading(item.group)
        kept = translate("Duplicates", "Keep") if self._is_kept(item) else ""
        row = item.row
        parts = [kept, translate("Duplicates", "ID {id}").format(id=row.id), tag_text(row.name)]
        parts.append(f"{long_date(row.added_at)} · {source_text(row.source)}")
        parts.append(tag_text(row.tag) if row.tag is not None else translate("Duplicates", "no tag"))
        parts.append(one_line(row.note) if row.note else translate("Duplicates", "no note"))
        return ", ".join(filter(None, parts))

    def _text(self, item: Item, column: _Column) -> str:
        """Return the text of a cell; in name and tag, blanks that cannot be seen are marked."""
        row = item.row
        if row is None:
            return self._heading(item.group) if column is _Column.PLANT else ""
        match column:
            case _Column.PLANT:
                return tag_text(row.name)
            case _Column.ID:
                return str(row.id)
            case _Column.TAG:
                return "" if row.tag is None else tag_text(row.tag)
            case _Column.ADDED:
                return f"{date(row.added_at)} · {source_text(row.source)}"
            case _Column.NOTE:
                return one_line(row.note or "")

    def _heading(self, group: int) -> str:
        return f"{one_line(self._plants[group][0].name)}, {self._remark(group)}"


def _read(reader: PlantReader, _task: Task, ids: list[int]) -> dict[int, PlantRow]:
    return reader.rows(ids)


def _without_blanks(text: str) -> str:
    return SEPARATOR.join(" ".join(part.split()) for part in text.split(SEPARATOR))


class DuplicateTable(PlainTable):
    """The view of a `DuplicateModel`. A click or Space acts on a row."""

    def __init__(self, model: DuplicateModel, theme: Theme) -> None:
        super().__init__(theme, translate("Duplicates", "Plants that are alike"), [""] * len(_Column))
        self._groups = model
        self.setModel(model)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.horizontalHeader().setSectionResizeMode(_Column.ID, QHeaderView.ResizeMode.ResizeToContents)
        model.rowsInserted.connect(self._span_headings)
        model.modelReset.connect(self.clearSpans)
        self.clicked.connect(model.act)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and self.currentIndex().isValid():
            self._groups.act(self.currentIndex())
        else:
            super().keyPressEvent(event)

    @Slot(QModelIndex, int, int)
    def _span_headings(self, _parent: QModelIndex, first: int, last: int) -> None:
        """Let a heading take all columns."""
        for row in filter(self._groups.is_heading, range(first, last + 1)):
            self.setSpan(row, 0, 1, len(_Column))
        self.resizeColumnToContents(_Column.ID)
