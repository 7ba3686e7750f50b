"""`plantdesk token`: make, list and revoke the tokens with which programs add plants."""

from __future__ import annotations

import sys
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from plantdesk.commands.table import moment, print_table
from plantdesk.store import Store

if TYPE_CHECKING:
    from datetime import timedelta
    from pathlib import Path

    from plantdesk.records import TokenRow

_HEADER = ("NAME", "MADE", "LAST USED", "PLANTS", "EXPIRES")


def create(database: Path, name: str, lifetime: timedelta | None) -> int:
    """Print a new token, and nothing else, on standard output. Raises InvalidTokenNameError, StoreError."""
    expires_at = None if lifetime is None else _milliseconds(datetime.now(UTC) + lifetime)
    with closing(Store(database)) as store:
        made = store.tokens.create(name, expires_at).result()
    print(made.token)
    if sys.stderr is not None and sys.stderr.isatty():
        print("Copy it now. PlantDesk keeps only a fingerprint and cannot show it again.", file=sys.stderr)
    return 0


def show(database: Path) -> int:
    """Print a table of the tokens, newest first. Raises StoreError."""
    with closing(Store(database)) as store:
        rows = store.tokens.list()
    if not rows:
        print("There are no tokens. Make one with: plantdesk token create NAME", file=sys.stderr)
        return 0
    print_table(_HEADER, [_cells(row) for row in rows])
    return 0


def revoke(database: Path, name: str) -> int:
    """Make a token worthless. Raises UnknownTokenError, StoreError."""
    with closing(Store(database)) as store:
        store.tokens.revoke(name).result()
    return 0


def _cells(row: TokenRow) -> tuple[str, ...]:
    now = _milliseconds(datetime.now(UTC))
    expires = "never" if row.expires_at is None else moment(row.expires_at)
    if row.expired(now):
        expires += " (over)"
    last_used = "never" if row.last_used_at is None else moment(row.last_used_at)
    return (row.name, moment(row.created_at), last_used, str(row.plants_added), expires)


def _milliseconds(when: datetime) -> int:
    return int(when.timestamp() * 1000)
