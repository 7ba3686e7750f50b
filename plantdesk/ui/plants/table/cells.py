"""The columns of the table, and the text of its cells: on one line, printable, in the user's language and time zone."""

from __future__ import annotations

from enum import IntEnum

from PySide6.QtCore import QDate, QDateTime, QLocale, QTime

from plantdesk.domain.records import PlantRow
from plantdesk.ui.texts import is_visible, one_line, short_time, source_text, tag_text, translate
from plantdesk.ui.widgets import plain_text

#: Shown until a row is loaded.
PENDING = "…"
NO_TAG = "—"


class Column(IntEnum):
    """The columns from left to right; a right-to-left layout mirrors them."""

    ID = 0
    NAME = 1
    TAG = 2
    ADDED = 3
    SOURCE = 4

    @property
    def order(self) -> str:
        """The value of `plantdesk.domain.selections.Order` that sorts by this column."""
        return self.name.lower()


#: The columns whose cells can be edited.
EDITABLE = (Column.NAME, Column.TAG)


def column_title(column: Column) -> str:
    """Return the translated heading of a column."""
    return {
        Column.ID: translate("PlantTable", "ID"),
        Column.NAME: translate("PlantTable", "Name"),
        Column.TAG: translate("PlantTable", "Tag"),
        Column.ADDED: translate("PlantTable", "Added"),
        Column.SOURCE: translate("PlantTable", "From"),
    }[column]


def cell_text(row: PlantRow, column: Column) -> str:
    """Return the text of a cell; an id is always in plain digits, never grouped."""
    match column:
        case Column.ID:
            return str(row.id)
        case Column.NAME:
            return one_line(row.name) if is_visible(row.name) else translate("PlantTable", "(blank name)")
        case Column.TAG:
            return NO_TAG if row.tag is None else tag_text(row.tag)
        case Column.ADDED:
            return short_time(row.added_at)
        case Column.SOURCE:
            return source_text(row.source)


def spoken_text(row: PlantRow, column: Column) -> str:
    """Return the text of a cell for screen readers: that of the cell, or words for a mere symbol."""
    if column is Column.TAG and row.tag is None:
        return translate("PlantTable", "no tag")
    return cell_text(row, column)


def tool_tip(row: PlantRow, column: Column) -> str:
    """Return the tooltip of a cell as HTML: its whole text, or date and time in the long format."""
    if column is Column.ADDED:
        timestamp = QDateTime.fromMSecsSinceEpoch(row.added_at)
        return plain_text.tool_tip(QLocale().toString(timestamp, QLocale.FormatType.LongFormat))
    return plain_text.tool_tip(cell_text(row, column))


def make_widest_times() -> list[str]:
    """Return sample texts of the column Added, among them the widest ones, to set its width."""
    clock = QLocale().toString(QTime(22, 58), QLocale.FormatType.ShortFormat)
    date = QLocale().toString(QDate(2028, 12, 28), QLocale.FormatType.ShortFormat)
    return [clock, date, translate("PlantTable", "Yesterday")]
