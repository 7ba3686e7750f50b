"""Adds the plants of text that is pasted into Name: lines, or rows of a spreadsheet. They are shown first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QVBoxLayout, QWidget

from plantdesk.domain.edits import numbered
from plantdesk.domain.errors import Text
from plantdesk.ui.plants.form_fields import MAX_QUANTITY
from plantdesk.ui.plants.outbox import EnteredPlant
from plantdesk.ui.qt import fill
from plantdesk.ui.texts import error_text, one_line, shown, tag_text
from plantdesk.ui.theme.metrics import XL, L, M
from plantdesk.ui.widgets.dialog import ButtonRole, Dialog
from plantdesk.ui.widgets.messages import Tone
from plantdesk.ui.widgets.plain_table import PlainTable
from plantdesk.ui.widgets.plain_text import PlainLabel

if TYPE_CHECKING:
    from plantdesk.domain.protocols import PlantReader
    from plantdesk.ui.background import StoreQueries, Task
    from plantdesk.ui.plants.form import PlantForm
    from plantdesk.ui.theme.theme import Theme

#: For text of 13 px.
_WIDTH, _MAX_ROWS = 660, 12
#: Characters; more is read by an import, on a thread of its own.
_MAX_TEXT = 1_000_000
#: Characters of a cell of the preview.
_MAX_CELL = 200


class _Found(NamedTuple):
    """The plants of a text, those of their names that are in use, and what was left out."""

    entries: list[EnteredPlant]
    known: set[str]
    next_id: int
    blank_lines: int
    refused: int


class PastedPlants(QObject):
    """Works for one form. `requested(entries)`: the user wants to add them. `too_many(text)`: this is for an import."""

    requested = Signal(object)
    too_many = Signal(str)

    def __init__(self, form: PlantForm, parent: QObject) -> None:
        super().__init__(parent)
        self._form = form
        self._queries: StoreQueries | None = None
        self._dialog: PasteDialog | None = None
        form.name_field.rows_pasted.connect(self._on_pasted)

    def set_store(self, queries: StoreQueries | None) -> None:
        """Add plants to a store; None: there is none."""
        self._queries = queries
        if queries is None and self._dialog is not None:
            self._dialog.reject()

    @Slot(str)
    def _on_pasted(self, text: str) -> None:
        if self._queries is None:
            self._form.message.show_message(Tone.WARNING, self.tr("Several plants can be added when the file is open."))
        elif len(text) > _MAX_TEXT:
            self.too_many.emit(text)
        elif self._dialog is None:
            read = partial(_read, text=text, tag=self._form.tag_text or None)
            self._queries.ask(self, read, partial(self._on_read, text), self._on_failed)

    def _on_read(self, text: str, found: _Found) -> None:
        if self._dialog is not None:
            return
        if len(found.entries) > MAX_QUANTITY:
            self.too_many.emit(text)
        elif not found.entries:
            self._form.message.show_message(Tone.WARNING, self.tr("There is no plant in the text that was pasted."))
        else:
            self._dialog = PasteDialog(self._form.theme, found, self._form)
            self._dialog.requested.connect(self.requested)
            self._dialog.finished.connect(self._on_closed)
            self._dialog.open()

    def _on_failed(self, error: Exception) -> None:
        self._form.message.show_message(Tone.WARNING, error_text(error))

    @Slot()
    def _on_closed(self) -> None:
        self._dialog = None
        self._form.focus_name()


class PasteDialog(Dialog):
    """Shows the plants with the IDs that they will get. `requested(entries)`: they shall be added."""

    requested = Signal(object)

    def __init__(self, theme: Theme, found: _Found, parent: QWidget) -> None:
        super().__init__("", parent)
        self._found = found
        headings = (self.tr("ID"), self.tr("Name"), self.tr("Tag"), "")
        self._table = PlainTable(theme, self.tr("Plants to be added"), headings, wide=1, max_rows=_MAX_ROWS)
        known = sum(entry.name in found.known for entry in found.entries)
        template = Text(
            "&Leave out the {count:,} whose name is here already", one="&Leave out the one whose name is here already"
        )
        self._leave_out = QCheckBox(shown(template.filled(count=known)))
        self._leave_out.setVisible(bool(known))
        self._add_button = self.add_primary("", self._on_add)
        self.buttons.addButton(self.tr("Cancel"), ButtonRole.RejectRole)
        self._lay_out()
        self._leave_out.toggled.connect(self._show)
        self._show()
        self.fit_height(theme.metrics.scaled(_WIDTH))
        self._add_button.setFocus()

    @property
    def entries(self) -> Sequence[EnteredPlant]:
        """The plants that are to be added."""
        leave_out = self._found.known if self._leave_out.isChecked() else frozenset[str]()
        return [entry for entry in self._found.entries if entry.name not in leave_out]

    def _lay_out(self) -> None:
        bottom = fill(QHBoxLayout(), self._leave_out, self.buttons)
        text = self._left_out_text()
        left_out = [PlainLabel(text, tone="muted", wrapped=True)] if text else []
        fill(QVBoxLayout(self), self._table.framed(), *left_out, bottom, margins=(XL, L, XL, L), spacing=M)
        self.break_rows(bottom)

    def _left_out_text(self) -> str:
        found, sentences = self._found, []
        if found.blank_lines:
            template = Text("{count:,} empty lines were left out.", one="1 empty line was left out.")
            sentences.append(shown(template.filled(count=found.blank_lines)))
        if found.refused:
            sentences.append(
                shown(Text("{count:,} lines are no plants.", one="1 line is no plant.", count=found.refused))
            )
        return " ".join(sentences)

    @Slot()
    def _show(self) -> None:
        entries = self.entries
        ids = numbered([entry.id for entry in entries], self._found.next_id)
        here = self.tr("name is here already")
        self._table.show_rows(
            [
                (
                    str(plant_id),
                    one_line(entry.name[:_MAX_CELL]),
                    "" if entry.tag is None else tag_text(entry.tag[:_MAX_CELL]),
                    here if entry.name in self._found.known else "",
                )
                for plant_id, entry in zip(ids, entries, strict=True)
            ]
        )
        text = shown(Text("Add {count:,} plants", one="Add 1 plant", count=len(entries)))
        self.setWindowTitle(text)
        self._add_button.setText(text)
        self._add_button.setEnabled(bool(entries))

    @Slot()
    def _on_add(self) -> None:
        self.requested.emit(self.entries)
        self.accept()


def _read(reader: PlantReader, _task: Task, text: str, tag: str | None) -> _Found:
    """Read the plants of a text; on the thread of the short tasks. Raises PlantDeskError."""
    from plantdesk.transfer.pasted import pasted_plants

    pasted = pasted_plants(text, MAX_QUANTITY + 1)
    entries = [EnteredPlant(row.name, tag if row.tag is None else row.tag, row.id, row.note) for row in pasted.rows]
    known = reader.names_in_use({entry.name for entry in entries})
    return _Found(entries, known, reader.next_free_id(), pasted.blank_lines, len(pasted.refused))
