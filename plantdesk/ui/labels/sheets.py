"""Sheets of labels, in millimetres, as their makers publish them."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QRectF, QSizeF
from PySide6.QtGui import QPageSize


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
