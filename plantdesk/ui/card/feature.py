"""The card of the selected plants: its command, its queries, and what its buttons do."""

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
from plantdesk.ui.card.cards import CardRequests, HistoryLine, PlantCard, SelectionCard, Summary, summary_of
from plantdesk.ui.card.note import NoteDrafts
from plantdesk.ui.feature import Feature, OpenStore, PlantChanges, ShownPlants, WindowContext
from plantdesk.ui.menus import Section
from plantdesk.ui.page import Part
from plantdesk.ui.qt import has_focus
from plantdesk.ui.questions import ask_if_of_other_desk
from plantdesk.ui.texts import error_text, quoted, translated
from plantdesk.ui.undo_stack import AddedPlant

#: With more selected plants than this, only their number is shown.
_MAX_READ = 10_000
_MAX_CHANGES = 50


class Card(Feature):
    """Shows the card while it is requested and plants are selected; reads nothing while it is hidden.

    `requests` are those of its buttons, but for `delete_requested`: delete the selected plants.
    """

    delete_requested = Signal()

    def __init__(self, context: WindowContext, rows: ShownPlants) -> None:
        """Show the selection of `rows`."""
        super().__init__(context)
        self.requests = CardRequests(self)
        self._one, self._several = PlantCard(context.theme, self.requests), SelectionCard(context.theme, self.requests)
        self.notes = NoteDrafts(context, self._one.note_edit, self)
        self._rows = rows
        self._pane = context.page.card
        self._changes = PlantChanges(context, self)
        self._date_due_for: int | None = None
        self._count = 0
        self._ids: list[int] = []
        self._shown: PlantRow | None = None
        self._task: Task | None = None
        self._load_timer = QTimer(self, singleShot=True, interval=0)
        self._load_timer.timeout.connect(self._load)
        self._switch = context.menus.add_switch(Section.VIEW_PANES, self.tr("Ca&rd"), self.toggle, "Ctrl+I")
        text = self.tr("Add dated &note line")
        self._date_command = context.menus.add(Section.EDIT_PLANTS, text, self.add_date, "Ctrl+;")
        self._date_command.setEnabled(False)
        self._stack = QStackedWidget()
        self._stack.setAccessibleName(self.tr("Card"))
        for page in (QWidget(), self._one, self._several):  # the first until a plant is read
            self._stack.addWidget(page)
        self._pane.set_available(available=False)
        self._pane.set_content(self._stack)
        self._connect()

    def _connect(self) -> None:
        self._pane.changed.connect(self._on_pane_changed)
        self._pane.changed.connect(self.view_changed)
        self._pane.left.connect(self._rows.focus_table)
        self._one.undo_requested.connect(self._undo)
        self.requests.close.connect(self.toggle)
        self.requests.delete.connect(self._on_delete)
        self.requests.select_none.connect(self._rows.clear_selection)
        self.notes.settled.connect(self.settled)
        self.context.bridge.changed.connect(self._on_changed)
        self.context.bridge.health_changed.connect(self._on_health_changed)

    @override
    def complete(self) -> None:
        self.context.page.add_part(Part.CARD, self._pane, self._focus)
        self._show_remembered()

    @override
    def set_store(self, opened: OpenStore) -> None:
        super().set_store(opened)
        self._show_remembered()
        self.notes.open(opened)

    def _show_remembered(self) -> None:
        """Request the pane if it was shown with this store."""
        remembered = self.context.preferences.of_store(self.context.location.key)
        self._pane.set_requested(requested=remembered.get("card") is True)

    @override
    def release_store(self) -> None:
        if self.opened is None:
            return
        self.save_view()
        self.notes.close()
        super().release_store()
        self._shown = None
        self._forget_date()
        self._stack.setCurrentIndex(0)
        self._pane.set_available(available=False)

    @override
    def save_view(self) -> None:
        if self.opened is not None:
            self.context.preferences.change_store(self.context.location.key, card=self._pane.is_requested)

    @override
    def keep_unsaved(self) -> str:
        count = self.notes.remember_waiting()
        return (
            translated(Text("{count:,} notes are not saved.", one="1 note is not saved.", count=count)) if count else ""
        )

    @override
    def step_back(self) -> bool:
        """Leave the card by Escape."""
        is_here = has_focus(self._pane)
        if is_here:
            self._rows.focus_table()
        return is_here

    @Slot()
    def toggle(self) -> None:
        """Show the card, or hide it."""
        self._pane.toggle()

    @Slot()
    def add_date(self) -> None:
        """Begin a line with today's date in the note of the selected plant, and show the card for it."""
        if self.opened is None or not self._changes.may_change(self.opened.store):
            return
        if self._pane.isVisible() and self.notes.current is not None and self._is_selected(self.notes.current.row):
            self._one.note_edit.add_date()
        else:
            self._date_due_for = self._rows.selected_ids()[0]
            self.context.keys.hold()
            if not self._pane.isVisible():
                self._pane.toggle()

    @Slot()
    def show_pane(self) -> None:
        """Show the card beside the list if there is room."""
        self._pane.set_requested(requested=True)

    @Slot(int)
    def show_selection(self, count: int) -> None:
        """Show the plants that are selected now."""
        self._count = count
        if count != 1 or self._rows.selected_ids()[0] != self._date_due_for:
            self._forget_date()
        self._date_command.setEnabled(count == 1)
        if not count and self.notes.has_unsaved and has_focus(self._pane):
            self.context.page.window().setFocus()  # what is typed next must not act on another plant
        self._pane.set_available(available=count > 0)
        if self._pane.isVisible():
            self._load_timer.start()

    # --- reading ---

    @Slot()
    def _load(self) -> None:
        if self.opened is None or not self._count:
            self.notes.finish()
            return
        if self._task is not None:
            self._task.cancel()
        self._ids = list(self._rows.selected_ids()) if self._count <= _MAX_READ else []
        if self._count > 1:
            self.notes.finish()
            self._several.show_count(self._count)
            self._set_editable(self.opened.store.change_error)
            self._stack.setCurrentWidget(self._several)
            if self._ids:
                summarize = partial(_summary, ids=self._ids)
                self._task = self.opened.queries.ask(self, summarize, self._several.show_summary)
        elif self._ids:
            read = partial(_read, plant_id=self._ids[0])
            self._task = self.opened.queries.ask(self, read, self._on_read, self._on_not_read)

    def _on_not_read(self, error: Exception) -> None:
        """Show what the table has of the plant. The card reads the plant when the server answers again."""
        self._forget_date()
        row = self._rows.row(self._ids[0]) if len(self._ids) == 1 else None
        if row is None or not prevents_changes(error) or (self._shown is not None and self._shown.id == row.id):
            return
        self.notes.finish()
        self._shown = None
        self._one.show_plant(row, [])
        self._one.note_edit.setPlaceholderText(self.tr("The note cannot be read now."))
        self._one.set_editable(error_text(error))
        self._stack.setCurrentWidget(self._one)

    def _on_read(self, read: tuple[PlantRow | None, list[PlantChange]]) -> None:
        row, changes = read
        if row is None or self.opened is None or [row.id] != self._ids:
            return
        self._shown = row
        self._one.show_plant(row, changes)
        self.notes.show(self.opened, row)
        self._one.note_edit.setPlaceholderText(self.tr("Write a note"))
        self._set_editable(self.opened.store.change_error)
        self._stack.setCurrentWidget(self._one)
        if self._date_due_for == row.id:
            self._date_due_for = None
            self._one.note_edit.add_date()
            self.context.keys.release()

    def _forget_date(self) -> None:
        if self._date_due_for is not None:
            self._date_due_for = None
            self.context.keys.drop()

    # --- what the buttons do ---

    @Slot(object)
    def _undo(self, line: HistoryLine) -> None:
        """Take back a change for this plant alone, after a question if another desk has made it."""
        if line.change is None:
            self._undo_now(line)
        elif self.opened is not None:
            undo = partial(self._undo_now, line)
            ask_if_of_other_desk(self.context, self.opened.store, line.change, self.context.page, undo)

    def _undo_now(self, line: HistoryLine) -> None:
        """Take back a change. If it also changed other plants, this plant is edited back."""
        row = self._shown
        if row is None or line.restored is None or self.opened is None:
            return
        if line.change is None:
            self.context.undo_stack.take_back(AddedPlant(row))
        elif line.change.number == row.version and line.change.plants == 1 and line.change.can_undo:
            self.context.undo_stack.take_back(line.change)
        else:
            self._shown = None  # until the plant is read again: a second click does nothing
            edits = [edited(row, **line.restored)]
            text = Text("Changed {name}.", name=quoted(row.name))
            self._changes.apply(self.opened.store, edits, text, progress=self.tr("Saving…"))

    @Slot()
    def _on_delete(self) -> None:
        """Delete the plants. Do nothing if the card still shows another plant, as the selected one is not read yet."""
        shows_several = self._stack.currentWidget() is self._several
        if shows_several or (self._shown is not None and self._is_selected(self._shown)):
            self.delete_requested.emit()

    def _is_selected(self, row: PlantRow) -> bool:
        return self._count == 1 and list(self._rows.selected_ids()) == [row.id]

    # --- slots ---

    @Slot(object)
    def _on_changed(self, changes: Changes) -> None:
        touched = {row.id for row in changes.updated}
        if self._pane.isVisible() and (
            changes.needs_reload or changes.history_changed or touched.intersection(self._ids)
        ):
            self._load_timer.start()

    @Slot(object)
    def _on_health_changed(self, error: Exception | None) -> None:
        if self._pane.isVisible() and self.opened is not None:
            self._set_editable(error or self.opened.store.change_error)
            if error is None and self._shown is None:
                self._load_timer.start()  # the plant could not be read

    @Slot()
    def _on_pane_changed(self) -> None:
        self._switch.setChecked(self._pane.is_drawer if self._pane.is_collapsed else self._pane.is_requested)
        if self._pane.isVisible():
            self._load_timer.start()
        else:
            self._forget_date()
            self.notes.finish()

    def _set_editable(self, error: Exception | None) -> None:
        """Allow changes unless `error` prevents them; a note that was begun can be continued."""
        reason = error_text(error) if error is not None and prevents_changes(error) else ""
        keeps_note = self.notes.has_unsaved and not isinstance(error, StoreReadOnlyError)
        if self._shown is not None:
            self._one.set_editable(reason, keep_note=keeps_note)
        self._several.set_editable(reason)

    @Slot()
    def _focus(self) -> None:
        several = self._stack.currentWidget() is self._several
        target = self._several.commands[0] if several else self._one.note_edit
        target.setFocus()


def _read(reader: PlantReader, _task: Task, plant_id: int) -> tuple[PlantRow | None, list[PlantChange]]:
    return reader.plant(plant_id), reader.plant_history(plant_id, _MAX_CHANGES)


def _summary(reader: PlantReader, _task: Task, ids: list[int]) -> Summary | None:
    rows = reader.shortened_rows(ids, 1000)
    return summary_of(rows.values()) if rows else None
