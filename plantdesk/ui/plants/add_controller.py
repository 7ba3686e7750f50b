"""Adds the plants of the form to the store: checks them, reports the outcome, and shows the next free ID."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QObject, QTimer, Signal, Slot

from plantdesk.errors import IdTakenError, InvalidPlantError, PlantDeskError, StoreClosedError, StoreError
from plantdesk.ui.plants.form import FieldName, PlantForm
from plantdesk.ui.plants.many_adder import Entry, ManyAdder
from plantdesk.ui.plants.name_completion import NameCompletion
from plantdesk.ui.plants.name_field import MAX_QUANTITY
from plantdesk.ui.store_queries import next_free_id
from plantdesk.ui.texts import plural, quoted
from plantdesk.ui.undo_stack import AddedPlant, Step, UndoStack
from plantdesk.ui.widgets.message_line import Tone

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from plantdesk.errors import IdOwner
    from plantdesk.records import PlantRow
    from plantdesk.store import Applied, KnownName, PlantReader, PlantStore
    from plantdesk.ui.background import Task
    from plantdesk.ui.bridge import Bridge
    from plantdesk.ui.store_queries import StoreQueries
    from plantdesk.ui.widgets.action_buttons import MessageAction

_log = logging.getLogger(__name__)

#: Milliseconds after which a plant that is not yet saved is mentioned.
_SLOW = 300


class AddPlantController(QObject):
    """Works for one form. A plant submitted before the store is open is added when it is."""

    plant_added = Signal(object)
    plant_wanted = Signal(object)
    saving_changed = Signal(bool)

    def __init__(self, form: PlantForm, bridge: Bridge, undo_stack: UndoStack, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._undo_stack = undo_stack
        self._keep_name = False
        self._adder: ManyAdder | None = None
        self._form = form
        self._bridge = bridge
        self._store: PlantStore | None = None
        self._queries: StoreQueries | None = None
        self._opening = True
        self._submitted_early = False
        self._unsaved: tuple[str, ...] | None = None
        self._last_added: PlantRow | None = None
        self._shown_added: Step | None = None
        self._next_id: int | None = None
        self._tags: list[str] = []
        self._slow = QTimer(self, singleShot=True, interval=_SLOW)
        self._slow.timeout.connect(self._on_slow)
        self._completion = NameCompletion(form.theme, form.name_field, form.tag_field, self)
        self._completion.known.connect(self._on_known)
        undo_stack.changed.connect(self._on_undo_changed)
        form.submitted.connect(self.submit)
        form.tag_edited.connect(self._on_tag_edited)
        form.emptied.connect(self._on_emptied)
        form.id_edited.connect(self._ask_owner)
        bridge.changed.connect(self._on_changed)
        bridge.health_changed.connect(self._on_health_changed)
        form.message.set_hint(self.tr("Press Enter to add the plant."))

    def set_store(self, store: PlantStore, queries: StoreQueries) -> None:
        """Add plants to this store."""
        self._store, self._queries, self._opening = store, queries, False
        self._adder = ManyAdder(self._bridge, store, queries, self)
        self._completion.set_store(queries)
        self._form.message.set_hint(self.tr("Without an ID the plant gets the next free one. Press Enter to add it."))
        self._ask_next_id()
        if self._submitted_early:
            self._end_saving()
            self.submit()

    def set_tags(self, tags: list[str]) -> None:
        """Offer these tags, the only ones in the store, as completions."""
        if tags != self._tags:
            self._tags = tags
            self._form.set_tags(tags)

    def show_no_store(self) -> None:
        """Stop waiting for a store that could not be opened; what is typed stays."""
        self._opening = False
        self._form.message.set_hint(self.tr("Typed plants wait until the file can be opened."))
        if self._submitted_early:
            self._end_saving()
            self._wait_for_store()

    def forget_store(self) -> None:
        """Keep what is typed until there is a store again."""
        self._store = self._queries = self._adder = None
        self._completion.set_store(None)
        self._show_next_id(None)

    @Slot()
    @Slot(bool)
    def submit(self, keep_name: bool = False) -> None:  # noqa: FBT002  a slot
        """Add the plant in the form, or the plants of its quantity, or report what is wrong with it."""
        self._keep_name = keep_name
        self._form.tag_field.take_fill()
        if self._store is None and not self._form.name_text:
            self._show_nameless()  # now: with the store comes the text of the last time, which nobody has submitted
        elif self._store is None:
            self._wait_for_store()
        elif self._form.quantity != 1:
            self._add_several()
        elif (adding := self._start_adding(self._store)) is not None:
            self._begin_saving()
            self._bridge.follow(self, adding, self._on_added, self._on_refused)

    @Slot(object)
    def show_hidden(self, plant_id: int) -> None:
        """Report that the search does not find the plant added last, and offer to show it."""
        row = self._last_added
        if row is not None and row.id == plant_id:
            message = self._form.message

            def show() -> None:
                message.clear()
                self.plant_wanted.emit(plant_id)

            text = self.tr("Added {name}. It does not match the search.").format(name=quoted(row.name))
            message.show_message(Tone.OK, text, (self.tr("Show it"), show))

    # --- checking ---

    def _start_adding(self, store: PlantStore) -> Future[PlantRow] | None:
        """Pass the plant to the store; None when the form is not valid."""
        from plantdesk.records import FORM, parse_id
        from plantdesk.validation import new_plant, plant_fields

        name, tag, id_text = self._form.name_text, self._form.tag_text, self._form.id_text
        values = {"name": name, "tag": tag} if tag else {"name": name}
        try:
            plant = new_plant({"id": parse_id(id_text), **values}) if id_text else None
            fields = plant_fields(values)
        except InvalidPlantError as error:
            self._show_invalid(error)
            return None
        if not name and not id_text and self._form.message.tone is Tone.OK:
            self._form.focus_name()  # from Add
            return None  # it was pressed twice: the message of the plant that was added stays
        if not name:
            self._show_nameless()
            return None
        return store.add(plant, FORM) if plant is not None else store.add_as_next(fields, FORM)

    def _show_nameless(self) -> None:
        self._form.show_faults([FieldName.NAME], self.tr("Give the plant a name."))
        self._form.focus_field(FieldName.NAME)

    def _add_several(self) -> None:
        """Add as many plants of the name as its quantity says, as one change."""
        from plantdesk.records import parse_id
        from plantdesk.validation import plant_fields

        form, quantity = self._form, self._form.quantity
        name, tag, id_text = form.name_text, form.tag_text, form.id_text
        if not 1 <= quantity <= MAX_QUANTITY:
            text = self.tr("From 1 to {most} plants can be added at once.")
            text = text.format(most=QLocale().toString(MAX_QUANTITY))
            self._form.show_faults([FieldName.NAME], text)
            return
        try:
            first = parse_id(id_text) if id_text else None
            plant_fields({"name": name, "tag": tag} if tag else {"name": name})
        except InvalidPlantError as error:
            self._show_invalid(error)
            return
        ids = [None] * quantity if first is None else range(first, first + quantity)
        self.add_entries([Entry(name, tag or None, plant_id) for plant_id in ids])

    def add_entries(self, entries: Sequence[Entry]) -> None:
        """Add several plants as one change, which can be undone."""
        if self._adder is not None and entries:
            self._completion.remember(entries[0].name, entries[0].tag)
            self._begin_saving()
            self._adder.add(entries, self._on_several_added, self._on_refused)

    def _on_several_added(self, applied: Applied) -> None:
        self._end_saving()
        self._form.start_next(keep_name=self._keep_name)
        if applied.change is not None:
            text = plural(applied.change.plants, self.tr("Added 1 plant."), self.tr("Added {count} plants."))
            self._show_added(applied.change, text)

    def _show_invalid(self, error: InvalidPlantError) -> None:
        fields = [fault.field for fault in error.faults]
        self._form.show_faults(fields, str(error), *([self._next_id_action()] if FieldName.ID in fields else []))
        self._form.focus_field(fields[0])

    # --- the outcome ---

    def _on_added(self, row: PlantRow) -> None:
        self._end_saving()
        if row.id == self._next_id:
            self._show_next_id(row.id + 1)  # until `changed`, after which the store is asked
        self._completion.remember(row.name, row.tag)
        self._form.start_next(keep_name=self._keep_name)
        self._show_added(AddedPlant(row), self.tr("Added {name}.").format(name=quoted(row.name)))
        self._last_added = row
        self.plant_added.emit(row)

    def _show_added(self, added: Step, text: str) -> None:
        self._shown_added = added
        self._undo_stack.push(added)
        self._form.message.show_message(Tone.OK, text, self._undo_stack.undo_action(added))

    @Slot()
    def _on_undo_changed(self) -> None:
        """Remove the message of what is taken back; its Undo would do nothing."""
        if self._shown_added is not None and not self._undo_stack.has_done(self._shown_added):
            self._shown_added = None
            if self._form.message.tone is Tone.OK:
                self._form.close_message()

    def _on_refused(self, error: Exception) -> None:
        self._end_saving()
        if isinstance(error, IdTakenError):
            self._ask_next_id()
            self._show_taken(error.owner)
            if self._form.has_cursor:
                self._form.focus_field(FieldName.ID)
        elif isinstance(error, StoreError) and not isinstance(error, StoreClosedError):
            self._unsaved = self._form.texts  # the cause is in a bar, for as long as it lasts
            text = self.tr("Not saved yet. PlantDesk saves this plant when it can.")
            self._form.show_faults([], text, (self.tr("Try again"), self.submit))
        elif isinstance(error, PlantDeskError):
            self._form.show_faults([], str(error), (self.tr("Try again"), self.submit))
        else:
            _log.error("Adding a plant failed", exc_info=error)
            self._form.show_faults([], self.tr("PlantDesk could not save this plant. Its log has the cause."))

    def _show_taken(self, owner: IdOwner) -> None:
        def show_owner() -> None:
            self.plant_wanted.emit(owner.id)

        actions = self._next_id_action(), (self.tr("Show that plant"), show_owner)
        self._form.show_faults([FieldName.ID], str(IdTakenError(owner)), *actions)

    def _wait_for_store(self) -> None:
        self._submitted_early = True
        if self._opening:
            self._begin_saving()
        else:
            text = self.tr("This plant is added as soon as the file can be opened.")
            self._form.message.show_message(Tone.HINT, text)

    def _begin_saving(self) -> None:
        self._unsaved = None
        self._form.set_saving(saving=True)
        self.saving_changed.emit(True)
        self._slow.start()

    def _end_saving(self) -> None:
        self._submitted_early = False
        self._slow.stop()
        self._form.set_saving(saving=False)
        self.saving_changed.emit(False)

    # --- ids ---

    def _next_id_action(self) -> MessageAction:
        return self._next_id_label, self._use_next_id

    @property
    def _next_id_label(self) -> str:
        known, unknown = self.tr("Use {id}"), self.tr("Use the next free ID")
        return unknown if self._next_id is None else known.format(id=self._next_id)

    @Slot()
    def _use_next_id(self) -> None:
        self._form.clear_id()
        self._form.clear_faults()
        self._form.message.clear()
        self._form.focus_name()

    def _ask_next_id(self) -> None:
        if self._queries is not None:
            self._queries.ask(self, next_free_id, self._show_next_id)

    def _show_next_id(self, next_id: int | None) -> None:
        before, self._next_id = self._next_id_label, next_id
        self._form.show_next_id(next_id)
        self._form.message.rename_action(before, self._next_id_label)

    @Slot()
    def _ask_owner(self) -> None:
        """Report that the ID belongs to another plant, while it is typed or when a script adds that plant."""
        if self._queries is None or not self._form.id_text:
            return
        from plantdesk.records import parse_id

        try:
            plant_id = parse_id(self._form.id_text)
        except InvalidPlantError:
            return  # reported when the plant is submitted: the ID may be half typed

        def owner(reader: PlantReader, _task: Task) -> PlantRow | None:
            return reader.plant(plant_id)

        self._queries.ask(self, owner, self._on_owner)

    def _on_owner(self, owner: PlantRow | None) -> None:
        if owner is None or self._form.id_text != str(owner.id):
            return
        if self._form.message.text != str(IdTakenError(owner)):  # a button in use must not be replaced
            self._show_taken(owner)

    # --- slots ---

    @Slot()
    def _on_emptied(self) -> None:
        self._submitted_early = False
        self._form.message.clear()

    @Slot(object)
    def _on_known(self, known: KnownName | None) -> None:
        """Show how many plants have the typed name already; there may be any number."""
        message = self._form.message
        if known is not None and message.tone is Tone.HINT:
            one, many = self.tr("1 plant has this name already."), self.tr("{count} plants have this name already.")
            message.show_message(Tone.HINT, plural(known.plants, one, many))
        elif message.tone is Tone.HINT:
            message.clear()

    @Slot(str)
    def _on_tag_edited(self, text: str) -> None:
        """Offer the known spelling of a tag that differs only in case or spaces."""
        typed = _plain(text)
        known = next((tag for tag in self._tags if _plain(tag) == typed), None) if typed else None
        if known is None or text.strip() in self._tags:
            return

        def use() -> None:
            self._form.tag_field.setText(known)
            self._form.message.clear()
            self._form.focus_field(FieldName.TAG)

        text = self.tr("There is the tag {tag} already.").format(tag=quoted(known))
        self._form.message.show_message(Tone.WARNING, text, (self.tr("Use it"), use))

    @Slot()
    def _on_changed(self) -> None:
        self._ask_next_id()
        self._ask_owner()

    @Slot(object)
    def _on_health_changed(self, trouble: StoreError | None) -> None:
        """Save the plant that the store refused, unless the user has changed it or closed the message since."""
        if trouble is None and self._unsaved == self._form.texts and self._form.message.tone is Tone.ERROR:
            self.submit()

    @Slot()
    def _on_slow(self) -> None:
        text = self.tr("Saving…") if self._store is not None else self.tr("Opening your plants…")
        self._form.message.show_message(Tone.HINT, text)


def _plain(tag: str) -> str:
    return " ".join(tag.split()).casefold()
