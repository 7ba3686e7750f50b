"""Messages with an icon, a text and action buttons: a line under a form, a bar above the table, a toast over its end.

A bar is for a lasting state; of several one is seen, the others on request. A toast reports what was done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEasingCurve, QEvent, QObject, QRect, QSize, Qt, QTimer, QVariantAnimation, Signal, Slot
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QFrame,
    QGraphicsOpacityEffect,
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QStyle,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid
from typing_extensions import override

from plantdesk.domain.errors import Text
from plantdesk.ui.qt import STRETCH, fill, mirrored, set_properties
from plantdesk.ui.texts import error_text, quoted, shown
from plantdesk.ui.theme.metrics import EDGE, ICON, XS, L, M, S
from plantdesk.ui.widgets.containers import MoreRow
from plantdesk.ui.widgets.fields import CloseButton, OneClickButton
from plantdesk.ui.widgets.painting import Icon
from plantdesk.ui.widgets.plain_text import PlainLabel, announce

if TYPE_CHECKING:
    from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent, QShowEvent

    from plantdesk.ui.theme.theme import Theme

    #: The label of a button, and what it does.
    MessageAction = tuple[str, Callable[[], object]]


class Message(QFrame):
    """Its icon follows the theme. Subclasses lay out its parts and announce what they show."""

    def __init__(self, theme: Theme, icon_size: int, parent: QWidget | None, **button_style: str) -> None:
        """Make an empty message; `button_style` are the properties of its buttons in the style sheet."""
        super().__init__(parent)
        self._theme = theme
        self._icon = Icon(theme, size=icon_size)
        self._text = PlainLabel(wrapped=True)
        self._button_row = QHBoxLayout()
        self._button_style = button_style
        self._buttons: list[QPushButton] = []
        self._expiry = QTimer(self, singleShot=True)
        self._expiry.timeout.connect(self._on_expired)

    @property
    def text(self) -> str:
        """The text that is shown."""
        return self._text.text()

    @property
    def labels(self) -> list[str]:
        """The labels of the buttons that are shown."""
        return [] if self.isHidden() else [button.text() for button in self._buttons]

    def set_content(self, icon: str | None, color: str, text: str, actions: Iterable[MessageAction]) -> None:
        """Show an icon (None: none) in a colour of the theme, a text, and a button for each action."""
        self._icon.show_icon(icon, color)
        self._text.setText(text)
        for button in self._buttons:
            self._button_row.removeWidget(button)
            button.hide()
            button.deleteLater()
        self._buttons = [self._button(label, action) for label, action in actions]
        for button in self._buttons:
            self._button_row.addWidget(button)
            button.show()  # a layout would do it only later

    def _button(self, label: str, action: Callable[[], object]) -> QPushButton:
        button = OneClickButton(label)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the focus in the field
        set_properties(button, **self._button_style)
        button.clicked.connect(action)
        return button

    def _buttons_width(self, gap: int) -> int:
        """Return how wide the buttons want to be, each with a gap."""
        return sum(button.sizeHint().width() + gap for button in self._buttons)

    def announce_with_buttons(self, labels: list[str]) -> None:
        """Let screen readers speak the text and the labels of its buttons."""
        names = ", ".join(map(quoted, labels))
        buttons = shown(Text("Buttons: {names}.", one="Button: {names}.", count=len(labels), names=names))
        announce(self, f"{self.text} {buttons}" if labels else self.text)

    @property
    def _has_focus(self) -> bool:
        focused = QApplication.focusWidget()
        return focused is not None and self.isAncestorOf(focused)

    @Slot()
    def clear(self) -> None:
        """Remove the message."""
        self.hide()

    def withdraw(self, text: str) -> None:
        """Remove the message if it is this one, whose reason is gone."""
        if text and self.text == text and not self.isHidden():
            self.clear()

    @Slot()
    def _on_expired(self) -> None:
        """Remove the message, unless the user is on it."""
        if self.underMouse() or self._has_focus:
            self._expiry.start()
        else:
            self.clear()


_LINE_ICON = 16
#: Milliseconds for which a success message is shown.
_SHOWN_MS = 8000


class Tone(Enum):
    """What a message is: the tone of its text, and its icon (None: no icon)."""

    HINT = ("muted", None)
    OK = ("ok", "circle-check")
    ERROR = ("error", "circle-alert")
    WARNING = ("warning", "triangle-alert")


#: Beside the buttons of a line, in text of 13 px.
_TEXT_WIDTH = 240


class MessageLine(Message):
    """Shows a message, or the hint while there is none.

    A success message disappears after a while, unless the pointer or the focus is on it. A screen reader announces
    every message but hints, together with its buttons.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, shown_ms: int = _SHOWN_MS) -> None:
        """Make an empty line; a success message is shown for `shown_ms` milliseconds."""
        super().__init__(theme, _LINE_ICON, parent, variant="link")
        #: The tone in which it is shown; HINT while there is no message.
        self.tone = Tone.HINT
        self._hint = ""
        self._expiry.setInterval(shown_ms)
        self._button_row.setSpacing(S)
        fill(QHBoxLayout(self), self._icon, self._text, self._button_row, STRETCH, margins=0, spacing=S)
        self.setMinimumHeight(theme.metrics.compact_row - 2)  # as its buttons: nothing moves
        self.clear()

    def set_hint(self, text: str) -> None:
        """Set what is shown while there is no message."""
        unused = self.tone is Tone.HINT and self.text == self._hint
        self._hint = text
        if unused:
            self.clear()

    @override
    def clear(self) -> None:
        """Remove the message; the hint is shown again."""
        self.show_message(Tone.HINT, self._hint)

    def show_message(self, tone: Tone, text: str, *actions: MessageAction) -> None:
        """Show a sentence, and a button for each of `actions` (its label and what it does)."""
        self.tone = tone
        color, icon = tone.value
        set_properties(self._text, tone=color)
        self.set_content(icon, color, text, actions)
        self._fit_text()
        if tone is Tone.OK:
            self._expiry.start()
        else:
            self._expiry.stop()
        if tone is not Tone.HINT:
            self.announce_with_buttons([label for label, _ in actions])

    def rename_action(self, old: str, new: str) -> None:
        """Give the button that is labelled `old` another label."""
        for button in self._buttons:
            if button.text() == old:
                button.setText(new)  # it keeps the focus
        self._fit_text()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_text()

    def _fit_text(self) -> None:
        """Give the sentence its natural width, or what the buttons leave, so that they follow it directly."""
        self._text.setFixedWidth(max(min(self._natural_width(), self.width() - self._taken_width()), 1))

    @override
    def minimumSizeHint(self) -> QSize:
        """Return the width of the buttons and some words: not that of the text now, or it could not be narrower."""
        text = min(self._natural_width(), self._theme.metrics.scaled(_TEXT_WIDTH))
        return QSize(self._taken_width() + text, super().minimumSizeHint().height())

    def _natural_width(self) -> int:
        return self._text.fontMetrics().horizontalAdvance(self._text.text()) + XS

    def _taken_width(self) -> int:
        return self._buttons_width(S) + (0 if self._icon.isHidden() else self._icon.width() + S)


