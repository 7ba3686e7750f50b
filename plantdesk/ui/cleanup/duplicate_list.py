"""The list of plants that are alike: headings with a check mark, and cards side by side. One card is kept."""

from __future__ import annotations

from array import array
from collections.abc import Collection
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QAbstractListModel, QModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)
from typing_extensions import override

from plantdesk.domain.duplicates import Kept, PlantGroups, added_of, are_together, differences_of
from plantdesk.domain.edits import MergePlants
from plantdesk.domain.errors import Text, joined
from plantdesk.domain.folding import SEPARATOR
from plantdesk.ui.texts import long_date, one_line, shown, source_text, tag_text, translate
from plantdesk.ui.theme.metrics import ICON, XL, FontRole, M, S, tabular
from plantdesk.ui.widgets.containers import ReservedScrollBar
from plantdesk.ui.widgets.painting import draw_line, paint_pill, pill_size

if TYPE_CHECKING:
    from PySide6.QtCore import QObject
    from PySide6.QtGui import QKeyEvent

    from plantdesk.domain.protocols import PlantReader
    from plantdesk.domain.records import PlantRow
    from plantdesk.ui.background import StoreQueries, Task
    from plantdesk.ui.qt import Index
    from plantdesk.ui.theme.theme import Theme


#: The role under which a delegate gets the Item itself.
ITEM_ROLE = Qt.ItemDataRole.UserRole
#: The number of groups, and of plants, that are read together, and of the plants of a group that are shown.
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
        self._items: list[Item] = []
        self._rows: dict[int, list[PlantRow]] = {}
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

    def set_keep(self, keep: Kept) -> None:
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
    def kept(self) -> int:
        """The number of groups that are merged. One plant of each is kept."""
        return self.group_count - len(self._left)

    @property
    def going(self) -> int:
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
        rows = self._rows[group]
        is_known = len(rows) == self._groups.sizes[group] or self._keep is Kept.LOWEST_ID
        return self._chosen.get(group, self._keep.of(rows).id if is_known else None)

    def act(self, index: Index) -> None:
        """Merge a group or leave it. For the index of a plant, keep this plant and merge its group."""
        item = self._items[index.row()]
        if item.row is None or not self.is_merged(item.group):
            self._left ^= {item.group}
        if item.row is not None:
            self._chosen[item.group] = item.row.id
        self._emit_changed()

    def remark(self, group: int) -> str:
        """Return how many plants a group has, how they differ, and what happens to it."""
        rows, size = self._rows[group], self._groups.sizes[group]
        differences = differences_of([f"{row.name}{SEPARATOR}{row.tag or ''}" for row in rows], _without_blanks)
        text = Text("{count:,} alike", count=size)
        if differences:
            text = Text(
                "{count:,} alike but for {what}", count=size, what=joined(differences, Text("{first}, {second}"))
            )
        parts = [shown(text)]
        if not differences and are_together({*map(added_of, rows)}):
            parts.append(translate("Duplicates", "added together"))
        if size > len(rows):
            parts.append(shown(Text("the first {count:,} are shown", count=len(rows))))
        return ", ".join([*parts, self._outcome(group)])

    def _outcome(self, group: int) -> str:
        """Return which plant of a group stays, and why."""
        if not self.is_merged(group):
            return translate("Duplicates", "left as they are")
        if group in self._chosen:
            return translate("Duplicates", "{id} chosen").format(id=self._chosen[group])
        if self._keep is Kept.NEWEST:
            return translate("Duplicates", "the newest stays")
        if self._keep is Kept.LONGEST_NOTE and any(row.note for row in self._rows[group]):
            return translate("Duplicates", "the longest note stays")
        return translate("Duplicates", "the lowest ID stays")

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
                return self._check_state(item)
            case Qt.ItemDataRole.ToolTipRole:
                return item.row.note if item.row is not None else None
            case _:
                return item if role == ITEM_ROLE else None

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

    def _check_state(self, item: Item) -> Qt.CheckState:
        is_checked = self.is_merged(item.group) if item.row is None else self._is_kept(item)
        return Qt.CheckState.Checked if is_checked else Qt.CheckState.Unchecked

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
        """Return the name of a plant, with invisible blanks marked, and when and how it was added."""
        return tag_text(row.name), f"{long_date(row.added_at)} · {source_text(row.source)}"


def note_text(row: PlantRow) -> str:
    """Return the note of a plant on one line, or that it has none."""
    return one_line(row.note) if row.note else translate("Duplicates", "no note")


