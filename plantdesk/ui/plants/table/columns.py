"""Width and visibility of the columns of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QFontMetrics

from plantdesk.ui.plants.table.cells import Column, column_title, widest_times
from plantdesk.ui.theme.metrics import ICON, XS, FontRole, M, S, tabular

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtWidgets import QTableView

    from plantdesk.ui.plants.table.layout import TableLayout
    from plantdesk.ui.theme.theme import Theme

#: The columns with a width of their own; the name takes what is left.
_SIZED = (Column.ID, Column.TAG, Column.ADDED, Column.SOURCE)
#: Widths of their texts for text of 13 px.
_TEXT_WIDTHS = {Column.TAG: 104, Column.SOURCE: 84}
_WIDEST_SOURCE = 116
#: The least width of Name for text of 13 px, below which another column is hidden.
_NAME_WIDTHS = {Column.SOURCE: 260, Column.ADDED: 200}
#: Fractions of pixels that the width of a text in whole pixels leaves out.
_ROUNDING = 2
#: In a table of fewer digits the user's widths are other ones.
_WIDE_TABLE = 110


class TableColumns(QObject):
    """Sets the columns of a table, whose header and model are set already.

    The widths that the user chose are in digits, without margins.
    """

    def __init__(self, table: QTableView, theme: Theme) -> None:
        super().__init__(table)
        self._table = table
        self._theme = theme
        self._hidden: frozenset[Column] = frozenset()
        self._chosen: dict[bool, dict[Column, float]] = {False: {}, True: {}}
        self._widest_id = self._widest_source = ""
        self._has_sources = False
        self._fitted_for: tuple[object, ...] = ()
        self._is_fitting = False
        table.horizontalHeader().sectionResized.connect(self._on_section_resized)

    @property
    def hidden(self) -> frozenset[Column]:
        """The columns that the user has hidden."""
        return self._hidden

    @property
    def widest_id(self) -> str:
        """The id that the columns have room for."""
        return self._widest_id

    @property
    def has_sources(self) -> bool:
        """Whether the column of sources is shown where there is room for it."""
        return self._has_sources

    def widths(self, *, wide: bool) -> dict[Column, float]:
        """Return the widths that the user chose while the table was wide, or narrow."""
        return dict(self._chosen[wide])

    def restore(self, layout: TableLayout) -> None:
        """Take over what is remembered, for the next `fit`."""
        self._hidden = layout.hidden
        self._chosen = {True: dict(layout.widths), False: dict(layout.narrow_widths)}
        self._fitted_for = ()

    def set_shown(self, column: Column, *, shown: bool) -> None:
        """Show or hide a column; in a narrow table some are hidden all the same."""
        self._hidden = self._hidden - {column} if shown else self._hidden | {column}
        self.fit()

    def set_contents(self, widest_id: str, *, has_sources: bool) -> None:
        """Make room for the widest id, and hide the sources while all plants have the same one."""
        if (widest_id, has_sources) != (self._widest_id, self._has_sources):
            self._widest_id, self._has_sources = widest_id, has_sources
            self.fit()

    @property
    def widest_source(self) -> str:
        """The source that the columns have room for, up to a width."""
        return self._widest_source

    def set_sources(self, texts: Iterable[str]) -> None:
        """Make room for the widest of these sources, up to a width, once: later the columns stay as they are."""
        if not self._widest_source:
            metrics = QFontMetrics(self._theme.font())
            self._widest_source = max(texts, key=metrics.horizontalAdvance, default="")
            self.fit()

    def needed_width(self) -> int:
        """Return the width at which Name has enough room while the source is hidden."""
        name = self._theme.metrics.scaled(_NAME_WIDTHS[Column.SOURCE])
        return name + sum(self._width(each) for each in _SIZED if each is not Column.SOURCE and self._is_wanted(each))

    def fit(self) -> None:
        """Set the columns for the width of the table and the text size."""
        self._is_fitting = True
        fitted_for = self._digit(), self._is_wide(), self._widest_id, self._widest_source
        if self._fitted_for != fitted_for:
            self._fitted_for = fitted_for
            for column in _SIZED:
                self._table.setColumnWidth(column, self._width(column))
        shown = [column for column in _SIZED if self._is_wanted(column)]
        for column, least in _NAME_WIDTHS.items():
            left = self._table.viewport().width() - sum(self._width(each) for each in shown)
            if column in shown and left < self._theme.metrics.scaled(least):
                shown.remove(column)
        for column in _SIZED:
            self._table.setColumnHidden(column, column not in shown)
        self._is_fitting = False

    @Slot()
    def fit_to_contents(self) -> None:
        """Give every column but the name the width that its heading and the visible rows need."""
        header = self._table.horizontalHeader()
        header.setResizeContentsPrecision(0)
        for column in _SIZED:
            pill = 2 * S if column is Column.TAG else 0
            content = self._table.sizeHintForColumn(column) + 2 * M + pill
            self._table.setColumnWidth(column, max(content, self._heading_width(column)))

    @Slot(int, int, int)
    def _on_section_resized(self, section: int, old: int, new: int) -> None:
        """Note a width that the user chose; 0 is that of a hidden column."""
        if not self._is_fitting and old and new and section in _SIZED:
            self._chosen[self._is_wide()][Column(section)] = round((new - 2 * M) / self._digit(), 2)

    def _is_wanted(self, column: Column) -> bool:
        return column not in self._hidden and (column is not Column.SOURCE or self._has_sources)

    def _width(self, column: Column) -> int:
        """Return the width of a column where it is shown."""
        chosen = self._chosen[self._is_wide()].get(column)
        if chosen is not None:
            return round(chosen * self._digit()) + 2 * M
        return max(self._text_width(column) + 2 * M, self._heading_width(column))

    def _text_width(self, column: Column) -> int:
        digits = self._digits()
        if column is Column.ID:
            return digits.horizontalAdvance(self._widest_id) + _ROUNDING
        if column is Column.ADDED:
            return max(digits.horizontalAdvance(text) for text in widest_times()) + _ROUNDING
        scaled = self._theme.metrics.scaled
        if column is Column.SOURCE:
            width = QFontMetrics(self._theme.font()).horizontalAdvance(self._widest_source) + _ROUNDING
            return min(max(width, scaled(_TEXT_WIDTHS[column])), scaled(_WIDEST_SOURCE))
        return scaled(_TEXT_WIDTHS[column])

    def _heading_width(self, column: Column) -> int:
        """Return the width of a heading with its arrow."""
        heading = QFontMetrics(self._theme.font(FontRole.CAPTION)).horizontalAdvance(column_title(column))
        return heading + XS + ICON + 2 * M

    def _digit(self) -> float:
        """Return the width of a digit; in whole pixels it would be the same for several text sizes."""
        return max(self._digits().horizontalAdvance("0" * 10), 1) / 10

    def _digits(self) -> QFontMetrics:
        """Return the metrics of the theme's font: the table gets it only after the theme has changed."""
        return QFontMetrics(tabular(self._theme.font()))

    def _is_wide(self) -> bool:
        return self._table.viewport().width() // self._digit() >= _WIDE_TABLE
