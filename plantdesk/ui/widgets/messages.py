"""Messages with icon, text and action buttons: lines in forms and dialogs, info bars for states, and the toast."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import partial
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QEvent, QRect, QSize, Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import QAccessible, QDesktopServices, QHideEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLineEdit, QProgressBar, QStyle, QVBoxLayout, QWidget
from shiboken6 import isValid
from typing_extensions import override

from plantdesk.domain.texts import Text
from plantdesk.ui.qt import STRETCH, application, fill, has_focus, mirrored, set_properties
from plantdesk.ui.texts import error_text, quoted, translated
from plantdesk.ui.theme.metrics import EDGE, ICON, XS, L, M, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.buttons import CloseButton
from plantdesk.ui.widgets.containers import ActionRow
from plantdesk.ui.widgets.painting import Icon
from plantdesk.ui.widgets.plain_text import PlainLabel, announce

#: The label of a button, and its slot.
MessageAction = tuple[str, Callable[[], object]]
#: Milliseconds for which a success message is shown.
_SHOWN_MS = 8000
#: The same if a screen reader is active.
_SPOKEN_MS = 30_000
#: The least width of a text beside its buttons, in pixels.
_MIN_TEXT_WIDTH = 80
#: The least width of the text beside the buttons of a line, for text of 13 px.
_MIN_LINE_TEXT_WIDTH = 240
#: Steps of the progress of a bar.
_PROGRESS_STEPS = 1000
#: Milliseconds after which running work is reported.
_PROGRESS_DELAY_MS = 150


class Tone(Enum):
    """The severity of a message: its name in the style sheet, and its icon (None: no icon)."""

    HINT = ("muted", None)
    OK = ("ok", "circle-check")
    INFO = ("info", "info")
    WARNING = ("warning", "triangle-alert")
    ERROR = ("error", "circle-alert")

    def __init__(self, style_name: str, icon: str | None) -> None:
        self.style_name = style_name
        self.icon = icon


class MessageStyle(NamedTuple):
    """The layout of a kind of message: margins, spacing, and size of the icon in pixels.

    `button_style` are properties of the buttons in the style sheet. `fills`: the text takes all the room that the
    buttons leave; else they follow it directly. `color` is the colour of the icons, by default the colour of the tone.
    """

    margins: tuple[int, int, int, int]
    spacing: int
    icon_size: int
    button_style: Mapping[str, str]
    fills: bool = False
    color: str = ""


_LINE = MessageStyle((0, 0, 0, 0), S, 16, {"variant": "link"})
_BAR = MessageStyle((L, M, S + XS, M), S, 20, {}, fills=True)
_TOAST = MessageStyle((L, S, S, S), M, ICON, {"small": "true"}, color="on_toast")


class Message(QFrame):
    """The base of messages: icon, title, text, buttons, key and close button, each if needed.

    The buttons move below the text if there is too little room. A closed message returns the focus. One that
    expires, after `shown_ms` milliseconds, stays while it has focus or pointer. Screen readers speak it.
    """

    def __init__(self, theme: Theme, parent: QWidget | None, style: MessageStyle, shown_ms: int = _SHOWN_MS) -> None:
        super().__init__(parent)
        self._theme = theme
        self._style = style
        self._shown_ms = shown_ms
        #: The tone of the message; HINT while there is no message.
        self.tone = Tone.HINT
        self._icon = Icon(theme, size=style.icon_size)
        self._title = PlainLabel(role="strong", wrapped=True)
        self._text = PlainLabel(wrapped=True)
        self._key_label = PlainLabel(tone="muted")
        self._close_button = CloseButton(theme, self.tr("Close this message"), style.color or "text")
        self._close_button.clicked.connect(self.clear)
        for part in (self._title, self._key_label, self._close_button):
            part.hide()
        self._texts = fill(QVBoxLayout(), self._title, self._text, spacing=2)
        self._action_row = fill(ActionRow(style.spacing, **style.button_style), self._key_label, STRETCH)
        self._content = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        fill(self._content, (self._texts, int(style.fills)), self._action_row)
        parts = self._icon, (self._content, 1), self._close_button
        self._row = fill(QHBoxLayout(self), *parts, margins=mirrored(self, *style.margins), spacing=style.spacing)
        self._expiry_timer = QTimer(self, singleShot=True)
        self._expiry_timer.timeout.connect(self._on_expired)
        self._previous_focus: QWidget | None = None
        application().focusChanged.connect(self._on_focus_changed)

    @property
    def title(self) -> str:
        """The shown title; empty without one."""
        return self._title.text()

    @property
    def text(self) -> str:
        """The shown text; of a hidden message, the last one."""
        return self._text.text()

    @property
    def labels(self) -> list[str]:
        """The labels of the shown buttons; none while the message is hidden."""
        return [] if self.isHidden() else self._action_row.labels

    @Slot()
    def clear(self) -> None:
        """Hide the message, stop its expiry, and return the focus if it has it."""
        self._expiry_timer.stop()
        self._return_focus()
        self.hide()

    def withdraw(self, text: str) -> None:
        """Remove the message if it is shown and has this text."""
        if text and self.text == text and not self.isHidden():
            self.clear()

    def _set_content(
        self, tone: Tone, text: str, actions: Iterable[MessageAction] = (), *, title: str = "", expires: bool = False
    ) -> None:
        """Set tone, text and buttons, start or stop the expiry, and return the focus of a replaced message."""
        self.tone = tone
        self._icon.show_icon(tone.icon, self._style.color or tone.style_name)
        self._title.setText(title)
        self._title.setVisible(bool(title))
        self._text.setText(text)
        self._return_focus()
        self._action_row.show_actions(actions)
        self._fit()
        self._expiry_timer.stop()
        if expires:
            self._expiry_timer.start(max(self._shown_ms, _SPOKEN_MS) if QAccessible.isActive() else self._shown_ms)

    def _announce(self) -> None:
        title = self.title if self.title.endswith((".", "?")) else self.title and f"{self.title}."
        names = ", ".join(map(quoted, self.labels))
        buttons = Text("Buttons: {names}.", one="Button: {names}.", count=len(self.labels), names=names)
        announce(self, " ".join(filter(None, (title, self.text, translated(buttons) if names else ""))))

    @Slot(QWidget, QWidget)
    def _on_focus_changed(self, before: QWidget | None, now: QWidget | None) -> None:
        if now is not None and before is not None and self.isAncestorOf(now) and not self.isAncestorOf(before):
            # Dialogs have no `focus_before_keys`.
            self._previous_focus = getattr(self.window(), "focus_before_keys", None) or before

    def _return_focus(self) -> None:
        if has_focus(self) and self._previous_focus is not None and isValid(self._previous_focus):
            self._previous_focus.setFocus()

    def _fit(self) -> None:
        self._fit_into(self.width())

    def _fit_into(self, width: int) -> None:
        """Lay out the buttons beside the text or below it, for a width of the message."""
        content_width = width - (self._row.sizeHint().width() - self._content.sizeHint().width())
        buttons_width = self._buttons_width()
        text_width = self._natural_width()
        is_below = buttons_width > content_width // 2 and text_width > content_width - buttons_width
        directions = QBoxLayout.Direction
        self._content.setDirection(directions.TopToBottom if is_below else directions.LeftToRight)
        self._content.setSpacing(S if is_below else self._style.spacing)
        if not self._style.fills:
            room = content_width - (0 if is_below else buttons_width)
            self._text.setFixedWidth(max(min(text_width, room), _MIN_TEXT_WIDTH))

    def _natural_width(self) -> int:
        return self._text.fontMetrics().horizontalAdvance(self.text) + XS

    def _buttons_width(self) -> int:
        """Return the width of buttons and key, with the gaps before them."""
        return self._action_row.sizeHint().width() + self._style.spacing if self._action_row.labels else 0

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._fit()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    @Slot()
    def _on_expired(self) -> None:
        if self.underMouse() or has_focus(self):
            self._expiry_timer.start()
        else:
            self.clear()


class MessageLine(Message):
    """A line with a message, or a hint while there is none. A success message expires."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, shown_ms: int = _SHOWN_MS) -> None:
        super().__init__(theme, parent, _LINE, shown_ms)
        self._hint = ""
        self.setMinimumHeight(theme.metrics.compact_row - 2)  # as high as its buttons, so nothing moves
        self.clear()

    def set_hint(self, text: str) -> None:
        """Set the text that is shown while there is no message."""
        shows_hint = self.tone is Tone.HINT and self.text == self._hint
        self._hint = text
        if shows_hint:
            self.clear()

    @Slot()
    @override
    def clear(self) -> None:
        """Replace the message by the hint."""
        self.show_message(Tone.HINT, self._hint)

    def show_message(self, tone: Tone, text: str, *actions: MessageAction) -> None:
        """Show a message with a button for each action; screen readers do not speak one with the tone HINT."""
        set_properties(self._text, tone=tone.style_name)
        self._set_content(tone, text, actions, expires=tone is Tone.OK)
        if tone is not Tone.HINT:
            self._announce()

    @override
    def minimumSizeHint(self) -> QSize:
        """Return the width of the buttons and of some words, as the text can be wrapped."""
        text_width = min(self._natural_width(), self._theme.metrics.scaled(_MIN_LINE_TEXT_WIDTH))
        icon_width = 0 if self._icon.isHidden() else self._icon.width() + S
        return QSize(icon_width + self._buttons_width() + text_width, super().minimumSizeHint().height())


