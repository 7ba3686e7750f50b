"""The rows of a sheet as most programs write them, by regular expressions: half of the time of an XML parser.

Accepts only what an XML parser would understand in the same way. What has another form, such as a comment or a text of
several runs, is left to the parser.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    #: A cell as it is written: all of it, the letters of its column, its style, type and value, and the text in it.
    Cell = tuple[str, str, str, str, str, str]

#: Neither markup nor a reference, and nothing that XML forbids or changes, such as CR.
_PLAIN = "[^<>&\0-\x08\x0b-\x1f\ufffe\uffff]*"
#: The references of XML itself; the last one begins others.
_REFERENCES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}
_TEXT = f"{_PLAIN}(?:(?:{'|'.join(_REFERENCES)}){_PLAIN})*"
_ROW = re.compile('<row(?: r="([1-9][0-9]{0,6})")?((?: (?!r=)[A-Za-z0-9:]{1,40}="[A-Za-z0-9.: -]{0,80}")*)>')
_CELL = re.compile(
    '(<c r="([A-Z]{1,3})[0-9]{1,7}"(?: s="([0-9]{1,5})")?(?: t="([A-Za-z]{1,9})")?'
    f'(?:/>|>(?:<v>({_TEXT})</v>|<is><t(?: xml:space="preserve")?>({_TEXT})</t></is>)?</c>))'
)
#: The beginnings of documents that are in UTF-8.
_DECLARATION = rb"<\?xml version=[\"']1\.0[\"']( encoding=[\"'](utf|UTF)-8[\"'])?( standalone=[\"'](yes|no)[\"'])? ?\?>"
_UTF_8 = re.compile(rb"(\xef\xbb\xbf)?(" + _DECLARATION + rb"|<\w)")


def is_utf8(begin: bytes) -> bool:
    """Return whether a document that begins so is in UTF-8."""
    return _UTF_8.match(begin) is not None


def plain_row(row: str) -> tuple[str | None, list[Cell]] | None:
    """Return the number and the cells of a row, which is given without its end tag; None where it has another form."""
    start = _ROW.match(row)
    if start is None or not _are_unique(start[2]):
        return None
    cells: list[Cell] = _CELL.findall(row, start.end())
    if sum(len(cell[0]) for cell in cells) != len(row) - start.end():
        return None
    # A parser would take a text in another cell for one of the next cell.
    return None if any(text and kind != "inlineStr" for _, _, _, kind, _, text in cells) else (start[1], cells)


def resolved(text: str) -> str:
    """Return a value or text of a cell without references."""
    if "&" in text:
        for reference, character in _REFERENCES.items():
            text = text.replace(reference, character)
    return text


def may_hide_tags(row: str) -> bool:
    """Return whether a row has a comment or the like, in which an end tag is text."""
    return "<!" in row or "<?" in row


@lru_cache(maxsize=64)
def _are_unique(attributes: str) -> bool:
    names = re.findall('([A-Za-z0-9:]+)="', attributes)
    return len(names) == len(set(names))
