"""Text without case and accents, so that “erable” finds “Érable”, which SQLite alone cannot."""

from __future__ import annotations

import unicodedata

#: Between name and tag in the column `folded`; sorts before every printable character.
SEPARATOR = "\x1f"
#: What would end a text for LIKE, and the name for the column `folded`.
_BLANKS = "\0" + SEPARATOR
#: Characters whose folding is kept; texts of people use some hundreds.
_KEPT = 4096
#: `translate` moves all it has made whenever it needs more room, which a whole text would pay for twenty times over.
_PIECE = 4096


#: Characters that a search does not distinguish: the one that stands for all, and the others. Stored texts keep them,
#: so that this table can grow without a migration.
LOOKALIKES = {"x": "×", "'": '"`‘’“”'}
_SEARCHED = str.maketrans({other: one for one, others in LOOKALIKES.items() for other in others})


class _Folding(dict[int, str]):
    """What each character becomes, worked out when it is first met.

    One by one, as `unicodedata.normalize` puts the marks of a character in order, in a time that grows with the
    square of their number: half a million of them, in a name of 1 MB, would stop the program for minutes. Here they
    are left out, so that their order does not matter.
    """

    def __missing__(self, code: int) -> str:
        decomposed = unicodedata.normalize("NFKD", chr(code)) if chr(code) not in _BLANKS else " "
        kept = "".join(character for character in decomposed if not unicodedata.combining(character)).casefold()
        if len(self) < _KEPT:
            self[code] = kept
        return kept


_FOLDING = _Folding()


def fold(text: str) -> str:
    """Return `text` decomposed, without combining marks, case-folded, and with NUL and SEPARATOR as spaces."""
    pieces = [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
    return "".join([piece.translate(_FOLDING) for piece in pieces])


def search_words(text: str) -> list[str]:
    """Return what to look for in folded texts, for a piece of a search without spaces in it; empty for bare accents."""
    return fold(text).translate(_SEARCHED).split()


def folded(name: str, tag: str | None) -> str | None:
    """Return what the column `folded` holds for a plant: NULL where SQLite's own ASCII rules find it as well."""
    both = name + (tag or "")
    if both.isascii() and "\0" not in both:
        return None
    return fold(name) + SEPARATOR + fold(tag or "")
