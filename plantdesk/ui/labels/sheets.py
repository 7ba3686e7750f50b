"""Sheets of labels, in millimetres, as their makers publish them, and the choice of one or of custom sizes."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QLocale, QRectF, QSignalBlocker, QSizeF, Signal
from PySide6.QtGui import QPageSize
from PySide6.QtWidgets import QDoubleSpinBox, QGridLayout, QSpinBox, QVBoxLayout, QWidget

from plantdesk.ui.qt import fill
from plantdesk.ui.theme.metrics import XS, S
from plantdesk.ui.widgets.fields import ComboBox, add_labelled, spin_box
from plantdesk.ui.widgets.plain_text import PlainLabel


class Sheet(NamedTuple):
    """A page with labels in rows: their number, the size of one, the margins of the page, and the gaps between them."""

    name: str
    page: QPageSize.PageSizeId
    columns: int
    rows: int
    width: float
    height: float
    left: float
    top: float
    column_gap: float = 0
    row_gap: float = 0

    @property
    def labels(self) -> int:
        """The number of labels on a page."""
        return self.columns * self.rows

    @property
    def page_size(self) -> QSizeF:
        """The size of the page."""
        return QPageSize.size(self.page, QPageSize.Unit.Millimeter)

    @property
    def fits(self) -> bool:
        """Whether all labels are on the page."""
        last, size = self.label(self.labels - 1), self.page_size
        return last.right() <= size.width() + _TOLERANCE and last.bottom() <= size.height() + _TOLERANCE

    def label(self, number: int) -> QRectF:
        """Return the place of a label on its page; `number` counts from 0, row by row."""
        row, column = divmod(number, self.columns)
        x = self.left + column * (self.width + self.column_gap)
        y = self.top + row * (self.height + self.row_gap)
        return QRectF(x, y, self.width, self.height)


#: Millimetres by which a page may be too small: makers round inches.
_TOLERANCE = 0.5
_A4, _LETTER = QPageSize.PageSizeId.A4, QPageSize.PageSizeId.Letter
SHEETS = (
    Sheet("Avery L7160, Herma 4200", _A4, 3, 7, 63.5, 38.1, 7.25, 15.15, 2.5),
    Sheet("Avery L7159", _A4, 3, 8, 63.5, 33.9, 7.25, 12.9, 2.5),
    Sheet("Avery L7163", _A4, 2, 7, 99.1, 38.1, 4.65, 15.15, 2.5),
    Sheet("Avery L7651", _A4, 5, 13, 38.1, 21.2, 4.75, 10.7, 2.5),
    Sheet("Avery L4731", _A4, 7, 27, 25.4, 10, 8.5, 13.5, 2.54),
    Sheet("Avery 5160, 8160", _LETTER, 3, 10, 66.675, 25.4, 4.7625, 12.7, 3.175),
    Sheet("Avery 5163, 8163", _LETTER, 2, 5, 101.6, 50.8, 3.96875, 12.7, 4.7625),
    Sheet("Avery 5167, 8167", _LETTER, 4, 20, 44.45, 12.7, 7.14375, 12.7, 7.62),
)

_MAX_COUNT, _MAX_MM = 60, 500.0
_SIZES = 6
_MIN_WIDTH = 120


class SheetChoice(QWidget):
    """`changed`: the user has chosen another sheet, or another size."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        #: The field for the sheet, of which a label is the buddy.
        self.field = ComboBox(self.tr("Sheet"))
        self.field.setMinimumWidth(_MIN_WIDTH)  # narrower than its longest text, where the text is large
        for sheet in SHEETS:
            size = f"{_in_mm(sheet.width)} × {_in_mm(sheet.height)} mm"
            text = self.tr("{page}, {count} labels, {size}")
            page = QPageSize.name(sheet.page).split(" ")[0]
            self.field.addItem(text.format(page=page, count=sheet.labels, size=size))
        self.field.addItem(self.tr("Custom size"))
        self._names = PlainLabel(tone="muted", wrapped=True)
        self._custom = QWidget()
        self._page = ComboBox(self.tr("Page"))
        for paper in (QPageSize.PageSizeId.A4, QPageSize.PageSizeId.Letter):
            self._page.addItem(QPageSize.name(paper), paper.value)
        self._counts = [self._count() for _ in range(2)]
        self._lengths = [self._length() for _ in range(_SIZES)]
        self._lay_out()
        self._fill(SHEETS[0])
        self._on_chosen()
        self.field.currentIndexChanged.connect(self._on_chosen)
        self._page.currentIndexChanged.connect(self.changed)

    @property
    def sheet(self) -> Sheet:
        """The chosen sheet."""
        if self.field.currentIndex() < len(SHEETS):
            return SHEETS[self.field.currentIndex()]
        columns, rows = (each.value() for each in self._counts)
        lengths = [each.value() for each in self._lengths]
        return Sheet("", QPageSize.PageSizeId(self._page.currentData()), columns, rows, *lengths)

    @property
    def index(self) -> int:
        """The place of the sheet in the list."""
        return self.field.currentIndex()

    def choose(self, index: int) -> None:
        """Choose a sheet by its place in the list."""
        self.field.setCurrentIndex(index if 0 <= index < self.field.count() else 0)

    def _on_chosen(self) -> None:
        is_custom = self.field.currentIndex() == len(SHEETS)
        self._custom.setVisible(is_custom)
        self._names.setVisible(not is_custom)
        if not is_custom:
            self._names.setText(self.tr("{names} and alike").format(names=self.sheet.name))
            self._fill(self.sheet)
        self.changed.emit()

    def _fill(self, sheet: Sheet) -> None:
        """Let custom sizes begin with those of the sheet that was chosen before."""
        self._page.setCurrentIndex(self._page.findData(sheet.page.value))
        for count, number in zip(self._counts, (sheet.columns, sheet.rows), strict=True):
            with QSignalBlocker(count):
                count.setValue(number)
        sizes = (sheet.width, sheet.height, sheet.left, sheet.top, sheet.column_gap, sheet.row_gap)
        for length, size in zip(self._lengths, sizes, strict=True):
            with QSignalBlocker(length):
                length.setValue(size)

    def _count(self) -> QSpinBox:
        box = spin_box(QSpinBox)
        box.setRange(1, _MAX_COUNT)
        box.valueChanged.connect(self.changed)
        return box

    def _length(self) -> QDoubleSpinBox:
        box = spin_box(QDoubleSpinBox)
        box.setRange(0, _MAX_MM)
        box.setDecimals(2)
        box.setSuffix(" mm")
        box.valueChanged.connect(self.changed)
        return box

    def _lay_out(self) -> None:
        self._lengths[0].setMinimum(5)
        self._lengths[1].setMinimum(5)
        boxes = (
            (self.tr("Page"), self._page),
            (self.tr("Columns"), self._counts[0]),
            (self.tr("Rows"), self._counts[1]),
            (self.tr("Width"), self._lengths[0]),
            (self.tr("Height"), self._lengths[1]),
            (self.tr("Left margin"), self._lengths[2]),
            (self.tr("Top margin"), self._lengths[3]),
            (self.tr("Column gap"), self._lengths[4]),
            (self.tr("Row gap"), self._lengths[5]),
        )
        grid = QGridLayout(self._custom)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(XS)
        add_labelled(grid, boxes)
        fill(QVBoxLayout(self), self.field, self._names, self._custom, margins=0, spacing=S)


def _in_mm(length: float) -> str:
    return QLocale().toString(float(length), "g", 4)
