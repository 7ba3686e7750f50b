"""The card of the selected plants: its commands and queries, and the actions of its buttons."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import QStackedWidget, QWidget
from typing_extensions import override

from plantdesk.domain.edits import edited
from plantdesk.domain.errors import StoreReadOnlyError, prevents_changes
from plantdesk.domain.history import PlantChange
from plantdesk.domain.protocols import PlantReader
from plantdesk.domain.records import Changes, PlantRow
from plantdesk.domain.texts import Text
from plantdesk.ui.background import Task
from plantdesk.ui.card.cards import CardRequests, HistoryLine, PlantCard, SelectionCard, Summary, summarize
from plantdesk.ui.card.note import NoteDrafts
from plantdesk.ui.feature import Feature, OpenStore, PlantChanges, ShownPlants, WindowContext
from plantdesk.ui.menus import Section
from plantdesk.ui.page import PagePart
from plantdesk.ui.qt import has_focus
from plantdesk.ui.questions import confirm_undo
from plantdesk.ui.texts import error_text, quoted, translated
from plantdesk.ui.undo_stack import AddedPlant

#: With more selected plants than this, only their number is shown.
_MAX_SUMMARIZED = 10_000
_MAX_CHANGES = 50


class CardFeature(Feature):
    """The pane with the card of the selected plants. While it is hidden, it reads nothing from the store."""

    #: Delete the selected plants. `workspace` connects most other signals of `requests`.
    delete_requested = Signal()

    def __init__(self, context: WindowContext, plants: ShownPlants) -> None:
        super().__init__(context)
        self.requests = CardRequests(self)
        self._plant_card = PlantCard(context.theme, self.requests)
        self._selection_card = SelectionCard(context.theme, self.requests)
        self.notes = NoteDrafts(context, self._plant_card.note_edit, self)
        self._plants = plants
        self._pane = context.page.card_pane
        self._changes = PlantChanges(context, self)
        self._date_requested_id: int | None = None
        self._count = 0
        self._ids: list[int] = []
        self._shown_plant: PlantRow | None = None
        self._task: Task | None = None
        self._load_timer = QTimer(self, singleShot=True, interval=0)
        self._load_timer.timeout.connect(self._load)
        self._card_action = context.menus.add_switch(Section.VIEW_PANES, self.tr("Ca&rd"), self.toggle, "Ctrl+I")
        text = self.tr("Add dated &note line")
        self._date_action = context.menus.add(Section.EDIT_PLANTS, text, self.add_date, "Ctrl+;")
        self._date_action.setEnabled(False)
        self._stack = QStackedWidget()
        self._stack.setAccessibleName(self.tr("Card"))
        for page in (QWidget(), self._plant_card, self._selection_card):  # the first is shown until a plant is read
            self._stack.addWidget(page)
        self._pane.set_available(available=False)
        self._pane.set_content(self._stack)
        self._connect()

    def _connect(self) -> None:
        self._pane.changed.connect(self._on_pane_changed)
        self._pane.changed.connect(self.view_changed)
        self._pane.focus_lost.connect(self._plants.focus_table)
        self._plant_card.undo_requested.connect(self._undo)
        self.requests.close.connect(self.toggle)
        self.requests.delete.connect(self._on_delete)
        self.requests.select_none.connect(self._plants.clear_selection)
        self.notes.resolved.connect(self.close_unblocked)
        self.context.bridge.changed.connect(self._on_changed)
        self.context.bridge.health_changed.connect(self._on_health_changed)

    @override
    def set_up(self) -> None:
        self.context.page.add_part(PagePart.CARD, self._pane, self._focus_card)
        self._show_remembered()

    @override
    def set_store(self, opened: OpenStore) -> None:
        super().set_store(opened)
        self._show_remembered()
        self.notes.open(opened)

    def _show_remembered(self) -> None:
        """Show the pane if it was shown with this store the last time."""
        remembered = self.context.preferences.of_store(self.context.location.key)
        self._pane.set_requested(requested=remembered.get("card") is True)

    @override
    def release_store(self) -> None:
        if self.opened is None:
            return
        self.save_view()
        self.notes.close()
        super().release_store()
        self._shown_plant = None
        self._drop_date_request()
        self._stack.setCurrentIndex(0)
        self._pane.set_available(available=False)

    @override
    def save_view(self) -> None:
        if self.opened is not None:
            self.context.preferences.change_store(self.context.location.key, card=self._pane.is_requested)

    @override
    def remember_unsaved(self) -> str:
        count = self.notes.remember_waiting()
        text = Text("{count:,} notes are not saved.", one="1 note is not saved.", count=count)
        return translated(text) if count else ""

    @override
    def handle_escape(self) -> bool:
        """Move the focus from the card to the table; return False if the card does not have it."""
        had_focus = has_focus(self._pane)
        if had_focus:
            self._plants.focus_table()
        return had_focus

    @Slot()
    def toggle(self) -> None:
        """Show the card if it is hidden, else hide it."""
        self._pane.toggle()

    @Slot()
    def add_date(self) -> None:
        """Append a line with today's date to the note of the selected plant; show the card before."""
        if self.opened is None or not self._changes.may_change(self.opened.store):
            return
        if self._pane.isVisible() and self.notes.current is not None and self._is_selected(self.notes.current.row):
            self._plant_card.note_edit.add_date()
        else:
            self._date_requested_id = self._plants.selected_ids()[0]
            self.context.keys.hold()
            if not self._pane.isVisible():
                self._pane.toggle()

    @Slot()
    def show_pane(self) -> None:
        """Show the card beside the list, unless the window is too narrow for it."""
        self._pane.set_requested(requested=True)

    @Slot(int)
    def show_selection(self, count: int) -> None:
        """Show the card of the `count` selected plants, once they are read; without any, hide it."""
        self._count = count
        if count != 1 or self._plants.selected_ids()[0] != self._date_requested_id:
            self._drop_date_request()
        self._date_action.setEnabled(count == 1)
        if not count and self.notes.has_unsaved and has_focus(self._pane):
            self.context.page.window().setFocus()  # else the next keys would edit another plant
        self._pane.set_available(available=count > 0)
        if self._pane.isVisible():
            self._load_timer.start()

    @Slot()
    def _load(self) -> None:
        """Read the selected plant, or the summary of several, unless these are too many; cancel an earlier query."""
        if self.opened is None or not self._count:
            self.notes.finish()
            return
        if self._task is not None:
            self._task.cancel()
        self._ids = list(self._plants.selected_ids()) if self._count <= _MAX_SUMMARIZED else []
        if self._count > 1:
            self.notes.finish()
            self._selection_card.show_count(self._count)
            self._set_editable(self.opened.store.change_error)
            self._stack.setCurrentWidget(self._selection_card)
            if self._ids:
                read_summary = partial(_read_summary, ids=self._ids)
                self._task = self.opened.queries.run(self, read_summary, self._selection_card.show_summary)
        elif self._ids:
            read_plant = partial(_read_plant, plant_id=self._ids[0])
            self._task = self.opened.queries.run(self, read_plant, self._on_read, self._on_not_read)

    def _on_not_read(self, error: Exception) -> None:
        """Show what the table has loaded of the plant; it is read again when the server answers."""
        self._drop_date_request()
        row = self._plants.row(self._ids[0]) if len(self._ids) == 1 else None
        if (
            row is None
            or not prevents_changes(error)
            or (self._shown_plant is not None and self._shown_plant.id == row.id)
        ):
            return
        self.notes.finish()
        self._shown_plant = None
        self._plant_card.show_plant(row, [])
        self._plant_card.note_edit.setPlaceholderText(self.tr("The note cannot be read now."))
        self._plant_card.set_editable(error_text(error))
        self._stack.setCurrentWidget(self._plant_card)

    def _on_read(self, result: tuple[PlantRow | None, list[PlantChange]]) -> None:
        """Show the plant, unless another one is selected by now; add a date line that was requested."""
        row, changes = result
        if row is None or self.opened is None or [row.id] != self._ids:
            return
        self._shown_plant = row
        self._plant_card.show_plant(row, changes)
        self.notes.show(self.opened, row)
        self._plant_card.note_edit.setPlaceholderText(self.tr("Write a note"))
        self._set_editable(self.opened.store.change_error)
        self._stack.setCurrentWidget(self._plant_card)
        if self._date_requested_id == row.id:
            self._date_requested_id = None
            self._plant_card.note_edit.add_date()
            self.context.keys.release()

    def _drop_date_request(self) -> None:
        if self._date_requested_id is not None:
            self._date_requested_id = None
            self.context.keys.drop()

    @Slot(object)
    def _undo(self, line: HistoryLine) -> None:
        """Undo a change for this plant alone, after a question if another computer has made it."""
        if line.change is None:
            self._undo_unasked(line)
        elif self.opened is not None:
            undo = partial(self._undo_unasked, line)
            confirm_undo(self.context, self.opened.store, line.change, self.context.page, undo)

    def _undo_unasked(self, line: HistoryLine) -> None:
        """Undo a change; if it changed other plants as well, restore only the fields of this plant."""
        row = self._shown_plant
        if row is None or line.restored is None or self.opened is None:
            return
        if line.change is None:
            self.context.undo_stack.revert(AddedPlant(row))
        elif line.change.number == row.version and line.change.plants == 1 and line.change.can_undo:
            self.context.undo_stack.revert(line.change)
        else:
            self._shown_plant = None  # until the plant is read again, so that a second click does nothing
            edits = [edited(row, **line.restored)]
            text = Text("Changed {name}.", name=quoted(row.name))
            self._changes.apply(self.opened.store, edits, text, progress=self.tr("Saving…"))

    @Slot()
    def _on_delete(self) -> None:
        """Request to delete the selected plants; not while the card still shows another plant."""
        shows_several = self._stack.currentWidget() is self._selection_card
        if shows_several or (self._shown_plant is not None and self._is_selected(self._shown_plant)):
            self.delete_requested.emit()

    def _is_selected(self, row: PlantRow) -> bool:
        return self._count == 1 and list(self._plants.selected_ids()) == [row.id]

    @Slot(object)
    def _on_changed(self, changes: Changes) -> None:
        changed_ids = {row.id for row in changes.updated}
        if self._pane.isVisible() and (
            changes.needs_reload or changes.history_changed or changed_ids.intersection(self._ids)
        ):
            self._load_timer.start()

    @Slot(object)
    def _on_health_changed(self, error: Exception | None) -> None:
        if self._pane.isVisible() and self.opened is not None:
            self._set_editable(error or self.opened.store.change_error)
            if error is None and self._shown_plant is None:
                self._load_timer.start()  # the plant could not be read

    @Slot()
    def _on_pane_changed(self) -> None:
        self._card_action.setChecked(self._pane.is_drawer if self._pane.is_collapsed else self._pane.is_requested)
        if self._pane.isVisible():
            self._load_timer.start()
        else:
            self._drop_date_request()
            self.notes.finish()

    def _set_editable(self, error: Exception | None) -> None:
        """Disable changes if `error` prevents them; an unsaved note stays editable."""
        reason = error_text(error) if error is not None and prevents_changes(error) else ""
        keeps_note = self.notes.has_unsaved and not isinstance(error, StoreReadOnlyError)
        if self._shown_plant is not None:
            self._plant_card.set_editable(reason, keep_note=keeps_note)
        self._selection_card.set_editable(reason)

    @Slot()
    def _focus_card(self) -> None:
        shows_several = self._stack.currentWidget() is self._selection_card
        target = self._selection_card.commands[0] if shows_several else self._plant_card.note_edit
        target.setFocus()


def _read_plant(reader: PlantReader, _task: Task, plant_id: int) -> tuple[PlantRow | None, list[PlantChange]]:
    return reader.plant(plant_id), reader.plant_history(plant_id, _MAX_CHANGES)


def _read_summary(reader: PlantReader, _task: Task, ids: list[int]) -> Summary | None:
    rows = reader.shortened_rows(ids, 1000)
    return summarize(rows.values()) if rows else None
