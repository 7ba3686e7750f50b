"""Width and visibility of the columns of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QFontMetrics

from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.theme.metrics import M, S, tabular

if TYPE_CHECKING:
    from PySide6.QtWidgets import QTableView

    from plantdesk.ui.plants.table.layout import TableLayout

#: Widths of the columns in digits, wide and narrow; the name takes what is left.
_WIDTHS = {Column.ID: (20, 13), Column.TAG: (18, 15), Column.ADDED: (17, 13), Column.SOURCE: (18, 13)}
#: In a table of fewer digits the columns are narrow, and in a still narrower one they are hidden.
_WIDE_TABLE = 110
_SHOWN_FROM = {Column.SOURCE: 90, Column.ADDED: 65}


class TableColumns(QObject):
    """Sets the columns of a table, whose header and model are set already. Widths are in digits, without margins."""

    def __init__(self, table: QTableView) -> None:
        super().__init__(table)
        self._table = table
        self._hidden: frozenset[Column] = frozenset()
        self._chosen: dict[bool, dict[Column, float]] = {False: {}, True: {}}
        self._fitted_for = (0, False)
        self._is_fitting = False
        table.horizontalHeader().sectionResized.connect(self._on_section_resized)

    @property
    def hidden(self) -> frozenset[Column]:
        """The columns that the user has hidden."""
        return self._hidden

    def widths(self, *, wide: bool) -> dict[Column, float]:
        """Return the widths that the user chose while the table was wide, or narrow."""
        return dict(self._chosen[wide])

    def restore(self, layout: TableLayout) -> None:
        """Take over what is remembered, for the next `fit`."""
        self._hidden = layout.hidden
        self._chosen = {True: dict(layout.widths), False: dict(layout.narrow_widths)}
        self._fitted_for = (0, False)

    def set_shown(self, column: Column, *, shown: bool) -> None:
        """Show or hide a column; in a narrow table some are hidden all the same."""
        self._hidden = self._hidden - {column} if shown else self._hidden | {column}
        self.fit()

    def fit(self) -> None:
        """Set the columns for the width of the table and the text size."""
        digit, wide = self._digit(), self._is_wide()
        digits = self._table.viewport().width() // digit
        self._is_fitting = True
        for column in _WIDTHS:
            self._table.setColumnHidden(column, column in self._hidden or digits < _SHOWN_FROM.get(column, 0))
        if self._fitted_for != (digit, wide):
            self._fitted_for = (digit, wide)
            for column, (wide_digits, narrow_digits) in _WIDTHS.items():
                width = self._chosen[wide].get(column, wide_digits if wide else narrow_digits)
                self._table.setColumnWidth(column, round(width * digit) + 2 * M)
        self._is_fitting = False

    @Slot()
    def fit_to_contents(self) -> None:
        """Give every column but the name the width that its heading and the visible rows need."""
        header = self._table.horizontalHeader()
        header.setResizeContentsPrecision(0)
        for column in _WIDTHS:
            pill = 2 * S if column is Column.TAG else 0
            content = self._table.sizeHintForColumn(column) + 2 * M + pill
            self._table.setColumnWidth(column, max(content, header.sectionSizeHint(column)))

    @Slot(int, int, int)
    def _on_section_resized(self, section: int, old: int, new: int) -> None:
        """Note a width that the user chose; 0 is that of a hidden column."""
        if not self._is_fitting and old and new and section in _WIDTHS:
            self._chosen[self._is_wide()][Column(section)] = round((new - 2 * M) / self._digit(), 2)

    def _digit(self) -> int:
        return max(QFontMetrics(tabular(self._table.font())).horizontalAdvance("0"), 1)

    def _is_wide(self) -> bool:
        return self._table.viewport().width() // self._digit() >= _WIDE_TABLE
