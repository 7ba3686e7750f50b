"""What commands print as a table: columns as wide as they need, times of the place where it is read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows of as many cells as the header has."""
    table = [header, *rows]
    widths = [max(len(line[column]) for line in table) for column in range(len(header))]
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def moment(milliseconds: int) -> str:
    """Return a local time to the minute for milliseconds since 1970, UTC."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
