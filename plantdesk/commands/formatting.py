"""Prints tables for users and JSON for scripts, and formats times."""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from plantdesk import output
from plantdesk.errors import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Longer than any name of a file or token.
_MAX_CELL = 300
#: Seconds since 1970: the years 2 and 9998, so that any time zone can be added.
_EARLIEST, _LATEST = -62_104_060_800, 253_370_764_800


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows with as many cells as the header; no cell can break the line or control the terminal."""
    table = [header, *([shortened(cell, _MAX_CELL) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in table]
    output.write("\n".join(lines))


def print_json(value: object) -> None:
    """Print `value` as JSON in ASCII, so that no text in it can control the terminal."""
    output.write(json.dumps(value, indent=2))


def local_time(milliseconds: int) -> str:
    """Format milliseconds since 1970, UTC, as local time with minutes; as UTC where the system has no local time."""
    time = _time(milliseconds)
    with contextlib.suppress(OSError):  # Windows: before 1970 and after 3000
        time = time.astimezone()
    return time.strftime("%Y-%m-%d %H:%M")


def iso_time(milliseconds: int | None) -> str | None:
    """Format milliseconds since 1970, UTC, in ISO 8601."""
    return None if milliseconds is None else _time(milliseconds).isoformat(timespec="milliseconds")


def _time(milliseconds: int) -> datetime:
    """Return the nearest time that Python supports: another program may have written any number."""
    return datetime.fromtimestamp(max(_EARLIEST, min(_LATEST, milliseconds / 1000)), UTC)
