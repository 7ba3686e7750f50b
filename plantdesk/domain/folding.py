"""Folds texts for searching and sorting: without case and accents, so that “erable” finds “Érable”."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

#: Separates name and tag in the key of plants that are alike; sorts before every printable character.
SEPARATOR = "\x1f"
#: Become spaces: they would end a text for LIKE, or the name in a key of plants that are alike.
_FOLDED_TO_SPACE = "\0" + SEPARATOR
#: The most characters with a cached folding; ordinary texts use some hundreds.
_MAX_CACHED = 4096
#: Characters per call of `str.translate`: it copies its whole result each time it grows.
_CHUNK_LENGTH = 4096
#: The characters that a search does not distinguish, with their replacements. These are stored with each plant, so a
#: change of this table needs a migration.
_CONFUSABLES = str.maketrans({"×": "x"} | dict.fromkeys('"`‘’“”', "'"))
_NUMBERS = re.compile("([0-9]+)")
#: The most characters of a text that are sorted naturally: `re` lets no other thread run meanwhile.
_MAX_SORTED_LENGTH = 65_536


class _Folding(dict[int, str]):
    """Maps each character to its folding, computed on first use.

    Characters are normalized one by one, since `unicodedata.normalize` sorts combining marks in quadratic time: half a
    million of them, in a name of 1 MB, would take minutes.
    """

    def __missing__(self, code: int) -> str:
        decomposed = unicodedata.normalize("NFKD", chr(code)) if chr(code) not in _FOLDED_TO_SPACE else " "
        folded = "".join(character for character in decomposed if not unicodedata.combining(character))
        folded = without_confusables(folded.casefold())
        if len(self) < _MAX_CACHED:
            self[code] = folded
        return folded


_FOLDING = _Folding()


def fold(text: str) -> str:
    """Return `text` folded: decomposed, without combining marks, case-folded, each quote as “'” and each “×” as “x”.

    NUL and SEPARATOR become spaces.
    """
    chunks = [text[start : start + _CHUNK_LENGTH] for start in range(0, len(text), _CHUNK_LENGTH)]
    return "".join([chunk.translate(_FOLDING) for chunk in chunks])


def fold_plant(name: str, tag: str | None, note: str | None = None) -> tuple[str, str | None, str | None]:
    """Return the folded texts of a plant, for its columns `searched_name`, `searched_tag` and `searched_note`."""
    searched_tag = None if tag is None else fold(tag)
    searched_note = None if note is None else fold(note)
    return fold(name), searched_tag, searched_note


def is_unicode(text: str) -> bool:
    """Return whether a text can be encoded in UTF-8: it has no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def fold_all(texts: Sequence[str | None]) -> list[str | None]:
    """Return many texts folded. If none has line breaks, one call folds them all in a quarter of the time."""
    present = [text for text in texts if text is not None]
    joined = "\n".join(present)
    has_no_breaks = joined.count("\n") == len(present) - 1
    folded = iter(fold(joined).split("\n") if has_no_breaks else map(fold, present))
    return [None if text is None else next(folded) for text in texts]


def natural_key(text: str) -> tuple[list[str | tuple[int, str]], str]:
    """Return the key that sorts folded texts with their numbers by value: “room 2” before “room 10”."""
    parts: list[str | tuple[int, str]] = [*_NUMBERS.split(fold(text[:_MAX_SORTED_LENGTH]))]
    for index in range(1, len(parts), 2):  # compared by length first: int() refuses 5,000 digits
        digits = str(parts[index]).lstrip("0")
        parts[index] = len(digits), digits
    return parts, text


def without_confusables(text: str) -> str:
    """Return `text` with “'” for each kind of quote, and “x” for “×”."""
    return text.translate(_CONFUSABLES)


def search_words(text: str) -> list[str]:
    """Return the folded words of `text`, to search for in folded texts; empty for a text of blanks and accents only."""
    return fold(text).split()


def alike_key(name: str, tag: str | None, by_tag: bool) -> str:  # noqa: FBT001  SQLite calls it
    """Return a key that is equal for plants that differ only in case, accents, kinds of quotes and spare blanks.

    Without `by_tag` it is a key of the name alone. An empty key, of accents and blanks alone, is not compared.
    """
    name = _squeeze_blanks(name)
    return name + SEPARATOR + _squeeze_blanks(tag or "") if name and by_tag else name


def _squeeze_blanks(text: str) -> str:
    return " ".join(filter(None, fold(text).split(" ")))
