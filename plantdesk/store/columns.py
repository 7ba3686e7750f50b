"""The columns that plants and their before-images have in common."""

from __future__ import annotations

from plantdesk.domain.copies import SEARCHED
from plantdesk.domain.folding import searched_texts

#: The texts of a plant, and all columns.
TEXTS = ("name", "tag", "note", *SEARCHED)
EACH = (*TEXTS, "seq", "added_at", "source_id")


def text_columns(name: str, tag: str | None, note: str | None) -> tuple[str | None, ...]:
    """Return the columns `TEXTS` of a plant."""
    return name, tag, note, *searched_texts(name, tag, note)
