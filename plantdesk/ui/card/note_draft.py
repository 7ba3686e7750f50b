"""Saves the note of one plant while it is written, and asks where something else has changed it meanwhile."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from plantdesk.domain.errors import EditConflictError, InvalidPlantError
from plantdesk.domain.records import FORM
from plantdesk.ui.questions import ConflictQuestion, added_again
from plantdesk.ui.texts import error_text, quoted

if TYPE_CHECKING:
    from plantdesk.domain.edits import Applied, Edit
    from plantdesk.domain.records import PlantRow
    from plantdesk.ui.feature import OpenStore, WindowContext

#: Milliseconds without a key after which a note is saved.
_PAUSE_MS = 3000
#: Characters of a note in a question.
_LONGEST = 300


class NoteDraft(QObject):
    """The note of a plant as the user writes it. It ends itself when it is saved after `finish`.

    `saving_changed(saving)`: it is being saved, or is saved. `settled(row)`: the plant as it is stored now.
    """

    saving_changed = Signal(bool)
    settled = Signal(object)

    def __init__(self, context: WindowContext, opened: OpenStore, row: PlantRow, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._opened = opened
        self._row = row
        self._text = row.note or ""
        self._is_saving = False
        self._is_finished = False
        changed = self.tr("The note of {name} was changed elsewhere while you were writing it")
        deleted = self.tr("{name} was deleted elsewhere while you were writing its note")
        self._question = ConflictQuestion(context, changed, deleted, self)
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self.save)

    @property
    def row(self) -> PlantRow:
        """The plant that the note belongs to, as it was read last."""
        return self._row

    @property
    def text(self) -> str:
        """The note as it was written."""
        return self._text

    @property
    def is_dirty(self) -> bool:
        """Whether there is something to save."""
        return self._text != (self._row.note or "")

    def write(self, text: str) -> None:
        """Take over what the user has typed; it is saved when they pause."""
        self._text = text
        self._pause.start()

    def follow(self, row: PlantRow) -> None:
        """Take over the plant as it is now. What was typed stays; where the note is another one, saving asks."""
        if self._is_saving or self._question.is_open:
            return
        if not self.is_dirty:
            self._text = row.note or ""
            self._row = row
        elif row.note == self._row.note:
            self._row = row

    def finish(self) -> None:
        """Save what is not saved, and end; another plant is shown."""
        self._is_finished = True
        self.save()
        self._end()

    @Slot()
    def save(self) -> None:
        """Save now what is not saved."""
        from plantdesk.domain.edits import edited

        self._pause.stop()
        if self._is_saving or self._question.is_open or not self.is_dirty:
            return
        try:
            edit = edited(self._row, note=self._text)
        except InvalidPlantError as error:
            self._context.page.toast.show_problem(error_text(error))
            return
        self._apply(edit)

    def save_both(self) -> None:
        """Answer an open question by saving both notes, one below the other: the window closes."""
        if self._question.is_open:
            theirs = self._row.note or ""
            self._question.close()
            self._text = f"{theirs}\n\n{self._text}" if theirs and self._text else theirs or self._text
        self.save()

    def _apply(self, edit: Edit) -> None:
        self._is_saving = True
        self.saving_changed.emit(True)
        saving = self._opened.store.apply([edit], FORM)
        self._context.bridge.follow(self, saving, partial(self._on_saved, self._text), self._on_failed)

    def _on_saved(self, text: str, applied: Applied) -> None:
        self._is_saving = False
        if applied.change is not None:
            self._row = self._row._replace(note=text or None, version=applied.change.number)
            self._context.undo_stack.push(applied.change)
        self.saving_changed.emit(False)
        self.settled.emit(self._row)
        if self.is_dirty:
            self._pause.start(0 if self._is_finished else _PAUSE_MS)
        self._end()

    def _on_failed(self, error: Exception) -> None:
        self._is_saving = False
        self.saving_changed.emit(False)
        if isinstance(error, EditConflictError):
            self._compare()
            return
        self._context.page.toast.show_problem(error_text(error), (self.tr("Try again"), self.save))

    # --- conflicts ---

    def _compare(self) -> None:
        """Read what the plant is now."""
        mine = self._described(self._text)
        self._question.read(self._opened.queries, self._row, mine, self._on_read, self._take_theirs)

    def _on_read(self, now: PlantRow | None) -> None:
        mine = self._described(self._text)
        if now is None:
            self._question.ask_about_deleted(self._row, mine, self._add_again, self._take_theirs)
            return
        is_other_note = now.note != self._row.note and (now.note or "") != self._text
        self._row = now
        if is_other_note:
            theirs = self._described(now.note or "")
            self._question.ask_about_changed(now, mine, theirs, self.save, self._take_theirs)
        elif self.is_dirty:
            self.save()
        else:
            self.settled.emit(now)
            self._end()

    def _described(self, note: str) -> str:
        return quoted(note, _LONGEST) if note else self.tr("no note")

    def _add_again(self) -> None:
        from plantdesk.domain.edits import edited

        self._apply(added_again(edited(self._row, note=self._text)))

    def _take_theirs(self) -> None:
        self._text = self._row.note or ""
        self.settled.emit(self._row)
        self._end()

    def _end(self) -> None:
        if self._is_finished and not (self._is_saving or self._question.is_open or self.is_dirty):
            self.deleteLater()
