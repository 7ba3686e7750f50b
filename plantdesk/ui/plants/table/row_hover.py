"""The row of the table under the pointer, which the delegate highlights as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QHoverEvent

from plantdesk.ui.qt import override

if TYPE_CHECKING:
    from PySide6.QtWidgets import QTableView


class RowHover(QObject):
    """Watches the pointer over the rows of a table."""

    def __init__(self, table: QTableView) -> None:
        super().__init__(table)
        self._table = table
        self._row = -1
        table.viewport().setAttribute(Qt.WidgetAttribute.WA_Hover)
        table.viewport().installEventFilter(self)
        table.verticalScrollBar().valueChanged.connect(self._forget)

    @property
    def row(self) -> int:
        """The row under the pointer, -1 where there is none."""
        return self._row

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in {QEvent.Type.HoverMove, QEvent.Type.HoverEnter} and isinstance(event, QHoverEvent):
            self._set_row(self._table.rowAt(round(event.position().y())))
        elif event.type() is QEvent.Type.HoverLeave:
            self._set_row(-1)
        return super().eventFilter(watched, event)

    def _forget(self) -> None:
        self._set_row(-1)

    def _set_row(self, row: int) -> None:
        if row != self._row:
            self._row = row
            self._table.viewport().update()
