"""Text files of Anki: lines that begin with # say how they are written (Anki manual, “File Headers”)."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.transfer.columns import Layout, mapped

if TYPE_CHECKING:
    from collections.abc import Sequence

_KEYS = re.compile(
    r"#(separator|html|tags|columns|notetype|deck|guid|(?:notetype|deck|tags|guid) column):(.*)", re.IGNORECASE
)
_SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "space": " ", "pipe": "|", "colon": ":"}
_BREAK = re.compile(r"<br\s*/?>|</(?:div|p|li)>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
#: A number of a character that Python refuses to read.
_NO_CHARACTER = re.compile(r"&#[0-9]{8,};?")


class AnkiHeader(NamedTuple):
    """What the first lines say; `layout` has the columns by the number of cells in a row."""

    lines: int
    values: dict[str, str]

    @property
    def delimiter(self) -> str:
        """The delimiter; a tab where none is given."""
        name = self.values.get("separator", "tab").strip()
        return _SEPARATORS.get(name.lower(), name[:1] or "\t")

    @property
    def is_html(self) -> bool:
        """Whether the fields are HTML."""
        return self.values.get("html", "").strip().lower() == "true"

    def layout(self, width: int) -> Layout:
        """Return the columns of rows with `width` cells: the first field of a note is the name, the next its note."""
        names = self.values.get("columns", "").split(self.delimiter) if "columns" in self.values else []
        names += [str(at) for at in range(len(names) + 1, width + 1)]
        special = {kind: self._column(f"{kind} column") for kind in ("tags", "notetype", "deck", "guid")}
        fields = [at for at in range(len(names)) if at not in special.values()]
        found = mapped(names, {}) | ({"tag": special["tags"]} if special["tags"] is not None else {})
        rest = [at for at in fields if at not in found.values()]
        for field in ("name", "note"):
            if field not in found and rest:
                found[field] = rest.pop(0)
        return Layout(names, has_header=False, fields=found)

    def _column(self, key: str) -> int | None:
        number = self.values.get(key, "").strip()
        return int(number) - 1 if number.isascii() and number.isdigit() and int(number) else None


def anki_header(lines: Sequence[str]) -> AnkiHeader | None:
    """Return the header that lines begin with, or None."""
    values: dict[str, str] = {}
    for count, line in enumerate(lines):
        found = _KEYS.fullmatch(line.rstrip("\r"))
        if found is None:
            return AnkiHeader(count, values) if values else None
        values[found[1].lower()] = found[2]
    return AnkiHeader(len(lines), values) if values else None


def without_html(text: str | None) -> str | None:
    """Return a field as text."""
    if text is None or ("<" not in text and "&" not in text):
        return text
    plain = _NO_CHARACTER.sub("\ufffd", _TAG.sub("", _BREAK.sub("\n", text)))
    return html.unescape(plain).replace("\xa0", " ").strip()
