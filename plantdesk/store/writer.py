"""The one writer thread: all that waits is written in one transaction, made durable, and only then answered.

Order for each group: commit, resolve the Futures, tell the listeners. The thread ends only by `close`; whatever a job
raises is its Future's and never the thread's.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sqlmodel import Session

from plantdesk.errors import PlantDeskError, StoreClosedError
from plantdesk.records import Changes
from plantdesk.store.checkpoint import Checkpointer
from plantdesk.store.engine import driver_connection, make_engine, told_plainly, transaction
from plantdesk.store.place import Place
from plantdesk.store.watch import Watch
from plantdesk.store.writes import Outcome, add_group

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from plantdesk.records import NewPlant, PlantRow, Source

_log = logging.getLogger(__name__)

_Result = TypeVar("_Result")

Outcomes = list["PlantRow | PlantDeskError"]

#: Seconds between two looks for what other processes wrote; half of the 100 ms within which it must be on the screen.
_LOOK_SECONDS = 0.05
#: Looks without any work after which the log is moved into the database file: about a second.
_QUIET_LOOKS = 20
#: The most entries in one transaction, so that none waits long for those behind it.
_GROUP_LIMIT = 2000


@dataclass(slots=True)
class _Adding:
    """Plants of one caller, to share a transaction with those of others."""

    entries: Sequence[tuple[NewPlant, Source]]
    future: Future[Outcomes] = field(default_factory=Future)


@dataclass(slots=True)
class _Doing(Generic[_Result]):
    """Any other write, in a transaction of its own; it says itself what it changed."""

    action: Callable[[Session], tuple[_Result, Changes]]
    future: Future[_Result] = field(default_factory=Future)


class Writer:
    """Owns the only connection that writes, and the thread that uses it."""

    def __init__(self, path: Path, publish: Callable[[Changes], None]) -> None:
        """Open the file and start the thread; `publish` is called on it. Raises StoreError."""
        self._publish = publish
        self._queue: SimpleQueue[_Adding | _Doing[Any] | None] = SimpleQueue()
        self._closing = False
        self._watched = False
        self._lock = threading.Lock()
        with told_plainly():
            self._connection = make_engine(path, writing=True).connect()
            self._raw = driver_connection(self._connection)
            self._checkpointer = Checkpointer(path, self._raw)
            self._watch = Watch(self._raw)
            self._place = Place(path)
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    def add(self, entries: Sequence[tuple[NewPlant, Source]]) -> Future[Outcomes]:
        """Queue plants; the Future gives an outcome for each and never fails."""
        job = _Adding(entries)
        if not self._queued(job):
            job.future.set_result([StoreClosedError() for _ in entries])
        return job.future

    def do(self, action: Callable[[Session], tuple[_Result, Changes]]) -> Future[_Result]:
        """Queue any other write; it returns its result, and the changes to publish once they are durable."""
        job = _Doing(action)
        if not self._queued(job):
            job.future.set_exception(StoreClosedError())
        return job.future

    def watch(self) -> None:
        """Look for the writes of other processes from now on, so that they are published as well."""
        self._watched = True
        self.do(_nothing)  # wakes the thread, which may be waiting without a time limit

    def close(self) -> None:
        """Write what is queued, then end the thread and close the file; returns when that is done."""
        with self._lock:
            first, self._closing = not self._closing, True
            if first:
                self._queue.put(None)
        self._thread.join()

    def _queued(self, job: _Adding | _Doing[Any]) -> bool:
        with self._lock:
            if not self._closing:
                self._queue.put(job)
            return not self._closing

    # --- on the writer thread ---

    def _run(self) -> None:
        while (job := self._next_job()) is not None:
            if isinstance(job, _Doing):
                self._do(job)
            else:
                self._add_with_all_waiting(job)
        self._checkpointer.close()
        self._connection.close()

    def _next_job(self) -> _Adding | _Doing[Any] | None:
        looks = 0
        while self._watched or self._checkpointer.pending:
            try:
                return self._queue.get(timeout=_LOOK_SECONDS)
            except Empty:
                looks += 1
                self._look_elsewhere()
                if looks == _QUIET_LOOKS and self._checkpointer.pending:
                    self._checkpointer.run()
        return self._queue.get()

    def _look_elsewhere(self) -> None:
        try:
            self._tell(self._watch.look())
        except sqlite3.Error:  # the disk may fail here as anywhere; the next write will tell a person
            _log.debug("looking for changes of other programs failed", exc_info=True)

    def _add_with_all_waiting(self, first: _Adding) -> None:
        """Write `first` and all plants queued behind it together; another kind of job behind them comes next."""
        group, size, following = [first], len(first.entries), None
        while size < _GROUP_LIMIT:
            try:
                job = self._queue.get_nowait()
            except Empty:
                break
            if not isinstance(job, _Adding):
                following = (job,)
                break
            group.append(job)
            size += len(job.entries)
        self._add(group)
        if following is not None:
            self._follow(*following)

    def _follow(self, job: _Doing[Any] | None) -> None:
        if job is None:
            self._queue.put(None)  # nothing can be queued behind the end, so it is still the last
        else:
            self._do(job)

    def _add(self, group: Sequence[_Adding]) -> None:
        entries = [entry for job in group for entry in job.entries]
        try:
            outcomes, added = self._add_durably(entries)
        except PlantDeskError as error:
            outcomes, added = [error] * len(entries), []
        except Exception as error:  # noqa: BLE001  a defect: if one plant causes it, let that one fail alone
            _log.exception("adding %d plants failed", len(entries))
            if len(group) > 1:
                for job in group:
                    self._add([job])
                return
            outcomes, added = [_defect(error)] * len(entries), []
        self._resolve(group, outcomes)
        self._tell(Changes(tuple(added)))

    def _add_durably(self, entries: Sequence[tuple[NewPlant, Source]]) -> Outcome:
        with told_plainly():
            with transaction(self._raw):
                self._tell(self._watch.look())  # of others, and durable already; ours come after it
                outcome = add_group(self._raw, entries)
            self._watch.passed(len(outcome.added))
            self._checkpointer.committed(1 + len(outcome.added) // 20)
        self._place.check()
        return outcome

    def _resolve(self, group: Sequence[_Adding], outcomes: Outcomes) -> None:
        start = 0
        for job in group:
            end = start + len(job.entries)
            job.future.set_result(outcomes[start:end])
            start = end

    def _do(self, job: _Doing[Any]) -> None:
        try:
            with told_plainly(), Session(self._connection, expire_on_commit=False) as session:
                session.connection()  # begins, so that nobody else writes between the look and the action
                self._tell(self._watch.look())
                result, changes = job.action(session)
                session.commit()
                self._watch.passed(len(changes.added))
            self._place.check()
        except Exception as error:  # noqa: BLE001  the caller's, whatever it is: it asked for the action
            job.future.set_exception(error)
            return
        self._checkpointer.committed()
        job.future.set_result(result)
        self._tell(changes)

    def _tell(self, changes: Changes) -> None:
        if changes == Changes():
            return
        try:
            self._publish(changes)
        except Exception:  # noqa: BLE001  a listener's defect must not stop the writer
            _log.exception("a listener failed")


def _nothing(_session: Session) -> tuple[None, Changes]:
    """Do nothing."""
    return None, Changes()


def _defect(error: Exception) -> PlantDeskError:
    failure = PlantDeskError("PlantDesk could not save this because of a defect in it. Its log tells more.")
    failure.__cause__ = error
    return failure
