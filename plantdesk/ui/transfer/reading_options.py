"""How a file is read: encoding, delimiter, quotes and header, detected at first, and the lines above the header."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QSpinBox, QVBoxLayout, QWidget

from plantdesk.transfer.delimited import ONE_COLUMN
from plantdesk.ui.qt import fill
from plantdesk.ui.theme.metrics import XS, M, S
from plantdesk.ui.widgets.fields import ComboBox, spin_box
from plantdesk.ui.widgets.plain_text import PlainLabel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plantdesk.transfer.inputs import Reading, Sample

_ENCODINGS = (
    "utf-8",
    "utf-16",
    "cp1252",
    "iso8859-15",
    "cp1250",
    "cp1251",
    "cp437",
    "mac_roman",
    "shift_jis",
    "gb18030",
)


#: Lines above a table that can be skipped.
_MAX_SKIPPED = 999


class ReadingOptions(QWidget):
    """`changed`: the user has chosen something else."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._encoding = self._combo(self.tr("Encoding"), ((each.upper(), each) for each in _ENCODINGS))
        self._delimiter = self._combo(self.tr("Delimiter"), self._delimiters().items())
        self._quote = self._combo(self.tr("Quotes"), (('"', '"'), ("'", "'"), (self.tr("None"), "")))
        self._skipped = spin_box(QSpinBox)
        self._skipped.setRange(0, _MAX_SKIPPED)
        self._skipped.setAccessibleName(self.tr("Lines above the table"))
        self._skipped.valueChanged.connect(self._on_skipped_changed)
        self._is_header_known = True
        self._header = QCheckBox(self.tr("First row holds the names"))
        self._header.toggled.connect(self.changed)
        combos = QGridLayout()
        combos.setHorizontalSpacing(M)
        combos.setVerticalSpacing(XS)
        for column, field in enumerate((self._encoding, self._delimiter, self._quote, self._skipped)):
            combos.addWidget(PlainLabel(field.accessibleName(), buddy=field), 0, column)
            combos.addWidget(field, 1, column)
        combos.setColumnStretch(4, 1)
        fill(QVBoxLayout(self), combos, self._header, margins=0, spacing=S)

    def show_sample(self, sample: Sample) -> None:
        """Show how a file is read."""
        blockers = [QSignalBlocker(each) for each in (self._encoding, self._delimiter, self._quote, self._header)]
        encoding = (sample.encoding or "").removesuffix("-sig")
        if self._encoding.findData(encoding) < 0:
            self._encoding.addItem(encoding.upper(), encoding)
        self._encoding.setCurrentIndex(self._encoding.findData(encoding))
        self._encoding.setEnabled(sample.encoding is not None)
        for combo in (self._delimiter, self._quote):
            combo.setEnabled(sample.dialect is not None)
        self._header.setEnabled(sample.has_choice_of_header)
        self._skipped.setEnabled(sample.has_choice_of_header)
        if sample.dialect is not None:
            self._delimiter.setCurrentIndex(self._delimiter.findData(sample.dialect.delimiter))
            self._quote.setCurrentIndex(self._quote.findData(sample.dialect.quote))
        self._header.setChecked(sample.layout.has_header)
        self._is_header_known = True
        del blockers

    def reading(self, reading: Reading) -> Reading:
        """Return how the file is to be read now; columns are found anew."""
        has_header = self._header.isChecked() if self._is_header_known else None
        return reading._replace(
            encoding=self._encoding.currentData() if self._encoding.isEnabled() else None,
            delimiter=self._delimiter.currentData() if self._delimiter.isEnabled() else None,
            quote=self._quote.currentData() if self._quote.isEnabled() else None,
            skipped_lines=self._skipped.value(),
            columns=reading.columns._replace(chosen={}, only=False, has_header=has_header),
        )

    def summary(self) -> str:
        """Return the same in words."""
        parts = [combo.currentText() for combo in (self._delimiter, self._encoding) if combo.isEnabled()]
        if self._header.isChecked() and self._header.isEnabled():
            parts.append(self.tr("first row holds the names"))
        return " · ".join(parts)

    @Slot()
    def _on_skipped_changed(self) -> None:
        """Find out anew whether the first row, now another one, holds the names."""
        self._is_header_known = False
        self.changed.emit()

    def _delimiters(self) -> dict[str, str]:
        return {
            self.tr("comma"): ",",
            self.tr("semicolon"): ";",
            self.tr("tab"): "\t",
            self.tr("bar"): "|",
            self.tr("one column"): ONE_COLUMN,
        }

    def _combo(self, name: str, choices: Iterable[tuple[str, str]]) -> QComboBox:
        combo = ComboBox(name)
        for text, value in choices:
            combo.addItem(text, value)
        combo.currentIndexChanged.connect(self.changed)
        return combo