_BAR_ICON = 20
_STEPS = 1000


class BarKind(Enum):
    """The kind of a bar; the value is its colour in the style sheet, and its icon."""

    INFO = ("info", "info")
    WARNING = ("warning", "triangle-alert")
    ERROR = ("error", "circle-alert")

    @property
    def rank(self) -> int:
        """Its position among the kinds, the most serious first."""
        return list(reversed(BarKind)).index(self)


class InfoBar(Message):
    """Hidden until `show_state`. It pushes down what is below it and never covers anything.

    `closed`: the user has closed it.
    """

    closed = Signal()
    kind = BarKind.INFO

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, _BAR_ICON, parent)
        self._title = PlainLabel(role="strong", wrapped=True)
        for label in (self._title, self._text):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._close_button = CloseButton(theme, self.tr("Close this message"))
        self._close_button.clicked.connect(self.hide)
        self._close_button.clicked.connect(self.closed)
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._progress.hide()
        self._content = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._lay_out()
        self.hide()

    @property
    def title(self) -> str:
        """The title that is shown."""
        return self._title.text()

    def show_state(
        self, kind: BarKind, title: str, text: str, *actions: MessageAction, persistent: bool = False
    ) -> None:
        """Show a state with a button for each action; a `persistent` one has no button to close it."""
        self.kind = kind
        name, icon = kind.value
        set_properties(self, bar=name)
        self._progress.hide()
        self._title.setText(title)
        self.set_content(icon, name, text, actions)
        self._text.setVisible(bool(text) or persistent)
        beside = Qt.AlignmentFlag.AlignTop if text or persistent else Qt.AlignmentFlag.AlignVCenter
        self._row.setAlignment(self._icon, beside)
        self._place_buttons()
        self._close_button.setVisible(not persistent)
        self.setAccessibleName(title)
        self.show()
        announce(self, f"{title} {text}" if title.endswith((".", "?")) else f"{title}. {text}")

    def show_progress(self, text: str, fraction: float | None) -> None:
        """Show how far (0 to 1; None: not known) what the bar is about has come; screen readers do not speak it."""
        self._text.setText(text)
        self._progress.setRange(0, 0 if fraction is None else _STEPS)
        self._progress.setValue(round((fraction or 0) * _STEPS))
        self._progress.setAccessibleName(self.title)
        self._progress.show()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place_buttons()
        super().resizeEvent(event)

    def _place_buttons(self) -> None:
        """Place the buttons beside the text, or below it where they would take more than half of the width."""
        beside = self._buttons_width(0) <= self.width() // 2
        direction = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        self._content.setDirection(direction)

    def _lay_out(self) -> None:
        texts = fill(QVBoxLayout(), self._title, self._text, self._progress, spacing=2)
        self._button_row.setSpacing(S)
        fill(self._content, (texts, 1), fill(QHBoxLayout(), self._button_row, STRETCH), spacing=S)
        self._row = fill(
            QHBoxLayout(self),
            (self._icon, Qt.AlignmentFlag.AlignTop),
            (self._content, 1),
            self._close_button,
            margins=(L, M, S + XS, M),
            spacing=S,
        )


