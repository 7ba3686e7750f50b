"""Prints tables for users and JSON for scripts, and formats times."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

from plantdesk.domain.errors import shortened
from plantdesk.domain.timestamps import utc_time
from plantdesk.platform import output

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Longer than any name of a file or token.
_MAX_CELL = 300


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows with as many cells as the header; no cell can break the line or control the terminal."""
    table = [header, *([shortened(cell, _MAX_CELL) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in table]
    output.write("\n".join(lines))


def print_json(value: object) -> None:
    """Print `value` as JSON in ASCII, so that no text in it can control the terminal."""
    output.write(json.dumps(value, indent=2))


def local_time(timestamp: int) -> str:
    """Format a timestamp as local time with minutes; as UTC where the system has no local time."""
    time = utc_time(timestamp)
    with contextlib.suppress(OSError, OverflowError):  # Windows: before 1970 and after 3000
        time = time.astimezone()
    return time.strftime("%Y-%m-%d %H:%M")


def iso_time(timestamp: int | None) -> str | None:
    """Format a timestamp in ISO 8601."""
    return None if timestamp is None else utc_time(timestamp).isoformat(timespec="milliseconds")
