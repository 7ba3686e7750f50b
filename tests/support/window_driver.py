"""Drives a window as its user does: finds widgets by their accessible name or text, and menus in the menu bar."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import TypeVar

from PySide6.QtCore import QEvent, QMimeData, QPoint, Qt
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QMenuBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from plantdesk.domain.records import PlantRow
from plantdesk.ui.main_window import MainWindow
from plantdesk.ui.plants.unsaved_plants import UnsavedPlants
from plantdesk.ui.widgets.messages import InfoBar, MessageLine, Toast
from tests.support.other_languages import english

Widget = TypeVar("Widget", bound=QWidget)


class WindowDriver:
    """One window, dialog or part of it."""

    def __init__(self, qtbot: QtBot, widget: QWidget) -> None:
        self.qtbot = qtbot
        self.widget = widget

    @property
    def window(self) -> MainWindow:
        """The main window that the widget is in."""
        window = self.widget.window()
        assert isinstance(window, MainWindow)
        return window

    # --- widgets ---

    def the(self, kind: type[Widget], name: str = "") -> Widget:
        """Return the widget of a class, of several the one with that name, preferably a visible one."""
        found = [widget for widget in self.widget.findChildren(kind) if not name or name in names_of(widget)]
        assert found, f"There is no {kind.__name__} {name!r}"
        return next((widget for widget in found if widget.isVisible()), found[0])

    def field(self, name: str) -> QLineEdit:
        """Return a field by its label or accessible name."""
        return self.the(QLineEdit, name)

    def button(self, name: str) -> QAbstractButton:
        """Return a button by its text or accessible name."""
        return self.the(QAbstractButton, name)

    def buttons(self) -> dict[str, QAbstractButton]:
        """Return the visible buttons by their text."""
        found = self.widget.findChildren(QAbstractButton)
        return {plain(button.text()): button for button in found if button.text() and not button.isHidden()}

    @property
    def id(self) -> QLineEdit:
        """The field for the ID of a new plant."""
        return self.field("ID")

    @property
    def name(self) -> QLineEdit:
        """The field for the name of a new plant."""
        return self.field("Name")

    @property
    def tag(self) -> QLineEdit:
        """The field for the tag of a new plant."""
        return self.field("Tag")

    @property
    def message(self) -> MessageLine:
        """The line under the form."""
        return self.the(MessageLine)

    @property
    def toast(self) -> Toast:
        """The message over the list."""
        return self.the(Toast)

    @property
    def bars(self) -> list[InfoBar]:
        """The bars that are shown."""
        return [bar for bar in self.widget.findChildren(InfoBar) if not bar.isHidden()]

    def texts(self) -> list[str]:
        """Return the texts of all visible labels."""
        return [english(label.text()) for label in self.widget.findChildren(QLabel) if not label.isHidden()]

    def unsaved(self) -> dict[str, str]:
        """Return the names of the plants that are not saved, each with the reason."""
        boxes = [box for box in self.widget.findChildren(UnsavedPlants) if box.isVisible()]
        return {name: reason for box in boxes for name, reason in rows_of(box.findChildren(QAbstractItemView)[0])}

    def until(self, condition: Callable[[], bool | None]) -> None:
        """Wait until a condition holds, also on a busy machine."""
        self.qtbot.waitUntil(condition)

    def activate(self) -> None:
        """Make the window the active one, as a window manager does when a dialog closes."""
        self.window.activateWindow()
        self.until(self.window.isActiveWindow)

    # --- keys ---

    @property
    def focused(self) -> QWidget:
        """The widget with the focus."""
        focused = QApplication.focusWidget()
        assert focused is not None
        return focused

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key where the focus is."""
        QTest.keyClick(self.focused, key, modifier)

    def hit(self, *keys: str | Qt.Key) -> None:
        """Press letters and other keys one after the other, each where the focus is then."""
        for key in keys:
            QTest.keyClick(self.focused, key)  # type: ignore[arg-type]

    def type(self, field: QLineEdit, text: str) -> None:
        """Type into a field, in place of its text."""
        field.setFocus()
        field.selectAll()
        self.qtbot.keyClick(field, Qt.Key.Key_Delete)
        self.qtbot.keyClicks(field, text)

    def pick(self, name: str, text: str) -> None:
        """Choose what begins so in a list, by the arrow keys."""
        box = self.the(QComboBox, name)
        box.setFocus()
        position = box.findText(text, Qt.MatchFlag.MatchStartsWith)
        assert position >= 0, [box.itemText(index) for index in range(box.count())]
        for key in [Qt.Key.Key_Home, *[Qt.Key.Key_Down] * position]:
            self.qtbot.keyClick(box, key)

    def turn_wheel(self, widget: QWidget) -> bool:
        """Turn the wheel one step towards the user over a widget; True: it leaves the step to what it is in."""
        position = widget.rect().center().toPointF()
        places = position, widget.mapToGlobal(position), QPoint(), QPoint(0, -120)
        keys = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
        event = QWheelEvent(*places, *keys, Qt.ScrollPhase.NoScrollPhase, False)
        QApplication.sendEvent(widget, event)
        return not event.isAccepted()

    def press_again(self, widget: QWidget, position: QPoint) -> None:
        """Press and release as the second time of a double click, whatever is under the pointer now."""
        left, where = Qt.MouseButton.LeftButton, position.toPointF()
        for kind in (QEvent.Type.MouseButtonDblClick, QEvent.Type.MouseButtonRelease):
            event = QMouseEvent(kind, where, widget.mapToGlobal(where), left, left, Qt.KeyboardModifier.NoModifier)
            QApplication.sendEvent(widget, event)

    def drop(self, widget: QWidget, data: QMimeData) -> bool:
        """Drop something of another program on a widget or what is below it; False where nothing takes it."""
        keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        position = widget.rect().center()
        enter = QDragEnterEvent(position, Qt.DropAction.CopyAction, data, *keys)
        QApplication.sendEvent(widget, enter)
        if enter.isAccepted():
            QApplication.sendEvent(widget, QDropEvent(position, Qt.DropAction.CopyAction, data, *keys))
        return enter.isAccepted()

    def add(self, name: str) -> None:
        """Type a name into the form and press Enter."""
        self.type(self.name, name)
        self.qtbot.keyClick(self.name, Qt.Key.Key_Return)

    # --- the menu bar ---

    @property
    def menu_bar(self) -> QMenuBar:
        """The menu bar of the main window."""
        return self.window.menuBar()

    def menu(self, title: str) -> QMenu:
        """Return a menu of the menu bar."""
        return next(menu for menu in menus_of(self.menu_bar) if plain(menu.title()) == title)

    def enabled(self, title: str) -> list[str]:
        """Open a menu and return the commands that can be chosen."""
        menu = self._open(title)
        found = [plain(action.text()) for action in menu.actions() if action.isEnabled() and not action.isSeparator()]
        menu.close()
        return found

    def choose(self, title: str, *commands: str) -> None:
        """Click a menu in the menu bar, then a command in it, or a submenu and a command in that."""
        menu = self._open(title)
        for command in commands:
            action = click_in(menu, command)
            if isinstance(inner := action.menu(), QMenu):
                menu = inner
                self.qtbot.waitUntil(menu.isVisible)

    def action(self, text: str) -> QAction:
        """Return a command by its text, to look at its state."""
        return next(action for action in self.window.findChildren(QAction) if plain(action.text()) == text)

    def popup(self) -> QMenu:
        """Return the context menu that is open."""
        self.qtbot.waitUntil(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        return menu

    def _open(self, title: str) -> QMenu:
        menu = self.menu(title)
        position = self.menu_bar.actionGeometry(menu.menuAction()).center()
        QTest.mouseClick(self.menu_bar, Qt.MouseButton.LeftButton, pos=QPoint(position))
        self.qtbot.waitUntil(menu.isVisible)
        return menu


def click_in(menu: QMenu, command: str) -> QAction:
    """Click a command of a menu that is open, and return it."""
    action = next(action for action in menu.actions() if plain(action.text()) == command)
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())
    return action


