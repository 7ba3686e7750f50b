"""Text without case and accents, so that “erable” finds “Érable”, which SQLite alone cannot."""

from __future__ import annotations

import unicodedata

#: Between name and tag in the column `folded`; sorts before every printable character.
SEPARATOR = "\x1f"


def fold(text: str) -> str:
    """Return `text` decomposed, without combining marks, case-folded, and with NUL, at which LIKE stops, as a space."""
    decomposed = unicodedata.normalize("NFKD", text.replace("\0", " "))
    return "".join(character for character in decomposed if not unicodedata.combining(character)).casefold()


def folded(name: str, tag: str | None) -> str | None:
    """Return what the column `folded` holds for a plant: NULL where SQLite's own ASCII rules find it as well."""
    both = name + (tag or "")
    if both.isascii() and "\0" not in both:
        return None
    return fold(name) + SEPARATOR + fold(tag or "")
