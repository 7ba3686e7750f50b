"""Creates all tooltips: Qt interprets a tooltip that looks like HTML, and never wraps a plain one."""

from __future__ import annotations

import html
import textwrap
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QToolTip

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

_MAX_TEXT = 600
_MAX_LINE = 60


def tool_tip(text: str) -> str:
    """Return HTML that Qt shows as `text`, in lines of at most 60 characters; an empty text stays empty."""
    shown = text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"
    lines = textwrap.wrap(shown, _MAX_LINE)
    return f"<div style='white-space: pre'>{'<br>'.join(map(html.escape, lines))}</div>" if lines else ""


def set_tool_tip(widget: QWidget, text: str) -> None:
    """Show `text` as the tooltip of a widget; a screen reader gets it without markup, unless it is the name."""
    widget.setToolTip(tool_tip(text))
    widget.setAccessibleDescription(text if text != widget.accessibleName() else "")


def show_below(widget: QWidget, text: str) -> None:
    """Show `text` below a widget now, and let screen readers speak it."""
    QToolTip.showText(widget.mapToGlobal(QPoint(0, widget.height())), tool_tip(text), widget)
    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, text))
