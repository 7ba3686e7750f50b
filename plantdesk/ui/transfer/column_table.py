"""The first rows of a file as they will be read, with the field of each column above it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QHeaderView, QTableWidgetItem

from plantdesk.ui.texts import one_line
from plantdesk.ui.widgets.combo_box import ComboBox
from plantdesk.ui.widgets.plain_table import PlainTable

if TYPE_CHECKING:
    from plantdesk.transfer.sample import Sample
    from plantdesk.ui.theme.theme import Theme

#: Rows that are shown, and columns, unless one behind them is a field.
_ROWS, _COLUMNS = 20, 30
_MIN_WIDTH, _MAX_WIDTH = 130, 260
_VISIBLE_ROWS = 7


class ColumnTable(PlainTable):
    """`fields_changed`: the user has chosen another field for a column."""

    fields_changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, self.tr("First rows of the file"), [""])
        self._theme = theme
        self._combos: list[QComboBox] = []
        #: The combo box that was changed last, and the fields of the others before that.
        self._edited: QComboBox | None = None
        self._others: list[tuple[QComboBox, str]] = []
        self.horizontalHeader().hide()
        self.horizontalHeader().setMinimumSectionSize(_MIN_WIDTH)
        self.setSelectionMode(PlainTable.SelectionMode.NoSelection)
        self.setHorizontalScrollMode(PlainTable.ScrollMode.ScrollPerPixel)
        self.verticalHeader().setDefaultSectionSize(theme.metrics.compact_row)
        self.setMinimumHeight(_VISIBLE_ROWS * theme.metrics.compact_row + 14)

    @property
    def fields(self) -> dict[str, int]:
        """The position of the column of each field."""
        return {combo.currentData(): at for at, combo in enumerate(self._combos) if combo.currentData()}

    def show_sample(self, sample: Sample) -> None:
        """Show the columns and the first rows of a file."""
        layout = sample.layout
        count = min(len(layout.names), max(_COLUMNS, *(at + 1 for at in layout.fields.values()), 0))
        self.clear()
        self._edited = None
        self.setColumnCount(count)
        self.setRowCount(2 + min(_ROWS, len(sample.rows)))
        self.setRowHeight(0, self._theme.metrics.control + 8)
        field_of = {at: field for field, at in layout.fields.items()}
        self._combos = [self._combo(at, layout.names[at], field_of.get(at, "")) for at in range(count)]
        muted = self._theme.colors.color("text_2")
        for at in range(count):
            heading = layout.names[at] if layout.has_header else self.tr("Column {number}").format(number=at + 1)
            self._set_cell(1, at, heading).setForeground(muted)
            for place, row in enumerate(sample.rows[:_ROWS], 2):
                value = row[at] if at < len(row) else None
                self._set_cell(place, at, "—" if value is None else value)
        self._fit(sample)

    def _set_cell(self, row: int, column: int, text: str) -> QTableWidgetItem:
        item = QTableWidgetItem(one_line(text))
        item.setFlags(Qt.ItemFlag.ItemIsEnabled)
        self.setItem(row, column, item)
        return item

    def _combo(self, at: int, name: str, field: str) -> QComboBox:
        combo = ComboBox()
        choices = (
            ("id", self.tr("ID")),
            ("name", self.tr("Name")),
            ("tag", self.tr("Tag")),
            ("note", self.tr("Note")),
            ("", self.tr("Leave out")),
        )
        for value, text in choices:
            combo.addItem(text, value)
        combo.setCurrentIndex(combo.findData(field))
        combo.setAccessibleName(self.tr("Field of column {name}").format(name=one_line(name) or at + 1))
        combo.currentIndexChanged.connect(self._on_chosen)
        self.setCellWidget(0, at, combo)
        return combo

    @Slot()
    def _on_chosen(self) -> None:
        """Let each field have one column: the one chosen last.

        Arrow keys choose each field on the way, so the others go back to what they were before the first of them.
        """
        chosen = self.sender()
        if not isinstance(chosen, QComboBox):
            return
        if chosen is not self._edited:
            self._edited = chosen
            self._others = [(each, each.currentData()) for each in self._combos if each is not chosen]
        for combo, field in self._others:
            with QSignalBlocker(combo):
                combo.setCurrentIndex(combo.findData("" if field == chosen.currentData() else field))
        self.fields_changed.emit()

    def _fit(self, sample: Sample) -> None:
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        for at in range(self.columnCount()):
            self.setColumnWidth(at, max(_MIN_WIDTH, min(_MAX_WIDTH, self.sizeHintForColumn(at))))
        if self.columnCount() <= _VISIBLE_ROWS:
            wide = sample.layout.fields.get("name", 0)
            header.setSectionResizeMode(min(wide, self.columnCount() - 1), QHeaderView.ResizeMode.Stretch)
