"""Sends the outbox to the store without blocking the form, and writes unsaved plants to disk."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from plantdesk.domain.edits import Applied, Insert
from plantdesk.domain.errors import IdTakenError, InvalidPlantError, StoreError, StoreUnreachableError
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.protocols import PlantReader, PlantStore
from plantdesk.domain.records import FORM, PlantRow, SourceKind
from plantdesk.domain.selections import AddedBy, Selection
from plantdesk.ui.background import StoreQueries, Task
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.plants.form import PlantForm
from plantdesk.ui.plants.outbox import (
    EnteredPlant,
    Outbox,
    StoreNotOpenError,
    Submission,
    UnansweredError,
    submission_from_json,
)
from plantdesk.ui.preferences import Preferences
from plantdesk.ui.texts import error_text

if TYPE_CHECKING:
    from plantdesk.domain.models import NewPlant, Plant

#: Pause before a plant is sent again that the store could not save for a moment.
_RETRY_DELAY_MS = 1000
#: The number of the latest plants among which those of an earlier window are searched.
_MAX_COMPARED = 10_000
#: How long closing waits for the writer. The writer has its own timeout for each lock.
_CLOSE_TIMEOUT_SECONDS = 60


class AddQueue(QObject):
    """Sends the submissions of the outbox to the store, and signals the answers. Lives on the GUI thread."""

    #: (submission, result) A submission is stored; the result is a PlantRow, or Applied for several plants.
    added = Signal(object, object)
    #: (submission) A submission was not stored; its `error` is the reason.
    refused = Signal(object)
    #: The outbox has changed. Emitted before a submission is sent, so that the disk has it as perhaps saved.
    changed = Signal()
    #: (next_id) The id that the next plant without an id will get has changed.
    next_id_changed = Signal(object)

    def __init__(self, bridge: Bridge, parent: QObject, *, on_sent: Callable[[Future[Any]], object]) -> None:
        """`on_sent` gets the Future of each sent submission; its callbacks run after `added` or `refused`."""
        super().__init__(parent)
        self.outbox = Outbox()
        self._bridge = bridge
        self._on_sent = on_sent
        self._store: PlantStore | None = None
        #: The queries of the store while one is open.
        self.queries: StoreQueries | None = None
        self._next_id: int | None = None
        self._answers: dict[Submission, Future[Any]] = {}
        self._retry_timer = QTimer(self, singleShot=True, interval=_RETRY_DELAY_MS)
        self._retry_timer.timeout.connect(self._send)
        bridge.health_changed.connect(self._on_health_changed)
        bridge.changed.connect(self._query_next_id)
        self.changed.connect(self._report_next_id)

    @property
    def next_id(self) -> int | None:
        """The probable ID of the next plant, after the plants that are being saved; None if unknown."""
        if self._next_id is None:
            return None
        return self._next_id + sum(entry.id is None for item in self.outbox.saving for entry in item.entries)

    def set_store(self, store: PlantStore, queries: StoreQueries) -> None:
        """Send submissions to this store from now on, also those submitted before it was open."""
        self._store = store
        self.queries = queries
        self.outbox.error = None
        self._query_next_id()
        self.outbox.is_disconnected = isinstance(store.write_error, StoreUnreachableError)
        sent = [submission.sent_at for submission in self.outbox.sent_by_earlier_window]
        if sent and not store.desk:  # the clock of a server may differ
            queries.run(self, partial(_read_added_since, time=min(sent)), self._drop_stored)
        self._send()

    def _drop_stored(self, rows: list[PlantRow]) -> None:
        self.outbox.drop_stored(rows)
        self.changed.emit()

    def show_no_store(self) -> None:
        """Let submissions wait and be listed as unsaved, as no store could be opened."""
        self.outbox.error = StoreNotOpenError()
        self.changed.emit()

    def release_store(self) -> None:
        """Send what can be sent, and block until it is answered; the rest waits for the next store."""
        self._retry_timer.stop()
        self.queries = self._next_id = None
        while self._answers:
            wait(self._answers.values(), _CLOSE_TIMEOUT_SECONDS)
            for submission, answer in [*self._answers.items()]:
                self._record_answer(submission, answer.exception() if answer.done() else UnansweredError())
            if self.outbox.error is None:
                self._send()
        self._store = None
        self.show_no_store()

    def _record_answer(self, submission: Submission, error: BaseException | None) -> None:
        del self._answers[submission]
        if error is None:
            self.outbox.mark_stored(submission)
        elif isinstance(error, Exception):
            self.outbox.mark_failed(submission, error)
        else:
            raise error

    def submit(self, *submissions: Submission) -> None:
        """Add submissions to the outbox, and send those whose turn it is."""
        self.outbox.add(submissions)
        self._send()

    def retry(self, submissions: Collection[Submission], *, with_free_ids: bool = False) -> None:
        """Send refused submissions again; `with_free_ids` as one submission without IDs."""
        self.outbox.retry(submissions, with_free_ids=with_free_ids)
        self._send()

    def discard(self, submissions: Iterable[Submission]) -> None:
        """Remove submissions from the outbox, except those that are being saved."""
        self.outbox.discard(submissions)
        self.changed.emit()

    @Slot()
    def _send(self) -> None:
        store = self._store
        if store is None:
            self.changed.emit()
            return
        due = self.outbox.take_due()
        self.changed.emit()
        for submission in due:
            answer = self._answers[submission] = _add_entries(store, submission.entries, is_single=submission.is_single)
            self._bridge.follow(self, answer, partial(self._on_added, submission), partial(self._on_failed, submission))
            self._on_sent(answer)

    def _on_added(self, submission: Submission, result: PlantRow | Applied) -> None:
        if submission in self._answers:
            self._record_answer(submission, None)
            if isinstance(result, PlantRow) and result.id == self._next_id:
                self._next_id += 1  # until `Bridge.changed`; after that the store is asked
            self.added.emit(submission, result)
            self._send()

    def _on_failed(self, submission: Submission, error: Exception) -> None:
        """Report a submission that was not stored; send the next ones, now or when the store works again."""
        if submission not in self._answers:
            return
        self._record_answer(submission, error)
        self.refused.emit(submission)
        if isinstance(error, IdTakenError):
            self._query_next_id()
        if not isinstance(error, StoreError):
            self._send()
            return
        self.changed.emit()
        if self._store is not None and self._store.write_error is None:
            self._retry_timer.start()  # every other error ends with a `health_changed`

    @Slot(object)
    def _on_health_changed(self, error: StoreError | None) -> None:
        self.outbox.is_disconnected = isinstance(error, StoreUnreachableError)
        if error is None:
            self._send()
        else:
            self.changed.emit()

    @Slot()
    def _query_next_id(self) -> None:
        if self.queries is not None:
            self.queries.run(self, lambda reader, _task: reader.next_free_id(), self._on_next_id)

    def _on_next_id(self, next_id: int) -> None:
        self._next_id = next_id
        self._report_next_id()

    @Slot()
    def _report_next_id(self) -> None:
        self.next_id_changed.emit(self.next_id)


def _read_added_since(reader: PlantReader, _task: Task, time: int) -> list[PlantRow]:
    """Return the latest plants that the form has added since a time, oldest first."""
    plants = Selection.of(AddedBy(SourceKind.FORM))._replace(since=time)
    return [*reader.selected(plants, _MAX_COMPARED)][::-1]


def _add_entries(store: PlantStore, entries: Sequence[EnteredPlant], *, is_single: bool) -> Future[Any]:
    """Begin to add plants; the Future fails with InvalidPlantError if one of them is invalid."""
    from plantdesk.domain.models import NewPlant

    try:
        plants = [_make_plant(entry) for entry in entries]
    except InvalidPlantError as error:
        failed: Future[Any] = Future()
        failed.set_exception(error)
        return failed
    if not is_single:
        return store.apply([Insert(plant, entry.note) for plant, entry in zip(plants, entries, strict=True)], FORM)
    (plant,) = plants
    return store.add(plant, FORM) if isinstance(plant, NewPlant) else store.add_as_next(plant, FORM)


def _make_plant(entry: EnteredPlant) -> NewPlant | Plant:
    from plantdesk.domain.validation import plant_to_add

    return plant_to_add({"name": entry.name} if entry.tag is None else {"name": entry.name, "tag": entry.tag}, entry.id)


class RememberedPlants(QObject):
    """Writes the outbox to disk after each change of it, and the form half a second after a key."""

    #: An attempt to write has succeeded or failed.
    saved = Signal()

    def __init__(self, preferences: Preferences, form: PlantForm, queue: AddQueue, parent: QObject) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self._form = form
        self._queue = queue
        self._store_key: str | None = None
        form.draft_due.connect(self.save)
        queue.changed.connect(self.save)

    def restore(self, location: StoreLocation) -> None:
        """Restore what an earlier window of this store has saved, and save this window's plants with this store.

        Waiting submissions are sent. The others are listed for the user, unless the store turns out to have them.
        """
        if location.key == self._store_key:
            return
        previous_key = self._store_key
        self._store_key = location.key
        remembered = self._preferences.of_store(location.key)
        unsaved = remembered.get("unsaved")
        restored = [submission_from_json(value) for value in (unsaved if isinstance(unsaved, list) else [])]
        draft = submission_from_json({"texts": remembered.get("draft"), "plants": [], "reason": ""})
        if draft is not None and self._form.is_empty:
            self._form.fill(draft.texts)
        else:
            restored.append(draft)
        self._queue.submit(*(submission for submission in restored if submission is not None))
        if previous_key is not None:
            self._preferences.change_store(previous_key, unsaved=[], draft=[])

    @Slot()
    def save(self) -> None:
        """Write form and outbox to disk, unless they are as empty as at the last time; emits `saved`."""
        if self._store_key is not None:
            outbox = self._queue.outbox
            draft = self._form.draft()
            edited = [] if outbox.edited is None or draft else [outbox.edited]
            submissions = [submission.to_json(error_text) for submission in [*edited, *outbox.submissions]]
            saved_values = self._preferences.of_store(self._store_key)
            if submissions or draft or saved_values.get("unsaved") or saved_values.get("draft"):
                self._preferences.change_store(self._store_key, unsaved=submissions, draft=draft)
        self.saved.emit()
