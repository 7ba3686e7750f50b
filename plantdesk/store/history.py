"""The columns that plants and their before-images have in common."""

from __future__ import annotations

from collections.abc import Collection

from plantdesk.domain.copies import SEARCHED
from plantdesk.domain.folding import searched_texts

#: The texts of a plant, and all columns.
TEXTS = ("name", "tag", "note", *SEARCHED)
EACH = (*TEXTS, "seq", "added_at", "source_id")
#: Of statements as text.
COLUMNS = ", ".join(EACH)
IMAGE = f"INSERT INTO before_image (change, plant_id, after, {COLUMNS}, plant_change)"


def text_columns(name: str, tag: str | None, note: str | None) -> tuple[str | None, ...]:
    """Return the columns `TEXTS` of a plant."""
    return name, tag, note, *searched_texts(name, tag, note)


def replaced(fields: Collection[str]) -> str:
    """Return the columns that an import of these fields gives a plant, of a row `r`: its name, and tag and note."""
    given = [each for each in ("name", "tag", "note") if each in {"name", *fields}]
    return ", ".join(f"{each} = r.{each}, searched_{each} = r.searched_{each}" for each in given)
