"""From the form into the store: checks, adds, tells what became of it, and keeps the next free id filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from plantdesk.errors import IdTakenError, InvalidPlantError, PlantDeskError, StoreClosedError, StoreError, shortened
from plantdesk.ui.message_line import Tone
from plantdesk.ui.plant_cells import quoted
from plantdesk.ui.plant_form import FieldName, PlantForm

if TYPE_CHECKING:
    from plantdesk.errors import IdOwner
    from plantdesk.records import Changes, NewPlant, PlantRow
    from plantdesk.store import Reader, Store
    from plantdesk.ui.bridge import Bridge
    from plantdesk.ui.questions import Questions
    from plantdesk.ui.ways_on import WayOn

#: Milliseconds after which a plant that is still on its way is spoken of.
_SLOW = 300


class PlantEntry(QObject):
    """Works for one form. A plant submitted before the store has told the next free id is added when it has."""

    plant_added = Signal(object)
    plant_wanted = Signal(object)
    saving_changed = Signal(bool)

    def __init__(self, form: PlantForm, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.keep_tag = False
        self._form = form
        self._bridge = bridge
        self._store: Store | None = None
        self._questions: Questions | None = None
        self._last_added: PlantRow | None = None
        self._next_id = 1
        self._id_touched = False
        self._has_first_id = False
        self._submitted_early = False
        self._without_store = False
        self._tags: set[str] = set()
        self._slow = QTimer(self, singleShot=True, interval=_SLOW)
        self._slow.timeout.connect(self._on_slow)
        self._refused: tuple[str, ...] | None = None
        form.submitted.connect(self.submit)
        form.id_edited.connect(self._on_id_edited)
        bridge.changed.connect(self._on_changed)
        bridge.health_changed.connect(self._on_health_changed)
        form.message.show_message(Tone.HINT, self._hint)

    def set_store(self, store: Store, questions: Questions) -> None:
        """Add to this store from now on."""
        self._store, self._questions = store, questions
        self._without_store = False
        self._form.message.show_message(Tone.HINT, self._hint)
        questions.ask_next_free_id(self, self._on_first_id, self._on_no_first_id)
        questions.ask(self, _tags, self._on_tags)

    def show_no_store(self) -> None:
        """Unlock the form; what is typed or submitted already waits until there is a store."""
        self._without_store = True
        self._end_saving()
        self._form.message.show_message(Tone.HINT, self.tr("Typed plants wait until the file can be opened."))

    def forget_store(self) -> None:
        """Keep what is typed until there is a store again."""
        self._store = self._questions = None
        self._has_first_id = False

    @Slot()
    def submit(self) -> None:
        """Add the plant in the form, or say what is wrong with it."""
        if self._store is None or not self._has_first_id:
            self._submitted_early = True
            if not self._without_store:
                self._begin_saving()
            return
        plant = self._checked()
        if plant is None:
            return
        from plantdesk.records import FORM

        self._refused = None
        self._begin_saving()
        self._bridge.follow(self, self._store.add(plant, FORM), self._on_added, self._on_refused)

    @Slot(object)
    def show_hidden(self, plant_id: int) -> None:
        """Report that the search does not find the plant added last, and offer to show it."""
        row = self._last_added
        if row is not None and row.id == plant_id:
            text = self.tr("Added {name}. It does not match the search.").format(name=quoted(row.name))
            self._form.message.show_message(Tone.OK, text, self._show_action(self.tr("Show it"), plant_id))

    # --- checking ---

    def _checked(self) -> NewPlant | None:
        from plantdesk.records import new_plant, parse_id

        name, tag = self._form.name_text, self._form.tag_text
        try:
            plant_id = parse_id(self._form.id_text)
            plant = new_plant({"id": plant_id, "name": name} | ({"tag": tag} if tag else {}))
        except InvalidPlantError as error:
            self._show_invalid(error)
            return None
        if not name:
            self._form.show_faults([FieldName.NAME], self.tr("Give the plant a name."))
            self._form.focus_field(FieldName.NAME)
            return None
        return plant

    def _show_invalid(self, error: InvalidPlantError) -> None:
        fields = [fault.field for fault in error.faults]
        text = str(error) if self._form.id_text.strip() else self.tr("Give the plant an ID, a whole number.")
        self._form.show_faults(fields, text, *([self._way_to_next_id()] if FieldName.ID in fields else []))
        self._form.focus_field(fields[0])

    # --- what became of it ---

    def _on_added(self, row: PlantRow) -> None:
        self._end_saving()
        self._id_touched = False
        self._fill_in(row.id + 1 if row.id == self._next_id else self._next_id)  # until `changed`, which asks the store
        self._form.start_next(keep_tag=self.keep_tag)
        self._form.message.show_message(Tone.OK, self.tr("Added {name}.").format(name=quoted(row.name)))
        self._last_added = row
        self.plant_added.emit(row)

    def _on_refused(self, error: Exception) -> None:
        self._end_saving()
        if isinstance(error, IdTakenError):
            self._ask_next_id()
            self._show_taken(error.owner)
            self._form.focus_field(FieldName.ID)
        elif isinstance(error, StoreError) and not isinstance(error, StoreClosedError):
            # The bar reports the cause, and its end: `_on_health_changed`.
            self._refused = self._form_texts
            text = self.tr("Not saved yet. PlantDesk saves this plant when it can.")
            self._form.show_faults([], text, (self.tr("Try again"), self.submit))
        elif isinstance(error, PlantDeskError):
            self._form.show_faults([], str(error), (self.tr("Try again"), self.submit))
        else:
            self._form.show_faults([], self.tr("PlantDesk could not save this plant. Its log tells why."))

    def _show_taken(self, owner: IdOwner) -> None:
        text = self.tr("ID {id} already belongs to “{name}”. Choose another ID, or")
        self._form.show_faults(
            [FieldName.ID],
            text.format(id=owner.id, name=shortened(owner.name, 40)),
            self._way_to_next_id(),
            self._show_action(self.tr("Show that plant"), owner.id),
        )

    def _show_action(self, label: str, plant_id: int) -> WayOn:
        def show() -> None:
            self.plant_wanted.emit(plant_id)

        return label, show

    def _begin_saving(self) -> None:
        self._form.set_saving(saving=True)
        self.saving_changed.emit(True)
        self._slow.start()

    def _end_saving(self) -> None:
        self._slow.stop()
        self._form.set_saving(saving=False)
        self.saving_changed.emit(False)

    # --- ids ---

    def _way_to_next_id(self) -> WayOn:
        return self.tr("Use {id}").format(id=self._next_id), self._use_next_id

    @Slot()
    def _use_next_id(self) -> None:
        self._id_touched = False
        self._fill_in(self._next_id)
        self._form.clear_faults()
        self._form.message.show_message(Tone.HINT, self._hint)
        self._form.focus_name()

    def _ask_next_id(self) -> None:
        if self._questions is not None:
            self._questions.ask_next_free_id(self, self._fill_in)

    def _on_first_id(self, next_id: int) -> None:
        self._has_first_id = True
        self._fill_in(next_id)
        if self._submitted_early:
            self._submitted_early = False
            self._end_saving()
            self.submit()

    def _on_no_first_id(self, _error: Exception) -> None:
        self._on_first_id(self._next_id)

    def _fill_in(self, next_id: int) -> None:
        self._next_id = next_id
        if not self._id_touched:
            self._form.fill_in_id(next_id)

    def _ask_owner(self) -> None:
        """Tell already while typing, or when a script is quicker, that the id belongs to another plant."""
        if self._questions is None or not self._id_touched:
            return
        from plantdesk.records import parse_id

        try:
            plant_id = parse_id(self._form.id_text)
        except InvalidPlantError:
            return  # said when the plant is submitted: the id may be half typed

        def owner(reader: Reader) -> PlantRow | None:
            return reader.plant(plant_id)

        self._questions.ask(self, owner, self._on_owner)

    def _on_owner(self, owner: PlantRow | None) -> None:
        if owner is not None and self._id_touched and self._form.id_text.strip() == str(owner.id):
            self._show_taken(owner)

    # --- slots ---

    @property
    def _form_texts(self) -> tuple[str, ...]:
        return self._form.id_text, self._form.name_text, self._form.tag_text

    @Slot(object)
    def _on_health_changed(self, trouble: StoreError | None) -> None:
        """Save the plant that the store refused, unless the user has changed it since."""
        refused = self._refused
        if trouble is None and refused is not None:
            self._refused = None
            self._form.message.show_message(Tone.HINT, self._hint)
            if refused == self._form_texts:
                self.submit()

    @property
    def _hint(self) -> str:
        return self.tr("The next free ID is filled in. Press Enter to add.")

    @Slot(str)
    def _on_id_edited(self, text: str) -> None:
        self._id_touched = bool(text.strip())
        self._ask_owner()

    def _on_tags(self, tags: list[str]) -> None:
        self._tags = set(tags)
        self._form.set_tags(tags)

    @Slot(object)
    def _on_changed(self, changes: Changes) -> None:
        self._ask_next_id()
        self._ask_owner()
        unknown = {row.tag for row in changes.added if row.tag} - self._tags
        if self._questions is not None and (unknown or changes.beyond):
            self._questions.ask(self, _tags, self._on_tags)

    @Slot()
    def _on_slow(self) -> None:
        text = self.tr("Saving…") if self._store is not None else self.tr("Opening your plants…")
        self._form.message.show_message(Tone.HINT, text)


def _tags(reader: Reader) -> list[str]:
    return reader.tags()