class InfoBar(Message):
    """A bar below the list about a lasting state. It is hidden until `show_state` is called."""

    #: It was shown or hidden.
    changed = Signal()
    #: The user has closed it.
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent, _BAR)
        for label in (self._title, self._text):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._close_button.clicked.connect(self.closed)
        self._progress_bar = QProgressBar(textVisible=False)
        self._progress_bar.hide()
        self._texts.addWidget(self._progress_bar)
        self.hide()

    def show_state(self, tone: Tone, title: str, text: str, *actions: MessageAction, persistent: bool = False) -> None:
        """Show a state with a button for each action; a `persistent` one cannot be closed by the user."""
        set_properties(self, bar=tone.style_name)
        self._progress_bar.hide()
        self._close_button.setVisible(not persistent)
        self._text.setVisible(bool(text) or persistent)
        icon_alignment = Qt.AlignmentFlag.AlignTop if text or persistent else Qt.AlignmentFlag.AlignVCenter
        self._row.setAlignment(self._icon, icon_alignment)
        self.setAccessibleName(title)
        self.show()
        self._set_content(tone, text, actions, title=title)
        self.changed.emit()
        self._announce()

    @Slot()
    @override
    def clear(self) -> None:
        """Hide the bar, and emit `changed`."""
        super().clear()
        self.changed.emit()

    def set_progress(self, text: str, fraction: float | None) -> None:
        """Show a progress from 0 to 1, or None if unknown; screen readers do not speak it."""
        self._text.setText(text)
        self._progress_bar.setRange(0, 0 if fraction is None else _PROGRESS_STEPS)
        self._progress_bar.setValue(round((fraction or 0) * _PROGRESS_STEPS))
        self._progress_bar.setAccessibleName(self.title)
        self._progress_bar.show()


