"""Saves the note of one plant while it is written, and asks where something else has changed it meanwhile."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from plantdesk.domain.errors import EditConflictError, InvalidPlantError
from plantdesk.domain.records import FORM
from plantdesk.ui.texts import error_text, quoted
from plantdesk.ui.widgets.info_bar import BarKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from plantdesk.domain.edits import Applied, Edit
    from plantdesk.domain.protocols import PlantReader
    from plantdesk.domain.records import PlantRow
    from plantdesk.ui.background import Task
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
        self._is_asking = False
        self._is_finished = False
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
        if self._is_saving or self._is_asking:
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
        if self._is_saving or self._is_asking or not self.is_dirty:
            return
        try:
            edit = edited(self._row, note=self._text)
        except InvalidPlantError as error:
            self._context.page.toast.show_problem(str(error))
            return
        self._apply(edit)

    def save_both(self) -> None:
        """Answer an open question by saving both notes, one below the other: the window closes."""
        if self._is_asking:
            theirs = self._row.note or ""
            self._is_asking = False
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
        read = partial(_plant, plant_id=self._row.id)
        self._opened.queries.ask(self, read, self._on_read, self._on_unread)

    def _on_unread(self, error: Exception) -> None:
        """Keep what was written until the plant can be read."""
        title = self.tr("{name} was changed elsewhere and cannot be read now").format(name=quoted(self._row.name))
        text = self.tr("Yours: {mine}").format(mine=self._described(self._text))
        actions = (self.tr("Try again"), self._compare), (self.tr("Discard mine"), self._take_theirs)
        self._ask(title, f"{error_text(error)}\n{text}", *actions)

    def _on_read(self, now: PlantRow | None) -> None:
        if now is None:
            self._ask_about_deleted()
            return
        is_other_note = now.note != self._row.note and (now.note or "") != self._text
        self._row = now
        if is_other_note:
            self._ask_about_changed(now)
        elif self.is_dirty:
            self.save()
        else:
            self.settled.emit(now)
            self._end()

    def _ask_about_changed(self, now: PlantRow) -> None:
        title = self.tr("The note of {name} was changed elsewhere while you were writing it")
        text = self.tr("Yours: {mine}\nTheirs: {theirs}").format(
            mine=self._described(self._text), theirs=self._described(now.note or "")
        )
        actions = (self.tr("Keep mine"), self.save), (self.tr("Take theirs"), self._take_theirs)
        self._ask(title.format(name=quoted(now.name)), text, *actions)

    def _ask_about_deleted(self) -> None:
        title = self.tr("{name} was deleted elsewhere while you were writing its note")
        text = self.tr("Yours: {mine}").format(mine=self._described(self._text))
        actions = (self.tr("Add it again"), self._add_again), (self.tr("Leave it deleted"), self._take_theirs)
        self._ask(title.format(name=quoted(self._row.name)), text, *actions)

    def _ask(self, title: str, text: str, *actions: tuple[str, Callable[[], object]]) -> None:
        """Show a question in a bar of its own; each answer is one click."""
        self._is_asking = True
        bar = self._context.page.add_bar()

        def answer(choose: Callable[[], object]) -> None:
            self._is_asking = False
            choose()
            bar.hide()
            bar.deleteLater()

        answers = [(label, partial(answer, action)) for label, action in actions]
        bar.show_state(BarKind.WARNING, title, text, *answers, lasting=True)

    def _described(self, note: str) -> str:
        return quoted(note, _LONGEST) if note else self.tr("no note")

    def _add_again(self) -> None:
        from plantdesk.domain.edits import Insert
        from plantdesk.domain.validation import new_plant

        row = self._row
        tag = {} if row.tag is None else {"tag": row.tag}
        self._apply(Insert(new_plant({"id": row.id, "name": row.name, **tag}), self._text or None))

    def _take_theirs(self) -> None:
        self._text = self._row.note or ""
        self.settled.emit(self._row)
        self._end()

    def _end(self) -> None:
        if self._is_finished and not (self._is_saving or self._is_asking or self.is_dirty):
            self.deleteLater()


def _plant(reader: PlantReader, _task: Task, plant_id: int) -> PlantRow | None:
    return reader.plant(plant_id)
