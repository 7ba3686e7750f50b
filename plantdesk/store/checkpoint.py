"""Moving commits from the write-ahead log into the database file, safe from SQLite's WAL-reset fault.

The fault of SQLite before 3.51.3 needs a write at the very moment of another connection's checkpoint. Holding the write
lock (on the writer's connection) while a second connection checkpoints excludes that, between processes as well. Only a
passive checkpoint is used: it waits for nobody, and what readers still need stays for the next time.
"""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plantdesk.store.store_file import StoreFile

#: Commits after which the log is moved even while more are waiting; about 10 MB of log.
_BUSY_COMMITS = 500


class Checkpointer:
    """Counts commits and checkpoints when due. Belongs to the writer thread."""

    def __init__(self, file: StoreFile, writing: sqlite3.Connection) -> None:
        self._file = file
        self._writing = writing
        self._commits = 0

    @property
    def pending(self) -> bool:
        """Whether anything was committed since the last checkpoint."""
        return self._commits > 0

    def committed(self, weight: int = 1) -> None:
        """Note a commit; `weight` is the number of small commits that write about as much."""
        self._commits += weight
        if self._commits >= _BUSY_COMMITS:
            self.run()

    def run(self) -> None:
        """Checkpoint what can be. A fault loses nothing, as the log keeps the commits: the next write reports it."""
        self._commits = 0
        with contextlib.suppress(sqlite3.Error):
            self._writing.execute("BEGIN IMMEDIATE")
            try:
                self._file.checkpoint()
            finally:
                self._writing.execute("ROLLBACK")
