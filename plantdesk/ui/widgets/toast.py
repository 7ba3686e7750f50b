"""A short message below the list about something that was done, with its actions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEasingCurve, QEvent, QRect, Qt, QTimer, QVariantAnimation, Signal, Slot
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QGraphicsOpacityEffect, QHBoxLayout, QLineEdit, QStyle, QWidget

from plantdesk.ui.qt import fill, mirrored, override
from plantdesk.ui.texts import error_text
from plantdesk.ui.theme.metrics import ICON, L, M, S
from plantdesk.ui.widgets.buttons import CloseButton
from plantdesk.ui.widgets.messages import Message
from plantdesk.ui.widgets.plain_text import PlainLabel

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent

    from plantdesk.ui.theme.theme import Theme
    from plantdesk.ui.widgets.messages import MessageAction

#: Milliseconds for which a message is shown; longer where a screen reader may have to read it.
_SHOWN_MS, _SPOKEN_MS = 8000, 30_000
#: Milliseconds after which work that goes on is reported.
_PROGRESS_MS = 400
_FADE_MS = 150


class Toast(Message):
    """Shows one message at a time, the latest, over the end of a place in its parent.

    `covering(height)`: so much of the place, from below, is covered now. It stays while the pointer or the focus is on
    it. Escape closes it and gives the focus back.
    """

    covering = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, shown_ms: int = _SHOWN_MS) -> None:
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
        self._progress = QTimer(self, singleShot=True, interval=_PROGRESS_MS)
        self._progress.timeout.connect(self._on_progress_due)
        self._make_fade()
        self._button_row.setSpacing(M)
        parts = (self._icon, self._text, self._button_row, self._key_label, self._close_button)
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

    def show_progress(self, text: str) -> None:
        """Show that something is being done, if it is not done soon: the next message replaces it."""
        self._progress_text = text
        self._progress.start()

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
        """Give the text its natural width, or what the other parts leave of the room."""
        if self._place.isEmpty():
            return
        taken = self._buttons_width(M) + self._close_button.sizeHint().width()
        parts = ((self._icon, ICON), (self._key_label, self._key_label.sizeHint().width()))
        taken += sum(width + M for part, width in parts if not part.isHidden())
        room = self._place.width() - L - 2 * S - M - taken
        self._text.setFixedWidth(max(min(self._text.fontMetrics().horizontalAdvance(self.text) + 2, room), 80))
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
