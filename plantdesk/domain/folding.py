"""Folds texts for searching and sorting: without case and accents, so that “erable” finds “Érable”."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

#: Separates name and tag in the key of plants that are alike; sorts before every printable character.
SEPARATOR = "\x1f"
#: Characters that would end a text for LIKE, or the name in a key of plants that are alike.
_BLANKS = "\0" + SEPARATOR
#: The most characters with a cached folding; ordinary texts use some hundreds.
_MAX_CACHED = 4096
#: Characters per call of `str.translate`: it copies its whole result each time it grows.
_PIECE = 4096
#: The characters that a search does not distinguish, with their replacements. These are stored with each plant, so a
#: change of this table needs a migration.
_CONFUSABLES = str.maketrans({"×": "x"} | dict.fromkeys('"`‘’“”', "'"))
_NUMBERS = re.compile("([0-9]+)")
#: The most characters of a text that are sorted naturally: `re` lets no other thread run meanwhile.
_MAX_SORTED = 65_536


class _Folding(dict[int, str]):
    """Maps each character to its folding, computed on first use.

    Characters are normalized one by one, since `unicodedata.normalize` sorts combining marks in quadratic time: half a
    million of them, in a name of 1 MB, would take minutes.
    """

    def __missing__(self, code: int) -> str:
        decomposed = unicodedata.normalize("NFKD", chr(code)) if chr(code) not in _BLANKS else " "
        kept = "".join(character for character in decomposed if not unicodedata.combining(character))
        kept = without_confusables(kept.casefold())
        if len(self) < _MAX_CACHED:
            self[code] = kept
        return kept


_FOLDING = _Folding()


def searched(text: str) -> str:
    """Return `text` folded: decomposed, without combining marks, case-folded, with one character for its confusables.

    NUL and SEPARATOR become spaces.
    """
    pieces = [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
    return "".join([piece.translate(_FOLDING) for piece in pieces])


def searched_texts(name: str, tag: str | None, note: str | None = None) -> tuple[str, str | None, str | None]:
    """Return the columns `searched_name`, `searched_tag` and `searched_note` of a plant."""
    searched_tag = None if tag is None else searched(tag)
    searched_note = None if note is None else searched(note)
    return searched(name), searched_tag, searched_note


def is_unicode(text: str) -> bool:
    """Return whether a text can be encoded in UTF-8: it has no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def searched_all(texts: Sequence[str | None]) -> list[str | None]:
    """Return many texts folded. If none has line breaks, one call folds them all in a quarter of the time."""
    present = [each for each in texts if each is not None]
    joined = "\n".join(present)
    has_no_breaks = joined.count("\n") == len(present) - 1
    folded = iter(searched(joined).split("\n") if has_no_breaks else map(searched, present))
    return [None if each is None else next(folded) for each in texts]


def natural_key(text: str) -> tuple[list[str | tuple[int, str]], str]:
    """Return the key that sorts folded texts with their numbers by value: “room 2” before “room 10”."""
    parts: list[str | tuple[int, str]] = [*_NUMBERS.split(searched(text[:_MAX_SORTED]))]
    for at in range(1, len(parts), 2):  # compared by length first: int() refuses 5,000 digits
        digits = str(parts[at]).lstrip("0")
        parts[at] = len(digits), digits
    return parts, text


def without_confusables(text: str) -> str:
    """Return `text` with one character for all its confusables."""
    return text.translate(_CONFUSABLES)


def search_words(text: str) -> list[str]:
    """Return the words of `text`, folded, to search for in folded texts; empty if it has only accents."""
    return searched(text).split()


def alike_key(name: str, tag: str | None, by_tag: bool) -> str:  # noqa: FBT001  SQLite calls it
    """Return a key that is equal for plants that differ only in case, accents, confusables and spare blanks.

    A name of only such characters has an empty key, and is like no other name.
    """
    name = _squeezed(name)
    return name + SEPARATOR + _squeezed(tag or "") if name and by_tag else name


def _squeezed(text: str) -> str:
    return " ".join(filter(None, searched(text).split(" ")))
