"""The queue of a writer thread. Waiting adds are taken together, to share one transaction."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from plantdesk.domain.errors import PlantDeskError, StoreClosedError, Text

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.domain.records import PlantRow
    from plantdesk.store.base import Done, Entries

_log = logging.getLogger(__name__)

#: Entries in one transaction at most, so that none waits long for those after it.
_GROUP_LIMIT = 2000


class AddJob(NamedTuple):
    """Plants of one caller, to share a transaction with those of others."""

    entries: Entries
    done: Done

    def fail(self, error: PlantDeskError) -> None:
        """Pass on that none was added."""
        self.resolve([error] * len(self.entries))

    def resolve(self, outcomes: list[PlantRow | PlantDeskError]) -> None:
        """Pass on the outcome of each entry."""
        try:
            self.done(outcomes)
        except Exception:  # noqa: BLE001  a defect of the caller must not end the writer thread
            _log.exception("the outcomes of %d plants could not be passed on", len(outcomes))


class WriteJob:
    """Any other write, in a transaction of its own, which may read the tables of an `attached` file of SQLite."""

    def __init__(
        self, action: Callable[[Any], Any], *, changes_tokens: bool = False, attached: Path | None = None
    ) -> None:
        self.action, self.changes_tokens, self.attached = action, changes_tokens, attached
        self.future: Future[Any] = Future()
        self.future.set_running_or_notify_cancel()  # or setting the result of a cancelled one would end the thread

    def fail(self, error: Exception) -> None:
        """Pass on that nothing was written."""
        self.future.set_exception(error)


class PollJob:
    """Asks for what other processes have committed."""

    def fail(self, error: Exception) -> None:
        """Nobody waits for it."""


Job = AddJob | WriteJob | PollJob


class WriteQueue:
    """Jobs in their order: any thread may put one, the writer thread takes them."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._taken: list[Job | None] = []  # the job after a group, which comes next
        self._is_closed = False
        self._lock = threading.Lock()

    def put(self, job: Job) -> None:
        """Queue a job; it fails with StoreClosedError after `close`."""
        with self._lock:
            if not self._is_closed:
                self._jobs.put(job)
                return
        job.fail(StoreClosedError())

    def close(self) -> None:
        """Accept no more jobs; the thread ends after those that are queued."""
        with self._lock:
            first, self._is_closed = not self._is_closed, True
            if first:
                self._jobs.put(None)

    def is_empty(self) -> bool:
        """Return whether nothing waits."""
        return not self._taken and self._jobs.empty()

    def next_job(self, timeout: float) -> Job | None:
        """Return the next job, None at the end. Raises Empty after `timeout` seconds."""
        return self._taken.pop() if self._taken else self._jobs.get(timeout=timeout)

    def group(self, first: AddJob) -> list[AddJob]:
        """Return `first` and the adds that are queued after it, up to another kind of job."""
        group, size = [first], len(first.entries)
        while size < _GROUP_LIMIT and not self._jobs.empty():
            job = self._jobs.get_nowait()
            if not isinstance(job, AddJob):
                self._taken.append(job)
                break
            group.append(job)
            size += len(job.entries)
        return group

    def end(self) -> None:
        """Fail what is queued: when a defect ended the thread, nobody must wait for it for ever."""
        with self._lock:
            self._is_closed = True
        with contextlib.suppress(Empty):
            while True:
                if (job := self.next_job(0)) is not None:
                    job.fail(StoreClosedError())


def resolve(group: Sequence[AddJob], outcomes: list[PlantRow | PlantDeskError]) -> None:
    """Pass on the outcomes of all entries of a group."""
    start = 0
    for job in group:
        job.resolve(outcomes[start : start + len(job.entries)])
        start += len(job.entries)


def defect(error: Exception) -> PlantDeskError:
    """Return the error for users of a defect, which the caller has logged."""
    failure = PlantDeskError(Text("PlantDesk could not save this because of a defect in it. Its log has the details."))
    failure.__cause__ = error
    return failure