def _read(reader: PlantReader, _task: Task, ids: list[int]) -> dict[int, PlantRow]:
    return reader.rows(ids)


def _without_blanks(text: str) -> str:
    return SEPARATOR.join(" ".join(part.split()) for part in text.split(SEPARATOR))


#: For text of 13 px.
_CARD_WIDTH = 207
_RADIUS = 8
#: The lines of a card, and its margins.
_LINES, _AROUND = 4, 3 * S + 2 * M
_CURSOR = QAbstractItemView.CursorAction


class DuplicateList(QListView):
    """The view of a `DuplicateModel`. Up and Down move between groups, Left and Right within a group, Space acts."""

    def __init__(self, model: DuplicateModel, theme: Theme) -> None:
        super().__init__()
        self._groups = model
        self.setAccessibleName(self.tr("Plants that are alike"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("pane", "strip")
        self.setFlow(QListView.Flow.LeftToRight)
        self.setWrapping(True)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        ReservedScrollBar(self)
        self.setMouseTracking(True)
        self.setModel(model)
        self.clicked.connect(model.act)
        self.setItemDelegate(_Delegate(model, theme, self))
        theme.changed.connect(self.scheduleDelayedItemsLayout)

    @override
    def moveCursor(self, cursorAction: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        row, is_mirrored = self.currentIndex().row(), self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        if cursorAction in {_CURSOR.MoveUp, _CURSOR.MoveDown}:
            return self._heading(row, 1 if cursorAction == _CURSOR.MoveDown else -1)
        if cursorAction in {_CURSOR.MoveLeft, _CURSOR.MoveRight}:
            step = 1 if (cursorAction == _CURSOR.MoveRight) is not is_mirrored else -1
            return self._groups.index(min(max(0, row + step), self._groups.rowCount() - 1), 0)
        return super().moveCursor(cursorAction, modifiers)

    @override
    def scrollTo(
        self, index: Index, hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible
    ) -> None:
        if index.isValid() and index.data(ITEM_ROLE).row is None:  # also scroll to its first plants
            super().scrollTo(self._groups.index(index.row() + 1, 0), hint)
        super().scrollTo(index, hint)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and self.currentIndex().isValid():
            self._groups.act(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _heading(self, row: int, step: int) -> QModelIndex:
        """Return the next heading in a direction, or the current item if there is none."""
        at = row + step
        while 0 <= at < self._groups.rowCount():
            index = self._groups.index(at, 0)
            if index.data(ITEM_ROLE).row is None:
                return index
            at += step
        return self.currentIndex()


class _Delegate(QStyledItemDelegate):
    """Paints headings and cards. Everything is laid out from the leading edge, so that it mirrors."""

    def __init__(self, model: DuplicateModel, theme: Theme, view: QListView) -> None:
        super().__init__(view)
        self._groups, self._theme, self._view = model, theme, view

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        metrics, width = self._theme.metrics, self._view.viewport().width()
        if index.data(ITEM_ROLE).row is None:
            return QSize(width, metrics.control + S)
        columns = max(1, width // (metrics.scaled(_CARD_WIDTH) + S))
        return QSize((width - 1) // columns, _LINES * metrics.line + _AROUND + S)

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        item: Item = index.data(ITEM_ROLE)
        is_checked = index.data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Checked
        has_ring = bool(option.state & QStyle.StateFlag.State_HasFocus)
        if item.row is None:
            self._paint_heading(painter, option, index, item.group, is_checked=is_checked)
            self._paint_edge(painter, option.rect.adjusted(0, 2, -1, -2), "focus" if has_ring else "", 2)
        else:
            card = option.rect.adjusted(0, 0, -S, -S)
            painter.setBrush(self._theme.colors.color("surface"))
            color = "focus" if has_ring else "accent" if is_checked else "line"
            self._paint_edge(painter, card, color, 2 if has_ring or is_checked else 1)
            self._paint_card(painter, option, card.adjusted(M, S, -M, -S), item, item.row, is_kept=is_checked)
        painter.restore()

    def _paint_edge(self, painter: QPainter, rect: QRect, color: str, width: int) -> None:
        if color:
            half = width / 2
            painter.setPen(QPen(self._theme.colors.color(color), width))
            painter.drawRoundedRect(QRectF(rect).adjusted(half, half, -half, -half), _RADIUS, _RADIUS)

    def _paint_heading(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index, group: int, *, is_checked: bool
    ) -> None:
        size = self._theme.metrics.scaled(20)
        rect = option.rect.adjusted(S, 0, -S, 0)
        box = QRect(rect.left(), rect.center().y() - size // 2, size, size)
        mark = QStyleOptionViewItem(option)
        mark.rect = QStyle.visualRect(option.direction, rect, box)
        mark.state = QStyle.StateFlag.State_On if is_checked else QStyle.StateFlag.State_Off
        check = QStyle.PrimitiveElement.PE_IndicatorItemViewItemCheck
        self._view.style().drawPrimitive(check, mark, painter, self._view)
        text = rect.adjusted(size + S + 2, 0, 0, 0)
        painter.setFont(self._theme.font(weight=QFont.Weight.DemiBold))
        name, remark = str(index.data()), self._groups.remark(group)
        width = min(painter.fontMetrics().horizontalAdvance(name) + 2, text.width() * 2 // 3)
        name_rect = QRect(text.left(), text.top(), width, text.height())
        self._line(painter, option, rect, name_rect, name, "text" if is_checked else "text_2")
        painter.setFont(self._theme.font(FontRole.CAPTION, QFont.Weight.Normal))
        self._line(painter, option, rect, text.adjusted(width + M, 0, 0, 0), remark, "text_2")

    def _paint_card(
        self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, item: Item, row: PlantRow, *, is_kept: bool
    ) -> None:
        color = "text" if self._groups.is_merged(item.group) else "text_2"
        step = rect.height() // _LINES
        rows = [QRect(rect.left(), rect.top() + at * step, rect.width(), step) for at in range(_LINES)]
        self._paint_title(painter, option, rows[0], row, is_kept=is_kept)
        name, added = self._groups.lines(row)
        painter.setFont(self._theme.font())
        self._line(painter, option, rect, rows[1], name, color)
        painter.setFont(self._theme.font(FontRole.CAPTION, QFont.Weight.Normal))
        self._line(painter, option, rect, rows[2], added, "text_2")
        left = rows[3]
        if row.tag is not None:
            size = pill_size(self._theme, row.tag)
            width = min(size.width(), rect.width() * 3 // 5)
            pill = QRect(left.left(), left.center().y() - size.height() // 2, width, size.height())
            paint_pill(painter, self._theme, QStyle.visualRect(option.direction, rect, pill), row.tag)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            left = left.adjusted(width + S, 0, 0, 0)
        painter.setFont(self._theme.font(FontRole.CAPTION, QFont.Weight.Normal))
        self._line(painter, option, rect, left, note_text(row), color if row.note else "text_2")

    def _paint_title(
        self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, row: PlantRow, *, is_kept: bool
    ) -> None:
        """Paint the radio button, “Keep” on the plant that is kept, and the id."""
        size, colors = self._theme.metrics.scaled(ICON), self._theme.colors
        radio = QRectF(
            QStyle.visualRect(option.direction, rect, QRect(rect.left(), rect.center().y() - size // 2, size, size))
        )
        painter.setPen(QPen(colors.color("accent" if is_kept else "border"), 2 if is_kept else 1))
        painter.drawEllipse(radio.adjusted(1, 1, -1, -1))
        if is_kept:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.color("accent"))
            painter.drawEllipse(radio.adjusted(4.5, 4.5, -4.5, -4.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
        text = rect.adjusted(size + S, 0, 0, 0)
        if is_kept:
            keep = translate("Duplicates", "Keep")
            painter.setFont(self._theme.font(weight=QFont.Weight.DemiBold))
            width = painter.fontMetrics().horizontalAdvance(keep)
            self._line(painter, option, rect, QRect(text.left(), text.top(), width + 1, text.height()), keep, "accent")
            text.setLeft(text.left() + width + XL)
        painter.setFont(tabular(self._theme.font()))
        plant_id = translate("Duplicates", "ID {id}").format(id=row.id)
        if is_kept:
            text.setLeft(max(text.left(), text.right() - 1 - painter.fontMetrics().horizontalAdvance(plant_id)))
        self._line(painter, option, rect, text, plant_id, "text_2")

    def _line(
        self, painter: QPainter, option: QStyleOptionViewItem, within: QRect, rect: QRect, text: str, color: str
    ) -> None:
        painter.setPen(self._theme.colors.color(color))
        draw_line(painter, QStyle.visualRect(option.direction, within, rect), text, option.direction)
