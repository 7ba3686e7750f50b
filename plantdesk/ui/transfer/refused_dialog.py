"""The rows of an import that are invalid or clash, with line and reason."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QSize, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from plantdesk.ui.qt import add_layout
from plantdesk.ui.texts import error_text, one_line
from plantdesk.ui.theme.metrics import XL, XXL, M, S
from plantdesk.ui.widgets.dialog import Dialog
from plantdesk.ui.widgets.message_line import MessageLine, Tone
from plantdesk.ui.widgets.plain_label import PlainLabel
from plantdesk.ui.widgets.plain_table import PlainTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plantdesk.transfer.reading import Refused
    from plantdesk.ui.theme.theme import Theme

_SIZE = QSize(760, 480)


class RefusedDialog(Dialog):
    """`save_wanted(path)`: write all invalid and clashing rows to a file."""

    save_wanted = Signal(object)

    def __init__(
        self, theme: Theme, title: str, listed: Sequence[Refused], count: int, folder: Path, parent: QWidget
    ) -> None:
        """Show the first of `count` rows under a title."""
        super().__init__(title, parent)
        self._folder = folder
        heads = (self.tr("Line"), self.tr("Reason"), self.tr("ID"), self.tr("Name"))
        table = PlainTable(theme, self.windowTitle(), heads, wide=1)
        rows = [(row.line, row.reason, row.values.get("id", ""), row.values.get("name", "")) for row in listed]
        table.show_rows([tuple(one_line(str(each)[:300]) for each in row) for row in rows])
        more = count - len(rows)
        text = self.tr("{count} more are in the file that you can save.").format(count=QLocale().toString(more))
        self._message = MessageLine(theme)
        self._message.set_hint(text if more else "")
        save = QPushButton(self.tr("&Save all with reasons…"))
        close = QPushButton(self.tr("Close"))
        save.clicked.connect(self._on_save)
        close.clicked.connect(self.reject)
        foot = QHBoxLayout()
        foot.setSpacing(S)
        foot.addWidget(save)
        foot.addStretch(1)
        foot.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(XXL, XL, XXL, XL)
        layout.setSpacing(M)
        layout.addWidget(PlainLabel(self.tr("Nothing has been imported yet."), tone="muted"))
        layout.addWidget(table.framed(), 1)
        layout.addWidget(self._message)
        add_layout(layout, foot)
        self.resize_to_fit(_SIZE)

    @Slot(object)
    def show_saved(self, file: Path) -> None:
        """Report that the rows were written."""
        self._message.show_message(Tone.OK, self.tr("Saved to “{file}”.").format(file=file.name))

    @Slot(object)
    def show_not_saved(self, error: Exception) -> None:
        """Report that the rows could not be written."""
        self._message.show_message(Tone.ERROR, error_text(error))

    @Slot()
    def _on_save(self) -> None:
        start = str(self._folder / self.tr("refused.csv"))
        name, _ = QFileDialog.getSaveFileName(self, self.windowTitle(), start, self.tr("CSV (*.csv)"))
        if name:
            self.save_wanted.emit(Path(name))
