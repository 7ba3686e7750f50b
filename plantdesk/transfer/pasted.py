"""Reads plants from text that a user pastes: a list of names, or a table with or without a header."""

from __future__ import annotations

import re
from io import StringIO

from plantdesk.transfer.columns import Columns
from plantdesk.transfer.files import InputFile
from plantdesk.transfer.inputs import Reading

#: A bullet or number of a list, as word processors and web pages paste it.
_MARK = re.compile(r"\s*(?:[•◦▪‣·*–-]|[0-9]{1,3}[.)])\s+(?=\S)")


def pasted_file(name: str, text: str) -> InputFile:
    """Return a text as a file; the bullets or numbers of a list are left out."""
    return InputFile(name, text=_without_marks(text.strip("\r\n")))


def pasted_reading(text: str) -> Reading:
    """Return how a text is read: by lines if it is no table, else by columns; no name has a tab."""
    return Reading(columns=Columns(has_header=None), delimiter="\t" if "\t" in text else None, is_list=True)


def _without_marks(text: str) -> str:
    """Return a list without its bullets or numbers; the text itself if a line has none."""
    lines = [*StringIO(text, newline=None)]  # `splitlines` would keep other threads waiting
    is_list = all(map(_MARK.match, filter(str.strip, lines)))
    return "".join(_MARK.sub("", line, count=1) for line in lines) if is_list else text
