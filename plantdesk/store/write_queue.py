"""The queue of writes for the writer thread. Additions that are next to each other in it share a transaction."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty
from typing import Any, NamedTuple

from plantdesk.domain.errors import PlantDeskError, StoreClosedError
from plantdesk.domain.protocols import Entry, Outcome
from plantdesk.store.change_writer import ChangeWriter

Entries = Sequence[Entry]
OutcomesReceiver = Callable[[list[Outcome]], None]

_log = logging.getLogger(__name__)

#: Entries after which no further job joins a transaction, so that none waits long for those after it.
_GROUP_LIMIT = 2000


def running_future() -> Future[Any]:
    """Return a Future that cannot be cancelled."""
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()
    return future


class AddJob(NamedTuple):
    """Plants of one caller, which may share a transaction with plants of other callers."""

    entries: Entries
    done: OutcomesReceiver

    def fail(self, error: PlantDeskError) -> None:
        """Give each entry the error as its outcome."""
        self.resolve([error] * len(self.entries))

    def resolve(self, outcomes: list[Outcome]) -> None:
        """Call `done` with the outcome of each entry; log its exception, since the writer thread must go on."""
        try:
            self.done(outcomes)
        except Exception:  # noqa: BLE001  a defect of the caller must not end the writer thread
            _log.exception("the outcomes of %d plants could not be passed on", len(outcomes))


@dataclass(frozen=True)
class WriteJob:
    """Any other write, in a transaction of its own, which may read the tables of an `attached` file of SQLite."""

    action: Callable[[ChangeWriter], Any]
    changes_tokens: bool = False
    attached: Path | None = None
    future: Future[Any] = field(default_factory=running_future)  # it cannot be cancelled: its result can be set

    def fail(self, error: Exception) -> None:
        """Set the exception of the Future: nothing was written."""
        self.future.set_exception(error)


class PollJob:
    """Lets the writer thread look for commits of other processes."""

    def fail(self, error: Exception) -> None:
        """Do nothing: no caller waits for a poll."""


Job = AddJob | WriteJob | PollJob


class WriteQueue:
    """The jobs in their order: any thread may put one, the writer thread takes them."""

    def __init__(self) -> None:
        self._jobs = deque[Job]()
        self._is_closed = False
        self._changed = threading.Condition()

    def put(self, job: Job) -> None:
        """Queue a job; it fails with StoreClosedError after `close`."""
        with self._changed:
            if not self._is_closed:
                self._jobs.append(job)
                self._changed.notify()
                return
        job.fail(StoreClosedError())

    def close(self) -> None:
        """Accept no more jobs; the thread ends after those that are queued."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()

    def is_empty(self) -> bool:
        """Return whether no job is queued, and the queue is not closed."""
        return not self._jobs and not self._is_closed

    def next_job(self, timeout: float) -> Job | None:
        """Remove and return the next job; None if all are done after `close`. Raises Empty after `timeout` seconds."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._jobs or self._is_closed, timeout):
                raise Empty
            return self._jobs.popleft() if self._jobs else None

    def take_group(self, first: AddJob) -> list[AddJob]:
        """Remove the adds queued right after `first`, up to `_GROUP_LIMIT` entries; return them after `first`."""
        group = [first]
        size = len(first.entries)
        with self._changed:
            while size < _GROUP_LIMIT and self._jobs and isinstance(job := self._jobs[0], AddJob):
                group.append(job)
                size += len(job.entries)
                self._jobs.popleft()
        return group

    def end(self) -> None:
        """Close the queue and fail its jobs: if a defect has ended the thread, nobody must wait for ever."""
        self.close()
        while self._jobs:
            self._jobs.popleft().fail(StoreClosedError())
