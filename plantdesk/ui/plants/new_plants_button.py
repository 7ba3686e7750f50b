"""Floating button: new plants are above the visible rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtWidgets import QPushButton

from plantdesk.ui.qt import override
from plantdesk.ui.texts import plural
from plantdesk.ui.theme.metrics import S
from plantdesk.ui.widgets.tool_tips import set_tool_tip

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from plantdesk.ui.plants.table.view import PlantTable
    from plantdesk.ui.theme.theme import Theme


class NewPlantsButton(QPushButton):
    """Floats over the first row, so that nothing moves; a click shows the new plants."""

    def __init__(self, table: PlantTable, theme: Theme, parent: QWidget) -> None:
        """Make a child of `parent`, which contains the table: children of a table are not in its accessibility tree."""
        super().__init__(parent)
        self._parent = parent
        self._table = table
        self._count = 0
        self.setProperty("variant", "floating")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        set_tool_tip(self, self.tr("Show the new plants (Ctrl+Home)"))
        theme.icons.put_on(self, "arrow-up", "on_accent", 16)
        self.hide()
        table.unseen_changed.connect(self._on_unseen_changed)
        table.viewport().installEventFilter(self)
        self.clicked.connect(table.jump_to_top)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in {QEvent.Type.Resize, QEvent.Type.Show}:
            self._place()
        elif event.type() is QEvent.Type.Hide:  # another page is shown instead of the table
            self.hide()
        return super().eventFilter(watched, event)

    @Slot(int)
    def _on_unseen_changed(self, count: int) -> None:
        if not count and self.hasFocus():
            self._table.setFocus()
        self.setText(plural(count, self.tr("1 new plant"), self.tr("{count} new plants")))
        self._count = count
        self._place()

    def _place(self) -> None:
        self.setVisible(self._count > 0 and self._table.isVisible())
        self.adjustSize()
        viewport = self._table.viewport()
        top = viewport.mapTo(self._parent, viewport.rect().topLeft())
        self.move(top.x() + (viewport.width() - self.width()) // 2, top.y() + S)
        self.raise_()
