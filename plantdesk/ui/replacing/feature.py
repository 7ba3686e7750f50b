"""The command that changes the texts of many plants."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit
from shiboken6 import isValid
from typing_extensions import override

from plantdesk.domain.errors import Text
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import Contains, Selection
from plantdesk.ui.feature import Feature, PlantChanges
from plantdesk.ui.menus import Section
from plantdesk.ui.texts import shown

if TYPE_CHECKING:
    from plantdesk.domain.edits import Rewrite
    from plantdesk.ui.feature import OpenStore, ShownPlants, WindowContext
    from plantdesk.ui.replacing.dialog import ReplaceDialog

#: Characters of a selected text that is looked for.
_MAX_FIND = 200


class Replacing(Feature):
    """Opens one dialog, or raises it. `plants_requested(ids)`: show these plants."""

    plants_requested = Signal(object)

    def __init__(self, context: WindowContext, plants: ShownPlants) -> None:
        super().__init__(context)
        self._plants = plants
        self._opened: OpenStore | None = None
        self._dialog: ReplaceDialog | None = None
        self._changes = PlantChanges(context, self)
        self._command = context.menus.add(Section.EDIT_FIND, self.tr("Find and replac&e…"), self.open_dialog, "Ctrl+R")
        self._command.setEnabled(False)

    @override
    def set_store(self, opened: OpenStore) -> None:
        self._opened = opened
        self._command.setEnabled(True)

    @override
    def release_store(self) -> None:
        if self._dialog is not None and isValid(self._dialog):
            self._dialog.close()
        self._opened = self._dialog = None
        self._command.setEnabled(False)

    @Slot()
    def open_dialog(self) -> None:
        """Open the dialog for the selected plants, or those that are shown."""
        if self._opened is None or not self._changes.may_change(self._opened.store):
            return
        if self._dialog is None or not isValid(self._dialog):
            from plantdesk.ui.replacing.dialog import ReplaceDialog

            text, keys = self._start_text(), self.context.keys
            keys.hold()
            self._dialog = ReplaceDialog(self.context, self._opened.store, self._scopes(), self.context.page)
            self._dialog.edit_requested.connect(self._apply)
            self._dialog.plant_requested.connect(self._show_plant)
            self._dialog.activated.connect(partial(keys.release_to, self._dialog))
            self._dialog.look_for(text)
            self._dialog.show()
        self._dialog.raise_()
        self._dialog.activateWindow()

    def _scopes(self) -> list[tuple[str, Selection]]:
        """Return the sets of plants to choose from, with their texts, the likeliest first."""
        ids, count, text = self._plants.selected_ids(), self._plants.shown_count, self._plants.search_text
        plants = Text("In all {count:,} plants", one="In the only plant", count=count)
        found = Text("In all {count:,} shown", one="In the plant shown", count=count)
        all_plants = shown(found if text else plants) if count else self.tr("In all plants")  # not counted yet
        everything = all_plants, parse_search(text)
        if not ids:
            return [everything]
        selected = Text("In {count:,} selected plants", one="In the selected plant", count=len(ids))
        chosen = shown(selected), Selection(ids=ids)
        return [everything, chosen] if len(ids) == 1 else [chosen, everything]

    def _start_text(self) -> str:
        """Return the text that is selected where the focus is, else the only word of the search."""
        focused, text = QApplication.focusWidget(), ""
        if isinstance(focused, QLineEdit):
            text = focused.selectedText()
        elif isinstance(focused, QPlainTextEdit):
            text = focused.textCursor().selectedText()
        if text and len(text) <= _MAX_FIND:
            return text
        match parse_search(self._plants.search_text).groups:
            case ((Contains(text=word, in_note=False),),):
                return word
            case _:
                return ""

    @Slot(object)
    def _show_plant(self, plant_id: int) -> None:
        self.plants_requested.emit((plant_id,))
        self.context.page.activateWindow()

    @Slot(object, int)
    def _apply(self, edit: Rewrite, count: int) -> None:
        if self._opened is None:
            return
        self._plants.focus_table()  # in a field, Ctrl+Z would take back what was typed there
        text = Text("Changed {count:,} plants.", one="Changed 1 plant.")
        if edit.rule.find:
            text = Text("Replaced in {count:,} plants.", one="Replaced in 1 plant.")
        progress = shown(Text("Changing {count:,} plants…", one="Changing 1 plant…", count=count))
        show = partial(self.plants_requested.emit)
        self._changes.apply(self._opened.store, [edit], text, progress=progress, show=show)
