"""The note of a plant: its text edit, the draft that saves it and resolves conflicts, and all drafts of a store."""

from __future__ import annotations

from concurrent.futures import Future, wait
from functools import partial

from PySide6.QtCore import QDate, QEvent, QKeyCombination, QMimeData, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFocusEvent, QFontMetrics, QKeyEvent, QKeySequence, QResizeEvent, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QWidget
from typing_extensions import override

from plantdesk.domain.edits import Applied, Edit, edited
from plantdesk.domain.errors import (
    EditConflictError,
    IdTakenError,
    InvalidPlantError,
    StoreUnreachableError,
    prevents_changes,
)
from plantdesk.domain.records import FORM, MAX_NOTE_BYTES, PlantRow
from plantdesk.ui.feature import OpenStore, WindowContext
from plantdesk.ui.questions import ConflictQuestion, insert_again
from plantdesk.ui.texts import error_text, quoted
from plantdesk.ui.widgets.plain_text import report_focus

_MIN_LINES = 2
_MAX_LINES = 6
#: Margin of the document, padding and border, above and below.
_PADDING = 26
#: Milliseconds without a key after which a note is saved.
_PAUSE_MS = 1000
#: Characters of a note that are quoted in a question.
_MAX_QUOTED = 300
#: Seconds that closing waits for a server; longer than the store does, which closes next.
_CLOSE_TIMEOUT_SECONDS = 10


