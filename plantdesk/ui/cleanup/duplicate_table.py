"""The model and the table of similar plants: a heading for each group, and below it the plants of the group."""

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
from plantdesk.ui.texts import long_date, one_line, short_date, source_text, tag_text, translate, translated
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.plain_table import PlainTable, RowModel
from plantdesk.ui.widgets.plain_text import tool_tip

#: The most groups and plants that are read at once.
_MAX_PAGE_GROUPS = 100
_MAX_PAGE_PLANTS = 400
#: The most plants of a group that are shown.
_MAX_SHOWN_PLANTS = 100


class _Column(IntEnum):
    PLANT = 0
    ID = 1
    TAG = 2
    ADDED = 3
    NOTE = 4


class GroupItem(NamedTuple):
    """A row of the table: a plant of the group with this number, or (`row` None) the heading of the group."""

    group: int
    row: PlantRow | None


class DuplicateModel(RowModel[GroupItem]):
    """The model of groups of similar plants, with a check mark for each group. It reads them in pages."""

    #: Other groups, or other plants of them, are to be merged.
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
        self._keep_rule = KeepRule.LOWEST_ID
        self._groups = PlantGroups.of([])
        #: The numbers of the groups that are not merged.
        self._excluded: set[int] = set()
        #: The ids of the plants that the user chose to keep, by group.
        self._chosen_ids: dict[int, int] = {}
        self.set_groups(self._groups)

    def set_groups(self, groups: PlantGroups, excluded: Collection[int] = ()) -> None:
        """Show other groups, ticked unless `excluded`; the user's choices in known groups stay."""
        known_ids = {*self._groups.ids}
        chosen_ids = {*self._chosen_ids.values()}
        excluded_ids = {plant_id for group in self._excluded for plant_id in self._group_ids(group)}
        self.beginResetModel()
        self._groups = groups
        self._starts = array("q", accumulate(groups.sizes, initial=0))
        self.rows = []
        self._plants: dict[int, list[PlantRow]] = {}
        self._chosen_ids = {}
        self._excluded = set(excluded)
        if known_ids:
            self._restore_choices(known_ids, excluded_ids, chosen_ids)
        if self._task is not None:
            self._task.cancel()
        self._task = None
        self._next_group = 0
        self.endResetModel()
        self.changed.emit()
        self.fetchMore(QModelIndex())

    def _restore_choices(self, known_ids: set[int], excluded_ids: set[int], chosen_ids: set[int]) -> None:
        for group in range(self.group_count):
            ids = self._group_ids(group)
            if not known_ids.isdisjoint(ids):
                self._excluded.discard(group)
            if not excluded_ids.isdisjoint(ids):
                self._excluded.add(group)
            for plant_id in chosen_ids.intersection(ids):
                self._chosen_ids[group] = plant_id

    def set_keep_rule(self, keep_rule: KeepRule) -> None:
        """Let a rule select the plant to keep in each group; forget the plants the user chose."""
        self._keep_rule = keep_rule
        self._chosen_ids.clear()
        self._emit_changed()

    def set_all_merged(self, *, is_merged: bool) -> None:
        """Tick all groups to be merged, or none."""
        self._excluded = set() if is_merged else {*range(self.group_count)}
        self._emit_changed()

    @property
    def plant_count(self) -> int:
        """The number of plants in all groups, also of those that are not loaded yet."""
        return len(self._groups.ids)

    @property
    def group_count(self) -> int:
        """The number of groups, also of those that are not loaded yet."""
        return len(self._groups.sizes)

    @property
    def merged_count(self) -> int:
        """The number of ticked groups, of each of which one plant is kept."""
        return self.group_count - len(self._excluded)

    @property
    def removed_count(self) -> int:
        """The number of plants that merging the ticked groups removes."""
        excluded = sum(self._groups.sizes[group] - 1 for group in self._excluded)
        return self.plant_count - self.group_count - excluded

    def make_edit(self) -> MergePlants:
        """Return the edit that merges the ticked groups."""
        return MergePlants(self._groups.without(self._excluded), self._keep_rule, frozenset(self._chosen_ids.values()))

    def _group_ids(self, group: int) -> array[int]:
        return self._groups.ids[self._starts[group] : self._starts[group + 1]]

    def is_merged(self, group: int) -> bool:
        """Return whether a group is ticked to be merged."""
        return group not in self._excluded

    def kept_id(self, group: int) -> int | None:
        """Return the ID of the plant that a ticked group keeps; None if unticked or not known yet."""
        if not self.is_merged(group):
            return None
        rows = self._plants[group]
        is_known = len(rows) == self._groups.sizes[group] or self._keep_rule is KeepRule.LOWEST_ID
        return self._chosen_ids.get(group, self._keep_rule.select(rows).id if is_known else None)

    def toggle(self, index: Index) -> None:
        """Tick or untick the group of a heading; for a plant, keep it and tick its group."""
        item = self.rows[index.row()]
        if item.row is None or not self.is_merged(item.group):
            self._excluded ^= {item.group}
        if item.row is not None:
            self._chosen_ids[item.group] = item.row.id
        self._emit_changed()

    def _heading_details(self, group: int) -> str:
        """Return the number of plants of a group, how they differ, and which one is kept."""
        rows = self._plants[group]
        size = self._groups.sizes[group]
        differences = kinds_of_difference([f"{row.name}{SEPARATOR}{row.tag or ''}" for row in rows], _without_blanks)
        text = Text("{count:,} alike", count=size)
        if differences:
            text = Text("{count:,} alike but for {what}", count=size, what=joined(differences, LISTED))
        parts = [translated(text)]
        if not differences and were_added_together({*map(addition_of, rows)}):
            parts.append(translate("Duplicates", "added together"))
        if size > len(rows):
            parts.append(translated(Text("the first {count:,} are shown", count=len(rows))))
        return ", ".join([*parts, self._outcome_text(group)])

    def _outcome_text(self, group: int) -> str:
        if not self.is_merged(group):
            return translate("Duplicates", "left as they are")
        if group in self._chosen_ids:
            return translate("Duplicates", "{id} chosen").format(id=self._chosen_ids[group])
        if self._keep_rule is KeepRule.NEWEST:
            return translate("Duplicates", "the newest stays")
        if self._keep_rule is KeepRule.LONGEST_NOTE and any(row.note for row in self._plants[group]):
            return translate("Duplicates", "the longest note stays")
        return translate("Duplicates", "the lowest ID stays")

    def is_heading(self, row: int) -> bool:
        """Return whether a row is the heading of a group."""
        return self.rows[row].row is None

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        item = self.rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._cell_text(item, _Column(index.column()))
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._spoken_text(item)
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
        flags = super().flags(index)  # screen readers announce the state of checkable items only
        return flags | Qt.ItemFlag.ItemIsUserCheckable if index.isValid() else flags

    @override
    def canFetchMore(self, parent: Index) -> bool:
        return not parent.isValid() and self._task is None and self._next_group < self.group_count

    @override
    def fetchMore(self, parent: Index) -> None:
        if self.canFetchMore(parent):
            groups: list[tuple[int, list[int]]] = []
            ids: list[int] = []
            while (
                self._next_group < self.group_count and len(groups) < _MAX_PAGE_GROUPS and len(ids) < _MAX_PAGE_PLANTS
            ):
                group_ids = self._group_ids(self._next_group)[:_MAX_SHOWN_PLANTS].tolist()
                groups.append((self._next_group, group_ids))
                ids += group_ids
                self._next_group += 1
            self._task = self._queries.run(self, partial(_read_rows, ids=ids), partial(self._on_read, groups))

    def _on_read(self, groups: list[tuple[int, list[int]]], rows: dict[int, PlantRow]) -> None:
        self._task = None
        added: list[GroupItem] = []
        for group, ids in groups:
            present = [rows[plant_id] for plant_id in ids if plant_id in rows]
            if present:  # else all were deleted meanwhile
                self._plants[group] = present
                added += [GroupItem(group, None), *(GroupItem(group, row) for row in present)]
        self.append(added)

    def _emit_changed(self) -> None:
        self.report_changed()
        self.changed.emit()

    def _check_state(self, item: GroupItem) -> Qt.CheckState:
        is_checked = self.is_merged(item.group) if item.row is None else self._is_kept(item)
        return Qt.CheckState.Checked if is_checked else Qt.CheckState.Unchecked

    def _is_kept(self, item: GroupItem) -> bool:
        return item.row is not None and item.row.id == self.kept_id(item.group)

    def _spoken_text(self, item: GroupItem) -> str:
        if item.row is None:
            return self._heading_text(item.group)
        kept = translate("Duplicates", "Keep") if self._is_kept(item) else ""
        row = item.row
        parts = [kept, translate("Duplicates", "ID {id}").format(id=row.id), tag_text(row.name)]
        parts.append(f"{long_date(row.added_at)} · {source_text(row.source)}")
        parts.append(tag_text(row.tag) if row.tag is not None else translate("Duplicates", "no tag"))
        parts.append(one_line(row.note) if row.note else translate("Duplicates", "no note"))
        return ", ".join(filter(None, parts))

    def _cell_text(self, item: GroupItem, column: _Column) -> str:
        """Return the text of a cell; in name and tag, invisible blanks are marked."""
        row = item.row
        if row is None:
            return self._heading_text(item.group) if column is _Column.PLANT else ""
        match column:
            case _Column.PLANT:
                return tag_text(row.name)
            case _Column.ID:
                return str(row.id)
            case _Column.TAG:
                return "" if row.tag is None else tag_text(row.tag)
            case _Column.ADDED:
                return f"{short_date(row.added_at)} · {source_text(row.source)}"
            case _Column.NOTE:
                return one_line(row.note or "")

    def _heading_text(self, group: int) -> str:
        return f"{one_line(self._plants[group][0].name)}, {self._heading_details(group)}"


