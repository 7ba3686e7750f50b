"""Cut, Copy, Paste and Select all of the Edit menu, which act on the widget that has the focus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QMenuBar, QWidget
from shiboken6 import isValid

from plantdesk.ui.widgets.plain_label import PlainLabel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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


class EditCommands(QObject):
    """Enables the actions that can act whenever the menu opens, and runs them. The data of an action is its name."""

    def __init__(self, menu: QMenu, actions: Iterable[QAction]) -> None:
        super().__init__(menu)
        self._actions = list(actions)
        self._focused: QWidget | None = None
        menu.aboutToShow.connect(self._on_menu_opens)
        for action in self._actions:
            action.triggered.connect(self._on_triggered)
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
        for action in self._actions:
            action.setEnabled(action.data() in commands)

    @Slot()
    def _on_triggered(self) -> None:
        action = self.sender()
        if isinstance(action, QAction) and (command := self._commands().get(action.data())) is not None:
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