class NoteEdit(QPlainTextEdit):
    """Edits a note as plain text. Tab and Escape move the focus out of it; the window handles Escape."""

    #: The user has changed the text.
    edited = Signal()
    #: The focus has moved to another widget, not to the context menu.
    focus_lost = Signal()
    #: A change was refused.
    too_long = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTabChangesFocus(True)
        self.setAccessibleName(self.tr("Note"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        report_focus(self)
        self._is_replacing = False
        self._accepted_text = ""
        self.textChanged.connect(self._on_text_changed)
        self._fit_height()

    def set_text(self, text: str) -> None:
        """Replace the text, and clear the undo history, unless the text is the same; keep the cursor position."""
        if text != self.toPlainText():
            self._replace(text)

    def close_note(self) -> None:
        """Empty the field, and make it read-only, as no note is shown."""
        self._replace("")
        self.setReadOnly(True)

    def add_date(self) -> None:
        """Append a line with today's date unless the last line is one; move cursor and focus to the end."""
        cursor = self.textCursor()
        _, _, last_line = self.toPlainText().rpartition("\n")
        today = QDate.currentDate().toString(Qt.DateFormat.ISODate)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        if last_line.strip() != today:
            line_break = "\n" if last_line else ""
            cursor.insertText(f"{line_break}{today} ")
        self.setTextCursor(cursor)
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _replace(self, text: str) -> None:
        self._is_replacing = True
        self._accepted_text = text
        position = self.textCursor().position()
        self.setPlainText(text)
        cursor = self.textCursor()
        cursor.setPosition(min(position, len(self.toPlainText())))
        self.setTextCursor(cursor)
        self._is_replacing = False

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() is not Qt.FocusReason.PopupFocusReason:  # its own context menu
            self.focus_lost.emit()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            event.ignore()
        else:
            super().keyPressEvent(event)

    @override
    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Reject files: the window imports them."""
        return not any(url.isLocalFile() for url in source.urls()) and super().canInsertFromMimeData(source)

    @override
    def insertFromMimeData(self, source: QMimeData) -> None:
        if len(source.text()) > MAX_NOTE_BYTES:  # before Qt inserts it, which takes seconds for megabytes
            self.too_long.emit()
        else:
            super().insertFromMimeData(source)

    @override
    def event(self, event: QEvent) -> bool:
        """Leave keys to the menu: Ctrl+D, which deletes a letter on X11, and Undo and Redo without typed text."""
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            document = self.document()
            keys = QKeySequence.StandardKey
            is_undo = event.matches(keys.Undo) and not document.isUndoAvailable()
            is_redo = event.matches(keys.Redo) and not document.isRedoAvailable()
            is_duplicate = event.keyCombination() == QKeyCombination(Qt.KeyboardModifier.ControlModifier, Qt.Key.Key_D)
            if is_undo or is_redo or is_duplicate:
                event.ignore()
                return False
        return super().event(event)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_height()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._fit_height()

    @Slot()
    def _on_text_changed(self) -> None:
        self._fit_height()
        if self._is_replacing:
            return
        if len(self.toPlainText().encode(errors="replace")) > MAX_NOTE_BYTES:
            self._replace(self._accepted_text)
            self.too_long.emit()
            return
        self._accepted_text = self.toPlainText()
        self.edited.emit()

    def _fit_height(self) -> None:
        lines = round(self.document().size().height())
        shown_lines = min(max(lines, _MIN_LINES), _MAX_LINES)
        self.setFixedHeight(QFontMetrics(self.font()).lineSpacing() * shown_lines + _PADDING)


class NoteDraft(QObject):
    """The note of one plant while the user edits it. After `finish` it deletes itself when it is saved."""

    #: (is_saving) A save has begun or ended.
    saving_changed = Signal(bool)
    #: A save has failed and is retried later.
    failed = Signal()
    #: (row) Nothing is unsaved any more; `row` is the plant in the store.
    resolved = Signal(object)

    def __init__(self, context: WindowContext, opened: OpenStore, row: PlantRow, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._opened = opened
        #: The plant, as it was read last.
        self.row = row
        #: The note that the user has typed.
        self.text = row.note or ""
        #: The result of the last save, pending or done.
        self.save_future: Future[Applied] | None = None
        self._is_saving = False
        self._is_finished = False
        self._has_failed = False
        changed = self.tr("The note of {name} was changed elsewhere while you were writing it")
        deleted = self.tr("{name} was deleted elsewhere while you were writing its note")
        self._question = ConflictQuestion(context, changed, deleted, self)
        self._question.discarded.connect(self._discard_mine)
        self._pause_timer = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause_timer.timeout.connect(self.save)

    @property
    def is_dirty(self) -> bool:
        """Whether the typed text differs from the note in the store."""
        return self.text != (self.row.note or "")

    @property
    def is_waiting(self) -> bool:
        """Whether the text is unsaved and the last save has failed, or none is possible now."""
        return self.is_dirty and (self._has_failed or prevents_changes(self._opened.store.change_error))

    def to_json(self) -> dict[str, object]:
        """Return plant and text as a JSON object, for `note_from_json`."""
        row = self.row
        return {
            "id": row.id,
            "name": row.name,
            "tag": row.tag,
            "was": row.note,
            "version": row.version,
            "note": self.text,
        }

    def restore(self, text: str) -> None:
        """Set and save a text that an earlier window could not save; then the draft deletes itself."""
        self.text = text
        self._has_failed = True
        self.finish()

    def resume(self) -> None:
        """Keep the draft after it is saved, as the user has selected its plant again."""
        self._is_finished = False

    def write(self, text: str) -> None:
        """Set the text that the user has typed; it is saved a second after the last call."""
        self.text = text
        self._pause_timer.start()

    def update_stored(self, row: PlantRow) -> None:
        """Set the stored plant. An unsaved text stays; if the stored note has changed, saving asks the user."""
        if self._is_saving or self._question.is_open:
            return
        if not self.is_dirty:
            self.text = row.note or ""
            self.row = row
        elif row.note == self.row.note:
            self.row = row

    def finish(self) -> None:
        """Save the text, and delete the draft once it is saved, as another plant is shown."""
        self._is_finished = True
        self.save()
        self._delete_if_done()

    @Slot()
    def save(self) -> None:
        """Begin to save the text if it is unsaved, unless a save runs or a question is open."""
        self._pause_timer.stop()
        if self._is_saving or self._question.is_open or not self.is_dirty:
            return
        try:
            edit = edited(self.row, note=self.text)
        except InvalidPlantError as error:
            self._context.page.toast.show_error(error)
            return
        self._apply(edit)

    def save_both(self) -> None:
        """Save the text, as the window closes; if a question is open, save both notes as one text."""
        if self._question.is_open:
            theirs = self.row.note or ""
            self._question.close()
            self.text = "\n\n".join(filter(None, (theirs, self.text)))
        self.save()

    def _apply(self, edit: Edit) -> None:
        self._is_saving = True
        self.saving_changed.emit(True)
        self.save_future = self._opened.store.apply([edit], FORM)
        self._context.follow_change(self, self.save_future, partial(self._on_saved, self.text), self._on_failed)

    def _on_saved(self, text: str, applied: Applied) -> None:
        self._is_saving = self._has_failed = False
        if applied.change is not None:
            self.row = self.row._replace(note=text or None, version=applied.change.number)
            self._context.undo_stack.push(applied.change)
        self.saving_changed.emit(False)
        self.resolved.emit(self.row)
        if self.is_dirty:
            self._pause_timer.start(0 if self._is_finished else _PAUSE_MS)
        self._delete_if_done()

    def _on_failed(self, error: Exception) -> None:
        """After a conflict, read the plant to ask the user; else show the problem, and perhaps try again."""
        self._is_saving = False
        is_conflict = isinstance(error, EditConflictError | IdTakenError)  # the second if it was added again already
        self._has_failed = not is_conflict
        self.failed.emit()
        self.saving_changed.emit(False)
        if is_conflict:
            self._read_current()
            return
        if isinstance(error, StoreUnreachableError) and not prevents_changes(self._opened.store.change_error):
            self._pause_timer.start()  # the server can be reached again
        self._context.page.toast.show_problem(error_text(error), (self.tr("Try again"), self.save))

    def _read_current(self) -> None:
        mine = self._note_text(self.text)
        self._question.read(self._opened.queries, self.row, mine, self._on_read)

    def _on_read(self, current: PlantRow | None) -> None:
        """Ask which note to keep if the stored one has changed, else save the text into the present plant."""
        mine = self._note_text(self.text)
        if current is None:
            self._question.ask_about_deleted(self.row, mine, self._insert_again)
            return
        is_other_note = current.note != self.row.note and (current.note or "") != self.text
        self.row = current
        if is_other_note:
            theirs = self._note_text(current.note or "")
            self._question.ask_about_changed(current, mine, theirs, self.save)
        elif self.is_dirty:
            self.save()
        else:
            self.resolved.emit(current)
            self._delete_if_done()

    def _note_text(self, note: str) -> str:
        return quoted(note, _MAX_QUOTED) if note else self.tr("no note")

    def _insert_again(self) -> None:
        self._apply(insert_again(edited(self.row, note=self.text)))

    @Slot()
    def _discard_mine(self) -> None:
        self.text = self.row.note or ""
        self.resolved.emit(self.row)
        self._delete_if_done()

    def _delete_if_done(self) -> None:
        if self._is_finished and not (self._is_saving or self._question.is_open or self.is_dirty):
            self.deleteLater()


def note_from_json(value: object) -> tuple[PlantRow, str] | None:
    """Return plant and text from `NoteDraft.to_json`; None if the value is invalid."""
    match value:
        case {
            "id": int(plant_id),
            "name": str(name),
            "tag": str() | None as tag,
            "was": str() | None as was,
            "version": int(version),
            "note": str(note),
        }:
            return PlantRow(plant_id, name, tag, 0, FORM, was, version), note
    return None


class NoteDrafts(QObject):
    """The drafts of one store: the one in the text edit (`current`), and those that could not be saved yet."""

    #: (is_saving) A save has begun or ended.
    saving_changed = Signal(bool)
    #: A draft was saved or discarded.
    resolved = Signal()
    #: (is_waiting) Whether a draft waits until plants can be changed again.
    waiting_changed = Signal(bool)

    def __init__(self, context: WindowContext, edit: NoteEdit, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._edit = edit
        self._opened: OpenStore | None = None
        #: The draft of the plant that is shown.
        self.current: NoteDraft | None = None
        context.bridge.health_changed.connect(self._on_health_changed)
        edit.edited.connect(self._on_edited)
        edit.focus_lost.connect(self._on_focus_lost)
        edit.too_long.connect(self._on_too_long)

    @property
    def has_unsaved(self) -> bool:
        """Whether the note that is shown has unsaved text."""
        return self.current is not None and self.current.is_dirty

    def open(self, opened: OpenStore) -> None:
        """Begin to use a store, and save the notes that an earlier window could not save."""
        self._opened = opened
        values = self._context.preferences.of_store(self._context.location.key).get("notes")
        if isinstance(values, list):
            for row, note in filter(None, map(note_from_json, values)):
                self._make_draft(opened, row).restore(note)
            self._show_waiting()

    def show(self, opened: OpenStore, row: PlantRow) -> None:
        """Edit the note of a plant, or its draft that waits to be saved; save the draft shown before."""
        if self.current is not None and self.current.row.id == row.id:
            self.current.update_stored(row)
        else:
            self.finish()
            waiting = [draft for draft in self._unsaved_drafts if draft.row.id == row.id and draft.is_waiting]
            self.current = waiting[0] if waiting else self._make_draft(opened, row)
            self.current.resume()
        self._show_text(row)

    def finish(self) -> None:
        """Save the current draft, and empty the text edit."""
        if self.current is not None:
            self.current.finish()
            self.current = None
            self._edit.close_note()

    def save(self) -> dict[int, str]:
        """Begin to save the unsaved drafts; return their texts by the IDs of the plants."""
        drafts = [] if self._opened is None else self._unsaved_drafts
        for draft in drafts:
            draft.save()
        return {draft.row.id: draft.text for draft in drafts}

    def remember_waiting(self) -> int:
        """Write the waiting drafts to disk, to be saved at the next start; return their number."""
        waiting = [] if self._opened is None else [draft for draft in self._unsaved_drafts if draft.is_waiting]
        if self._opened is not None:
            self._remember(waiting)
        return len(waiting)

    def close(self) -> None:
        """Save the drafts, waiting up to 10 s for a server; write what it has not saved to disk."""
        drafts = self._unsaved_drafts
        unsaved = [draft for draft in drafts if draft.is_waiting]
        for draft in drafts:
            draft.save_both()
        if self._context.location.server is not None:
            futures = [draft.save_future for draft in drafts if draft.save_future is not None]
            done, _ = wait(futures, timeout=_CLOSE_TIMEOUT_SECONDS)
            saved = {future for future in done if not future.cancelled() and future.exception() is None}
            unsaved = [draft for draft in drafts if draft.save_future not in saved]
        self._remember(unsaved)
        for draft in self.findChildren(NoteDraft):
            draft.deleteLater()
        self._opened = self.current = None

    @property
    def _unsaved_drafts(self) -> list[NoteDraft]:
        return [draft for draft in self.findChildren(NoteDraft) if draft.is_dirty]

    def _make_draft(self, opened: OpenStore, row: PlantRow) -> NoteDraft:
        draft = NoteDraft(self._context, opened, row, self)
        draft.saving_changed.connect(self.saving_changed)
        draft.failed.connect(self._show_waiting)
        draft.resolved.connect(self._show_waiting)
        draft.resolved.connect(self._show_text)
        draft.resolved.connect(self.resolved)
        return draft

    @Slot(object)
    def _show_text(self, row: PlantRow) -> None:
        if self.current is not None and self.current.row.id == row.id:
            self._edit.set_text(self.current.text)

    def _remember(self, drafts: list[NoteDraft]) -> None:
        key = self._context.location.key
        values = [draft.to_json() for draft in drafts]
        if values or self._context.preferences.of_store(key).get("notes"):
            self._context.preferences.change_store(key, notes=values)

    @Slot()
    def _on_edited(self) -> None:
        self._context.page.toast.withdraw(self._too_long_text)
        if self.current is not None:
            self.current.write(self._edit.toPlainText())

    @Slot()
    def _on_focus_lost(self) -> None:
        if self.current is not None:
            self.current.save()

    @Slot()
    def _on_too_long(self) -> None:
        self._context.page.toast.show_problem(self._too_long_text)

    @property
    def _too_long_text(self) -> str:
        return self.tr("A note may have 100,000 bytes. Shorten it first.")

    @Slot()
    def _show_waiting(self) -> None:
        """Write the waiting drafts to disk, and report whether there are any."""
        self.waiting_changed.emit(self.remember_waiting() > 0)

    @Slot(object)
    def _on_health_changed(self, error: Exception | None) -> None:
        if self._opened is not None:
            if not prevents_changes(error):
                self.save()
            self._show_waiting()
