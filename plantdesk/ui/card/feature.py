"""The card of the selected plants: its command, its queries, and what its buttons do."""

from __future__ import annotations

from concurrent.futures import wait
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication, QStackedWidget, QWidget
from typing_extensions import override

from plantdesk.domain.errors import StoreReadOnlyError, prevents_changes
from plantdesk.domain.records import FORM
from plantdesk.ui.feature import Feature
from plantdesk.ui.menus import Section
from plantdesk.ui.page import Part
from plantdesk.ui.questions import ask_if_of_other_desk
from plantdesk.ui.texts import error_text, quoted
from plantdesk.ui.undo_stack import AddedPlant
from plantdesk.ui.widgets.messages import Tone

if TYPE_CHECKING:
    from plantdesk.domain.edits import Applied
    from plantdesk.domain.edits import Edit as StoreEdit
    from plantdesk.domain.errors import PlantDeskError
    from plantdesk.domain.history import PlantChange
    from plantdesk.domain.protocols import PlantReader
    from plantdesk.domain.records import Changes, PlantRow
    from plantdesk.ui.background import Task
    from plantdesk.ui.card.note import NoteDraft
    from plantdesk.ui.card.plant_card import HistoryLine, PlantCard
    from plantdesk.ui.card.selection_card import SelectionCard, Summary
    from plantdesk.ui.feature import OpenStore, ShownPlants, WindowContext

#: With more selected plants only their number is shown.
_MAX_READ = 10_000
_MAX_CHANGES = 50
#: Seconds that a server has to take the last notes: a little longer than the store waits for it while it closes.
_CLOSE_SECONDS = 10


class _Read(NamedTuple):
    """A plant and its history; None where it is not there any more."""

    row: PlantRow | None
    changes: list[PlantChange]


