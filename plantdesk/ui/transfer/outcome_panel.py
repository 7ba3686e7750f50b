"""What will become of the rows of a file, what to do with those that are refused, and the list of these."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QSize, Qt, Signal, Slot
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QComboBox, QFileDialog, QFrame, QGridLayout, QPushButton, QVBoxLayout, QWidget

from plantdesk.domain.errors import Text
from plantdesk.domain.import_batches import OnConflict
from plantdesk.ui.qt import fill, override
from plantdesk.ui.texts import error_text, one_line, shown
from plantdesk.ui.theme.metrics import XL, XXL, L, M, S, tabular
from plantdesk.ui.widgets.dialog import START_ROLE, ButtonRole, Dialog
from plantdesk.ui.widgets.fields import ComboBox
from plantdesk.ui.widgets.messages import MessageLine, Tone
from plantdesk.ui.widgets.painting import Icon
from plantdesk.ui.widgets.plain_table import PlainTable
from plantdesk.ui.widgets.plain_text import PlainLabel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from PySide6.QtGui import QPaintEvent

    from plantdesk.transfer.importing import Preview
    from plantdesk.transfer.reading import Refused
    from plantdesk.ui.theme.theme import Theme


_SIZE = QSize(760, 480)


class RefusedDialog(Dialog):
    """`save_requested(path)`: write all invalid and conflicting rows to a file."""

    save_requested = Signal(object)

    def __init__(
        self, theme: Theme, title: str, listed: Sequence[Refused], count: int, folder: Path, parent: QWidget
    ) -> None:
        """Show the first of `count` rows under a title."""
        super().__init__(title, parent)
        self._folder = folder
        headings = (self.tr("Line"), self.tr("Reason"), self.tr("ID"), self.tr("Name"))
        table = PlainTable(theme, self.windowTitle(), headings, wide=1)
        rows = [(row.line, shown(row.reason), row.values.get("id", ""), row.values.get("name", "")) for row in listed]
        table.show_rows([tuple(one_line(str(each)[:300]) for each in row) for row in rows])
        more = count - len(rows)
        text = self.tr("{count} more are in the file that you can save.").format(count=QLocale().toString(more))
        self._message = MessageLine(theme)
        self._message.set_hint(text if more else "")
        save = self.buttons.addButton(self.tr("&Save all with reasons…"), START_ROLE)
        save.clicked.connect(self._on_save)
        self.buttons.addButton(self.tr("Close"), ButtonRole.RejectRole)
        fill(
            QVBoxLayout(self),
            PlainLabel(self.tr("Nothing has been imported yet."), tone="muted"),
            (table.framed(), 1),
            self._message,
            self.buttons,
            margins=(XXL, XL, XXL, XL),
            spacing=M,
        )
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
            self.save_requested.emit(Path(name))


_NEW, _SAME, _CLASHING, _INVALID = range(4)
_ICONS = (("plus", "ok"), ("check", "text_2"), ("circle-alert", "warning"), ("circle-x", "error"))
_WORDS = (
    Text("new plants", one="new plant"),
    Text("are here already and stay as they are", one="is here already and stays as it is"),
    Text("have an ID that is taken", one="has an ID that is taken"),
    Text("cannot be read"),
)
_CHOICE_WIDTH = 200


class OutcomePanel(QFrame):
    """`changed`: the user has chosen something else.

    `rows_requested(invalid)`: show the invalid rows, or the conflicting.
    """

    changed = Signal()
    rows_requested = Signal(bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setProperty("card", "true")
        self._theme = theme
        self._icons = [Icon(theme, *each) for each in _ICONS]
        self._counts = [
            PlainLabel(role="strong", alignment=Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            for _ in _ICONS
        ]
        self._texts = [PlainLabel() for _ in _ICONS]
        self._buttons = {each: self._button() for each in (_CLASHING, _INVALID)}
        self.conflict_choice = self._combo(
            self.tr("Rows whose ID is taken"),
            (
                (self.tr("Do not import anything"), OnConflict.REFUSE),
                (self.tr("Leave them out"), OnConflict.SKIP),
                (self.tr("Give them a new ID"), OnConflict.NEW_ID),
                (self.tr("Replace the plants"), OnConflict.REPLACE),
            ),
        )
        invalid = ((self.tr("Do not import anything"), False), (self.tr("Leave them out"), True))
        self.invalid_choice = self._combo(self.tr("Rows that are invalid"), invalid)
        self.conflict_choice.setCurrentIndex(1)  # neither changes what is there, and the counts say what happens
        self.invalid_choice.setCurrentIndex(1)
        self._lay_out()
        self.show_preview(None)

    @property
    def on_conflict(self) -> OnConflict:
        """What to do with rows whose id is taken."""
        return OnConflict(self.conflict_choice.currentData())  # Qt keeps a StrEnum as a text

    @property
    def skip_invalid(self) -> bool:
        """Whether to leave invalid rows out."""
        return bool(self.invalid_choice.currentData())

    def show_preview(self, preview: Preview | None) -> None:
        """Show counts; None while they are not known."""
        counts = [None] * len(_ICONS) if preview is None else [*preview.counts, preview.invalid]
        for label, text, count, words in zip(self._counts, self._texts, counts, _WORDS, strict=True):
            label.setText("…" if count is None else QLocale().toString(count))
            text.setText(shown(words.filled(count=count or 0)))
        for number, button in self._buttons.items():
            button.setVisible(bool(counts[number]))
        self.conflict_choice.setVisible(counts[_CLASHING] != 0)
        self.invalid_choice.setVisible(counts[_INVALID] != 0)

    def _button(self) -> QPushButton:
        button = QPushButton(self.tr("Show"))
        button.setProperty("variant", "link")
        button.clicked.connect(self._on_show)
        return button

    @Slot()
    def _on_show(self) -> None:
        self.rows_requested.emit(self.sender() is self._buttons[_INVALID])

    def _combo(self, name: str, choices: Iterable[tuple[str, object]]) -> QComboBox:
        combo = ComboBox(name)
        combo.setMinimumWidth(_CHOICE_WIDTH)
        combo.setProperty("small", "true")
        for text, value in choices:
            combo.addItem(text, value)
        combo.currentIndexChanged.connect(self.changed)
        return combo

    def _lay_out(self) -> None:
        layout = self._rows = QGridLayout(self)
        layout.setContentsMargins(L, 0, L, 0)
        layout.setHorizontalSpacing(M)
        layout.setVerticalSpacing(0)
        layout.setColumnMinimumWidth(1, 70)
        layout.setColumnStretch(3, 1)
        for row in range(len(_ICONS)):
            self._counts[row].setFont(tabular())
            layout.setRowMinimumHeight(row, self._theme.metrics.compact_row + S)
            layout.addWidget(self._icons[row], row, 0)
            layout.addWidget(self._counts[row], row, 1)
            layout.addWidget(self._texts[row], row, 2, 1, 1 if row in self._buttons else 3)
        for row, choice in ((_CLASHING, self.conflict_choice), (_INVALID, self.invalid_choice)):
            layout.addWidget(self._buttons[row], row, 3, Qt.AlignmentFlag.AlignLeft)
            layout.addWidget(choice, row, 4)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        for row in range(1, len(_ICONS)):
            top = self._rows.cellRect(row, 0).top()
            painter.fillRect(1, top, self.width() - 2, 1, self._theme.colors.color("line"))
        painter.end()
