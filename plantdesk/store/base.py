"""What both kinds of open store have in common: the methods of PlantStore, and the thread that makes all writes."""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeVar

from typing_extensions import override

from plantdesk.domain.edits import Applied, Edit, Undone
from plantdesk.domain.errors import OutOfMemoryError, PlantDeskError, SamePlantError, StoreError, id_taken
from plantdesk.domain.history import Change
from plantdesk.domain.listeners import Listeners
from plantdesk.domain.models import NewPlant, Plant
from plantdesk.domain.protocols import Outcome, PlantStore
from plantdesk.domain.records import Changes, PlantRow, Source, SourceKind
from plantdesk.domain.texts import Text
from plantdesk.store.automatic_backups import start_backup_thread
from plantdesk.store.change_writer import ChangeWriter
from plantdesk.store.changes import insert_as_next, make_change
from plantdesk.store.reader import StoreReader
from plantdesk.store.rows import ensure_source
from plantdesk.store.tokens import StoreTokens
from plantdesk.store.undo import redo_latest, undo_change
from plantdesk.store.write_queue import AddJob, Entries, OutcomesReceiver, WriteJob, WriteQueue, running_future

_Result = TypeVar("_Result")
_log = logging.getLogger(__name__)


class AddResult(NamedTuple):
    """The result of adding a group: an outcome for each entry, in order, the new plants, and the number of the commit.

    Only a shared store numbers its commits; `position` is also None if no plant was added.
    """

    outcomes: list[Outcome]
    added: tuple[PlantRow, ...] = ()
    position: int | None = None


def outcome_for_taken_id(owner: PlantRow, plant: NewPlant, source: Source) -> Outcome:
    """Return the outcome for a plant whose id `owner` has: an error, or `owner` if a program adds the same again."""
    refusal = id_taken(owner, plant.name, plant.tag)
    if not isinstance(refusal, SamePlantError) or source.kind is SourceKind.FORM:
        return refusal
    return owner._replace(source=owner.source.without_token())  # as it is read; it may be of the same group


class WriteHealth:
    """Reports when writes begin to fail, fail for another reason, or succeed again. Belongs to the writer thread."""

    def __init__(self, notify: Callable[[StoreError | None], None]) -> None:
        self._notify = notify
        #: The error of the last attempt, until one succeeds. May be read by any thread.
        self.error: StoreError | None = None

    def record(self, error: StoreError | None) -> None:
        """Record the outcome of an attempt to write; notify if it is another one than that of the last attempt."""
        previous = self.error
        self.error = error
        if type(previous) is not type(error) or str(previous) != str(error):
            self._notify(error)


class WriterThread(ABC):
    """The one thread that makes the writes of a store; a subclass has the connection, and says how plants are added.

    Order for each group: commit, pass on the outcomes, notify the listeners.
    """

    def __init__(self, report_health: Callable[[StoreError | None], None]) -> None:
        self._health = WriteHealth(report_health)
        self._queue = WriteQueue()
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)

    def start(self) -> None:
        """Start the thread; to be called once."""
        self._thread.start()

    @property
    def write_error(self) -> StoreError | None:
        """The error of the last attempt to write, None if it succeeded. May be read by any thread."""
        return self._health.error

    def add(self, entries: Entries, done: OutcomesReceiver) -> None:
        """Queue plants; `done` gets an outcome for each, on the writer thread or, after `close`, on the caller's."""
        self._queue.put(AddJob(entries, done))

    def submit(
        self, action: Callable[[ChangeWriter], _Result], *, changes_tokens: bool = False, attached: Path | None = None
    ) -> Future[_Result]:
        """Queue any other write; an exception of `action` rolls its transaction back. See `WriteJob`."""
        job = WriteJob(action, changes_tokens, attached)
        self._queue.put(job)
        return job.future

    def close(self) -> None:
        """Write what is queued, then end the thread and close the connection; returns when that is done."""
        self._queue.close()
        self._thread.join()

    @abstractmethod
    def _run(self) -> None:
        """Do the jobs of the queue until it ends; never raise."""

    @abstractmethod
    def _add_in_transaction(self, entries: Entries) -> AddResult:
        """Add plants in one transaction. Raises PlantDeskError if none was added."""

    def _add_jobs(self, group: Sequence[AddJob]) -> AddResult:
        """Add the plants of several jobs together, and give each job its outcomes."""
        result = self._add_or_split([entry for job in group for entry in job.entries])
        start = 0
        for job in group:
            job.resolve(result.outcomes[start : start + len(job.entries)])
            start += len(job.entries)
        return result

    def _add_or_split(self, entries: Entries) -> AddResult:
        """Add plants together; if a defect prevents that, one by one, so that only the plant at fault fails."""
        try:
            return self._add_in_transaction(entries)
        except PlantDeskError as error:
            return AddResult([error] * len(entries))
        except MemoryError:
            return AddResult([OutOfMemoryError()] * len(entries))
        except Exception as error:  # noqa: BLE001  a defect: if one plant causes it, let that one fail alone
            _log.exception("adding %d plants failed", len(entries))
            if len(entries) == 1:
                message = Text("PlantDesk could not save this because of a defect in it. Its log has the details.")
                failure = PlantDeskError(message)
                failure.__cause__ = error
                return AddResult([failure])
        results = [self._add_or_split([entry]) for entry in entries]
        outcomes = [outcome for result in results for outcome in result.outcomes]
        rows = tuple(row for result in results for row in result.added)
        positions = [result.position for result in results if result.position is not None]
        return AddResult(outcomes, rows, max(positions, default=None))