class Card(Feature):
    """Shows the card while it is requested and plants are selected; reads nothing while it is hidden.

    At the start it is shown, empty, for the plant that was selected last, until the rows are there.
    The other signals are those of its buttons. `saving_changed(saving)`: a note is being saved, or no longer.
    `note_waiting(there)`: whether a note could not be saved; it is saved when the store can be changed again.
    """

    delete_requested = Signal()
    tag_requested = Signal()
    labels_requested = Signal()
    replace_requested = Signal()
    copy_requested = Signal()
    export_requested = Signal()
    saving_changed = Signal(bool)
    note_waiting = Signal(bool)

    def __init__(self, context: WindowContext, rows: ShownPlants) -> None:
        """Show the selection of `rows`."""
        super().__init__(context)
        self._rows = rows
        self._pane = context.page.card
        self._opened: OpenStore | None = None
        self._is_applying = self._awaits_plant = False
        self._date_due_for: int | None = None
        self._count = 0
        self._ids: list[int] = []
        self._shown: PlantRow | None = None
        self._draft: NoteDraft | None = None
        self._task: Task | None = None
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._load)
        self._switch = context.menus.add_switch(Section.VIEW_PANES, self.tr("Ca&rd"), self.toggle, "Ctrl+I")
        text = self.tr("Add dated &note line")
        self._date_command = context.menus.add(Section.EDIT_PLANTS, text, self.add_date, "Ctrl+;")
        self._date_command.setEnabled(False)
        self._stack = QStackedWidget()
        self._stack.setAccessibleName(self.tr("Card"))
        self._stack.addWidget(QWidget())  # until a plant is read
        self._pane.set_available(available=False)
        self._pane.set_content(self._stack)
        self._pane.changed.connect(self._on_pane_changed)
        self._pane.changed.connect(self.view_changed)
        context.bridge.changed.connect(self._on_changed)
        context.bridge.health_changed.connect(self._on_health_changed)

    @override
    def complete(self) -> None:
        self.context.page.add_part(Part.CARD, self._pane, self._focus)
        self._await_plant()

    @override
    def set_store(self, opened: OpenStore) -> None:
        self._opened = opened
        self._await_plant()
        self._restore_notes(opened)

    def _await_plant(self) -> None:
        """Show the pane as it was, for the plant that will be selected, so that it does not open afterwards."""
        remembered = self.context.preferences.of_store(self.context.location.key)
        position = remembered.get("position")
        self._awaits_plant = isinstance(position, list) and [*map(type, position[1:])] == [int]
        self._pane.set_available(available=self._awaits_plant)
        self._pane.set_requested(requested=remembered.get("card") is True)

    @Slot()
    def stop_waiting(self) -> None:
        """Withdraw the pane if the plant that was selected last is not among the rows."""
        if self._awaits_plant:
            self._awaits_plant = False
            self._pane.set_available(available=self._count > 0)

    @override
    def show_no_store(self, reason: PlantDeskError) -> None:
        self.stop_waiting()

    @override
    def release_store(self) -> None:
        if self._opened is None:
            return
        self.save_view()
        self._release_notes()
        self._draft = self._shown = self._opened = None
        self._forget_date()
        self._is_applying = False
        self._stack.setCurrentIndex(0)
        self._pane.set_available(available=False)

    @override
    def save_view(self) -> None:
        if self._opened is not None:
            self.context.preferences.change_store(self.context.location.key, card=self._pane.is_requested)

    @override
    def step_back(self) -> bool:
        """Leave the card by Escape."""
        has_focus = self._has_focus()
        if has_focus:
            self._rows.focus_table()
        return has_focus

    @Slot()
    def toggle(self) -> None:
        """Show the card, or hide it."""
        had_focus = self._has_focus()
        self._pane.toggle()
        self._return_focus(had_focus=had_focus)

    @property
    def _several_text(self) -> str:
        return self.tr("Select one plant: a dated line is for one note.")

    @Slot()
    def add_date(self) -> None:
        """Begin a line with today's date in the note of the selected plant, and show the card for it."""
        if self._opened is None or not self._count:
            return
        if self._count > 1:
            self.context.message.show_message(Tone.WARNING, self._several_text)
            return
        if (error := self._opened.store.change_error) is not None and prevents_changes(error):
            self.context.page.toast.show_error(error)
        elif self._pane.isVisible() and self._draft is not None and self._is_selected(self._draft.row):
            self._one.note_edit.add_date()
        else:
            self._date_due_for = self._rows.selected_ids()[0]
            self.context.keys.hold()
            if not self._pane.isVisible():
                self._pane.toggle()

    @Slot()
    def show_pane(self) -> None:
        """Show the card beside the list, where there is room."""
        self._pane.set_requested(requested=True)

    @Slot(int)
    def show_selection(self, count: int) -> None:
        """Show the plants that are selected now."""
        self._count = count
        self.context.message.withdraw(self._several_text)
        if count != 1 or self._rows.selected_ids()[0] != self._date_due_for:
            self._forget_date()
        self._date_command.setEnabled(count > 0)
        had_focus = self._has_focus()
        if not count and had_focus and self._draft is not None and self._draft.is_dirty:
            self.context.page.window().setFocus()  # what is typed next must not act on another plant
            had_focus = False
        self._awaits_plant = self._awaits_plant and not count
        self._pane.set_available(available=count > 0 or self._awaits_plant)
        self._return_focus(had_focus=had_focus)
        if self._pane.isVisible():
            self._soon.start()

    # --- reading ---

    @Slot()
    def _load(self) -> None:
        if self._opened is None or not self._count:
            self._finish_note()
            return
        if self._task is not None:
            self._task.cancel()
        self._ids = list(self._rows.selected_ids()) if self._count <= _MAX_READ else []
        if self._count > 1:
            self._finish_note()
            self._several.show_count(self._count)
            self._set_editable(self._opened.store.change_error)
            self._stack.setCurrentWidget(self._several)
            if self._ids:
                summarize = partial(_summary, ids=self._ids)
                self._task = self._opened.queries.ask(self, summarize, self._several.show_summary)
        elif self._ids:
            read = partial(_read, plant_id=self._ids[0])
            self._task = self._opened.queries.ask(self, read, self._on_read, self._on_not_read)

    def _on_not_read(self, error: Exception) -> None:
        """Show what the table has of the plant; it is read when the server answers again."""
        self._forget_date()
        row = self._rows.row(self._ids[0]) if len(self._ids) == 1 else None
        if row is None or not prevents_changes(error) or (self._shown is not None and self._shown.id == row.id):
            return
        self._finish_note()
        self._shown = None
        self._one.show_plant(row, [])
        self._one.note_edit.setPlaceholderText(self.tr("The note cannot be read now."))
        self._one.set_editable(error_text(error))
        self._stack.setCurrentWidget(self._one)

    def _on_read(self, read: _Read) -> None:
        if read.row is None or self._opened is None or [read.row.id] != self._ids:
            return
        self._shown = read.row
        self._one.show_plant(read.row, read.changes)
        if self._draft is None or self._draft.row.id != read.row.id:
            self._finish_note()
            self._draft = self._resumed(read.row.id) or self._new_draft(self._opened, read.row)
        else:
            self._draft.follow(read.row)
        self._one.note_edit.set_text(self._draft.text)
        self._one.note_edit.setPlaceholderText(self.tr("Write a note"))
        self._set_editable(self._opened.store.change_error)
        self._stack.setCurrentWidget(self._one)
        if self._date_due_for == read.row.id:
            self._date_due_for = None
            self._one.note_edit.add_date()
            self.context.keys.release()

    def _forget_date(self) -> None:
        if self._date_due_for is not None:
            self._date_due_for = None
            self.context.keys.drop()

    # --- the note ---

    def _new_draft(self, opened: OpenStore, row: PlantRow) -> NoteDraft:
        from plantdesk.ui.card.note import NoteDraft

        draft = NoteDraft(self.context, opened, row, self)
        draft.saving_changed.connect(self.saving_changed)
        draft.settled.connect(self._on_settled)
        draft.failed.connect(self._show_waiting)
        return draft

    @property
    def _drafts(self) -> list[NoteDraft]:
        """The notes with something to save."""
        from plantdesk.ui.card.note import NoteDraft

        return [each for each in self.findChildren(NoteDraft) if each.is_dirty]

    def _resumed(self, plant_id: int) -> NoteDraft | None:
        """Return the note of a plant that waits since the plant was shown last."""
        draft = next((each for each in self._drafts if each.row.id == plant_id and each.is_waiting), None)
        if draft is not None:
            draft.resume()
        return draft

    def save_notes(self) -> dict[int, str]:
        """Save now what was typed; return those notes by the IDs of their plants."""
        drafts = [] if self._opened is None else self._drafts
        for draft in drafts:
            draft.save()
        return {each.row.id: each.text for each in drafts}

    @override
    def keep_unsaved(self) -> int:
        if self._opened is None:
            return 0
        waiting = [each for each in self._drafts if each.is_waiting]
        self._remember(waiting)
        return len(waiting)

    def _remember(self, drafts: list[NoteDraft]) -> None:
        key, values = self.context.location.key, [each.as_json() for each in drafts]
        if values or self.context.preferences.of_store(key).get("notes"):
            self.context.preferences.change_store(key, notes=values)

    def _restore_notes(self, opened: OpenStore) -> None:
        """Save the notes that an earlier window could not save."""
        values = self.context.preferences.of_store(self.context.location.key).get("notes")
        if not isinstance(values, list):
            return
        from plantdesk.ui.card.note import restored

        for row, note in filter(None, map(restored, values)):
            self._new_draft(opened, row).restore(note)
        self._show_waiting()

    def _release_notes(self) -> None:
        """Save what is not saved. What the server does not take in time is remembered, and saved at the next start."""
        drafts = self._drafts
        unsaved = [each for each in drafts if each.is_waiting]
        for draft in drafts:
            draft.save_both()
        if self.context.location.server is not None:
            saving = {each.saving: each for each in drafts if each.saving is not None}
            done, _ = wait(saving, timeout=_CLOSE_SECONDS)
            saved = [saving[each] for each in done if not each.cancelled() and each.exception() is None]
            unsaved = [each for each in drafts if each not in saved]
        self._remember(unsaved)
        for draft in [*drafts, *filter(None, [self._draft])]:
            draft.deleteLater()

    @Slot()
    def _show_waiting(self) -> None:
        """Show whether notes wait, and remember them."""
        count = self.keep_unsaved()
        self.note_waiting.emit(count > 0)
        if not count:
            self.settled.emit()

    def _finish_note(self) -> None:
        if self._draft is not None:
            self._draft.finish()
            self._draft = None
            self._one.note_edit.drop_date()
            self._one.note_edit.set_text("")
            self._one.note_edit.setReadOnly(True)  # until a plant is read

    @Slot()
    def _on_note_edited(self) -> None:
        self.context.page.toast.withdraw(self._too_long_text())
        if self._draft is not None:
            self._draft.write(self._one.note_edit.note)

    @Slot()
    def _on_note_left(self) -> None:
        if self._draft is not None:
            self._draft.save()

    @Slot(object)
    def _on_settled(self, row: PlantRow) -> None:
        self._show_waiting()
        if self._draft is not None and self._draft.row.id == row.id:
            self._one.note_edit.set_text(self._draft.text)

    @Slot()
    def _on_too_long(self) -> None:
        self.context.page.toast.show_problem(self._too_long_text())

    def _too_long_text(self) -> str:
        return self.tr("A note may have 100,000 bytes. Shorten it first.")

    # --- what the buttons do ---

    @Slot(object)
    def _undo(self, line: HistoryLine) -> None:
        """Take back a change for this plant alone, after a question where another desk has made it."""
        if line.change is None:
            self._undo_now(line)
        elif self._opened is not None:
            undo = partial(self._undo_now, line)
            ask_if_of_other_desk(self.context, self._opened.store, line.change, self.context.page, undo)

    def _undo_now(self, line: HistoryLine) -> None:
        """Take back a change; one of other plants as well is edited back."""
        from plantdesk.domain.edits import edited

        row = self._shown
        if row is None or line.restored is None:
            return
        if line.change is None:
            self.context.undo_stack.take_back(AddedPlant(row))
        elif line.change.number == row.version and line.change.plants == 1 and line.change.can_undo:
            self.context.undo_stack.take_back(line.change)
        else:
            self._apply(edited(row, **line.restored), row.name)

    @Slot()
    def _delete_shown(self) -> None:
        """Delete the plant, unless another one is selected by now, which is not read yet."""
        if self._shown is not None and self._is_selected(self._shown):
            self.delete_requested.emit()

    def _is_selected(self, row: PlantRow) -> bool:
        return self._count == 1 and list(self._rows.selected_ids()) == [row.id]

    def _apply(self, edit: StoreEdit, name: str) -> None:
        if self._opened is not None and not self._is_applying:  # a second click does nothing
            self._is_applying = True
            self.context.page.toast.show_progress(self.tr("Saving…"))
            applying = self._opened.store.apply([edit], FORM)
            self.context.follow_change(self, applying, partial(self._on_applied, name), self._on_not_applied)

    def _on_applied(self, name: str, applied: Applied) -> None:
        self._is_applying = False
        if applied.change is None:
            self.context.page.toast.clear()
        else:
            self.context.report_change(applied.change, self.tr("Changed {name}.").format(name=quoted(name)))

    def _on_not_applied(self, error: Exception) -> None:
        self._is_applying = False
        self.context.page.toast.show_error(error)
        self._soon.start()

    # --- slots ---

    @Slot(object)
    def _on_changed(self, changes: Changes) -> None:
        touched = {row.id for row in changes.updated}
        if self._pane.isVisible() and (changes.needs_reload or changes.history or touched.intersection(self._ids)):
            self._soon.start()

    @Slot(object)
    def _on_health_changed(self, error: Exception | None) -> None:
        if self._opened is not None:
            if not prevents_changes(error):
                for draft in self._drafts:
                    draft.save()
            self._show_waiting()
        if self._pane.isVisible() and self._opened is not None:
            self._set_editable(error or self._opened.store.change_error)
            if error is None and self._shown is None:
                self._soon.start()  # it could not be read

    @Slot()
    def _on_pane_changed(self) -> None:
        self._switch.setChecked(self._pane.is_drawer if self._pane.is_collapsed else self._pane.is_requested)
        if self._pane.isVisible():
            self._soon.start()
        else:
            self._forget_date()
            self._finish_note()

    def _has_focus(self) -> bool:
        focused = QApplication.focusWidget()
        return focused is not None and self._pane.isAncestorOf(focused)

    def _return_focus(self, *, had_focus: bool) -> None:
        """Move the focus of a card that is hidden now to the table; Qt would give it to the next button."""
        if had_focus and not self._pane.isVisible():
            self._rows.focus_table()

    def _set_editable(self, error: Exception | None) -> None:
        """Allow changes unless `error` prevents them; a note that was begun can be written on."""
        reason = error_text(error) if error is not None and prevents_changes(error) else ""
        is_begun = self._draft is not None and self._draft.is_dirty
        if self._shown is not None:
            self._one.set_editable(reason, keep_note=is_begun and not isinstance(error, StoreReadOnlyError))
        self._several.set_editable(reason)

    @Slot()
    def _focus(self) -> None:
        several = self._stack.currentWidget() is self._several
        target = self._several.commands[0] if several else self._one.note_edit
        target.setFocus()

    # --- the widgets ---

    @cached_property
    def _one(self) -> PlantCard:
        from plantdesk.ui.card.plant_card import PlantCard

        card = PlantCard(self.context.theme)
        card.undo_requested.connect(self._undo)
        card.delete_requested.connect(self._delete_shown)
        card.labels_requested.connect(self.labels_requested)
        card.close_requested.connect(self.toggle)
        card.note_edit.edited.connect(self._on_note_edited)
        card.note_edit.left.connect(self._on_note_left)
        card.note_edit.too_long.connect(self._on_too_long)
        self._stack.addWidget(card)
        return card

    @cached_property
    def _several(self) -> SelectionCard:
        from plantdesk.ui.card.selection_card import SelectionCard

        card = SelectionCard(self.context.theme)
        card.tag_requested.connect(self.tag_requested)
        card.replace_requested.connect(self.replace_requested)
        card.copy_requested.connect(self.copy_requested)
        card.export_requested.connect(self.export_requested)
        card.none_requested.connect(self._rows.clear_selection)
        card.delete_requested.connect(self.delete_requested)
        card.labels_requested.connect(self.labels_requested)
        card.close_requested.connect(self.toggle)
        self._stack.addWidget(card)
        return card


def _read(reader: PlantReader, _task: Task, plant_id: int) -> _Read:
    return _Read(reader.plant(plant_id), reader.plant_history(plant_id, _MAX_CHANGES))


def _summary(reader: PlantReader, _task: Task, ids: list[int]) -> Summary | None:
    from plantdesk.ui.card.selection_card import summary_of

    rows = reader.rows_cut(ids, 1000)
    return summary_of(rows.values()) if rows else None
