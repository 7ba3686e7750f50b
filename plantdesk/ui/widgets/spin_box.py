"""Fields for numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from plantdesk.ui.qt import mirrored
from plantdesk.ui.theme.metrics import S
from plantdesk.ui.widgets.ignored_wheel import ignore_wheel

if TYPE_CHECKING:
    from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox

    Box = TypeVar("Box", QSpinBox, QDoubleSpinBox)


def spin_box(kind: type[Box]) -> Box:
    """Return a new spin box of a class, which the wheel does not change."""
    box = kind()
    ignore_wheel(box)
    box.lineEdit().setTextMargins(*mirrored(box, S + 2, 0, 0, 0))  # the style sheet's padding has no effect before it
    return box
