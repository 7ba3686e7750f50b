"""The first rows of a file as they will be read, with the field of each column above it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QRect, QSignalBlocker, QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QFrame, QHeaderView, QSizePolicy, QStyle, QVBoxLayout, QWidget

from plantdesk.ui.qt import fill, override
from plantdesk.ui.texts import one_line, tag_text
from plantdesk.ui.theme.metrics import XS
from plantdesk.ui.widgets.fields import ComboBox
from plantdesk.ui.widgets.painting import paint_pill, pill_size
from plantdesk.ui.widgets.plain_table import Cell, CellDelegate, PlainTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtCore import QModelIndex, QPersistentModelIndex
    from PySide6.QtGui import QColor, QPainter
    from PySide6.QtWidgets import QStyleOptionViewItem

    from plantdesk.transfer.inputs import Sample
    from plantdesk.ui.theme.theme import Theme

    Index = QModelIndex | QPersistentModelIndex

#: Rows that are shown, and columns, unless one behind them is a field.
_ROWS, _COLUMNS = 20, 30
_MIN_WIDTH, _MAX_WIDTH = 130, 260
#: Rows on a small screen, and columns for which no scrolling is needed.
_MIN_ROWS, _FEW_COLUMNS = 3, 7
#: Between two combo boxes, half on each side.
_GAP = 9
#: From the edge of a cell to a pill, whose text is below the heading then.
_PILL = 4
#: The role of a value as it will be read; None for none.
_TAG = Qt.ItemDataRole.UserRole


class _PreviewDelegate(CellDelegate):
    """Paints lines between the rows, and tags as pills."""

    def __init__(self, theme: Theme, table: ColumnTable) -> None:
        super().__init__(table)
        self._theme, self._columns = theme, table

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        tag = index.data(_TAG) if index.column() == self._columns.fields.get("tag") else None
        if tag is None:
            super().paint(painter, option, index)
        else:
            size = pill_size(self._theme, tag).boundedTo(option.rect.size() - QSize(2 * _PILL, 0))
            side = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter
            rect = option.rect.adjusted(_PILL, 0, -_PILL, 0)
            painter.save()
            paint_pill(painter, self._theme, QStyle.alignedRect(option.direction, side, size, rect), tag)
            painter.restore()
        painter.fillRect(QRect(option.rect.topLeft(), QSize(option.rect.width(), 1)), self._line(index))

    def _line(self, index: Index) -> QColor:
        return self._theme.colors.color("line" if index.row() else "surface")


class ColumnTable(QFrame):
    """Combo boxes that follow the columns of a table below them. `fields_changed`: the user has chosen a field.

    They are not in the table: assistive technologies would not find them there. `blanks_changed(there)`: whether tags
    are shown with blanks that could not be seen otherwise.
    """

    fields_changed = Signal()
    blanks_changed = Signal(bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setProperty("card", "true")
        self._theme = theme
        self._combos: list[QComboBox] = []
        #: The combo box that was changed last, and the fields of the others before that.
        self._edited: QComboBox | None = None
        self._others: list[tuple[QComboBox, str]] = []
        self._strip = QWidget()
        self._strip.setFixedHeight(theme.metrics.compact_row + 2 * XS)
        self._table = PlainTable(theme, self.tr("First rows of the file"), [""])
        self._table.setItemDelegate(_PreviewDelegate(theme, self))
        self._table.horizontalHeader().hide()
        self._table.horizontalHeader().setMinimumSectionSize(_MIN_WIDTH)
        self._table.setSelectionMode(PlainTable.SelectionMode.NoSelection)
        self._table.setHorizontalScrollMode(PlainTable.ScrollMode.ScrollPerPixel)
        self._table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self._table.verticalHeader().setDefaultSectionSize(theme.metrics.compact_row)
        self._table.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self._table.setMinimumHeight(_MIN_ROWS * theme.metrics.compact_row + 2 * XS)
        fill(QVBoxLayout(self), self._strip, (self._table, 1), margins=XS, spacing=0)
        self._table.horizontalHeader().sectionResized.connect(self._place)
        self._table.horizontalScrollBar().valueChanged.connect(self._place)
        self._table.viewport().installEventFilter(self)

    @property
    def fields(self) -> dict[str, int]:
        """The position of the column of each field."""
        return {combo.currentData(): at for at, combo in enumerate(self._combos) if combo.currentData()}

    def show_sample(self, sample: Sample) -> None:
        """Show the columns and the first rows of a file."""
        layout = sample.layout
        count = min(len(layout.names), max(_COLUMNS, *(at + 1 for at in layout.fields.values()), 0))
        self._show_combos(layout.names[:count], {at: field for field, at in layout.fields.items()})
        numbered = [self.tr("Column {number}").format(number=at + 1) for at in range(count)]
        headings = layout.names[:count] if layout.has_header else numbered
        rows = [[*row[:count], *[None] * (count - len(row))] for row in sample.rows[:_ROWS]]
        cells = [[Cell("—" if each is None else one_line(each), value=each) for each in row] for row in rows]
        self._table.show_rows([[Cell(one_line(each), color="text_2") for each in headings], *cells], (), [""] * count)
        self._fit(sample)
        self._place()
        self._report_blanks()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize and watched is self._table.viewport():
            self._place()
        elif event.type() is QEvent.Type.FocusIn and watched in self._combos:
            at = self._combos.index(watched)
            self._table.scrollTo(self._table.model().index(self._table.rowAt(0), at))
        return super().eventFilter(watched, event)

    @Slot()
    def _place(self) -> None:
        """Put each combo box above its column."""
        table, height = self._table, self._strip.height() - 2 * XS
        start = table.viewport().x() + _GAP // 2
        for at, combo in enumerate(self._combos):
            combo.setGeometry(start + table.columnViewportPosition(at), XS, table.columnWidth(at) - _GAP, height)

    def _show_combos(self, names: Sequence[str], fields: dict[int, str]) -> None:
        for combo in self._combos:
            combo.hide()
            combo.deleteLater()
        self._edited = None
        self._combos = [self._combo(at, name, fields.get(at, "")) for at, name in enumerate(names)]

    def _combo(self, at: int, name: str, field: str) -> QComboBox:
        combo = ComboBox(self.tr("Field of column {name}").format(name=one_line(name) or at + 1))
        choices = (
            ("id", self.tr("ID")),
            ("name", self.tr("Name")),
            ("tag", self.tr("Tag")),
            ("note", self.tr("Note")),
            ("", self.tr("Leave out")),
        )
        for value, text in choices:
            combo.addItem(text, value)
        combo.setCurrentIndex(combo.findData(field))
        combo.currentIndexChanged.connect(self._on_chosen)
        combo.setProperty("small", "true")
        combo.installEventFilter(self)
        combo.setParent(self._strip)
        combo.show()
        return combo

    @Slot()
    def _on_chosen(self) -> None:
        """Let each field have one column: the one chosen last.

        Arrow keys choose each field on the way, so the others go back to what they were before the first of them.
        """
        chosen = self.sender()
        if not isinstance(chosen, QComboBox):
            return
        if chosen is not self._edited:
            self._edited = chosen
            self._others = [(each, each.currentData()) for each in self._combos if each is not chosen]
        for combo, field in self._others:
            with QSignalBlocker(combo):
                combo.setCurrentIndex(combo.findData("" if field == chosen.currentData() else field))
        self._table.viewport().update()
        self._report_blanks()
        self.fields_changed.emit()

    def _report_blanks(self) -> None:
        at = self.fields.get("tag", -1)
        model = self._table.model()
        tags = [model.index(row, at).data(_TAG) for row in range(1, model.rowCount())]
        self.blanks_changed.emit(any(tag is not None and tag_text(tag) != one_line(tag) for tag in tags if tag))

    def _fit(self, sample: Sample) -> None:
        table, count = self._table, self._table.model().columnCount()
        header = table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        for at in range(count):
            table.setColumnWidth(at, max(_MIN_WIDTH, min(_MAX_WIDTH, table.sizeHintForColumn(at))))
        if count <= _FEW_COLUMNS:
            wide = sample.layout.fields.get("name", 0)
            header.setSectionResizeMode(min(wide, count - 1), QHeaderView.ResizeMode.Stretch)
