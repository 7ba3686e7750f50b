"""Opens the store of a command, and shows on the terminal how far a migration is."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from plantdesk.domain.errors import NoStoreError
from plantdesk.store import Backups, ReadOnlyStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from plantdesk.store import Store


def open_existing_store(database: Path) -> Store:
    """Open a store that should be there; the caller closes it. Raises NoStoreError, StoreError."""
    if not is_store(database):
        raise NoStoreError(database.name)
    return open_store(database)


def is_store(database: Path) -> bool:
    """Whether a store is at a path, or backups of one."""
    return os.path.lexists(database) or bool(Backups(database).newest_first())


def open_read_only(database: Path) -> ReadOnlyStore:
    """Open a store that should be there to read it; the caller closes it. Raises NoStoreError, StoreError."""
    if not is_store(database):
        raise NoStoreError(database.name)
    with _shown_progress() as progress:
        return ReadOnlyStore(database, progress=progress)


def open_store(database: Path) -> Store:
    """Open the store, or create it; the caller closes it. Raises StoreError."""
    from plantdesk.store import Store

    with _shown_progress() as progress:
        return Store(database, progress=progress)


@contextmanager
def _shown_progress() -> Iterator[Callable[[float], None] | None]:
    """Yield what shows the progress of a migration; None where standard error is no terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    progress = _Progress()
    try:
        yield progress.show
    finally:
        progress.end()


class _Progress:
    def __init__(self) -> None:
        self._shown = ""

    def show(self, share: float) -> None:
        """Overwrite the line of the terminal."""
        text = f"Updating the plants to this version of PlantDesk: {share:.0%}"
        if text != self._shown:
            print(f"\r{text}", end="", file=sys.stderr, flush=True)
            self._shown = text

    def end(self) -> None:
        """Remove the line."""
        if self._shown:
            print("\r" + " " * len(self._shown), end="\r", file=sys.stderr, flush=True)
