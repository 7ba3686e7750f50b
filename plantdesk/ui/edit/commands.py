"""Cut, Copy, Paste and Select all of the Edit menu, which act on the widget that has the focus."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from PySide6.QtCore import Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QMenuBar, QWidget
from shiboken6 import isValid

from plantdesk.ui.feature import Feature
from plantdesk.ui.menus import Key, Section
from plantdesk.ui.widgets.plain_label import PlainLabel

if TYPE_CHECKING:
    from collections.abc import Callable

    from plantdesk.ui.feature import WindowContext

_CUT, _COPY, _PASTE, _SELECT_ALL = "cut", "copy", "paste", "selectAll"


@runtime_checkable
class Editable(Protocol):
    """A widget of our own that Copy and Select all act on, while they would change something."""

    @property
    def can_copy(self) -> bool:
        """Whether there is something to copy."""

    @property
    def can_select_all(self) -> bool:
        """Whether there is something to select."""

    def copy(self) -> None:
        """Copy what is selected."""

    def selectAll(self) -> None:  # noqa: N802 - the name of Qt's own
        """Select everything."""


class EditCommands(Feature):
    """Enables the commands that can act whenever the menu opens, and runs them."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        commands = (
            (self.tr("Cu&t"), _CUT, Key.Cut),
            (self.tr("&Copy"), _COPY, Key.Copy),
            (self.tr("&Paste"), _PASTE, Key.Paste),
            (self.tr("Select &all"), _SELECT_ALL, Key.SelectAll),
        )
        self._actions = {
            name: context.menus.add(Section.EDIT_CLIPBOARD, text, partial(self._run, name), key)
            for text, name, key in commands
        }
        self._focused: QWidget | None = None
        context.menus.menu(Section.EDIT_CLIPBOARD).aboutToShow.connect(self._on_menu_opens)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._on_focus_changed)

    @Slot(QWidget, QWidget)
    def _on_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        """Remember which widget the menu acts on: the menu bar takes the focus when it is opened by a key."""
        if new is not None and not isinstance(new, QMenuBar | QMenu):
            self._focused = new

    @Slot()
    def _on_menu_opens(self) -> None:
        commands = self._commands()
        for name, action in self._actions.items():
            action.setEnabled(name in commands)

    def _run(self, name: str) -> None:
        command = self._commands().get(name)
        if command is not None:
            command()

    def _commands(self) -> dict[str, Callable[[], object]]:
        """Return what can be done now with the widget that has the focus."""
        widget = self._focused
        if widget is None or not isValid(widget):
            return {}
        if isinstance(widget, QLineEdit):
            return _of_field(widget)
        if isinstance(widget, PlainLabel):
            return {_COPY: _copying(widget.selectedText())} if widget.hasSelectedText() else {}
        if isinstance(widget, Editable):
            commands = {_COPY: (widget.can_copy, widget.copy), _SELECT_ALL: (widget.can_select_all, widget.selectAll)}
            return {name: command for name, (possible, command) in commands.items() if possible}
        return {}


def _of_field(field: QLineEdit) -> dict[str, Callable[[], object]]:
    selected, editable = field.hasSelectedText(), not field.isReadOnly()
    commands = {
        _CUT: (selected and editable, field.cut),
        _COPY: (selected, field.copy),
        _PASTE: (editable and bool(QGuiApplication.clipboard().text()), field.paste),
        _SELECT_ALL: (bool(field.text()), field.selectAll),
    }
    return {name: command for name, (possible, command) in commands.items() if possible}


def _copying(text: str) -> Callable[[], object]:
    def copy() -> None:
        QGuiApplication.clipboard().setText(text)

    return copy