class BaseStore(PlantStore):
    """An open store. A subclass sets `_writer` and lets it notify both lists of listeners."""

    _writer: WriterThread
    #: Seconds from opening to the first backup: a user who opens PlantDesk for a minute a day has backups.
    _first_backup = 5.0

    def __init__(self) -> None:
        self._listeners: Listeners[Changes] = Listeners()
        self._health_listeners: Listeners[StoreError | None] = Listeners()

    @property
    @override
    def write_error(self) -> StoreError | None:
        return self._writer.write_error

    @property
    @override
    def change_error(self) -> StoreError | None:
        return self.write_error

    @cached_property
    @override
    def tokens(self) -> StoreTokens:
        return StoreTokens(self._writer.submit, self.reader, self.subscribe)

    @abstractmethod
    @override
    def reader(self) -> StoreReader: ...

    def _publish(self, changes: Changes) -> None:
        """Notify the listeners of durable changes, unless there are none; on the writer thread."""
        if changes != Changes():
            self._listeners.notify(changes)

    @abstractmethod
    def _back_up_if_due(self) -> None:
        """Make an automatic backup if the last one is old enough. Called on the backup thread. Raises StoreError."""

    @override
    def begin_backups(self, on_outcome: Callable[[StoreError | None], object] | None = None) -> Callable[[], None]:
        return start_backup_thread(self._back_up_if_due, on_outcome, first_delay=self._first_backup)

    @override
    def add(self, plant: NewPlant, source: Source) -> Future[PlantRow]:
        future: Future[PlantRow] = running_future()

        def resolve(outcomes: Sequence[Outcome]) -> None:
            (outcome,) = outcomes
            if isinstance(outcome, PlantDeskError):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

        self.add_each([(plant, source)], resolve)
        return future

    @override
    def add_each(self, entries: Entries, done: OutcomesReceiver) -> None:
        self._writer.add(entries, done)

    @override
    def add_as_next(self, fields: Plant, source: Source) -> Future[PlantRow]:
        return self._writer.submit(lambda writer: insert_as_next(writer, fields, ensure_source(writer.runner, source)))

    @override
    def apply(self, edits: Sequence[Edit], source: Source) -> Future[Applied]:
        return self._writer.submit(lambda writer: make_change(writer, edits, ensure_source(writer.runner, source)))

    @override
    def undo(self, change: Change | int | None, source: Source) -> Future[Undone]:
        return self._writer.submit(lambda writer: undo_change(writer, change, ensure_source(writer.runner, source)))

    @override
    def redo(self, source: Source) -> Future[Undone]:
        return self._writer.submit(lambda writer: redo_latest(writer, ensure_source(writer.runner, source)))

    @override
    def subscribe(self, listener: Callable[[Changes], None]) -> Callable[[], None]:
        return self._listeners.add(listener)

    @override
    def subscribe_health(self, listener: Callable[[StoreError | None], None]) -> Callable[[], None]:
        unsubscribe = self._health_listeners.add(listener)
        reported = None
        while (error := self.write_error) is not reported:  # the writer may have called the listener meanwhile
            listener(error)
            reported = error
        return unsubscribe
