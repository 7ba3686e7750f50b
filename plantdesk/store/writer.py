"""The one writer thread: all that waits is written in one transaction, made durable, and only then answered.

Order for each group: commit, resolve the Futures, tell the listeners. The thread ends only by `close`; whatever a job
raises is its Future's and never the thread's. A store in trouble is tried again and again until it is well.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sqlmodel import Session

from plantdesk.errors import PlantDeskError, StoreClosedError, StoreError
from plantdesk.records import Changes
from plantdesk.store.engine import check_whole, told_plainly, transaction
from plantdesk.store.health import Health
from plantdesk.store.open_file import OpenFile
from plantdesk.store.writes import Outcome, add_group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from plantdesk.records import NewPlant, PlantRow, Source
    from plantdesk.store.health import Tell

_log = logging.getLogger(__name__)

_Result = TypeVar("_Result")

Outcomes = list["PlantRow | PlantDeskError"]

#: Seconds between two looks for what other processes wrote; half of the 100 ms within which it must be on the screen.
_LOOK_SECONDS = 0.05
#: Looks without any work after which the log is moved into the database file: about a second.
_QUIET_LOOKS = 20
#: Looks after which a store in trouble is tried again: about two seconds.
_TRIAL_LOOKS = 40
#: Looks after which a damaged one is checked again, which takes its time: half a minute.
_CHECK_LOOKS = 600
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

    def __init__(self, path: Path, publish: Callable[[Changes], None], tell_health: Tell) -> None:
        """Open the file and start the thread; `publish` and `tell_health` are called on it. Raises StoreError."""
        self._publish = publish
        self._health = Health(tell_health)
        self._queue: SimpleQueue[_Adding | _Doing[Any] | None] = SimpleQueue()
        self._closing = False
        self._watched = False
        self._lock = threading.Lock()
        with told_plainly():
            self._file = OpenFile(path)
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
        self._file.close()

    def _next_job(self) -> _Adding | _Doing[Any] | None:
        looks = 0
        while self._watched or self._file.checkpointer.pending:
            try:
                return self._queue.get(timeout=_LOOK_SECONDS)
            except Empty:
                looks += 1
                self._look_elsewhere()
                if looks == _QUIET_LOOKS and self._file.checkpointer.pending:
                    self._file.checkpointer.run()
                if looks % (_CHECK_LOOKS if self._health.is_damaged else _TRIAL_LOOKS) == 0:
                    self._try_again()
        return self._queue.get()

    def _look_elsewhere(self) -> None:
        try:
            with told_plainly():
                self._follow_file()
                self._tell(self._file.watch.look())
        except StoreError as error:
            self._health.failed(error)

    def _try_again(self) -> None:
        """Write something that changes nothing, to see whether a store in trouble is well again."""
        if self._health.is_well:
            return
        with contextlib.suppress(StoreError):
            with self._durably():
                self._file.raw.execute("UPDATE revision SET rewritten = rewritten")
            if self._health.is_damaged:
                with told_plainly():
                    check_whole(self._file.raw)
                self._health.healed()

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
        with self._durably():
            outcome = add_group(self._file.raw, entries)
        self._file.watch.passed(len(outcome.added))
        self._file.checkpointer.committed(1 + len(outcome.added) // 20)
        return outcome

    def _resolve(self, group: Sequence[_Adding], outcomes: Outcomes) -> None:
        start = 0
        for job in group:
            end = start + len(job.entries)
            job.future.set_result(outcomes[start:end])
            start = end

    def _do(self, job: _Doing[Any]) -> None:
        try:
            with self._durably():
                session = Session(self._file.connection, expire_on_commit=False)
                result, changes = job.action(session)
                session.flush()
        except Exception as error:  # noqa: BLE001  the caller's, whatever it is: it asked for the action
            job.future.set_exception(error)
            return
        finally:
            self._file.connection.rollback()  # of SQLAlchemy's own idea of a transaction; SQLite's has ended
        self._file.watch.passed(len(changes.added))
        self._file.checkpointer.committed()
        job.future.set_result(result)
        self._tell(changes)

    @contextlib.contextmanager
    def _durably(self) -> Iterator[None]:
        """Make what a block writes durable, in the file that stands under the name. Raises StoreError."""
        try:
            with told_plainly():
                self._follow_file()
                with transaction(self._file.raw):
                    self._tell(self._file.watch.look())  # of others, and durable already; ours come after it
                    yield
            self._file.place.check()
        except StoreError as error:
            self._health.failed(error)
            raise
        self._health.succeeded()

    def _tell(self, changes: Changes) -> None:
        if changes != Changes():
            self._publish(changes)

    def _follow_file(self) -> None:
        file = self._file.followed()
        if file is not self._file:
            self._file = file
            self._health.healed()
            self._tell(Changes(beyond=True, tokens=True))


def _nothing(_session: Session) -> tuple[None, Changes]:
    """Do nothing."""
    return None, Changes()


def _defect(error: Exception) -> PlantDeskError:
    failure = PlantDeskError("PlantDesk could not save this because of a defect in it. Its log tells more.")
    failure.__cause__ = error
    return failure