def _read_rows(reader: PlantReader, _task: Task, ids: list[int]) -> dict[int, PlantRow]:
    return reader.rows(ids)


def _without_blanks(text: str) -> str:
    return SEPARATOR.join(" ".join(part.split()) for part in text.split(SEPARATOR))


class DuplicateTable(PlainTable):
    """The table of similar plants. A click or Space ticks a group (heading), or keeps that plant."""

    def __init__(self, model: DuplicateModel, theme: Theme) -> None:
        super().__init__(theme, translate("Duplicates", "Plants that are alike"), [""] * len(_Column))
        self._duplicates = model
        self.setModel(model)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.horizontalHeader().setSectionResizeMode(_Column.ID, QHeaderView.ResizeMode.ResizeToContents)
        model.rowsInserted.connect(self._span_headings)
        model.modelReset.connect(self.clearSpans)
        self.clicked.connect(model.toggle)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and self.currentIndex().isValid():
            self._duplicates.toggle(self.currentIndex())
        else:
            super().keyPressEvent(event)

    @Slot(QModelIndex, int, int)
    def _span_headings(self, _parent: QModelIndex, first: int, last: int) -> None:
        for row in filter(self._duplicates.is_heading, range(first, last + 1)):
            self.setSpan(row, 0, 1, len(_Column))
        self.resizeColumnToContents(_Column.ID)
