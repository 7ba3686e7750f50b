"""Labels, views and tooltips without HTML: their texts may come from other programs."""

from __future__ import annotations

import textwrap
from html import escape

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAction
from PySide6.QtWidgets import QAbstractScrollArea, QLabel, QPlainTextEdit, QSystemTrayIcon, QToolTip, QWidget
from typing_extensions import override

from plantdesk.ui.texts import one_line

_SIDE_FLAGS = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignRight
#: The most characters of a label; a longer text would block the layout for seconds.
_MAX_LABEL_LENGTH = 2000
_MAX_TOOL_TIP_LENGTH = 600
_MAX_LINE_LENGTH = 60


class PlainLabel(QLabel):
    """A QLabel for plain text. Control characters other than line feeds are visible."""

    def __init__(
        self,
        text: str = "",
        *,
        tone: str = "",
        role: str = "",
        alignment: Qt.AlignmentFlag | None = None,
        wrapped: bool = False,
        buddy: QWidget | None = None,
    ) -> None:
        """Make a label; `tone` and `role` are properties in the style sheet."""
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrapped)
        self._requested_alignment = alignment or self.alignment()
        self._mirror()
        if tone:
            self.setProperty("tone", tone)
        if role:
            self.setProperty("role", role)
        if buddy is not None:
            self.setBuddy(buddy)
        self.setText(text)

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.LayoutDirectionChange:
            self._mirror()

    def _mirror(self) -> None:
        """Align the text by the layout direction; Qt aligns it by the direction of the text."""
        flags = self._requested_alignment
        if self.isRightToLeft() and flags & _SIDE_FLAGS and not flags & Qt.AlignmentFlag.AlignHCenter:
            flags = (flags ^ _SIDE_FLAGS) | Qt.AlignmentFlag.AlignAbsolute
        self.setAlignment(flags)

    @override
    def setText(self, text: str) -> None:
        super().setText(make_displayable(text))


def make_displayable(text: str) -> str:
    """Return `text` with visible control characters, except line feeds, and cut if it is too long."""
    shortened = text if len(text) <= _MAX_LABEL_LENGTH else text[: _MAX_LABEL_LENGTH - 1] + "…"
    return "\n".join(one_line(line) for line in shortened.replace("\r\n", "\n").split("\n"))


class TextView(QPlainTextEdit):
    """A read-only view of plain text, called `name` by screen readers. Tab moves the focus out of it."""

    def __init__(self, name: str, text: str = "") -> None:
        super().__init__(text, readOnly=True)
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        report_focus(self)


def report_focus(area: QAbstractScrollArea) -> None:
    """Report the focus of a scroll area to screen readers as its own; its viewport has no name."""
    area.viewport().setFocusProxy(None)  # type: ignore[arg-type]  # Qt takes a null pointer


def tool_tip(text: str) -> str:
    """Return HTML that shows `text` literally, in lines of at most 60 characters; an empty text stays empty."""
    shortened = text if len(text) <= _MAX_TOOL_TIP_LENGTH else text[: _MAX_TOOL_TIP_LENGTH - 1] + "…"
    lines = "<br>".join(map(escape, textwrap.wrap(shortened, _MAX_LINE_LENGTH)))
    return f"<div style='white-space: pre'>{lines}</div>" if lines else ""


def set_tool_tip(widget: QWidget, text: str) -> None:
    """Set tooltip and accessible description of a widget. By default Qt describes it by the tooltip's HTML."""
    widget.setToolTip(tool_tip(text))
    widget.setAccessibleDescription(text)


def set_action_tip(action: QAction, text: str) -> None:
    """Set the tooltip of an action, shown literally, never as HTML."""
    action.setToolTip(tool_tip(text))


def set_tray_tip(icon: QSystemTrayIcon, text: str) -> None:
    """Set the tooltip of a tray icon, without characters of markup."""
    icon.setToolTip(tray_text(text))


def tray_text(text: str) -> str:
    """Return `text` without markup: some trays interpret it, others show it."""
    return text.replace("<", "‹").replace("&", "+")


def set_disabled_reason(widget: QWidget, reason: str) -> None:
    """Disable a widget, with `reason` as its tooltip; an empty reason enables it."""
    widget.setEnabled(not reason)
    set_tool_tip(widget, reason)


def show_below(widget: QWidget, text: str) -> None:
    """Show `text` as a tooltip below a widget now, and announce it."""
    QToolTip.showText(widget.mapToGlobal(QPoint(0, widget.height())), tool_tip(text), widget)
    announce(widget, text)


def show_at_pointer(widget: QWidget, position: QPoint, text: str) -> None:
    """Show `text` as a tooltip at a position in the widget; an empty text hides it."""
    QToolTip.showText(widget.mapToGlobal(position), tool_tip(text), widget)


def announce(widget: QObject, text: str) -> None:
    """Announce `text` to screen readers."""
    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, text))
