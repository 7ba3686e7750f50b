"""The widths and the visibility of the columns, by the store, the width of the table and the user."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QTableView

from plantdesk.domain.protocols import PlantReader
from plantdesk.domain.records import Changes
from plantdesk.domain.selections import Order, View
from plantdesk.ui.background import StoreQueries, Task
from plantdesk.ui.plants.table.cells import Column, column_title, make_widest_times
from plantdesk.ui.theme.metrics import ICON, XS, FontRole, M, with_tabular_digits
from plantdesk.ui.theme.theme import Theme

#: The largest valid width, in digits.
_MAX_WIDTH_DIGITS = 500
#: The most characters of an id.
_MAX_ID_LENGTH = 20
#: The columns with a width; Name takes the rest.
SIZED_COLUMNS = (Column.ID, Column.TAG, Column.ADDED, Column.SOURCE)
#: Widths of the texts of tags and sources, for text of 13 px.
_TEXT_WIDTHS = {Column.TAG: 104, Column.SOURCE: 90}
#: The width of tags in a wide table, and the least width of such a table.
_WIDE_TAG = 160
_WIDE_TAG_FROM = 700
#: The widths of Name below which a column is hidden, for text of 13 px.
_NAME_WIDTHS = {Column.SOURCE: 260, Column.ADDED: 200}
#: Pixels for the rounding of text widths.
_ROUNDING = 2


class TableColumns(QObject):
    """Sets widths and visibility of the columns of a table with a header and a model.

    Widths that the user chose are in digits, without margins. Deleting the longest ID makes no column narrower.
    """

    def __init__(self, table: QTableView, theme: Theme) -> None:
        super().__init__(table)
        self._table = table
        self._theme = theme
        self.hidden: frozenset[Column] = frozenset()
        self.chosen_widths: dict[Column, float] = {}
        #: The longest id for which there is room.
        self.widest_id = ""
        #: Whether the source column is shown where there is room for it.
        self.has_sources = False
        self._queries: StoreQueries | None = None
        self._widest_in_store = ""
        #: Whether the ids were read, and the sources counted.
        self._has_read_ids = self._has_counted_sources = False
        self._is_fitting = False
        table.horizontalHeader().sectionResized.connect(self._on_section_resized)

    def to_json(self) -> dict[str, object]:
        """Return the layout as a JSON object, for `restore`."""
        return {
            "hidden": sorted(column.order for column in self.hidden),
            "widths": {column.order: width for column, width in self.chosen_widths.items()},
            "widest_id": self.widest_id,
            "sources": self.has_sources,
        }

    def restore(self, values: Mapping[str, object]) -> None:
        """Set the layout that `to_json` returned, for the next `fit`; invalid values are ignored."""
        hidden, widths, widest_id = (values.get(name) for name in ("hidden", "widths", "widest_id"))
        names = hidden if isinstance(hidden, list) else []
        self.hidden = frozenset(column for column in SIZED_COLUMNS if column.order in names)
        self.chosen_widths = dict(_parse_widths(widths)) if isinstance(widths, dict) else {}
        if isinstance(widest_id, str):
            self.has_sources = values.get("sources") is True
            self.set_widest_id(widest_id[:_MAX_ID_LENGTH])

    def set_shown(self, column: Column, *, shown: bool) -> None:
        """Set whether the user wants to see a column; a narrow table hides some anyway."""
        self.hidden = self.hidden - {column} if shown else self.hidden | {column}
        self.fit()

    def set_widest_id(self, widest_id: str) -> None:
        """Make the ID column wide enough for this ID."""
        if widest_id != self.widest_id:
            self.widest_id = widest_id
            self.fit()

    def show_sources(self, count: int) -> None:
        """Show the source column if there are several sources; the first call does so at once."""
        is_first = not self._has_counted_sources
        self._has_counted_sources = True
        self.has_sources |= count > 1
        if is_first:
            self.fit()

    def set_store(self, queries: StoreQueries | None) -> None:
        """Read the range of IDs of another store, and make room for it; None: there is no store."""
        self._queries = queries
        self._widest_in_store = ""
        self._has_read_ids = False
        self._has_counted_sources = False
        self._query_ids()

    def apply(self, changes: Changes) -> None:
        """Make room for the IDs that a commit has added; after `needs_reload`, read their range again."""
        if changes.needs_reload:
            self._query_ids()
        self._add_ids([row.id for row in changes.added])

    def _query_ids(self) -> None:
        if self._queries is not None:
            self._queries.run(self, _read_id_range, self._on_read)

    def _on_read(self, ids: list[int]) -> None:
        self._has_read_ids = True
        self._add_ids(ids)

    def _add_ids(self, ids: Iterable[int]) -> None:
        self._widest_in_store = max((self._widest_in_store, *map(str, ids)), key=len)
        if self._has_read_ids:
            self.set_widest_id(self._widest_in_store)

    def needed_width(self) -> int:
        """Return the least width at which Name has room beside all columns but the source."""
        columns = (column for column in SIZED_COLUMNS if column is not Column.SOURCE and self._is_requested(column))
        return self._theme.metrics.scaled(_NAME_WIDTHS[Column.SOURCE]) + sum(map(self._column_width, columns))

    def fit(self) -> None:
        """Set width and visibility of the columns for the width of the table and the text size."""
        self._is_fitting = True
        for column in SIZED_COLUMNS:
            self._table.setColumnWidth(column, self._column_width(column))
        shown = [column for column in SIZED_COLUMNS if self._is_requested(column)]
        for column, min_name_width in _NAME_WIDTHS.items():
            free_width = self._table.viewport().width() - sum(self._column_width(column) for column in shown)
            if column in shown and free_width < self._theme.metrics.scaled(min_name_width):
                shown.remove(column)
        for column in SIZED_COLUMNS:
            self._table.setColumnHidden(column, column not in shown)
        self._is_fitting = False

    @Slot(int, int, int)
    def _on_section_resized(self, section: int, old: int, new: int) -> None:
        """Record a width that the user has chosen; hiding a column, to width 0, is none."""
        if not self._is_fitting and old and new and section in SIZED_COLUMNS:
            self.chosen_widths[Column(section)] = round((new - 2 * M) / self._digit_width(), 2)

    def _is_requested(self, column: Column) -> bool:
        return column not in self.hidden and (column is not Column.SOURCE or self.has_sources)

    def _column_width(self, column: Column) -> int:
        chosen = self.chosen_widths.get(column)
        if chosen is not None:
            return round(chosen * self._digit_width()) + 2 * M
        return max(self._text_width(column) + 2 * M, self._heading_width(column))

    def _text_width(self, column: Column) -> int:
        metrics = self._digit_metrics()
        if column is Column.ID:
            return metrics.horizontalAdvance(self.widest_id) + _ROUNDING
        if column is Column.ADDED:
            return max(metrics.horizontalAdvance(text) for text in make_widest_times()) + _ROUNDING
        scaled = self._theme.metrics.scaled
        is_wide = column is Column.TAG and self._table.viewport().width() >= scaled(_WIDE_TAG_FROM)
        return scaled(_WIDE_TAG if is_wide else _TEXT_WIDTHS[column])

    def _heading_width(self, column: Column) -> int:
        heading = QFontMetrics(self._theme.font(FontRole.CAPTION)).horizontalAdvance(column_title(column))
        return heading + XS + self._theme.metrics.scaled(ICON) + 2 * M

    def _digit_width(self) -> float:
        """Return the width of a digit as a fraction, as several text sizes have the same width in pixels."""
        return max(self._digit_metrics().horizontalAdvance("0" * 10), 1) / 10

    def _digit_metrics(self) -> QFontMetrics:
        """Return the metrics of the theme's font: the table gets it only later."""
        return QFontMetrics(with_tabular_digits(self._theme.font()))


def _parse_widths(widths: Mapping[str, object]) -> Iterator[tuple[Column, float]]:
    for column in SIZED_COLUMNS:
        width = widths.get(column.order)
        if isinstance(width, int | float) and not isinstance(width, bool) and 1 <= width <= _MAX_WIDTH_DIGITS:
            yield column, width


def _read_id_range(reader: PlantReader, _task: Task) -> list[int]:
    ends = (next(reader.ids(View(order=Order.ID, descending=descending)), ()) for descending in (False, True))
    return [plant_id for ids in ends for plant_id in ids[:1]]
