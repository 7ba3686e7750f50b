"""Lets the wheel scroll what a field is in, instead of changing the field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject

from plantdesk.ui.qt import override

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget


class _IgnoredWheel(QObject):
    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Wheel:
            event.ignore()  # so that Qt sends it to the parent
            return True
        return super().eventFilter(watched, event)


def ignore_wheel(field: QWidget) -> None:
    """Let `field` be changed by clicks and keys only."""
    field.installEventFilter(_IgnoredWheel(field))
