"""Fields for numbers that the wheel does not change: it scrolls what they are in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox

from plantdesk.ui.qt import override
from plantdesk.ui.theme.metrics import S

if TYPE_CHECKING:
    from PySide6.QtGui import QWheelEvent

#: Before the text, where the style sheet's padding has no effect.
_MARGINS = S + 2, 0, 0, 0


class SpinBox(QSpinBox):
    """A whole number."""

    def __init__(self) -> None:
        super().__init__()
        self.lineEdit().setTextMargins(*_MARGINS)

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class DoubleSpinBox(QDoubleSpinBox):
    """A number with decimals."""

    def __init__(self) -> None:
        super().__init__()
        self.lineEdit().setTextMargins(*_MARGINS)

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()
