"""Dynamic properties, by which the style sheet tells what a widget is just now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget


def set_properties(widget: QWidget, **properties: str) -> None:
    """Set dynamic properties and have the style sheet looked at again.

    A widget that was never shown is polished then anyway; asking for its style here would only cost the start 20 ms.
    """
    changed = [name for name, value in properties.items() if widget.property(name) != value]
    for name in changed:
        widget.setProperty(name, properties[name])
    if changed and widget.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
        widget.style().polish(widget)
