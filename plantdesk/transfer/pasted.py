"""Reads plants from text that a user pastes: a list of names, or a table with or without a header."""

from __future__ import annotations

import re
from io import StringIO

from plantdesk.transfer.columns import Columns, field_of
from plantdesk.transfer.delimited import DELIMITERS, ONE_COLUMN
from plantdesk.transfer.files import InputFile
from plantdesk.transfer.inputs import Reading

#: A bullet or number of a list, as word processors and web pages paste it.
_MARK = re.compile(r"\s*(?:[•◦▪‣·*–-]|[0-9]{1,3}[.)])\s+(?=\S)")


def pasted_file(name: str, text: str) -> InputFile:
    """Return a text as a file; the bullets or numbers of a list are left out."""
    return InputFile(name, text=_without_marks(text.strip("\r\n")))


def pasted_reading(text: str) -> Reading:
    """Return how a pasted text is read: by lines if it is no table, else by columns, named by headers or guessed."""
    reading = Reading(columns=Columns(has_header=None))
    lines = [line for line in _lines(text) if line.strip()]
    if any("\t" in line for line in lines):  # even if rows differ in length: no name has a tab
        return reading._replace(delimiter="\t")
    return reading if _is_table(lines) else reading._replace(delimiter=ONE_COLUMN, quote="")


def _without_marks(text: str) -> str:
    """Return a list without its bullets or numbers; the text itself if a line has none."""
    lines = _lines(text)
    is_list = all(map(_MARK.match, filter(str.strip, lines)))
    return "\n".join(_MARK.sub("", line, count=1) for line in lines) if is_list else text


def _lines(text: str) -> list[str]:
    """Return the lines that the readers of files find. Not by `splitlines`, which keeps other threads waiting."""
    return [line.removesuffix("\n") for line in StringIO(text, newline=None)]


def _is_table(lines: list[str]) -> bool:
    """Return whether lines have columns; if they have only commas, these may belong to names."""
    if not lines:
        return True
    counts = ({line.count(each) for line in lines} for each in DELIMITERS)
    has_known = any(field_of(cell) for each in DELIMITERS for cell in lines[0].split(each))
    return has_known or any(len(each) == 1 and each != {0} for each in counts)