_SHOWING = frozenset({QEvent.Type.ShowToParent, QEvent.Type.HideToParent})


class BarStack(QWidget):
    """Shows the most serious bar, of several the newest, and takes no room while all of them are hidden.

    Each bar is in a frame of its own: hiding that does not change whether the bar itself counts as hidden.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        #: With their frames; the one that was shown last is the first.
        self._bars: list[tuple[InfoBar, QWidget]] = []
        self._footer = MoreRow()
        self._footer.toggled.connect(self._arrange)
        self._footer.hide()
        self._layout = fill(QVBoxLayout(self), self._footer, margins=(EDGE, 0, EDGE, 0), spacing=M)

    def add(self) -> InfoBar:
        """Return a new bar, which is above the others where all are shown."""
        bar, frame = InfoBar(self._theme), QWidget()
        fill(QVBoxLayout(frame), bar, margins=0)
        frame.hide()
        self._layout.insertWidget(0, frame)
        self._bars.insert(0, (bar, frame))
        bar.installEventFilter(self)
        bar.destroyed.connect(frame.deleteLater)
        return bar

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.LayoutRequest:
            self._set_bottom()
        return super().event(event)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _SHOWING and isinstance(watched, InfoBar):
            if event.type() is QEvent.Type.ShowToParent:
                self._bars.sort(key=lambda each: each[0] is not watched)
            self._arrange()
        return super().eventFilter(watched, event)

    def _shown(self) -> list[InfoBar]:
        self._bars = [each for each in self._bars if isValid(each[0])]  # a question is deleted when it is answered
        return [bar for bar, _ in self._bars if not bar.isHidden()]

    @Slot()
    def _arrange(self) -> None:
        shown = self._shown()
        seen = shown if self._footer.shows_all else sorted(shown, key=lambda bar: bar.kind.rank)[:1]
        for bar, frame in self._bars:
            frame.setVisible(bar in seen)
        self._footer.show_counts(len(shown), len(seen), 1)
        self._footer.setVisible(len(shown) > 1)
        self._set_bottom()

    def _set_bottom(self) -> None:
        """Part the bars from what is below them; a layout request alone would be too late for the next frame."""
        bottom = M if self._shown() else 0
        if self._layout.contentsMargins().bottom() != bottom:
            self._layout.setContentsMargins(EDGE, 0, EDGE, bottom)


#: Milliseconds for which a message is shown; longer where a screen reader may have to read it.
_TOAST_MS, _SPOKEN_MS = 8000, 30_000
#: Lines of a toast's text beside its buttons.
_MAX_LINES = 2
#: Milliseconds after which work that goes on is reported.
_PROGRESS_MS = 400
_FADE_MS = 150


class Toast(Message):
    """Shows one message at a time, the latest, over the end of a place in its parent.

    `covering(height)`: so much of the place, from below, is covered now. It stays while the pointer or the focus is on
    it. Escape closes it and gives the focus back.
    """

    covering = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, shown_ms: int = _TOAST_MS) -> None:
        """Make a hidden toast, which shows a message for `shown_ms` milliseconds."""
        super().__init__(theme, ICON, parent, small="true")
        self.setProperty("pane", "toast")
        self._shown_ms = shown_ms
        self._place = QRect()
        self._focus_before: QWidget | None = None
        self._is_visited = False
        self._progress_text = ""
        self._text.setWordWrap(True)
        self._key_label = PlainLabel(tone="muted")
        self._close_button = CloseButton(theme, self.tr("Close this message"), "on_toast")
        self._close_button.clicked.connect(self.clear)
        self._expiry.setInterval(shown_ms)
        self._progress = QTimer(self, singleShot=True)
        self._progress.timeout.connect(self._on_progress_due)
        self._make_fade()
        self._button_row.setSpacing(M)
        self._content = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        fill(self._content, self._text, fill(QHBoxLayout(), self._button_row, self._key_label, STRETCH, spacing=M))
        parts = (self._icon, self._content, self._close_button)
        self._layout = fill(QHBoxLayout(self), *parts, margins=mirrored(self, L, S, S, S), spacing=M)
        self.hide()

    def _make_fade(self) -> None:
        self._fading = QVariantAnimation(self, startValue=0.0, endValue=1.0, duration=_FADE_MS)
        self._fading.setEasingCurve(QEasingCurve.Type.OutCubic)
        # Never exchanged: Qt deletes the effect of before, and the program crashes when the window is deleted.
        self._opacity = QGraphicsOpacityEffect(self)
        self._opacity.setEnabled(False)
        self.setGraphicsEffect(self._opacity)
        self._fading.valueChanged.connect(self._opacity.setOpacity)
        self._fading.finished.connect(self._on_faded_in)

    @property
    def is_waiting(self) -> bool:
        """Whether a message is shown to which the focus was not moved yet."""
        return self.isVisible() and not self._is_visited

    def show_message(self, text: str, *actions: MessageAction, key: str = "") -> None:
        """Show that something was done, with a button for each action, and the key that does the same as the last.

        The key is not shown to a user who is typing: it takes back what was typed.
        """
        focused = QApplication.focusWidget()
        is_typing = isinstance(focused, QLineEdit) and focused.isUndoAvailable()
        self._show(None, text, *actions, key="" if is_typing else key)
        self._expiry.start(max(self._shown_ms, _SPOKEN_MS) if QAccessible.isActive() else self._shown_ms)

    def show_problem(self, text: str, *actions: MessageAction) -> None:
        """Show why something was not done; this stays until it is closed or replaced."""
        self._show("triangle-alert", text, *actions)
        self._expiry.stop()

    def show_error(self, error: Exception) -> None:
        """Show the reason of a failure, as a problem."""
        self.show_problem(error_text(error))

    def show_progress(self, text: str, *, is_long: bool = False) -> None:
        """Show that something is being done, if it `is_long` or not done soon: the next message replaces it."""
        self._expiry.stop()  # of the message before, which would take this one along
        self._progress_text = text
        self._progress.start(0 if is_long else _PROGRESS_MS)

    @Slot()
    @override
    def clear(self) -> None:
        """Close the message."""
        self._progress.stop()
        self._expiry.stop()
        self._give_focus_back()
        self.hide()

    @property
    def is_persistent(self) -> bool:
        """Whether a message is shown that stays until it is closed."""
        return self.isVisible() and not self._expiry.isActive()

    def close_persistent(self) -> bool:
        """Close a message that would stay; False where there is none."""
        is_persistent = self.is_persistent
        if is_persistent:
            self.clear()
        return is_persistent

    @Slot()
    def focus_first(self) -> None:
        """Move the focus to the first button of the message."""
        self._focus_before = QApplication.focusWidget()
        self._is_visited = True
        first = next(iter(self._buttons), self._close_button)
        first.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def set_place(self, place: QRect) -> None:
        """Lie over the lower end of a place; a message that would be wider takes several lines."""
        if place != self._place:
            self._place = place
            self._fit_text()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.clear()
        else:
            super().keyPressEvent(event)

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._fit_text()

    @Slot()
    def hide_key(self) -> None:
        """Remove the key, which does something else now."""
        if not self._key_label.isHidden():
            self._key_label.hide()
            self._fit_text()

    def _show(self, icon: str | None, text: str, *actions: MessageAction, key: str = "") -> None:
        self._progress.stop()
        was_hidden = self.isHidden()
        self._is_visited = False
        self._give_focus_back()
        run = [(label, partial(self._run, action)) for label, action in actions]
        self.set_content(icon, "on_toast", text, run)
        self._key_label.setText(key)
        self._key_label.setVisible(bool(key))
        self.setAccessibleName(text)
        self.ensurePolished()  # or its margins would be missing
        self._fit_text()
        self.show()
        self.announce_with_buttons([label for label, _ in actions])
        if was_hidden and self._theme.animated and self.window().isVisible():
            self._opacity.setEnabled(True)
            self._fading.start()

    def _run(self, action: Callable[[], object]) -> None:
        self.clear()
        action()

    def _give_focus_back(self) -> None:
        if self._focus_before is not None and self._has_focus:
            self._focus_before.setFocus()
        self._focus_before = None

    def _fit_text(self) -> None:
        """Give the text its natural width, or what the buttons leave of the room; above them where that is little."""
        if self._place.isEmpty():
            return
        room = self._place.width() - L - 2 * S - M - self._close_button.sizeHint().width()
        room -= 0 if self._icon.isHidden() else ICON + M
        beside = self._buttons_width(M)
        beside += 0 if self._key_label.isHidden() else self._key_label.sizeHint().width() + M
        natural = self._text.fontMetrics().horizontalAdvance(self.text) + 2
        is_above = natural > _MAX_LINES * (room - beside)
        directions = QBoxLayout.Direction
        self._content.setDirection(directions.TopToBottom if is_above else directions.LeftToRight)
        self._content.setSpacing(S if is_above else M)
        self._text.setFixedWidth(max(min(natural, room - (0 if is_above else beside)), 80))
        self._arrange()

    @override
    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() is QEvent.Type.LayoutRequest:
            self._arrange()
        return handled

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._arrange()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.covering.emit(0)

    def _arrange(self) -> None:
        """Take the room that the message needs, and report what it covers."""
        if self._place.isEmpty():
            return
        self._layout.activate()
        size = self.sizeHint()
        lower_end = Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignBottom
        self.setGeometry(QStyle.alignedRect(self.layoutDirection(), lower_end, size, self._place))
        self.raise_()
        if self.isVisible():
            self.covering.emit(size.height())

    @Slot()
    def _on_faded_in(self) -> None:
        self._opacity.setEnabled(False)

    @Slot()
    def _on_progress_due(self) -> None:
        self._show(None, self._progress_text)
