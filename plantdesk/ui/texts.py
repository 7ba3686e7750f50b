"""Texts for users: translated `Text`s, names on one line, tags, sources, times and errors."""

from __future__ import annotations

import re
import string
from typing import Any
from unicodedata import category

from PySide6.QtCore import QCoreApplication, QDate, QDateTime, QLocale
from typing_extensions import override

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.records import Source
from plantdesk.domain.texts import Text, shortened
from plantdesk.platform import languages

#: Translates a literal in a context. `dev.py texts` collects calls of this name with two literals.
translate = QCoreApplication.translate

#: The name of the import that adds the sample plants; `source_text` translates it.
SAMPLES = "Samples"

_CONTROL_PICTURES = 0x2400
_LAST_ASCII = "\x7f"
_LINE_ENDS = "\r\n\x85\u2028\u2029"
#: The zero-width joiner and non-joiner, which some scripts and emoji need.
_JOINERS = "\u200c\u200d"
#: Unicode categories of characters without a glyph: control and format characters.
_HIDDEN = {"Cc", "Cf"}
#: Letters and symbols that look like a space: the Hangul fillers, and the Braille blank.
_BLANKS = "\u115f\u1160\u2800\u3164\uffa0"

#: Blanks that are marked: at an end, after another blank, or non-ASCII; and their mark.
_UNSEEN_BLANKS = re.compile(r"^\s+|\s+$|(?<=\s)\s|[^\S ]")
_BLANK_MARK = "\u2423"

_MINUTE = 60
_HOUR = 3600
_DAY = 86_400


def age_text(timestamp: int, now: int) -> str:
    """Return the age of a timestamp at the time `now` (both in milliseconds since 1970, UTC)."""
    seconds = max(0, now - timestamp) // 1000
    if seconds < 2:  # noqa: PLR2004 - from two seconds on they are counted
        return translate("times", "just now")
    if seconds < _MINUTE:
        return translate("times", "{n} s ago").format(n=seconds)
    if seconds < _HOUR:
        return translate("times", "{n} min ago").format(n=seconds // _MINUTE)
    if seconds < _DAY:
        return translate("times", "{n} h ago").format(n=seconds // _HOUR)
    return short_date(timestamp)


def short_date(timestamp: int) -> str:
    """Return the local date of a timestamp in the short format of the locale."""
    return QLocale().toString(QDateTime.fromMSecsSinceEpoch(timestamp).date(), QLocale.FormatType.ShortFormat)


def short_time(timestamp: int) -> str:
    """Return the local time of day of a timestamp of today, “Yesterday”, or the date."""
    local = QDateTime.fromMSecsSinceEpoch(timestamp)
    days = local.date().daysTo(QDate.currentDate())
    if days == 0:
        return QLocale().toString(local.time(), QLocale.FormatType.ShortFormat)
    return translate("times", "Yesterday") if days == 1 else short_date(timestamp)


def clock_time(timestamp: int) -> str:
    """Return the local time of day of a timestamp."""
    return QLocale().toString(QDateTime.fromMSecsSinceEpoch(timestamp).time(), QLocale.FormatType.ShortFormat)


def exact_time(timestamp: int) -> str:
    """Return the local time of day of a timestamp as `clock_time` writes it, with seconds."""
    pattern = QLocale().timeFormat(QLocale.FormatType.ShortFormat).replace("mm", "mm:ss")
    return QLocale().toString(QDateTime.fromMSecsSinceEpoch(timestamp).time(), pattern)


def long_date(timestamp: int) -> str:
    """Return the local date of a timestamp, such as “21 November 2026”."""
    pattern = QLocale().dateFormat(QLocale.FormatType.LongFormat).replace("dddd", "").strip(" ,")
    return QLocale().toString(QDateTime.fromMSecsSinceEpoch(timestamp).date(), pattern)


def long_time(timestamp: int) -> str:
    """Return the local date and time of a timestamp, such as “21 November 2026, 12:36”."""
    return f"{long_date(timestamp)}, {clock_time(timestamp)}"


def translated(text: Text) -> str:
    """Return a text in the language of the window, with numbers as the locale writes them."""
    catalogue = languages.current()
    if text.one:
        count = int(str(text.values["count"]))
        template = catalogue.plural(text.one, text.template, count) or (text.one if count == 1 else text.template)
    else:
        template = catalogue.text(text.template) or text.template
    return _IN_LOCALE.vformat(template, (), text.values)


class _InLocale(string.Formatter):
    @override
    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Text):
            return translated(value)
        return QLocale().toString(value) if format_spec == "," else str(super().format_field(value, format_spec))


_IN_LOCALE = _InLocale()


def error_text(error: Exception) -> str:
    """Return the text of a PlantDeskError or an OSError; for other errors, a reference to the log."""
    if isinstance(error, PlantDeskError):
        return translated(error.text)
    if isinstance(error, OSError):
        return f"{error.strerror or error}."
    return translate("failures", "That did not work. The log has the cause.")


def is_visible(text: str) -> bool:
    """Return whether `text`, as `one_line` returns it, has a character that can be seen."""
    return any(not (character.isspace() or character in _BLANKS) for character in one_line(text))


def quoted(text: str, longest: int = 60) -> str:
    """Return `text`, shortened, in quotation marks; quotation marks within it become single ones."""
    return translate("Texts", "“{text}”").format(text=shortened(text, longest).replace("“", "‘").replace("”", "’"))


def tag_text(tag: str) -> str:
    """Return a tag on one line, with marks for invisible blanks, as in “kitchen ”, or a text for a blank tag."""
    if not tag:
        return translate("PlantTable", "(empty tag)")
    if not is_visible(tag):
        return translate("PlantTable", "(blank tag)")
    return _UNSEEN_BLANKS.sub(lambda blanks: _BLANK_MARK * len(blanks[0]), one_line(tag))


def source_text(source: Source) -> str:
    """Return the source of a plant: the interface, or the name of the import or token."""
    if source.label == SAMPLES and source.kind == "import":
        return translate("PlantTable", "Samples")
    if source.label:
        return one_line(source.label)
    words = {
        "form": translate("PlantTable", "Form"),
        "command": translate("PlantTable", "Command line"),
        "import": translate("PlantTable", "Import", "a source"),
        "token": translate("PlantTable", "API"),
        "assistant": translate("PlantTable", "Assistant"),
        "other": translate("PlantTable", "Unknown"),
    }
    return words[source.kind]


def size_text(size: int) -> str:
    """Return a number of bytes with a decimal unit, such as “12 MB”."""
    return QLocale().formattedDataSize(size, 0, QLocale.DataSizeFormat.DataSizeSIFormat)


def store_name(location: StoreLocation) -> str:
    """Return the name of a store: its file, or its database and server."""
    if location.server is None:
        return location.name
    return translate("Workspace", "{database} on {server}").format(database=location.name, server=location.server)


def one_line(text: str) -> str:
    """Return `text` on one line, with a visible replacement for every control character and line break."""
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    triples = zip(" " + text, text, text[1:] + " ", strict=False)
    return "".join(_make_visible(character, before, after) for before, character, after in triples)


def _make_visible(character: str, before: str, after: str) -> str:
    code = ord(character)
    if character in _LINE_ENDS:
        return "↵"
    if character < " ":  # Unicode has pictures of the control characters in the same order
        return chr(_CONTROL_PICTURES + code)
    is_joiner = character in _JOINERS and before > _LAST_ASCII and after > _LAST_ASCII  # within emoji, Persian, Hindi
    if is_joiner or category(character) not in _HIDDEN:
        return character
    return f"[U+{code:04X}]"
