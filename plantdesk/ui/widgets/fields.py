"""Fields and buttons, and lists of offers under a field. They leave some keys to the menu.

The wheel scrolls their container. The list of a completer takes no focus, so no letter goes to another field.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TypeVar

from PySide6.QtCore import (
    QEvent,
    QLocale,
    QMargins,
    QMetaMethod,
    QMimeData,
    QModelIndex,
    QObject,
    QPointF,
    QRect,
    QSize,
    QStringListModel,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QTextLayout,
)
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QCompleter,
    QDoubleSpinBox,
    QGridLayout,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid
from typing_extensions import override

from plantdesk.domain.addresses import split_address
from plantdesk.domain.folding import searched
from plantdesk.domain.tags import completions
from plantdesk.domain.texts import Text
from plantdesk.ui.qt import Index, fill, mirrored
from plantdesk.ui.texts import one_line, tag_text, translated
from plantdesk.ui.theme.metrics import ICON, ICON_BUTTON, XS, M, S
from plantdesk.ui.theme.theme import Theme, round_corners
from plantdesk.ui.widgets.dialog import ENTER_KEYS
from plantdesk.ui.widgets.painting import line_layout
from plantdesk.ui.widgets.plain_text import PlainLabel, announce, set_tool_tip, show_below

Box = TypeVar("Box", QSpinBox, QDoubleSpinBox)
#: Pixels beside the texts of a list.
_LIST_MARGINS = 40
#: The corner radius of the chosen offer.
_ROW_RADIUS = 6
#: Events of a field's window that close its list.
_CLOSING = {QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.WindowDeactivate, QEvent.Type.MouseButtonPress}
#: Characters of a name or a tag; a line edit with a megabyte of text blocks the window.
MAX_LENGTH = 10_000
#: What clipboard histories look for: KDE's Klipper and others on Linux, and Windows (Win+V, cloud clipboard).
#: macOS looks for a type of NSPasteboard that Qt cannot set.
_HINTS = {
    "x-kde-passwordManagerHint": b"secret",
    'application/x-qt-windows-mime;value="ExcludeClipboardContentFromMonitorProcessing"': b"1",
}
_CLEAR_AFTER_MS = 60_000
#: Offers that screen readers speak at once.
_SPOKEN = 3
#: Milliseconds for which the button shows a confirmation.
_FEEDBACK_MS = 1500


class OfferDelegate(QStyledItemDelegate):
    """Paints a text in its own direction. `typed` is what the user has typed of it."""

    typed = ""

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        height = super().sizeHint(option, index).height()
        return QSize(QFontMetrics(_bold(option.font)).horizontalAdvance(str(index.data())) + 3 * S, height)

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(option.palette.color(QPalette.ColorRole.Highlight))
            painter.drawRoundedRect(option.rect, _ROW_RADIUS, _ROW_RADIUS)
        end = self.paint_end(painter, option, index)
        rect = QRect(option.rect.left() + S, option.rect.top(), end - option.rect.left() - 2 * S, option.rect.height())
        painter.setPen(option.palette.color(QPalette.ColorRole.Text))
        layout = self.layout(str(index.data()), option, rect.width())
        place = QStyle.visualRect(option.direction, option.rect, rect)
        top = place.top() + (place.height() - layout.boundingRect().height()) / 2
        layout.draw(painter, QPointF(place.left(), top))
        painter.restore()

    def paint_end(self, _painter: QPainter, option: QStyleOptionViewItem, _index: Index) -> int:
        """Paint the end of the row; return the position of its start, before the row is mirrored."""
        return option.rect.right()

    def layout(self, text: str, option: QStyleOptionViewItem, width: int) -> QTextLayout:
        """Return the layout of a text, elided to a width in pixels."""
        bold, found = _bold(option.font), QTextLayout.FormatRange()
        text = one_line(text)
        folded, typed = searched(text), searched(self.typed)
        found.start = max(folded.find(typed), 0)
        found.length = len(typed) if typed in folded and len(folded) == len(text) else 0
        found.format.setFont(bold)
        elided = QFontMetrics(bold).elidedText(text, Qt.TextElideMode.ElideRight, max(width, 0))
        return line_layout(elided, [found], option.font, option.direction, width)


class CompleterPopup(QObject):
    """Shows the list of one completer without focus, passes the keys of its field on to it, and closes it."""

    def __init__(self, completer: QCompleter, owner: QWidget, delegate: OfferDelegate | None = None) -> None:
        """Use the completer's present popup; `delegate` paints the offers.

        `owner` is in the window of the fields, and the parent of the completer: this must be deleted before its popup.
        """
        super().__init__(completer)
        popup = completer.popup()
        assert popup is not None  # noqa: S101  Qt creates it, unless another one was set
        self._completer = completer
        #: The list.
        self.view = popup
        self._field: QWidget | None = None
        self._delegate = delegate or OfferDelegate(self)
        popup.setParent(owner, Qt.WindowType.ToolTip | Qt.WindowType.WindowDoesNotAcceptFocus)
        popup.setProperty("popup", "true")
        popup.setItemDelegate(self._delegate)
        popup.installEventFilter(self)

    def set_typed(self, text: str) -> None:
        """Show a part of the offers bold."""
        self._delegate.typed = text

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if watched is self.view:
            if kind is QEvent.Type.Show:
                self._follow(self._completer.widget())
            elif kind is QEvent.Type.Hide:
                self._follow(None)
            elif kind is QEvent.Type.Resize:
                round_corners(self.view)
        elif watched is self._field and kind is QEvent.Type.KeyPress:
            return QApplication.sendEvent(self.view, event)  # the completer asks the field first
        elif watched is self._field:
            if kind is QEvent.Type.FocusOut:
                self.view.hide()
        elif kind in _CLOSING:
            self.view.hide()
        return False

    def _follow(self, field: QWidget | None) -> None:
        """Watch a field and its window while the list is shown."""
        before, self._field = self._field, field
        if before is not None:
            before.removeEventFilter(self)
            before.window().removeEventFilter(self)
        if field is not None:
            field.installEventFilter(self)
            field.window().installEventFilter(self)


class OfferList(QCompleter):
    """Offers all texts that it is given under a field, and chooses none of them by itself."""

    def __init__(self, field: QWidget, delegate: OfferDelegate | None = None) -> None:
        """Make an empty list for `field`; `delegate` paints the offers."""
        super().__init__(field)
        self._texts = QStringListModel(self)
        self.setModel(self._texts)
        self.setCompletionMode(self.CompletionMode.UnfilteredPopupCompletion)
        self.setWidget(field)
        self._popup = CompleterPopup(self, field, delegate)
        #: The list.
        self.view = self._popup.view

    def offer(self, texts: Sequence[str], typed: str, place: QRect) -> None:
        """Show texts, with what was `typed` of them bold, below a rectangle of the field; none: hide the list.

        The list is as wide as the rectangle, or as its texts.
        """
        if not isValid(self.view):  # a field that is deleted loses the focus after its list is gone
            return
        self._texts.setStringList(texts)
        if texts:
            self._popup.set_typed(typed)
            width = max(place.width(), self.view.sizeHintForColumn(0) + _LIST_MARGINS)
            self.complete(QRect(place.topLeft(), QSize(width, place.height())))
            self.view.setCurrentIndex(QModelIndex())  # else Qt takes the first one
        else:
            self.view.hide()


def _bold(font: QFont) -> QFont:
    bold = QFont(font)
    bold.setWeight(QFont.Weight.DemiBold)
    return bold


class _IgnoredWheel(QObject):
    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Wheel:
            event.ignore()  # so Qt sends it to the parent
            return True
        return super().eventFilter(watched, event)


def ignore_wheel(field: QWidget) -> None:
    """Let only clicks and keys change `field`."""
    field.installEventFilter(_IgnoredWheel(field))


class LineEdit(QLineEdit):
    """Ignores Ctrl+Home, which in a single line has the effect of Home, and undo if nothing was typed.

    It ignores Ctrl+E and Ctrl+D as well, which act as End and Del on X11. An Enter that is held counts once. An Enter
    that chooses a completion does nothing else.

    `refused(reason)`: a pasted text is too long; Qt would cut it. If no slot is connected, a tooltip says so.
    `scanned(id)`: Enter or Tab was pressed after the address of a plant, as a barcode reader types it. With a slot for
    it, the address is removed, and the key does nothing else.
    """

    refused = Signal(str)
    scanned = Signal(object)

    def __init__(self, parent: QWidget | None = None, *, max_length: int = MAX_LENGTH) -> None:
        super().__init__(parent, maxLength=max_length)
        self._text_before = ""
        self.textChanged.connect(self._on_text_changed)
        self.inputRejected.connect(self._on_input_rejected)

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._is_of_menu(event):
            event.ignore()
            return False
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() not in ENTER_KEYS:
            super().keyPressEvent(event)
        elif self._is_completing():
            event.ignore()  # for the completer, which asks the field first
        elif not (event.isAutoRepeat() or self._take_address()):
            super().keyPressEvent(event)

    @override
    def focusNextPrevChild(self, following: bool) -> bool:
        return (following and self._take_address()) or super().focusNextPrevChild(following)

    def _take_address(self) -> bool:
        before, scanned = split_address(self.text())
        if scanned is None or not self.isSignalConnected(QMetaMethod.fromSignal(self.scanned)):
            return False
        self.setText(before)
        self.scanned.emit(scanned)
        return True

    def _is_completing(self) -> bool:
        completer: QCompleter | None = self.completer()
        popup = None if completer is None else completer.popup()
        return popup is not None and popup.isVisible() and popup.currentIndex().isValid()

    def _is_of_menu(self, event: QKeyEvent) -> bool:
        undo = event.matches(QKeySequence.StandardKey.Undo) and not self.isUndoAvailable()
        redo = event.matches(QKeySequence.StandardKey.Redo) and not self.isRedoAvailable()
        return undo or redo or any(_is_ctrl(event, key) for key in (Qt.Key.Key_Home, Qt.Key.Key_E, Qt.Key.Key_D))

    @Slot(str)
    def _on_text_changed(self, text: str) -> None:
        self._text_before = text

    @Slot()
    def _on_input_rejected(self) -> None:
        """Undo the part of a text that Qt has inserted. A letter typed into a full field inserts nothing."""
        if self.text() != self._text_before:
            self.undo()
        text = self.tr("That text is too long for this field, which takes {longest} characters. Shorten it first.")
        text = text.format(longest=QLocale().toString(self.maxLength()))
        if self.isSignalConnected(QMetaMethod.fromSignal(self.refused)):
            self.refused.emit(text)
        else:
            show_below(self, text)


def _is_ctrl(event: QKeyEvent, key: Qt.Key) -> bool:
    return event.key() == key and event.modifiers() == Qt.KeyboardModifier.ControlModifier


class ButtonField(LineEdit):
    """The base of fields with a `button`, which keep their text clear of it.

    The button is not Qt's own (`addAction`, `setClearButtonEnabled`): Tab cannot reach that, it shows no focus, and
    under a style sheet it is not centred.
    """

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
        """Return how many pixels are reserved before the text for other painting."""
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
        place = QRect(self.width() - size - XS, (self.height() - size) // 2, size, size)
        self.button.setGeometry(QStyle.visualRect(self.layoutDirection(), self.rect(), place))


class ComboBox(QComboBox):
    """A combo box that the wheel does not change."""

    def __init__(self, name: str, choices: Iterable[tuple[str, object]] = ()) -> None:
        """Make it with a `name` for screen readers, and a text and a value for each choice."""
        super().__init__()
        for text, value in choices:
            self.addItem(text, value)
        ignore_wheel(self)
        self.setItemDelegate(QStyledItemDelegate(self))  # Qt's own delegate ignores the style sheet of items
        self.setAccessibleName(name)
        if sys.platform == "linux":  # there Qt reports the chosen text as the name
            self.setAccessibleDescription(name)

    @override
    def sizeHint(self) -> QSize:
        self.ensurePolished()  # else Qt computes a lower height than that of the style sheet
        return super().sizeHint()


def spin_box(kind: type[Box]) -> Box:
    """Return a new spin box of a class, which the wheel does not change."""
    box = kind()
    ignore_wheel(box)
    box.lineEdit().setTextMargins(*mirrored(box, S + 2, 0, 0, 0))  # a style sheet's padding does not work there
    return box


def copy_secret(secret: str, clear_after_ms: int = _CLEAR_AFTER_MS) -> None:
    """Put `secret` on the clipboard; clear it if the secret is still there after `clear_after_ms`, or at the end."""
    content = QMimeData()
    content.setText(secret)
    for format_, value in _HINTS.items():
        content.setData(format_, value)
    clipboard = QGuiApplication.clipboard()
    clipboard.setMimeData(content)

    def clear() -> None:
        if clipboard.text() == secret:
            clipboard.clear()

    QTimer.singleShot(clear_after_ms, clipboard, clear)
    app = QGuiApplication.instance()
    if app is not None:
        app.aboutToQuit.connect(clear)  # Windows and macOS keep the clipboard of a program that has ended


class SecretEdit(QLineEdit):
    """Read-only. Nothing in it can be selected: Qt would copy a selection without the hints for clipboard histories."""

    def __init__(self, theme: Theme, name: str) -> None:
        """Make a field with a `name` for screen readers."""
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


class TagCompleter(QCompleter):
    """Offers the `tags` that contain what was typed, level by level (`domain.tags.completions`)."""

    def __init__(self, tags: QStringListModel, owner: QWidget) -> None:
        """`owner` is in the window of its fields."""
        super().__init__(owner)
        self.tags = tags
        self._popup = CompleterPopup(self, owner)
        self._offers = QStringListModel(self)
        self.setModel(self._offers)
        self.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.setFilterMode(Qt.MatchFlag.MatchContains)
        self.setMaxVisibleItems(8)

    @override
    def splitPath(self, path: str) -> list[str]:
        """Make the offers for what was typed: Qt calls this before it searches them."""
        self._popup.set_typed(path)
        offers = completions(self.tags.stringList(), path)
        if offers not in (self._offers.stringList(), [path], []) and path:
            names = ", ".join(map(tag_text, offers[:_SPOKEN]))
            text = Text("{count:,} tags offered: {names}", one="1 tag offered: {names}", count=len(offers), names=names)
            announce(self.widget(), translated(text))
        self._offers.setStringList(offers)
        return [path]


def add_labelled(grid: QGridLayout, fields: Iterable[tuple[str, QWidget]], *, wrapped: bool = False) -> None:
    """Add a row for each field to an empty grid: the field, and its label, which also names it for screen readers."""
    for row, (text, field) in enumerate(fields):
        field.setAccessibleName(text)
        grid.addWidget(PlainLabel(text, wrapped=wrapped, buddy=field), row, 0)
        grid.addWidget(field, row, 1)


def labelled(text: str, field: QWidget) -> QWidget:
    """Return a field under its label, which also names it for screen readers."""
    field.setAccessibleName(text.replace("&", ""))
    both = QWidget()
    fill(QVBoxLayout(both), PlainLabel(text, role="caption", buddy=field), field, margins=0, spacing=XS)
    return both


class CloseButton(QToolButton):
    """Gets the focus by Tab only; its name is also its tooltip."""

    def __init__(self, theme: Theme, name: str, color: str = "text") -> None:
        super().__init__()
        self.setAccessibleName(name)
        set_tool_tip(self, name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        theme.icons.put_on(self, "x", color)


class OneClickButton(QPushButton):
    """Ignores the second press of a double click, which was meant for the button that was there before."""

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()


class CopyButton(QPushButton):
    """Copies the text of the last `set_content`; a secret stays out of histories, and is cleared after a minute."""

    def __init__(
        self, theme: Theme, label: str, *, name: str = "", primary: bool = False, secret: bool = False
    ) -> None:
        """Make a button with a label, or only with an icon: then `name` is its accessible name, `label` its tooltip."""
        super().__init__()
        self._theme = theme
        self._label = label
        self._has_only_icon = bool(name)
        self._color = "text_2" if name else "text"
        if primary:
            self._color = "on_accent"
        self._is_secret = secret
        self._content = ""
        self.setAccessibleName(name)
        if name or primary:
            self.setProperty("variant", "icon" if name else "primary")
        self._feedback = QTimer(self, singleShot=True, interval=_FEEDBACK_MS)
        self._feedback.timeout.connect(self._show_label)
        self.clicked.connect(self.copy)
        self._show_label()

    def set_content(self, text: str) -> None:
        """Copy `text` when clicked."""
        self._content = text

    @Slot()
    def copy(self) -> None:
        """Put the text on the clipboard."""
        if self._is_secret:
            copy_secret(self._content)
        else:
            QGuiApplication.clipboard().setText(self._content)
        self.setMinimumWidth(self.width())
        self._show(self.tr("Copied"), "check", "ok" if self._has_only_icon else self._color)
        self._feedback.start()
        announce(self, self.tr("Copied"))

    @Slot()
    def _show_label(self) -> None:
        self._show(self._label, "copy", self._color)

    def _show(self, label: str, icon: str, color: str) -> None:
        if self._has_only_icon:
            set_tool_tip(self, label)
        else:
            self.setText(label)
        self._theme.icons.put_on(self, icon, color)


class SearchEdit(ButtonField):
    """A search field with a magnifier; Escape first clears it, then does what it does in its window."""

    #: The icon before the text.
    icon = "search"

    def __init__(self, theme: Theme, name: str, *, max_length: int = 100) -> None:
        """Make an empty field; `name` is also its placeholder."""
        super().__init__(theme, max_length=max_length)
        self.name_button(self.tr("Clear search"), self.tr("Clear search (Esc)"))
        self.setPlaceholderText(name)
        self.setAccessibleName(name)
        theme.icons.put_on(self.button, "x", "text_2")
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
        place = QRect(M - 1, (self.height() - size) // 2, size, size)
        painter = QPainter(self)
        self._theme.icons.paint(painter, QStyle.visualRect(self.layoutDirection(), self.rect(), place), self.icon)
        painter.end()

    @Slot(str)
    def _show_clear_button(self, text: str) -> None:
        self.button.setVisible(bool(text))

    @Slot()
    def _on_clear_clicked(self) -> None:
        self.setFocus()
        self.clear()
