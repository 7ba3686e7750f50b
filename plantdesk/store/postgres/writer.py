"""The one writer thread of a desk: waiting adds share a transaction, which is durable before it is answered.

Order for each group: commit, pass on the outcomes, notify the listeners, as in `sqlite/writer`. While the server does
not answer, writes fail at once with the reason, and the thread tries again.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from plantdesk.domain.errors import PlantDeskError, StoreClosedError, StoreError, Text
from plantdesk.domain.records import Changes
from plantdesk.store.postgres.adding import Outcome
from plantdesk.store.postgres.connections import ServerUnreachableError, StandbyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from plantdesk.domain.records import PlantRow
    from plantdesk.store.postgres.adding import Entry
    from plantdesk.store.postgres.connections import Transaction
    from plantdesk.store.postgres.transactions import Transactions

_log = logging.getLogger(__name__)

_Result = TypeVar("_Result")

#: Entries in one transaction at most, so that none waits long for those behind it.
_GROUP_LIMIT = 2000
#: Seconds between two attempts to write to a store that cannot be written to.
_RETRY_DELAY = 1.0
#: Seconds between two looks for what is outdated, and after the opening.
_PRUNE_INTERVAL = 600.0
#: Seconds between two looks at the clocks, and the difference that shows that the computer was asleep.
_CLOCK_INTERVAL, _CLOCK_JUMP = 5.0, 10.0


@dataclass(slots=True)
class _AddJob:
    entries: Sequence[Entry]
    done: Callable[[list[PlantRow | PlantDeskError]], None]

    def fail(self, error: PlantDeskError) -> None:
        self.resolve([error] * len(self.entries))

    def resolve(self, outcomes: list[PlantRow | PlantDeskError]) -> None:
        try:
            self.done(outcomes)
        except Exception:  # noqa: BLE001  a defect of the caller must not end the writer thread
            _log.exception("the outcomes of %d plants could not be passed on", len(outcomes))


@dataclass(slots=True)
class _WriteJob(Generic[_Result]):
    action: Callable[[Transaction], _Result]
    future: Future[_Result] = field(default_factory=Future)

    def fail(self, error: Exception) -> None:
        self.future.set_exception(error)


class _Poll:
    """Asks for what other desks have committed."""


_Job = _AddJob | _WriteJob[Any] | _Poll | None


class Writer:
    """The queue of writes, and the thread that owns their connection."""

    def __init__(
        self,
        transactions: Transactions,
        publish: Callable[[Changes], None],
        report_health: Callable[[StoreError | None], None],
        on_sleep: Callable[[], None],
    ) -> None:
        """Start the thread, on which all functions are called; `on_sleep` after a sleep of the computer."""
        self._transactions, self._publish = transactions, publish
        self._report_health, self._on_sleep = report_health, on_sleep
        self._queue: SimpleQueue[_Job] = SimpleQueue()
        self._lock = threading.Lock()
        self._is_closing = self._is_poll_queued = False
        #: What keeps the store from being written to, as far as is known. Any thread may ask.
        self.write_error: StoreError | None = None
        self._retry_at = 0.0
        self._prune_at = time.monotonic() + _PRUNE_INTERVAL
        self._clocks = time.time() - time.monotonic()
        with self._watched():
            transactions.check_writable()
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    def add(self, entries: Sequence[Entry], done: Callable[[list[PlantRow | PlantDeskError]], None]) -> None:
        """Queue plants; `done` gets an outcome for each, on the writer thread or, where it has ended, on this one."""
        self._put(_AddJob(entries, done))

    def submit(self, action: Callable[[Transaction], _Result]) -> Future[_Result]:
        """Queue any other write."""
        job = _WriteJob(action)
        job.future.set_running_or_notify_cancel()
        self._put(job)
        return job.future

    def poll(self) -> None:
        """Let listeners know soon of what was committed by others."""
        with self._lock:
            if self._is_closing or self._is_poll_queued:
                return
            self._is_poll_queued = True
            self._queue.put(_Poll())

    def close(self) -> None:
        """Write what is queued, then end the thread and close the connection; returns when that is done."""
        with self._lock:
            first, self._is_closing = not self._is_closing, True
            if first:
                self._queue.put(None)
        self._thread.join()

    def _put(self, job: _AddJob | _WriteJob[Any]) -> None:
        with self._lock:
            if not self._is_closing:
                return self._queue.put(job)
        return job.fail(StoreClosedError())

    # --- on the writer thread ---

    def _run(self) -> None:
        try:
            following: _Job | type[Empty] = Empty
            while True:
                job = self._next_job() if following is Empty else following
                if job is None:
                    return
                following = self._do(job)  # type: ignore[arg-type]
        finally:
            self._end()

    def _end(self) -> None:
        """Close the connection; when a defect ended the thread, nobody must wait for it for ever."""
        with self._lock:
            self._is_closing = True
        with contextlib.suppress(Empty):
            while True:
                if isinstance(job := self._queue.get_nowait(), _AddJob | _WriteJob):
                    job.fail(StoreClosedError())
        self._transactions.close()

    def _next_job(self) -> _Job:
        while True:
            with contextlib.suppress(Empty):
                return self._queue.get(timeout=_CLOCK_INTERVAL if self.write_error is None else _RETRY_DELAY)
            self._check_clocks()
            if self.write_error is not None:
                return _Poll()
            self._prune_if_due()

    def _check_clocks(self) -> None:
        """Drop the connections after a sleep: the server may have forgotten them, which only a timeout would show."""
        before, self._clocks = self._clocks, time.time() - time.monotonic()
        if abs(self._clocks - before) > _CLOCK_JUMP:
            self._transactions.close()
            self._on_sleep()

    def _prune_if_due(self) -> None:
        if time.monotonic() >= self._prune_at:
            self._prune_at = time.monotonic() + _PRUNE_INTERVAL
            with self._watched():
                if self._transactions.prune():
                    self._prune_at = 0

    def _do(self, job: _AddJob | _WriteJob[Any] | _Poll) -> _Job | type[Empty]:
        """Do a job; return the one that was taken from the queue behind it, or Empty."""
        if isinstance(job, _Poll):
            with self._lock:
                self._is_poll_queued = False
            self._poll()
        elif isinstance(job, _WriteJob):
            self._write(job)
        else:
            return self._add_with_all_waiting(job)
        return Empty

    def _add_with_all_waiting(self, first: _AddJob) -> _Job | type[Empty]:
        group, size = [first], len(first.entries)
        following: _Job | type[Empty] = Empty
        while size < _GROUP_LIMIT and not self._queue.empty():
            job = self._queue.get_nowait()
            if not isinstance(job, _AddJob):
                following = job
                break
            group.append(job)
            size += len(job.entries)
        outcome = self._add([entry for job in group for entry in job.entries])
        start = 0
        for job in group:
            job.resolve(outcome.outcomes[start : start + len(job.entries)])
            start += len(job.entries)
        if outcome.position is not None:
            with self._watched():
                self._publish_all(self._transactions.added(outcome))
        return following

    def _add(self, entries: Sequence[Entry]) -> Outcome:
        try:
            with self._watched(raises=True):
                return self._transactions.add(entries)
        except PlantDeskError as error:
            return Outcome([error] * len(entries), (), None)
        except Exception as error:  # noqa: BLE001  a defect: if one plant causes it, let that one fail alone
            _log.exception("adding %d plants failed", len(entries))
            if len(entries) == 1:
                return Outcome([_defect(error)], (), None)
        each = [self._add([entry]) for entry in entries]
        added = tuple(row for one in each for row in one.added)
        return Outcome([one.outcomes[0] for one in each], added, max(one.position or 0 for one in each) or None)

    def _write(self, job: _WriteJob[Any]) -> None:
        try:
            with self._watched(raises=True):
                result = self._transactions.write(job.action)
        except Exception as error:  # noqa: BLE001  the caller's, whatever it is: it asked for the action
            job.fail(error)
            return
        job.future.set_result(result)
        self._poll()

    def _poll(self) -> None:
        with self._watched():
            changes = self._transactions.poll()
            if self.write_error is not None:
                self._transactions.check_writable()
            self._publish_all(changes)

    def _publish_all(self, changes: Changes) -> None:
        if changes != Changes():
            self._publish(changes)

    @contextlib.contextmanager
    def _watched(self, *, raises: bool = False) -> Iterator[None]:
        """Keep the health up to date; while the server does not answer, fail at once."""
        if isinstance(self.write_error, ServerUnreachableError) and time.monotonic() < self._retry_at:
            if raises:
                raise self.write_error
            return
        try:
            yield
        except StoreError as error:
            self._retry_at = time.monotonic() + _RETRY_DELAY / 2
            if isinstance(error, StandbyError):  # another server of the address may take writes by now
                self._transactions.close()
            self._set_health(error)
            if raises:
                raise
        else:
            self._set_health(None)

    def _set_health(self, error: StoreError | None) -> None:
        known, self.write_error = self.write_error, error
        if type(known) is not type(error):
            self._report_health(error)


def _defect(error: Exception) -> PlantDeskError:
    failure = PlantDeskError(Text("PlantDesk could not save this because of a defect in it. Its log has the details."))
    failure.__cause__ = error
    return failure
