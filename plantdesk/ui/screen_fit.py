"""Sizes of windows that fit on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

#: Title bar and borders. The real ones are known only after the window is shown.
_FRAME = QSize(16, 48)


def fitted(widget: QWidget, wanted: QSize) -> QSize:
    """Return `wanted`, reduced to what the widget's screen has room for inside a window frame."""
    return wanted.boundedTo(widget.screen().availableGeometry().size() - _FRAME)
