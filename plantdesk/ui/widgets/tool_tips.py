"""Creates all tooltips: Qt interprets a tooltip that looks like HTML, and never wraps a plain one."""

from __future__ import annotations

import html
import textwrap
from typing import TYPE_CHECKING

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
