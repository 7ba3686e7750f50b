"""Line edits, combo boxes and spin boxes. They leave some keys to menus, and the wheel to their container."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TypeVar

from PySide6.QtCore import QEvent, QLocale, QMargins, QMetaMethod, QObject, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QDoubleSpinBox,
    QGridLayout,
    QLineEdit,
    QSpinBox,
    QStyle,
    QStyledItemDelegate,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from plantdesk.domain.plant_urls import split_url
from plantdesk.ui.qt import fill, mirrored
from plantdesk.ui.theme.metrics import ICON, ICON_BUTTON, XS, M, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.buttons import copy_secret
from plantdesk.ui.widgets.dialog import ENTER_KEYS
from plantdesk.ui.widgets.plain_text import PlainLabel, set_tool_tip, show_below

Box = TypeVar("Box", QSpinBox, QDoubleSpinBox)
#: Reasons for a loss of the focus after which it returns.
_TEMPORARY_REASONS = {
    Qt.FocusReason.ActiveWindowFocusReason,
    Qt.FocusReason.MenuBarFocusReason,
    Qt.FocusReason.PopupFocusReason,
}
#: The most characters of a field; a megabyte of text would block the window.
MAX_LENGTH = 10_000


class _WheelFilter(QObject):
    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Wheel:
            event.ignore()  # so Qt sends it to the parent
            return True
        return super().eventFilter(watched, event)


def ignore_wheel(field: QWidget) -> None:
    """Let the container of `field` get wheel events, instead of changing the field."""
    field.installEventFilter(_WheelFilter(field))


class LineEdit(QLineEdit):
    """A line edit that leaves Ctrl+Home, Ctrl+E, Ctrl+D, and undo without typed text, to shortcuts of menus.

    A held Enter counts once, and an Enter that chooses a completion does nothing else.
    """

    #: (reason) A pasted text is too long; Qt would cut it. Without a slot, a tooltip shows the reason.
    refused = Signal(str)
    #: (id) A barcode reader has typed a plant's URL, and Enter or Tab. With a slot, the key only removes the URL.
    scanned = Signal(object)

    def __init__(self, parent: QWidget | None = None, *, max_length: int = MAX_LENGTH) -> None:
        super().__init__(parent, maxLength=max_length)
        self._previous_text = ""
        self.textChanged.connect(self._on_text_changed)
        self.inputRejected.connect(self._on_input_rejected)

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._is_for_menu(event):
            event.ignore()
            return False
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() not in ENTER_KEYS:
            super().keyPressEvent(event)
        elif self._is_completing():
            event.ignore()  # handled by the completer, which sends it to the field first
        elif not (event.isAutoRepeat() or self._report_scan()):
            super().keyPressEvent(event)

    @override
    def focusNextPrevChild(self, following: bool) -> bool:
        return (following and self._report_scan()) or super().focusNextPrevChild(following)

    def _report_scan(self) -> bool:
        prefix, plant_id = split_url(self.text())
        if plant_id is None or not self.isSignalConnected(QMetaMethod.fromSignal(self.scanned)):
            return False
        self.setText(prefix)
        self.scanned.emit(plant_id)
        return True

    def _is_completing(self) -> bool:
        completer: QCompleter | None = self.completer()
        popup = None if completer is None else completer.popup()
        return popup is not None and popup.isVisible() and popup.currentIndex().isValid()

    def _is_for_menu(self, event: QKeyEvent) -> bool:
        is_undo = event.matches(QKeySequence.StandardKey.Undo) and not self.isUndoAvailable()
        is_redo = event.matches(QKeySequence.StandardKey.Redo) and not self.isRedoAvailable()
        return is_undo or is_redo or any(_is_ctrl(event, key) for key in (Qt.Key.Key_Home, Qt.Key.Key_E, Qt.Key.Key_D))

    @Slot(str)
    def _on_text_changed(self, text: str) -> None:
        self._previous_text = text

    @Slot()
    def _on_input_rejected(self) -> None:
        """Undo the insertion of a part of the text, and report that the text is too long."""
        if self.text() != self._previous_text:
            self.undo()
        text = self.tr("That text is too long for this field, which takes {longest} characters. Shorten it first.")
        text = text.format(longest=QLocale().toString(self.maxLength()))
        if self.isSignalConnected(QMetaMethod.fromSignal(self.refused)):
            self.refused.emit(text)
        else:
            show_below(self, text)


def _is_ctrl(event: QKeyEvent, key: Qt.Key) -> bool:
    return event.key() == key and event.modifiers() == Qt.KeyboardModifier.ControlModifier


class CellEditor(LineEdit):
    """The line edit over a table cell. Unlike an editor of Qt's views, it stays when the rows are replaced."""

    #: Enter was pressed.
    accepted = Signal()
    #: Escape was pressed.
    rejected = Signal()
    #: The focus has moved to another widget, not to a popup.
    focus_lost = Signal()
    #: (forward) Tab or Shift+Tab was pressed.
    tab_pressed = Signal(bool)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("cell", "true")
        self.hide()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER_KEYS:
            self.accepted.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.rejected.emit()
        else:
            super().keyPressEvent(event)
            if event.key() == Qt.Key.Key_F6:
                return
        event.accept()  # else the arrows move in the table

    @override
    def focusNextPrevChild(self, forward: bool) -> bool:
        self.tab_pressed.emit(forward)
        return True

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() not in _TEMPORARY_REASONS:
            self.focus_lost.emit()


