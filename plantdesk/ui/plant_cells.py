"""The columns of the table, and the text of its cells: on one line, printable, in the user's language and time zone."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING
from unicodedata import category

from PySide6.QtCore import QCoreApplication, QDate, QDateTime, QLocale

from plantdesk.errors import shortened
from plantdesk.ui import tool_tips

if TYPE_CHECKING:
    from plantdesk.records import PlantRow

#: Shown until a row is there.
PENDING = "…"
NO_TAG = "—"

_PICTURES = 0x2400
_LAST_ASCII = "\x7f"
_LINE_ENDS = "\r\n\x85\u2028\u2029"
#: The zero-width joiner and non-joiner, which some scripts and emoji need.
_JOINERS = "\u200c\u200d"
#: Unicode categories of characters without a glyph: control and format characters.
_HIDDEN = {"Cc", "Cf"}
#: Letters and symbols that look like a space: the fillers of Hangul, and Braille's blank.
_BLANKS = "\u115f\u1160\u2800\u3164\uffa0"

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
    """Return what a cell shows; an id always in plain digits, never grouped."""
    match column:
        case Column.ID:
            return str(row.id)
        case Column.NAME:
            return one_line(row.name) if is_visible(row.name) else translate("PlantTable", "(blank name)")
        case Column.TAG:
            return _tag_text(row.tag)
        case Column.ADDED:
            return _short_time(row.added_at)
        case Column.SOURCE:
            return source_text(row)


def spoken_text(row: PlantRow, column: Column) -> str:
    """Return the text for screen readers where the one that is shown says nothing."""
    if column is Column.TAG and row.tag is None:
        return translate("PlantTable", "no tag")
    return cell_text(row, column)


def summary(row: PlantRow) -> str:
    """Return the whole row in a sentence, for screen readers."""
    tag = spoken_text(row, Column.TAG)
    if row.tag is not None and is_visible(row.tag):
        tag = translate("PlantTable", "tag {tag}").format(tag=tag)
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
        "other": translate("PlantTable", "Unknown"),
    }
    return words[row.source.kind]


def is_visible(text: str) -> bool:
    """Whether `text`, as `one_line` returns it, has a character that can be seen."""
    return any(not (character.isspace() or character in _BLANKS) for character in one_line(text))


def quoted(text: str, longest: int = 60) -> str:
    """Return `text`, shortened, in quotation marks; those within it become single ones."""
    return f"“{shortened(text, longest).replace('“', '‘').replace('”', '’')}”"


def one_line(text: str) -> str:
    """Return `text` on one line, with a visible stand-in for every character that hides, breaks or turns a line."""
    if text.isprintable():
        return text
    around = zip(" " + text, text, text[1:] + " ", strict=False)
    return "".join(_shown(character, before, after) for before, character, after in around)


def _shown(character: str, before: str, after: str) -> str:
    code = ord(character)
    if character in _LINE_ENDS:
        return "↵"
    if character < " ":  # Unicode has pictures of the control characters in the same order
        return chr(_PICTURES + code)
    joins = character in _JOINERS and before > _LAST_ASCII and after > _LAST_ASCII  # within emoji, Persian, Hindi
    if joins or category(character) not in _HIDDEN:
        return character
    return f"[U+{code:04X}]"


def _tag_text(tag: str | None) -> str:
    if tag is None:
        return NO_TAG
    if not tag:
        return translate("PlantTable", "(empty tag)")
    return one_line(tag) if is_visible(tag) else translate("PlantTable", "(blank tag)")


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
