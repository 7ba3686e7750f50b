"""What commands print as a table, for people, or as JSON, for scripts."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from plantdesk import output
from plantdesk.errors import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: More than any name of a file or token has.
_MAX_CELL = 300
#: Seconds since 1970: the years 2 and 9998, so that any time zone can be added.
_EARLIEST, _LATEST = -62_104_060_800, 253_370_764_800


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows of as many cells as the header has; no cell can control the terminal or begin a line of its own."""
    table = [header, *([shortened(cell, _MAX_CELL) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in table]
    output.write("\n".join(lines))


def print_json(value: object) -> None:
    """Print `value` in JSON, in ASCII: no text in it can control the terminal."""
    output.write(json.dumps(value, indent=2))


def local_time(milliseconds: int) -> str:
    """Return a local time to the minute for milliseconds since 1970, UTC."""
    return _time(milliseconds).astimezone().strftime("%Y-%m-%d %H:%M")


def iso_time(milliseconds: int | None) -> str | None:
    """Return a time in ISO 8601, UTC, for milliseconds since 1970, UTC."""
    return None if milliseconds is None else _time(milliseconds).isoformat(timespec="milliseconds")


def _time(milliseconds: int) -> datetime:
    """Return the moment, or the nearest one that Python can show: another program may have written any number."""
    return datetime.fromtimestamp(max(_EARLIEST, min(_LATEST, milliseconds / 1000)), UTC)
