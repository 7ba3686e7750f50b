"""Adds the plants of the form: checks them, submits them to the queue, and reports the result."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from plantdesk.domain.edits import Applied
from plantdesk.domain.errors import IdTakenError, InvalidField, InvalidPlantError, PlantDeskError
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import PlantRow, parse_id
from plantdesk.domain.texts import Text
from plantdesk.transfer.known_names import KnownNames
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.plants.add_queue import AddQueue
from plantdesk.ui.plants.form import FieldName, PlantForm
from plantdesk.ui.plants.form_fields import MAX_QUANTITY
from plantdesk.ui.plants.name_completion import NameCompletion
from plantdesk.ui.plants.outbox import EnteredPlant, Submission, SubmissionState
from plantdesk.ui.plants.unsaved_plants import UnsavedPlants, count_plants
from plantdesk.ui.texts import error_text, quoted, translated
from plantdesk.ui.undo_stack import AddedPlant, DiscardedPlants, Step, UndoStack
from plantdesk.ui.widgets.messages import MessageAction, Tone
from plantdesk.ui.widgets.plain_text import announce

_log = logging.getLogger(__name__)

#: Milliseconds after which the form shows that the store is not open yet.
_SLOW_OPENING_MS = 300


def parse_form(form: PlantForm) -> Sequence[EnteredPlant]:
    """Return the plants that a form describes. Raises InvalidPlantError, also for a wrong quantity."""
    from plantdesk.domain.validation import check_name, plant_fields

    quantity = form.name_field.quantity
    name = form.name_text
    tag = form.tag_text
    id_text = form.id_text
    if not 1 <= quantity <= MAX_QUANTITY:
        text = Text("From 1 to {most:,} plants can be added at once.", most=MAX_QUANTITY)
        raise InvalidPlantError([InvalidField(FieldName.NAME, text)])
    check_name(name)
    first = parse_id(id_text) if id_text else None
    plant_fields({"name": name, "tag": tag} if tag else {"name": name})
    ids = [None] * quantity if first is None else range(first, first + quantity)
    return [EnteredPlant(name, tag or None, plant_id) for plant_id in ids]


class AddPlantController(QObject):
    """Sends the plants of a form to the add queue, so that the form is empty again at once, and reports results."""

    #: (row) The plant of the form is stored.
    plant_added = Signal(object)
    #: (ids) The plants of `add_copies` are stored.
    copies_added = Signal(object)
    #: The plants of `add_copies` are not stored.
    copies_refused = Signal()
    #: (id) Show this plant.
    plant_requested = Signal(object)
    #: (is_saving) The queue has begun or ended saving.
    saving_changed = Signal(bool)

    def __init__(
        self,
        form: PlantForm,
        bridge: Bridge,
        undo_stack: UndoStack,
        parent: QObject | None = None,
        open_names: Callable[[], KnownNames | None] = lambda: None,
    ) -> None:
        """Control `form`. `open_names` returns the user's list of known names; it is called on another thread."""
        super().__init__(parent)
        self._undo_stack = undo_stack
        self._form = form
        self._was_saving = False
        self._opening_timer = QTimer(self, singleShot=True, interval=_SLOW_OPENING_MS)
        slow = self.tr("Opening your plants… Type on; Enter saves as soon as they are there.")
        self._opening_timer.timeout.connect(partial(form.message.set_hint, slow))
        self.queue = AddQueue(bridge, self, on_sent=undo_stack.wait_for)
        self._completion = NameCompletion(form, self.queue, open_names)
        self.unsaved = UnsavedPlants(form.theme, self.queue)
        form.add_below(self.unsaved)
        self._connect()
        self._show_hint()
        self._opening_timer.start()

    def _connect(self) -> None:
        form = self._form
        self.queue.added.connect(self._on_added)
        self.queue.refused.connect(self._on_refused)
        self.queue.changed.connect(self._on_queue_changed)
        self.queue.next_id_changed.connect(form.show_next_id)
        self.unsaved.edit_requested.connect(self._edit_again)
        self.unsaved.focus_lost.connect(form.focus_name)
        self.unsaved.discarded.connect(self._on_discarded)
        form.submitted.connect(self.submit)
        form.emptied.connect(self._on_emptied)

    def set_store(self, store: PlantStore, queries: StoreQueries) -> None:
        """Send plants to this store from now on, also those submitted before it was open."""
        self._opening_timer.stop()
        self._show_hint()
        self.queue.set_store(store, queries)

    def _show_hint(self) -> None:
        self._form.message.set_hint(self.tr("Without an ID the plant gets the next free one. Press Enter to add it."))

    def show_no_store(self) -> None:
        """Show that plants wait in the outbox, as no store could be opened."""
        self._opening_timer.stop()
        self._form.message.set_hint(self.tr("Typed plants wait until the store can be opened."))
        self.queue.show_no_store()

    def release_store(self) -> None:
        """Block until the plants being sent are answered; the others wait for the next store."""
        self.queue.release_store()

    @Slot()
    @Slot(bool)
    def submit(self, keep_name: bool = False) -> None:  # noqa: FBT002  a slot
        """Submit the plants in the form, or show why they are invalid."""
        self._completion.accept_or_remove()
        form = self._form
        if form.is_empty:  # not shown, as barcode readers press Enter twice
            from plantdesk.domain.validation import NO_NAME

            announce(form, translated(NO_NAME))
            form.focus_field(FieldName.NAME)
            return
        try:
            entries = parse_form(form)
        except InvalidPlantError as error:
            self._show_invalid(error)
            return
        submission = Submission(entries, form.texts)
        self.queue.outbox.edited = None
        self._completion.remember(entries[0].name, entries[0].tag)
        if form.message.tone is not Tone.OK:
            form.message.clear()
        form.start_next(keep_name=keep_name)
        self.queue.submit(submission)

    @Slot(object)
    def add_copies(self, entries: Sequence[EnteredPlant]) -> None:
        """Add copies of plants as one change that can be undone; `copies_added` gets their IDs."""
        if entries:
            self.queue.submit(Submission(entries, is_copy=True))
        else:
            self.copies_refused.emit()

    @Slot(object)
    def edit_texts(self, texts: Sequence[str]) -> None:
        """Fill the form with id, name and tag of a plant; a plant being typed there is put aside."""
        if self._form.name_text or self._form.id_text:
            self.queue.submit(Submission((), self._form.texts, SubmissionState.POSTPONED))
        self._form.fill(texts)
        self._form.focus_name()

    @Slot(object)
    def show_hidden(self, row: PlantRow) -> None:
        """Report that the search does not find an added plant, with an action that shows it."""
        message = self._form.message

        def show() -> None:
            message.clear()
            self.plant_requested.emit(row.id)

        text = self.tr("Added {name}. It does not match the search.").format(name=quoted(row.name))
        message.show_message(Tone.OK, text, (self.tr("Show it"), show))

    def _show_invalid(self, error: InvalidPlantError) -> None:
        fields = [invalid.field for invalid in error.fields]
        actions = [self._make_next_id_action()] if FieldName.ID in fields else []
        self._form.show_errors(fields, error_text(error), *actions)
        self._form.focus_field(fields[0])

    @Slot(object, object)
    def _on_added(self, submission: Submission, result: PlantRow | Applied) -> None:
        if submission.is_copy:
            self.copies_added.emit([result.id] if isinstance(result, PlantRow) else result.added_ids)
        if isinstance(result, PlantRow):
            self._report_step(AddedPlant(result), self.tr("Added {name}.").format(name=quoted(result.name)))
            if not submission.is_quick:  # the user is doing something else
                self.plant_added.emit(result)
        elif result.change is not None:
            text = translated(Text("Added {count:,} plants.", one="Added 1 plant.", count=result.change.plants))
            if len(submission.entries) == 1:
                text = self.tr("Added {name}.").format(name=quoted(submission.entries[0].name))
            self._report_step(result.change, text)

    def _report_step(self, step: Step, text: str) -> None:
        self._undo_stack.push(step)
        if self._form.message.tone in {Tone.HINT, Tone.OK}:  # a message about the next plant stays
            self._form.message.show_message(Tone.OK, text, self._undo_stack.make_undo_action(step))

    @Slot(object)
    def _on_discarded(self, submissions: Sequence[Submission]) -> None:
        count = count_plants(submissions)
        title = Text("Discard {count:,} plants", one="Discard 1 plant", count=count)
        text = translated(Text("Discarded {count:,} plants.", one="Discarded 1 plant.", count=count))
        self._report_step(DiscardedPlants(title, partial(self.queue.submit, *submissions)), text)

    @Slot(object)
    def _on_refused(self, submission: Submission) -> None:
        error = submission.error
        if submission.is_copy:
            self.copies_refused.emit()
        if error is not None and not isinstance(error, PlantDeskError):
            _log.error("Adding a plant failed", exc_info=error)

    @Slot()
    def _on_queue_changed(self) -> None:
        if (is_saving := bool(self.queue.outbox.saving)) is not self._was_saving:
            self._was_saving = is_saving
            self.saving_changed.emit(is_saving)

    @Slot(object)
    def _edit_again(self, submission: Submission) -> None:
        """Put a refused plant into the form again, with its error; Escape restores the previous texts."""
        self.queue.outbox.edit(submission)
        self.edit_texts(submission.texts)
        self.queue.submit()
        if isinstance(submission.error, IdTakenError):
            self._show_taken(submission.error)
            self._form.focus_field(FieldName.ID)
        elif submission.error is not None:
            self._form.show_errors([], error_text(submission.error))

    @Slot()
    def _on_emptied(self) -> None:
        """Fill in again what was put aside for an edited plant, and list that plant again."""
        if (postponed := self.queue.outbox.restore_postponed()) is not None:
            self._form.fill(postponed.texts)
        self.queue.submit()

    def _show_taken(self, error: IdTakenError) -> None:
        show_owner = self.tr("Show that plant"), partial(self.plant_requested.emit, error.owner.id)
        self._form.show_errors([FieldName.ID], error_text(error), self._make_next_id_action(), show_owner)

    def _make_next_id_action(self) -> MessageAction:
        return self.tr("Use the next free ID"), self._form.clear_id
