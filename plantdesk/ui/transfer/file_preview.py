"""The table of the first rows of a file, with a field for each column, and the options for reading it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from PySide6.QtCore import QEvent, QObject, QRect, QSignalBlocker, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QGridLayout,
    QHeaderView,
    QSizePolicy,
    QSpinBox,
    QStyle,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from plantdesk.transfer.delimited import ONE_COLUMN
from plantdesk.transfer.inputs import ReadOptions, Sample
from plantdesk.transfer.name_parts import in_name_order
from plantdesk.ui.qt import Index, fill
from plantdesk.ui.texts import one_line
from plantdesk.ui.theme.metrics import XS, M, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.fields import ComboBox, make_spin_box
from plantdesk.ui.widgets.painting import paint_pill, pill_size
from plantdesk.ui.widgets.plain_table import Cell, CellDelegate, PlainTable
from plantdesk.ui.widgets.plain_text import PlainLabel

#: The most rows, and columns unless a later one has a field, that are shown.
_MAX_ROWS = 20
_MAX_COLUMNS = 30
_MIN_COLUMN_WIDTH = 130
_MAX_COLUMN_WIDTH = 260
#: The least visible rows.
_MIN_ROWS = 3
#: The most columns of which one is stretched.
_MAX_STRETCHED_COLUMNS = 7
#: The gap between two combo boxes, half on each side.
_COMBO_GAP = 9
#: From the edge of a cell to a pill, whose text is then aligned with the heading.
_PILL_MARGIN = 4
#: The role of the value of a cell; None if the row has none.
_VALUE_ROLE = Qt.ItemDataRole.UserRole
_ENCODINGS = (
    "utf-8",
    "utf-16",
    "cp1252",
    "iso8859-15",
    "cp1250",
    "cp1251",
    "cp437",
    "mac-roman",
    "shift_jis",
    "gb18030",
)
#: The most lines above a table that can be skipped.
_MAX_SKIPPED_LINES = 999


class _PreviewDelegate(CellDelegate):
    """Paints lines between the rows, and tags as pills."""

    def __init__(self, theme: Theme, table: ColumnTable) -> None:
        super().__init__(table)
        self._theme = theme
        self._columns = table

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        tag = index.data(_VALUE_ROLE) if index.column() == self._columns.fields.get("tag") else None
        if tag is None:
            super().paint(painter, option, index)
        else:
            size = pill_size(self._theme, tag).boundedTo(option.rect.size() - QSize(2 * _PILL_MARGIN, 0))
            side = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter
            rect = option.rect.adjusted(_PILL_MARGIN, 0, -_PILL_MARGIN, 0)
            painter.save()
            paint_pill(painter, self._theme, QStyle.alignedRect(option.direction, side, size, rect), tag)
            painter.restore()
        painter.fillRect(QRect(option.rect.topLeft(), QSize(option.rect.width(), 1)), self._line_color(index))

    def _line_color(self, index: Index) -> QColor:
        return self._theme.colors.color("line" if index.row() else "surface")


class ColumnTable(QFrame):
    """The first rows of a file. A combo box above each column chooses its field; screen readers find it there."""

    #: The user has chosen a field.
    fields_changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setProperty("card", "true")
        self._theme = theme
        self._combos: list[QComboBox] = []
        #: A check box below each combo box: whether the column is a part of the name.
        self._name_checks: list[QCheckBox] = []
        self._has_name_checks = False
        #: The combo box that was changed last, and the fields that the others had before.
        self._changed_combo: QComboBox | None = None
        self._other_fields: list[tuple[QComboBox, str]] = []
        self._names: Sequence[str] = ()
        self._strip = QWidget()
        self._table = PlainTable(theme, self.tr("First rows of the file"), [""])
        self._table.setItemDelegate(_PreviewDelegate(theme, self))
        self._table.horizontalHeader().hide()
        self._table.horizontalHeader().setMinimumSectionSize(_MIN_COLUMN_WIDTH)
        self._table.setSelectionMode(PlainTable.SelectionMode.NoSelection)
        self._table.setHorizontalScrollMode(PlainTable.ScrollMode.ScrollPerPixel)
        self._table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self._table.verticalHeader().setDefaultSectionSize(theme.metrics.compact_row)
        self._table.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self._table.setMinimumHeight(_MIN_ROWS * theme.metrics.compact_row + 2 * XS)
        fill(QVBoxLayout(self), self._strip, (self._table, 1), margins=XS, spacing=0)
        # Queued: while Qt stretches a column, the columns after it have their old positions.
        self._table.horizontalHeader().sectionResized.connect(self._place_combos, Qt.ConnectionType.QueuedConnection)
        self._table.horizontalScrollBar().valueChanged.connect(self._place_combos)
        self._table.viewport().installEventFilter(self)

    @property
    def columns(self) -> dict[str, Sequence[int]]:
        """The indexes of the columns by field; only the name may have several."""
        indexes: dict[str, list[int]] = {}
        for column, combo in enumerate(self._combos):
            if combo.currentData():
                indexes.setdefault(combo.currentData(), []).append(column)
        return {field: in_name_order(columns, self._names) for field, columns in indexes.items()}

    @property
    def fields(self) -> dict[str, int]:
        """The index of the first column of each field."""
        return {field: columns[0] for field, columns in self.columns.items()}

    @Slot(bool)
    def set_several(self, is_several: bool) -> None:
        """Show the check boxes for a name of several columns, or use only the first one of them."""
        others = [] if is_several else self.columns.get("name", ())[1:]
        self._has_name_checks = is_several
        for column in others:
            self.choose(column, "")
        self._show_name_checks()

    def choose(self, column: int, field: str) -> None:
        """Choose the field of a column, as the user would; an empty `field` leaves the column out."""
        self._combos[column].setCurrentIndex(self._combos[column].findData(field))

    def show_sample(self, sample: Sample) -> None:
        """Show the columns of a file with their detected fields, and its first rows."""
        layout = sample.layout
        codes = [layout.codes.position] if layout.codes else []
        count = min(len(layout.names), max(_MAX_COLUMNS - 1, *layout.fields.values(), *layout.name_parts, *codes) + 1)
        self._names = layout.names[:count]
        self._has_name_checks = bool(layout.name_parts)
        self._show_combos({column: field for field, columns in layout.columns.items() for column in columns})
        numbered = [self.tr("Column {number}").format(number=column + 1) for column in range(count)]
        headings = layout.names[:count] if layout.has_header else numbered
        cells = [_make_cells(row, count) for row in sample.rows[:_MAX_ROWS]]
        self._table.show_rows([[Cell(one_line(text), color="muted") for text in headings], *cells], (), [""] * count)
        self._fit_columns(sample)
        self._show_name_checks()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize and watched is self._table.viewport():
            self._place_combos()
        elif event.type() is QEvent.Type.FocusIn and watched in (fields := [*self._combos, *self._name_checks]):
            column = fields.index(watched) % len(self._combos)
            self._table.scrollTo(self._table.model().index(self._table.rowAt(0), column))
        return super().eventFilter(watched, event)

    @Slot()
    def _place_combos(self) -> None:
        table = self._table
        height = self._theme.metrics.compact_row
        start = table.viewport().x() + _COMBO_GAP // 2
        for column, (combo, check) in enumerate(zip(self._combos, self._name_checks, strict=True)):
            left = start + table.columnViewportPosition(column)
            width = table.columnWidth(column) - _COMBO_GAP
            combo.setGeometry(left, XS, width, height)
            check.setGeometry(left, height + 2 * XS, min(width, check.sizeHint().width()), height)

    def _show_name_checks(self) -> None:
        rows = 2 if self._has_name_checks else 1
        self._strip.setFixedHeight(rows * self._theme.metrics.compact_row + (rows + 1) * XS)
        for combo, check in zip(self._combos, self._name_checks, strict=True):
            check.setVisible(self._has_name_checks)
            check.setChecked(combo.currentData() == "name")
        self._place_combos()

    def _show_combos(self, fields: Mapping[int, str]) -> None:
        for widget in [*self._combos, *self._name_checks]:
            widget.hide()
            widget.deleteLater()
        self._changed_combo = None
        self._combos = [
            self._make_combo(column, name, fields.get(column, "")) for column, name in enumerate(self._names)
        ]
        self._name_checks = [
            self._make_name_check(one_line(name) or str(number)) for number, name in enumerate(self._names, 1)
        ]

    def _make_name_check(self, name: str) -> QCheckBox:
        check = QCheckBox(self.tr("In the name"), self._strip)
        check.setAccessibleName(self.tr("Column {name} is in the name").format(name=name))
        check.clicked.connect(self._on_name_checked)
        check.installEventFilter(self)
        return check

    @Slot(bool)
    def _on_name_checked(self, is_checked: bool) -> None:
        check = self.sender()
        if isinstance(check, QCheckBox):
            self.choose(self._name_checks.index(check), "name" if is_checked else "")

    def _make_combo(self, column: int, name: str, field: str) -> QComboBox:
        choices = (
            (self.tr("ID"), "id"),
            (self.tr("Name"), "name"),
            (self.tr("Tag"), "tag"),
            (self.tr("Note"), "note"),
            (self.tr("Leave out"), ""),
        )
        combo = ComboBox(self.tr("Field of column {name}").format(name=one_line(name) or column + 1), choices)
        combo.setCurrentIndex(combo.findData(field))
        combo.currentIndexChanged.connect(self._on_chosen)
        combo.setProperty("small", "true")
        combo.installEventFilter(self)
        combo.setParent(self._strip)
        combo.show()
        return combo

    @Slot()
    def _on_chosen(self) -> None:
        """Let each field have only the column chosen last; the name may have several ticked ones.

        Arrow keys choose each field on the way, so the others go back to their fields before the first key.
        """
        chosen = self.sender()
        if not isinstance(chosen, QComboBox):
            return
        if chosen is not self._changed_combo:
            self._changed_combo = chosen
            self._other_fields = [(combo, combo.currentData()) for combo in self._combos if combo is not chosen]
        taken_field = "" if self._has_name_checks and chosen.currentData() == "name" else chosen.currentData()
        for combo, field in self._other_fields:
            with QSignalBlocker(combo):
                combo.setCurrentIndex(combo.findData("" if field == taken_field else field))
        self._show_name_checks()
        self._table.viewport().update()
        self.fields_changed.emit()

    def _fit_columns(self, sample: Sample) -> None:
        table = self._table
        count = self._table.model().columnCount()
        header = table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        for column in range(count):
            content = min(_MAX_COLUMN_WIDTH, table.sizeHintForColumn(column))
            combo = self._combos[column].sizeHint().width() + _COMBO_GAP
            table.setColumnWidth(column, max(_MIN_COLUMN_WIDTH, content, combo))
        if count <= _MAX_STRETCHED_COLUMNS:
            wide = sample.layout.fields.get("name", 0)
            header.setSectionResizeMode(min(wide, count - 1), QHeaderView.ResizeMode.Stretch)


def _make_cells(row: Sequence[str | None], count: int) -> list[Cell]:
    texts = [*row[:count], *[None] * (count - len(row))]
    return [Cell("—" if text is None else one_line(text), value=text) for text in texts]


class ReadOptionsPanel(QWidget):
    """The fields for encoding, delimiter, quotes, skipped lines and header of a file."""

    #: The user has chosen another encoding, delimiter or quote.
    changed = Signal()
    #: The user has chosen whether there is a header.
    header_chosen = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._encoding_box = self._make_combo(self.tr("Encoding"), ((name.upper(), name) for name in _ENCODINGS))
        self._delimiter_box = self._make_combo(self.tr("Delimiter"), self._list_delimiters().items())
        self._quote_box = self._make_combo(self.tr("Quotes"), (('"', '"'), ("'", "'"), (self.tr("None"), "")))
        self._skipped_box = make_spin_box(QSpinBox)
        self._skipped_box.setRange(0, _MAX_SKIPPED_LINES)
        self._skipped_box.setAccessibleName(self.tr("Lines above the table"))
        self._skipped_box.valueChanged.connect(self._on_skipped_changed)
        self._is_header_chosen = False
        self._header_check = QCheckBox(self.tr("First row is the header"))
        self._header_check.toggled.connect(self._on_header_chosen)
        self._labels: dict[QWidget, PlainLabel] = {}
        combos = QGridLayout()
        combos.setHorizontalSpacing(M)
        combos.setVerticalSpacing(XS)
        for column, field in enumerate((self._encoding_box, self._delimiter_box, self._quote_box, self._skipped_box)):
            self._labels[field] = PlainLabel(field.accessibleName(), buddy=field)
            combos.addWidget(self._labels[field], 0, column)
            combos.addWidget(field, 1, column)
        combos.setColumnStretch(4, 1)
        fill(QVBoxLayout(self), combos, self._header_check, margins=0, spacing=S)

    def show_sample(self, sample: Sample) -> None:
        """Show how a sample was read, and disable options that its format does not have."""
        boxes = (self._encoding_box, self._delimiter_box, self._quote_box, self._header_check)
        blockers = [*map(QSignalBlocker, boxes)]
        encoding = sample.file.encoding or ""
        if self._encoding_box.findData(encoding) < 0:
            self._encoding_box.addItem(encoding.upper(), encoding)
        self._encoding_box.setCurrentIndex(self._encoding_box.findData(encoding))
        choices = {self._encoding_box: sample.file.encoding is not None}
        choices |= dict.fromkeys((self._delimiter_box, self._quote_box), sample.file.dialect is not None)
        for combo, has_choice in choices.items():  # a workbook has none of them
            for widget in (combo, self._labels[combo]):
                widget.setVisible(has_choice)
            combo.setEnabled(has_choice)
        self._header_check.setEnabled(sample.has_choice_of_header)
        self._skipped_box.setEnabled(sample.has_choice_of_header)
        if sample.file.dialect is not None:
            self._delimiter_box.setCurrentIndex(self._delimiter_box.findData(sample.file.dialect.delimiter))
            self._quote_box.setCurrentIndex(self._quote_box.findData(sample.file.dialect.quote))
        self._header_check.setChecked(sample.layout.has_header)
        del blockers

    def make_read_options(self, reading: ReadOptions, columns: Mapping[str, Sequence[int]]) -> ReadOptions:
        """Return `reading` with the present options and these columns; other columns are detected again."""
        chosen = {field: tuple(positions) for field, positions in columns.items()}
        has_header = self._header_check.isChecked() if self._is_header_chosen else None
        return reading._replace(
            encoding=self._encoding_box.currentData() if self._encoding_box.isEnabled() else None,
            delimiter=self._delimiter_box.currentData() if self._delimiter_box.isEnabled() else None,
            quote=self._quote_box.currentData() if self._quote_box.isEnabled() else None,
            skipped_lines=self._skipped_box.value(),
            columns=reading.columns._replace(chosen=chosen, only_chosen=False, has_header=has_header),
        )

    def summarize(self) -> str:
        """Return delimiter, encoding and header in a few words, for the line about the file."""
        parts = [combo.currentText() for combo in (self._delimiter_box, self._encoding_box) if combo.isEnabled()]
        if self._header_check.isChecked() and self._header_check.isEnabled():
            parts.append(self.tr("first row is the header"))
        return " · ".join(parts)

    @Slot()
    def choose_header(self) -> None:
        """Treat the first row as the header."""
        self._header_check.setChecked(True)

    @Slot()
    def _on_header_chosen(self) -> None:
        self._is_header_chosen = True
        self.header_chosen.emit()

    @Slot()
    def _on_skipped_changed(self) -> None:
        """Detect the header again, as the first row is another one."""
        self._is_header_chosen = False
        self.changed.emit()

    def _list_delimiters(self) -> dict[str, str]:
        return {
            self.tr("comma"): ",",
            self.tr("semicolon"): ";",
            self.tr("tab"): "\t",
            self.tr("bar"): "|",
            self.tr("one column"): ONE_COLUMN,
        }

    def _make_combo(self, name: str, choices: Iterable[tuple[str, str]]) -> QComboBox:
        combo = ComboBox(name, choices)
        combo.currentIndexChanged.connect(self.changed)
        return combo
