"""What the writer thread does while nothing is queued: polls for other processes, checkpoints, removes old history.

A store that cannot be written to is tried again until it can; a file that was replaced is closed as soon as its
content is saved.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING

from plantdesk.domain.errors import StoreError
from plantdesk.store.pruning import is_prunable, prune
from plantdesk.store.sqlite.commit_tracker import is_locked
from plantdesk.store.sqlite.connections import check_whole, translate_errors
from plantdesk.store.sqlite.database import runner

if TYPE_CHECKING:
    from plantdesk.store.sqlite.transactions import Health, Transactions


#: Polls without work of this process, about a second, after which the log is moved into the database file.
_QUIET_POLLS = 12
#: Polls between two releases of the connection's cache: about ten seconds.
_RELEASE_POLLS = 125
#: Polls after which a store that cannot be written to is tried again: about two seconds.
_RETRY_POLLS = 25
#: Polls after which a damaged one is checked again, which takes its time: half a minute.
_CHECK_POLLS = 375


class IdleWork:
    """The idle work of the writer thread, which owns this object; `is_idle` returns whether nothing is queued."""

    def __init__(self, transactions: Transactions, health: Health, is_idle: Callable[[], bool]) -> None:
        self._transactions = transactions
        self._health = health
        self._is_idle = is_idle

    def run(self, polls: int) -> None:
        """Do what is due at the poll of this number since the last job."""
        self._transactions.poll()
        if polls % _QUIET_POLLS == 0:
            self._run_quiet()
        if polls % _RELEASE_POLLS == 0 and (usable := self._transactions.usable) is not None:
            usable.sqlite.execute("PRAGMA shrink_memory")  # up to 36 MB of pages after an import
        if polls % (_CHECK_POLLS if self._health.is_damaged else _RETRY_POLLS) == 0:
            self._try_again()

    def _run_quiet(self) -> None:
        known = self._transactions.known
        if known is not None and known.checkpointer.pending and not is_locked(known.sqlite):
            self._transactions.checkpoint()
            self._prune()

    def _prune(self) -> None:
        """Remove outdated before-images, a few at a time, so that a plant waits for milliseconds only."""
        with contextlib.suppress(StoreError, sqlite3.Error):
            while self._is_idle() and (known := self._transactions.known) and is_prunable(runner(known.sqlite)):
                if is_locked(known.sqlite):  # a wait would delay the notice of what another process commits
                    return
                with self._transactions.without_plants() as connection:
                    prune(runner(connection.sqlite))

    def _try_again(self) -> None:
        """Write without changing a plant, to find out whether the store can be written to again."""
        if self._health.is_well:
            return
        with contextlib.suppress(StoreError):
            with self._transactions.without_plants() as connection:
                pass  # the count of such commits is written
            if self._health.is_damaged:
                with translate_errors():
                    check_whole(connection.sqlite)
                self._health.recovered()
