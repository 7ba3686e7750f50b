"""Text without case and accents, so that “erable” finds “Érable”, which SQLite alone cannot."""

from __future__ import annotations

import re
import unicodedata

#: Separates name and tag in the column `folded`; sorts before every printable character.
SEPARATOR = "\x1f"
#: Characters that would end a text for LIKE, or the name in the column `folded`.
_BLANKS = "\0" + SEPARATOR
#: Characters whose folding is cached; ordinary texts use some hundreds.
_MAX_CACHED = 4096
#: Characters per call: `str.translate` copies its whole result each time it grows, which long texts pay for repeatedly.
_PIECE = 4096


#: Characters that a search does not distinguish: the one that stands for all, and the others. Stored texts keep them,
#: so that this table can grow without a migration.
CONFUSABLES = {"x": "×", "'": '"`‘’“”'}


class _Folding(dict[int, str]):
    """Maps each character to its folding, computed on first use.

    One by one, because `unicodedata.normalize` sorts the combining marks of a character in quadratic time: half a
    million of them, in a name of 1 MB, would stop the program for minutes. Here they are removed, so that their order
    does not matter.
    """

    def __missing__(self, code: int) -> str:
        decomposed = unicodedata.normalize("NFKD", chr(code)) if chr(code) not in _BLANKS else " "
        kept = "".join(character for character in decomposed if not unicodedata.combining(character)).casefold()
        if len(self) < _MAX_CACHED:
            self[code] = kept
        return kept


_FOLDING = _Folding()
_NUMBERS = re.compile("([0-9]+)")
#: Characters of a text that are sorted naturally: `re` lets no other thread run meanwhile.
_MAX_SORTED = 65_536


def fold(text: str) -> str:
    """Return `text` decomposed, without combining marks, case-folded, and with NUL and SEPARATOR as spaces."""
    pieces = [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
    return "".join([piece.translate(_FOLDING) for piece in pieces])


def natural_key(text: str) -> tuple[list[str | tuple[int, str]], str]:
    """Return the key that sorts folded texts with their numbers by value: “room 2” before “room 10”."""
    parts: list[str | tuple[int, str]] = [*_NUMBERS.split(fold(text[:_MAX_SORTED]))]
    for at in range(1, len(parts), 2):  # compared by length first: int() refuses 5,000 digits
        digits = str(parts[at]).lstrip("0")
        parts[at] = len(digits), digits
    return parts, text


def searched(text: str) -> str:
    """Return `text` as it is compared: folded, and with one character for all its confusables."""
    return without_confusables(fold(text))


def without_confusables(text: str) -> str:
    """Return `text` with one character for all its confusables. Not by `translate`, which is slow for long texts."""
    for one, others in CONFUSABLES.items():
        for other in others:
            text = text.replace(other, one)
    return text


def search_words(text: str) -> list[str]:
    """Return the words to search in folded texts for `text`; empty for accents alone."""
    return searched(text).split()


def folded(name: str, tag: str | None) -> str | None:
    """Return the value of column `folded` for a plant: None where SQLite's own ASCII rules are enough."""
    both = name + (tag or "")
    if both.isascii() and "\0" not in both:
        return None
    return fold(name) + SEPARATOR + fold(tag or "")


def alike_key(name: str, tag: str | None, by_tag: bool) -> str:  # noqa: FBT001  SQLite calls it
    """Return what is the same for plants that are alike, whatever their case, accents, confusables and spare blanks.

    Empty where the name has nothing else: such plants are alike to none.
    """
    name = _squeezed(name)
    return name + SEPARATOR + _squeezed(tag or "") if name and by_tag else name


def _squeezed(text: str) -> str:
    return " ".join(filter(None, searched(text).split(" ")))
