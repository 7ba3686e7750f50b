"""`plantdesk token`: creates, lists and revokes the tokens of programs that add plants."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from plantdesk.cli.commands.plants import report_change
from plantdesk.cli.stores import format_command, open_existing_store, open_store
from plantdesk.cli.terminal import format_iso_time, format_local_time, print_json, print_table
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.records import COMMAND, TokenRow
from plantdesk.domain.texts import Text
from plantdesk.platform import output

_HEADER = ("NAME", "MADE", "LAST USED", "PLANTS", "EXPIRES")
#: The time without use after which the list marks a token.
_UNUSED_PERIOD = timedelta(days=90)


def create(options: argparse.Namespace) -> int:
    """Create a token and write it, alone, to a new file or to standard output.

    Raises InvalidTokenNameError, StoreError, OSError, and PlantDeskError if the file exists or cannot be written.
    """
    if options.output is None:
        _create_and_write(options, output.write)
        if sys.stderr is not None and sys.stderr.isatty():
            output.report("Copy it now. PlantDesk keeps only its SHA-256 digest and cannot show it again.")
        return 0
    with _create_file(options.output) as write:
        _create_and_write(options, write)
    return 0


def list_tokens(options: argparse.Namespace) -> int:
    """Print the tokens, newest first, as a table or in JSON. Raises NoStoreError, StoreError."""
    with open_existing_store(options.database) as store:
        rows = store.tokens.list()
    now = _to_milliseconds(datetime.now(UTC))
    if options.json:
        print_json([_token_as_json(row, now) for row in rows])
    elif rows:
        print_table(_HEADER, [_format_cells(row, now) for row in rows])
    else:
        command = format_command(options.database, "token create NAME")
        output.report(f"There are no tokens. Create one with: {command}")
    return 0


def revoke(options: argparse.Namespace) -> int:
    """Revoke a token and, if asked for, remove its plants. Raises UnknownTokenError, NoStoreError, StoreError."""
    with open_existing_store(options.database) as store:
        if options.remove_plants:
            removed = store.tokens.revoke_and_remove_plants(options.name, COMMAND).result()
            if removed.change is not None:
                report_change(removed, options.database)
        else:
            store.tokens.revoke(options.name).result()
    return 0


def _create_and_write(options: argparse.Namespace, write: Callable[[str], None]) -> None:
    """Create a token and pass it to `write`; if writing fails, revoke the token and raise PlantDeskError."""
    expires_at = None if options.expires is None else _to_milliseconds(datetime.now(UTC) + options.expires)
    with open_store(options.database) as store:
        created = store.tokens.create(options.name, expires_at, options.max_plants).result()
        try:
            write(created.token)
        except (OSError, output.OutputError) as error:  # nobody has seen the token
            store.tokens.revoke(created.row.name).result()
            if isinstance(error, OSError):
                reason = Text("The file could not be written: {reason}.", reason=str(error.strerror))
            else:
                reason = error.text
            raise PlantDeskError(Text("{reason} The token was revoked again."), reason=reason) from error


@contextlib.contextmanager
def _create_file(file: Path) -> Iterator[Callable[[str], None]]:
    """Yield a function that writes a line to the new `file`, mode 0600; remove the file on failure."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    except FileExistsError:
        text = Text("“{file}” already exists, and no token was created. Name a new file, or remove that one.")
        raise PlantDeskError(text, file=str(file)) from None

    def write(line: str) -> None:
        data = f"{line}\n".encode()
        if os.write(descriptor, data) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(descriptor)

    with contextlib.ExitStack() as cleanup:
        cleanup.callback(file.unlink)
        try:
            yield write
        finally:
            os.close(descriptor)
        cleanup.pop_all()


def _token_as_json(row: TokenRow, now: int) -> dict[str, object]:
    return {
        "name": row.name,
        "made_at": format_iso_time(row.created_at),
        "last_used_at": format_iso_time(row.last_used_at),
        "plants_added": row.plants_added,
        "max_plants": row.max_plants,
        "expires_at": format_iso_time(row.expires_at),
        "expired": row.is_expired(now),
    }


def _format_cells(row: TokenRow, now: int) -> tuple[str, ...]:
    expires = "never" if row.expires_at is None else format_local_time(row.expires_at)
    if row.is_expired(now):
        expires += " (expired)"
    last_used = "never" if row.last_used_at is None else format_local_time(row.last_used_at)
    if now - (row.last_used_at or row.created_at) >= _UNUSED_PERIOD / timedelta(milliseconds=1):
        last_used += f" (unused for {_UNUSED_PERIOD.days} days)"
    plants = str(row.plants_added) if row.max_plants is None else f"{row.plants_added} of {row.max_plants}"
    return (row.name, format_local_time(row.created_at), last_used, plants, expires)


def _to_milliseconds(when: datetime) -> int:
    return int(when.timestamp() * 1000)
