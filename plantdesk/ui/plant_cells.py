"""The columns of the table, and the words in its cells: on one line, printable, in the person's language and clock."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QDate, QDateTime, QLocale

from plantdesk.errors import shortened
from plantdesk.ui import tool_tips

if TYPE_CHECKING:
    from plantdesk.records import PlantRow

#: Shown until a row is there.
PENDING = "…"
NO_TAG = "—"

_PICTURES = 0x2400
_LINE_ENDS = "\r\n\x85\u2028\u2029"

translate = QCoreApplication.translate


class Column(IntEnum):
    """The columns in logical order; their names in lower case are those of `plantdesk.store.Order`."""

    ID = 0
    NAME = 1
    TAG = 2
    ADDED = 3
    SOURCE = 4


def column_title(column: Column) -> str:
    """Return the heading of a column."""
    match column:
        case Column.ID:
            return translate("PlantTable", "ID")
        case Column.NAME:
            return translate("PlantTable", "Name")
        case Column.TAG:
            return translate("PlantTable", "Tag")
        case Column.ADDED:
            return translate("PlantTable", "Added")
        case Column.SOURCE:
            return translate("PlantTable", "From")


def cell_text(row: PlantRow, column: Column) -> str:
    """Return what a cell shows and what is read aloud; an id always in plain digits, never grouped."""
    match column:
        case Column.ID:
            return str(row.id)
        case Column.NAME:
            return one_line(row.name)
        case Column.TAG:
            return one_line(row.tag) if row.tag is not None else NO_TAG
        case Column.ADDED:
            return _short_time(row.added_at)
        case Column.SOURCE:
            return source_text(row)


def spoken_text(row: PlantRow, column: Column) -> str:
    """Return the text for screen readers where the one that is shown says nothing."""
    if column is Column.TAG and not row.tag:
        return translate("PlantTable", "no tag") if row.tag is None else empty_tag()
    if column is Column.NAME and not row.name.strip():
        return empty_name()
    return cell_text(row, column)


def summary(row: PlantRow) -> str:
    """Return the whole row in a sentence, for screen readers."""
    tag = (
        translate("PlantTable", "tag {tag}").format(tag=one_line(row.tag)) if row.tag else spoken_text(row, Column.TAG)
    )
    return translate("PlantTable", "ID {id}, {tag}, added {when} from {source}").format(
        id=row.id, tag=tag, when=cell_text(row, Column.ADDED), source=source_text(row)
    )


def tool_tip(row: PlantRow, column: Column) -> str:
    """Return the whole of what a cell shortens."""
    if column is Column.ADDED:
        moment = QDateTime.fromMSecsSinceEpoch(row.added_at)
        return tool_tips.tool_tip(QLocale().toString(moment, QLocale.FormatType.LongFormat))
    return tool_tips.tool_tip(cell_text(row, column))


def source_text(row: PlantRow) -> str:
    """Return where a plant comes from: a way in, or the name of the import or token."""
    if row.source.label:
        return one_line(row.source.label)
    words = {
        "form": translate("PlantTable", "Form"),
        "command": translate("PlantTable", "Command line"),
        "import": translate("PlantTable", "Import"),
        "token": translate("PlantTable", "API"),
    }
    return words[row.source.kind]


def empty_name() -> str:
    """Return what stands for a name without a visible character."""
    return translate("PlantTable", "(no name)")


def empty_tag() -> str:
    """Return what stands for a tag that is there, but empty."""
    return translate("PlantTable", "(empty tag)")


def quoted(text: str, longest: int = 60) -> str:
    """Return `text`, shortened, in quotation marks; those within it become single ones."""
    return f"“{shortened(text, longest).replace('“', '‘').replace('”', '’')}”"


def one_line(text: str) -> str:
    """Return `text` with every character that would break, hide or turn a line made visible."""
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(character: str) -> str:
    code = ord(character)
    if character < " " and character not in "\r\n":  # Unicode has pictures of the control characters in the same order
        return chr(_PICTURES + code)
    if character in _LINE_ENDS:
        return "↵"
    hidden = code in range(0x7F, 0xA0) or code in range(0x202A, 0x202F) or code in range(0x2066, 0x206A)
    return "�" if hidden else character


def _short_time(milliseconds: int) -> str:
    """Return the time of day for today, else the date."""
    moment = QDateTime.fromMSecsSinceEpoch(milliseconds)
    days = moment.date().daysTo(QDate.currentDate())
    clock = QLocale().toString(moment.time(), QLocale.FormatType.ShortFormat)
    if days == 0:
        return clock
    if days == 1:
        return translate("PlantTable", "Yesterday, {time}").format(time=clock)
    return QLocale().toString(moment.date(), QLocale.FormatType.ShortFormat)
