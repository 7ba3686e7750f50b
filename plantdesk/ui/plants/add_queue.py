"""Saves what the form and the clipboard submit, in the background, and keeps what could not be saved.

The form is free for the next plant as soon as one is submitted: a plant is saved while the next one is typed, and one
that is refused waits here until the user corrects or discards it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import partial
from itertools import count, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from plantdesk.domain.errors import IdTakenError, InvalidPlantError, StoreError, StoreUnreachableError, Text
from plantdesk.domain.records import now_ms
from plantdesk.ui.background import next_free_id

if TYPE_CHECKING:
    from plantdesk.domain.edits import Applied
    from plantdesk.domain.models import NewPlant
    from plantdesk.domain.protocols import PlantReader, PlantStore
    from plantdesk.domain.records import PlantRow
    from plantdesk.ui.background import StoreQueries, Task
    from plantdesk.ui.bridge import Bridge

#: Scripts may take the free IDs meanwhile.
_MAX_ATTEMPTS = 5
#: Milliseconds until a plant is sent again that the store could not take for a moment.
_RETRY_DELAY = 1000
#: Plants among which those of an earlier window are looked for.
_MAX_COMPARED = 10_000
#: Seconds for which closing waits for the writer, which has a timeout of its own for each lock.
_CLOSE_TIMEOUT = 60


class UnansweredError(StoreError):
    """The window was closed before the store had answered."""

    is_unknown = True
    text = Text("PlantDesk was closed before it was known whether this was saved.")


class EnteredPlant(NamedTuple):
    """A plant to be added; without an `id` it gets the next free one."""

    name: str
    tag: str | None
    id: int | None = None
    note: str | None = None


class State(Enum):
    """What a submission waits for: the store, a store that can save again, or the user."""

    SAVING = auto()
    WAITING = auto()
    REFUSED = auto()
    POSTPONED = auto()


@dataclass(eq=False)
class Submission:
    """The plants of one Enter, or of one paste; all are added, or none.

    `texts` are those of the form (id, name, tag); empty for plants that were pasted. `error` is why they are not saved.
    The `number` is the order of submission; one that `is_sent` is not answered by the store yet, several plants
    under these `ids`. Where it may be in the store, it was sent at `sent_at`, in milliseconds since
    1970, UTC; else that is 0. One of copies of other plants `is_copy`, one of the small window `is_quick`.
    """

    entries: Sequence[EnteredPlant]
    texts: tuple[str, ...] = ()
    state: State = State.SAVING
    error: Exception | None = None
    saving: Future[Any] | None = field(default=None, repr=False)
    is_sent: bool = False
    sent_at: int = 0
    ids: Sequence[int] = ()
    is_copy: bool = False
    is_quick: bool = False
    number: int = field(default_factory=count().__next__)

    @property
    def is_unknown(self) -> bool:
        """Whether it is not known yet if it is in the store."""
        return self.state is State.WAITING and isinstance(self.error, StoreError) and self.error.is_unknown

    @property
    def can_be_sent(self) -> bool:
        """Whether it is known not to be in the store, and only waits for that: it may be sent by itself."""
        return self.state in {State.SAVING, State.WAITING} and not self.is_sent and not self.is_unknown


class AddQueue(QObject):
    """Saves submissions in their order. Lives on the GUI thread.

    `added(submission, result)`: it is saved; the result is a PlantRow, or Applied for several plants.
    `refused(submission)`: it is not. `changed`: other submissions are saving or unsaved, or some are sent next: what is
    remembered for the next start must not have these as plants that wait, which would be added twice.
    """

    added = Signal(object, object)
    refused = Signal(object)
    changed = Signal()

    def __init__(self, bridge: Bridge, parent: QObject, *, sent: Callable[[Future[Any]], object]) -> None:
        """`sent` gets what the store answers, behind what emits `added` or `refused` then."""
        super().__init__(parent)
        self._bridge, self._sent = bridge, sent
        self._store: PlantStore | None = None
        self._queries: StoreQueries | None = None
        self._without_store = State.SAVING
        self._submissions: list[Submission] = []
        self._retry = QTimer(self, singleShot=True, interval=_RETRY_DELAY)
        self._retry.timeout.connect(self._send_pending)
        bridge.health_changed.connect(self._on_health_changed)

    @property
    def saving(self) -> list[Submission]:
        """What is being saved, or is sent as soon as the store is open."""
        return [each for each in self._submissions if each.state is State.SAVING]

    @property
    def unsaved(self) -> list[Submission]:
        """What could not be saved, or was put aside, in its order."""
        return [each for each in self._submissions if each.state is not State.SAVING]

    @property
    def has_store(self) -> bool:
        """Whether a store is open, which takes a plant at once unless something is wrong."""
        return self._store is not None

    @property
    def is_away(self) -> bool:
        """Whether what is submitted waits: the store could not be opened, or its server does not answer."""
        if self._store is None:
            return self._without_store is State.WAITING
        return isinstance(self._store.write_error, StoreUnreachableError)

    @property
    def in_doubt(self) -> list[Submission]:
        """What may be in the store or not: the connection broke before the answer. The store finds it out."""
        is_lost = self._store is not None and isinstance(self._store.write_error, StoreUnreachableError)
        return [each for each in self._submissions if (is_lost and each.is_sent) or each.is_unknown]

    @property
    def submissions(self) -> list[Submission]:
        """All that is not known to be in the store, in its order."""
        return list(self._submissions)

    def set_store(self, store: PlantStore, queries: StoreQueries) -> None:
        """Save in this store, also what was submitted before it was open."""
        self._store, self._queries = store, queries
        sent = [each.sent_at for each in self._sent_before()]
        if sent and not store.desk:  # the clock of a server is another one
            queries.ask(self, partial(_added_since, time=min(sent)), self._drop_added)
        self._send_pending()

    def _sent_before(self) -> list[Submission]:
        """Return what an earlier window had sent when it was ended, and the user has not sent again."""
        return [each for each in self._submissions if each.state is State.REFUSED and each.sent_at]

    def _drop_added(self, rows: list[PlantRow]) -> None:
        """Forget what an earlier window has added, as the rows of the form show, oldest first."""
        for submission in self._sent_before():
            others = _without(rows, submission)
            if others is None:
                submission.sent_at = 0
            else:
                rows = others
                self._submissions.remove(submission)
        self.changed.emit()

    def show_no_store(self) -> None:
        """Let what is submitted wait for a store, which could not be opened."""
        self._without_store = State.WAITING
        self._send_pending()

    def release_store(self) -> None:
        """Save what can be saved, and wait for it. Afterwards `unsaved` is all that is not in the store."""
        self._retry.stop()
        while futures := {each.saving for each in self.saving if each.saving is not None}:
            wait(futures, _CLOSE_TIMEOUT)
            for submission in self.saving:
                self._settle(submission)
            if not any(each.state is State.WAITING for each in self._submissions):
                self._send_pending()
        self._store = self._queries = None
        for submission in self.saving:
            submission.state, submission.is_sent = State.WAITING, False
        self.changed.emit()

    def _settle(self, submission: Submission) -> None:
        future = submission.saving
        if future is None:
            return
        error = future.exception() if future.done() else UnansweredError()
        if error is None:
            self._submissions.remove(submission)
        else:
            self._keep(submission, error)

    def submit(self, submission: Submission) -> None:
        """Save it behind what was submitted before."""
        self._submissions.append(submission)
        self._send_pending()

    def add_unsaved(self, submissions: Iterable[Submission]) -> None:
        """Keep what was not saved: what was put aside, or discarded, or what an earlier window has kept."""
        self._submissions = sorted([*self._submissions, *submissions], key=lambda each: each.number)
        self.changed.emit()

    def send_again(self, submissions: Iterable[Submission], *, with_free_ids: bool = False) -> None:
        """Try again to save what was not saved, on request with the next free IDs; what waits as well goes along."""
        for submission in submissions:
            if submission not in self.unsaved or submission.state is State.POSTPONED:
                continue
            if with_free_ids:
                submission.entries = [entry._replace(id=None) for entry in submission.entries]
                submission.texts = ("", *submission.texts[1:]) if submission.texts else ()
            submission.state = State.WAITING
        self._send_pending()

    def discard(self, submissions: Iterable[Submission]) -> None:
        """Forget what was not saved."""
        for submission in submissions:
            if submission in self.unsaved:
                self._submissions.remove(submission)
        self.changed.emit()

    # --- sending ---

    @Slot()
    def _send_pending(self) -> None:
        """Send what is to be saved once nothing is pending, so that no plant gets an ID before an earlier one."""
        pending = [each for each in self._submissions if each.state in {State.SAVING, State.WAITING}]
        if self._store is None:
            for submission in pending:
                submission.state = self._without_store
        elif not any(each.is_sent for each in pending):
            next_ones = list(takewhile(_is_single, pending)) or pending[:1]
            if next_ones and isinstance(next_ones[0].error, StoreError):
                next_ones = next_ones[:1]  # the others follow once the store takes it, so that none overtakes it
            for submission in next_ones:
                submission.is_sent, submission.sent_at = True, now_ms()
            if next_ones:
                self.changed.emit()
            for submission in next_ones:
                self._send(submission, self._store)
        self.changed.emit()

    def _send(self, submission: Submission, store: PlantStore) -> None:
        submission.error = submission.saving = None
        submission.state, submission.is_sent = State.SAVING, True
        if _is_single(submission):
            self._follow(submission, _add(store, submission.entries[0]))
        else:
            self._send_several(submission, _MAX_ATTEMPTS)

    def _send_several(self, submission: Submission, attempts: int) -> None:
        if self._queries is not None:
            insert = partial(self._insert, submission, attempts)
            self._queries.ask(self, next_free_id, insert, partial(self._on_failed, submission))

    def _insert(self, submission: Submission, attempts: int, first_id: int) -> None:
        if self._store is None:
            return
        from plantdesk.domain.edits import Insert
        from plantdesk.domain.records import FORM

        try:
            plants = numbered(submission.entries, first_id)
        except InvalidPlantError as error:
            self._on_failed(submission, error)
            return
        submission.ids = [plant.id for plant in plants]
        edits = [Insert(plant, entry.note) for plant, entry in zip(plants, submission.entries, strict=True)]
        self._follow(submission, self._store.apply(edits, FORM), attempts)

    def _follow(self, submission: Submission, future: Future[Any], attempts: int = 1) -> None:
        submission.saving = future
        done, failed = partial(self._on_added, submission), partial(self._on_failed, submission, attempts=attempts)
        self._bridge.follow(self, future, done, failed)
        self._sent(future)

    # --- the outcome ---

    def _on_added(self, submission: Submission, result: PlantRow | Applied) -> None:
        if submission in self._submissions:
            self._submissions.remove(submission)
            for waiting in self._submissions:
                if waiting.state is State.WAITING and not waiting.is_unknown:
                    waiting.state, waiting.error = State.SAVING, None
            self.added.emit(submission, result)
            self._send_pending()

    def _on_failed(self, submission: Submission, error: Exception, attempts: int = 1) -> None:
        if submission not in self._submissions:
            return
        if isinstance(error, IdTakenError) and attempts > 1 and any(entry.id is None for entry in submission.entries):
            self._send_several(submission, attempts - 1)
            return
        self._keep(submission, error)
        if submission.state is State.WAITING:
            self._wait(error)
        self.refused.emit(submission)
        if submission.state is not State.WAITING:
            self._send_pending()

    def _keep(self, submission: Submission, error: BaseException) -> None:
        if not isinstance(error, Exception):
            raise error
        submission.state = State.WAITING if isinstance(error, StoreError) else State.REFUSED
        submission.error, submission.saving, submission.is_sent = error, None, False
        if not (isinstance(error, StoreError) and error.is_unknown):
            submission.sent_at = 0

    def _wait(self, error: Exception) -> None:
        """Let what is behind a submission that the store could not take wait as well."""
        for submission in self.saving:
            if not submission.is_sent:
                submission.state, submission.error = State.WAITING, error
        if self._store is not None and self._store.write_error is None:
            self._retry.start()  # `health_changed` reports the end of every other error
        self.changed.emit()

    @Slot(object)
    def _on_health_changed(self, error: StoreError | None) -> None:
        if error is None:
            self._send_pending()
        else:
            self.changed.emit()  # what is pending is in doubt now


def _added_since(reader: PlantReader, _task: Task, time: int) -> list[PlantRow]:
    """Return the plants that the form has added since a time, oldest first, of very many the last ones."""
    from plantdesk.domain.records import SourceKind
    from plantdesk.domain.selections import AddedBy, Selection

    plants = Selection.of(AddedBy(SourceKind.FORM))._replace(since=time)
    return [*reader.selected(plants, _MAX_COMPARED)][::-1]


def _without(rows: list[PlantRow], submission: Submission) -> list[PlantRow] | None:
    """Return the rows but those of a submission; None where they are not all there, as then none of them is."""
    left = [*rows]
    for entry in submission.entries:
        for row in left:
            is_same = (row.name, row.tag, row.note) == (entry.name, entry.tag, entry.note)
            if is_same and entry.id in {None, row.id} and row.added_at >= submission.sent_at:
                left.remove(row)
                break
        else:
            return None
    return left


def _is_single(submission: Submission) -> bool:
    """Whether the store gives it an ID as it writes it; for several plants the next free IDs are asked first."""
    return len(submission.entries) == 1 and submission.entries[0].note is None


def numbered(entries: Sequence[EnteredPlant], first_id: int) -> list[NewPlant]:
    """Return plants with the IDs of `entries`, else those from `first_id` on. Raises InvalidPlantError."""
    from plantdesk.domain.validation import new_plant

    given = {entry.id for entry in entries}
    free = (plant_id for plant_id in range(first_id, first_id + 2 * len(entries)) if plant_id not in given)
    return [new_plant(_values(entry, next(free) if entry.id is None else entry.id)) for entry in entries]


def _add(store: PlantStore, entry: EnteredPlant) -> Future[PlantRow]:
    """Add one plant. The Future fails with InvalidPlantError for one that is not of the form, which has checked it."""
    from plantdesk.domain.records import FORM
    from plantdesk.domain.validation import new_plant, plant_fields

    try:
        if entry.id is None:
            return store.add_as_next(plant_fields(_values(entry)), FORM)
        return store.add(new_plant(_values(entry, entry.id)), FORM)
    except InvalidPlantError as error:
        failed: Future[PlantRow] = Future()
        failed.set_exception(error)
        return failed


def _values(entry: EnteredPlant, plant_id: int | None = None) -> dict[str, object]:
    values: dict[str, object] = {"name": entry.name}
    if plant_id is not None:
        values["id"] = plant_id
    if entry.tag is not None:
        values["tag"] = entry.tag
    return values
