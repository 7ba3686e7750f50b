"""The pill above the table: new plants stand out of sight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QLocale, QObject, Qt, Slot
from PySide6.QtWidgets import QPushButton

from plantdesk.ui.metrics import S
from plantdesk.ui.override import override
from plantdesk.ui.tool_tips import set_tool_tip

if TYPE_CHECKING:
    from plantdesk.ui.plant_table import PlantTable
    from plantdesk.ui.theme import Theme


class NewPlantsPill(QPushButton):
    """Floats over the first row, so that nothing moves; a click shows the new plants."""

    def __init__(self, table: PlantTable, theme: Theme) -> None:
        super().__init__(table)
        self._table = table
        self.setProperty("variant", "pill")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        set_tool_tip(self, self.tr("Show the new plants (Ctrl+Home)"))
        theme.icons.put_on(self, "arrow-up", "on_accent", 16)
        self.hide()
        table.unseen_changed.connect(self._on_unseen_changed)
        table.viewport().installEventFilter(self)
        self.clicked.connect(table.jump_to_top)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize:
            self._place()
        return super().eventFilter(watched, event)

    @Slot(int)
    def _on_unseen_changed(self, count: int) -> None:
        if count and self.hasFocus():
            self._table.setFocus()
        one, many = self.tr("1 new plant"), self.tr("{count} new plants")
        self.setText(one if count == 1 else many.format(count=QLocale().toString(count)))
        self.setVisible(count > 0)
        self._place()

    def _place(self) -> None:
        self.adjustSize()
        viewport = self._table.viewport().geometry()
        self.move(viewport.center().x() - self.width() // 2, viewport.top() + S)
        self.raise_()