def menus_of(bar: QMenuBar) -> Iterator[QMenu]:
    """Yield the menus of a menu bar."""
    for title in bar.actions():
        menu = title.menu()
        assert isinstance(menu, QMenu)
        yield menu


def rows_of(view: QAbstractItemView) -> list[list[str]]:
    """Return the texts of all cells."""
    model = view.model()
    columns = range(model.columnCount())
    return [[model.index(row, column).data() for column in columns] for row in range(model.rowCount())]


def names_of(widget: QWidget) -> set[str]:
    """Return what a user may call a widget: its accessible name, its text, its label."""
    names = {english(widget.accessibleName()), widget.objectName()}
    if isinstance(widget, QAbstractButton):
        names.add(plain(widget.text()))
    labels = [label for label in widget.window().findChildren(QLabel) if label.buddy() is widget]
    return names | {plain(label.text()) for label in labels}


def plain(text: str) -> str:
    """Return a label in English, without the mark of its mnemonic."""
    return english(text.replace("&", ""))


class Table:
    """The table that other features see: all plants, and which of them are selected or shown."""

    def __init__(self) -> None:
        self.search_text = ""
        self.shown_count = 0
        self.selected: list[int] = []

    def selected_ids(self) -> array[int]:
        return array("q", self.selected)

    def row(self, plant_id: int) -> PlantRow | None:
        """Nothing is loaded."""

    def focus_table(self) -> None:
        """Nothing: no test looks at it."""

    def clear_selection(self) -> None:
        self.selected = []
