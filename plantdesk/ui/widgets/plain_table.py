"""A short table of texts for dialogs, with single selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableWidget, QTableWidgetItem, QVBoxLayout

from plantdesk.ui.qt import override
from plantdesk.ui.theme.metrics import XS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QKeyEvent

    from plantdesk.ui.theme.theme import Theme

_MIN_ROWS = 4
_ARROWS = frozenset({Qt.Key.Key_Down, Qt.Key.Key_Up})


class PlainTable(QTableWidget):
    """Its columns are as wide as their texts, except one that takes the rest."""

    def __init__(self, theme: Theme, name: str, heads: Sequence[str], *, wide: int = 0) -> None:
        """Make it with a `name` for screen readers, and `wide`, the number of the column that takes the rest."""
        super().__init__(0, len(heads))
        self.setHorizontalHeaderLabels(list(heads))
        self.setAccessibleName(name)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(wide, QHeaderView.ResizeMode.Stretch)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter)
        header.setHighlightSections(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(theme.metrics.row)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setMinimumHeight(_MIN_ROWS * theme.metrics.row + 4)

    @property
    def selected_row(self) -> int | None:
        """The number of the selected row."""
        items = self.selectedItems()
        return self.row(items[0]) if items else None

    def show_rows(self, rows: Sequence[Sequence[str]]) -> None:
        """Replace the rows."""
        self.setRowCount(len(rows))
        for place, row in enumerate(rows):
            for column, text in enumerate(row):
                self.setItem(place, column, QTableWidgetItem(text))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _ARROWS and self.selected_row is None and self.rowCount():
            self.selectRow(max(self.currentRow(), 0))  # Qt would move from the invisible current row
        else:
            super().keyPressEvent(event)

    def framed(self) -> QFrame:
        """Return a frame around the table, whose header has square corners."""
        card = QFrame()
        card.setProperty("card", "true")
        layout = QVBoxLayout(card)
        layout.setContentsMargins(XS, XS, XS, XS)
        layout.addWidget(self)
        return card
