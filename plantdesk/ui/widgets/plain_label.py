"""The label class of the window, which never interprets its text as HTML: names come from other programs."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QLabel

from plantdesk.ui.qt import override
from plantdesk.ui.texts import one_line

_SIDES = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignRight
#: Characters; a longer text would block the layout for seconds.
_MAX_TEXT = 2000


class PlainLabel(QLabel):
    """A QLabel for plain text: control characters are made visible, only line feeds keep their effect."""

    def __init__(
        self,
        text: str = "",
        *,
        tone: str = "",
        role: str = "",
        alignment: Qt.AlignmentFlag | None = None,
        wrapped: bool = False,
    ) -> None:
        """Make a label; `tone` and `role` are those of the style sheet."""
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrapped)
        self._wanted = alignment or self.alignment()
        self._mirror()
        if tone:
            self.setProperty("tone", tone)
        if role:
            self.setProperty("role", role)
        self.setText(text)

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.LayoutDirectionChange:
            self._mirror()

    def _mirror(self) -> None:
        """Align the text by the direction of the window; Qt aligns it by that of its letters."""
        flags = self._wanted
        if self.isRightToLeft() and flags & _SIDES and not flags & Qt.AlignmentFlag.AlignHCenter:
            flags = (flags ^ _SIDES) | Qt.AlignmentFlag.AlignAbsolute
        self.setAlignment(flags)

    @override
    def setText(self, text: str) -> None:
        super().setText(displayed(text))


def displayed(text: str) -> str:
    """Return `text` with control characters made visible, except line feeds, and cut where it is too long."""
    shown = text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"
    return "\n".join(one_line(line) for line in shown.split("\n"))