class ButtonField(LineEdit):
    """A line edit with a button at its end, which Tab reaches and which is centred, unlike Qt's own."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, max_length: int = MAX_LENGTH) -> None:
        super().__init__(parent, max_length=max_length)
        self._theme = theme
        self.button = QToolButton(self)
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.setCursor(Qt.CursorShape.ArrowCursor)
        theme.changed.connect(self._arrange)
        self._arrange()

    def name_button(self, name: str, tool_tip: str) -> None:
        """Set the name of the button for screen readers, and its tooltip."""
        self.button.setAccessibleName(name)
        set_tool_tip(self.button, tool_tip)

    def leading_room(self) -> int:
        """Return the width in pixels that is reserved before the text."""
        return 0

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.LayoutDirectionChange:
            self._arrange()

    @Slot()
    def _arrange(self) -> None:
        size = self._theme.metrics.scaled(ICON_BUTTON)
        margins = QMargins(*mirrored(self, self.leading_room(), 0, size, 0))
        if margins != self.textMargins():
            self.setTextMargins(margins)
        rect = QRect(self.width() - size - XS, (self.height() - size) // 2, size, size)
        self.button.setGeometry(QStyle.visualRect(self.layoutDirection(), self.rect(), rect))


class ComboBox(QComboBox):
    """A combo box that the mouse wheel does not change."""

    def __init__(self, name: str, choices: Iterable[tuple[str, object]] = ()) -> None:
        """Make a combo box with an accessible `name`; each choice has a text and a value."""
        super().__init__()
        for text, value in choices:
            self.addItem(text, value)
        ignore_wheel(self)
        self.setItemDelegate(QStyledItemDelegate(self))  # the default delegate ignores the style sheet of items
        self.setAccessibleName(name)
        if sys.platform == "linux":  # there Qt reports the chosen text as the name
            self.setAccessibleDescription(name)

    @override
    def sizeHint(self) -> QSize:
        self.ensurePolished()  # else Qt computes a lower height than that of the style sheet
        return super().sizeHint()


def make_spin_box(kind: type[Box]) -> Box:
    """Return a new spin box of this class, which the mouse wheel does not change."""
    box = kind()
    ignore_wheel(box)
    box.lineEdit().setTextMargins(*mirrored(box, S + 2, 0, 0, 0))  # a style sheet's padding does not work there
    return box


class SecretEdit(QLineEdit):
    """A read-only field whose text can only be copied as a secret, with hints for clipboard histories."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setAccessibleName(name)
        self.setFont(theme.metrics.fixed_font())
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self.selectionChanged.connect(self.deselect)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy) or event.matches(QKeySequence.StandardKey.Cut):
            copy_secret(self.text())
        else:
            super().keyPressEvent(event)


def add_labelled(grid: QGridLayout, fields: Iterable[tuple[str, QWidget]], *, wrapped: bool = False) -> None:
    """Add a label and a field to each row of an empty grid; the label is also the accessible name."""
    for row, (text, field) in enumerate(fields):
        field.setAccessibleName(text)
        grid.addWidget(PlainLabel(text, wrapped=wrapped, buddy=field), row, 0)
        grid.addWidget(field, row, 1)


def with_label(text: str, field: QWidget) -> QWidget:
    """Return a field below its label. The label is also the accessible name."""
    field.setAccessibleName(text.replace("&", ""))
    container = QWidget()
    fill(QVBoxLayout(container), PlainLabel(text, role="caption", buddy=field), field, margins=0, spacing=XS)
    return container


class SearchEdit(ButtonField):
    """A search field with a magnifier. Escape clears it, and is left to the window if it is empty."""

    #: The icon before the text.
    icon = "search"

    def __init__(self, theme: Theme, name: str, *, max_length: int = 100) -> None:
        """Make an empty field; `name` is also its placeholder."""
        super().__init__(theme, max_length=max_length)
        self.name_button(self.tr("Clear search"), self.tr("Clear search (Esc)"))
        self.setPlaceholderText(name)
        self.setAccessibleName(name)
        theme.icons.put_on(self.button, "x", "muted")
        self.button.hide()
        self.button.clicked.connect(self._on_clear_clicked)
        self.textChanged.connect(self._show_clear_button)

    @override
    def leading_room(self) -> int:
        return self._theme.metrics.scaled(ICON) + S - 2

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
        elif self.text():
            self.clear()
        else:
            event.ignore()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        size = self._theme.metrics.scaled(ICON)
        rect = QRect(M - 1, (self.height() - size) // 2, size, size)
        painter = QPainter(self)
        self._theme.icons.paint(painter, QStyle.visualRect(self.layoutDirection(), self.rect(), rect), self.icon)
        painter.end()

    @Slot(str)
    def _show_clear_button(self, text: str) -> None:
        self.button.setVisible(bool(text))

    @Slot()
    def _on_clear_clicked(self) -> None:
        self.setFocus()
        self.clear()