class BarStack(QFrame):
    """The info bars below the list, one below the other. Without open bars it takes no room."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setProperty("pane", "strip")
        self._layout = fill(QVBoxLayout(self), margins=(EDGE, M, EDGE, M), spacing=M)
        self.hide()

    def add(self) -> InfoBar:
        """Add a bar on top of the others, and return it; it is hidden at first."""
        bar = InfoBar(self._theme, self)
        bar.changed.connect(self._on_changed)
        self._layout.insertWidget(0, bar)
        return bar

    @Slot()
    def _on_changed(self) -> None:
        self.setVisible(not all(bar.isHidden() for bar in self.findChildren(InfoBar)))


class Toast(Message):
    """A message over the lower or upper end of an area of its parent; a new one replaces it. Escape closes it."""

    #: (height) The height of the area's lower end that it covers has changed.
    covered_height_changed = Signal(int)
    #: (text, actions) A result is shown.
    reported = Signal(str, object)

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, shown_ms: int = _SHOWN_MS) -> None:
        super().__init__(theme, parent, _TOAST, shown_ms)
        self.setProperty("pane", "toast")
        self._area = QRect()
        self._is_visited = self._is_upper = False
        self._progress_text = ""
        self._close_button.show()
        self._progress_timer = QTimer(self, singleShot=True, interval=_PROGRESS_DELAY_MS)
        self._progress_timer.timeout.connect(self._on_progress_due)
        self.hide()

    @property
    def is_waiting(self) -> bool:
        """Whether a message is shown that has not had the focus yet."""
        return self.isVisible() and not self._is_visited

    @property
    def is_persistent(self) -> bool:
        """Whether a message is shown that stays until it is closed."""
        return self.isVisible() and not self._expiry_timer.isActive()

    def show_message(self, text: str, *actions: MessageAction, key: str = "") -> None:
        """Show a result with a button for each action, and the `key` of the last one; the message expires.

        The key is not shown while it would undo or redo typing in a field.
        """
        focused = application().focusWidget()
        is_typing = isinstance(focused, QLineEdit) and (focused.isUndoAvailable() or focused.isRedoAvailable())
        self._show(Tone.HINT, text, *actions, key="" if is_typing else key, expires=True)
        self.reported.emit(text, actions)

    def show_problem(self, text: str, *actions: MessageAction) -> None:
        """Show a problem, until it is closed or replaced."""
        self._show(Tone.WARNING, text, *actions)
        self.reported.emit(text, actions)

    def show_error(self, error: Exception) -> None:
        """Show the text of an error as a problem."""
        self.show_problem(error_text(error))

    def open_file(self, file: Path) -> None:
        """Open a file or a folder in the user's program for it; show a problem if there is none."""
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(file))):
            self.show_problem(self.tr("No program was found that opens {file}.").format(file=quoted(str(file))))

    def show_progress(self, text: str) -> None:
        """Show that work is running, after a delay, unless another message comes first."""
        self._expiry_timer.stop()  # of the previous message: its end would close this one
        self._progress_text = text
        self._progress_timer.start()

    @Slot()
    @override
    def clear(self) -> None:
        """Close the message, and drop a progress that is not shown yet."""
        self._progress_timer.stop()
        super().clear()

    @Slot()
    def focus_first(self) -> None:
        """Move the focus to the first button of the message."""
        self._is_visited = True
        (self._action_row.first_button or self._close_button).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def set_area(self, area: QRect) -> None:
        """Set the area of the parent over which messages are shown; wider texts are wrapped."""
        if area != self._area:
            self._area = area
            self._fit()

    @Slot(bool)
    def set_upper(self, is_upper: bool) -> None:
        """Show messages over the upper end of the area, or over the lower one."""
        self._is_upper = is_upper
        self._fit()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.clear()
        else:
            super().keyPressEvent(event)

    def _show(self, tone: Tone, text: str, *actions: MessageAction, key: str = "", expires: bool = False) -> None:
        self._progress_timer.stop()
        self._is_visited = False
        self._key_label.setText(key)
        self._key_label.setVisible(bool(key))
        self.setAccessibleName(text)
        self.show()
        closing_actions = [(label, partial(self._run, action)) for label, action in actions]
        self._set_content(tone, text, closing_actions, expires=expires)
        self._announce()

    def _run(self, action: Callable[[], object]) -> None:
        self.clear()
        action()

    @override
    def _fit(self) -> None:
        """Place the toast at an end of its area, and report the height that it covers."""
        if self._area.isEmpty():
            return
        self.ensurePolished()  # or its margins would be missing
        width = self._area.width() * 3 // 4 if self._is_upper else self._area.width()  # beside the tags' button
        self._fit_into(width - 2)  # the border
        self._row.activate()
        edge = Qt.AlignmentFlag.AlignTop if self._is_upper else Qt.AlignmentFlag.AlignBottom
        alignment = Qt.AlignmentFlag.AlignTrailing | edge
        area = self._area.translated(0, -XS if self._is_upper else 0)
        self.setGeometry(QStyle.alignedRect(self.layoutDirection(), alignment, self.sizeHint(), area))
        self.raise_()
        if self.isVisible():
            self.covered_height_changed.emit(0 if self._is_upper else self.height())

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.covered_height_changed.emit(0)

    @Slot()
    def _on_progress_due(self) -> None:
        self._show(Tone.HINT, self._progress_text)
