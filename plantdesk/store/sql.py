"""Parts of statements that are SQL."""

from __future__ import annotations

#: The version of a plant: the last change that touched it, or its negative sequence number.
VERSION = "CASE WHEN plant.change > 0 THEN plant.change ELSE -plant.seq END"


def placeholders(count: int) -> str:
    """Return so many placeholders of values that are bound by their place."""
    return ", ".join("?" * count)
