"""A read-only text of several lines, which can be selected and copied."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractScrollArea, QPlainTextEdit


class TextView(QPlainTextEdit):
    """Tab leaves it."""

    def __init__(self, name: str, text: str = "") -> None:
        """Show `text`; screen readers call it `name`."""
        super().__init__(text, readOnly=True)
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        report_focus(self)


def report_focus(area: QAbstractScrollArea) -> None:
    """Let screen readers take the widget for the focused one, and not the viewport in it, which has no name."""
    area.viewport().setFocusProxy(None)  # type: ignore[arg-type]  # Qt takes a null pointer
