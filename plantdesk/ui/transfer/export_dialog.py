"""What to export, and in which format."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFileDialog, QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from plantdesk.transfer.formats import SUFFIXES, WRITTEN, Format
from plantdesk.ui.qt import add_layout
from plantdesk.ui.texts import quoted
from plantdesk.ui.theme.metrics import XL, XXL, L, M, S
from plantdesk.ui.widgets.combo_box import ComboBox
from plantdesk.ui.widgets.dialog import Dialog
from plantdesk.ui.widgets.message_box import MessageBox
from plantdesk.ui.widgets.plain_label import PlainLabel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plantdesk.ui.theme.theme import Theme

_WIDTH = 320


class ExportDialog(Dialog):
    """`wanted(choice, form, file)`: the user has chosen what, how, and the file, whose suffix is that of the format."""

    wanted = Signal(str, object, object)

    def __init__(
        self, theme: Theme, choices: Sequence[tuple[str, str]], folder: Path, parent: QWidget | None = None
    ) -> None:
        """Offer `choices`: the text of each, and its name; the last one is chosen at first."""
        super().__init__(self.tr("Export"), parent)
        self._theme = theme
        self._folder = folder
        self._plants = ComboBox(self.tr("Plants"))
        for text, name in choices:
            self._plants.addItem(text, name)
        self._plants.setCurrentIndex(len(choices) - 1)
        self._forms = ComboBox(self.tr("Format"))
        for form, text, _ in self._formats():
            self._forms.addItem(text, form)
        save, cancel = QPushButton(self.tr("&Save as…")), QPushButton(self.tr("Cancel"))
        save.setProperty("variant", "primary")
        save.clicked.connect(self._on_save)
        cancel.clicked.connect(self.reject)
        self._lay_out(cancel, save)

    def _formats(self) -> list[tuple[Format, str, str]]:
        return [
            (Format.CSV, self.tr("CSV"), ".csv"),
            (Format.XLSX, self.tr("Excel workbook"), ".xlsx"),
            (Format.EXCEL, self.tr("CSV for Excel"), ".csv"),
            (Format.TSV, self.tr("TSV (tab-separated)"), ".tsv"),
            (Format.JSON, self.tr("JSON"), ".json"),
            (Format.JSON_LINES, self.tr("JSON Lines"), ".jsonl"),
        ]

    @Slot()
    def _on_save(self) -> None:
        form, text, suffix = self._formats()[self._forms.currentIndex()]
        start = str(self._folder / f"{self.tr('plants')}{suffix}")
        name, _ = QFileDialog.getSaveFileName(self, self.tr("Export plants"), start, f"{text} (*{suffix})")
        file = Path(name)
        if not name:
            return
        if (named := _form_of(file, form)) is not None:
            self._accept(named, file)
        elif (suffixed := file.with_name(file.name + suffix)).exists():
            self._ask_to_replace(form, suffixed)
        else:
            self._accept(form, suffixed)

    def _accept(self, form: Format, file: Path) -> None:
        self.wanted.emit(self._plants.currentData(), form, file)
        self.accept()

    def _ask_to_replace(self, form: Format, file: Path) -> None:
        """Ask what the file dialog has not asked: it knows the name without the suffix."""
        text = self.tr("{file} exists already.").format(file=quoted(file.name))
        box = MessageBox(self._theme, self.tr("Export"), text, self.tr("Its content would be replaced."), self)
        box.set_icon("triangle-alert", "warning")
        box.add_button(self.tr("&Replace")).clicked.connect(partial(self._accept, form, file))
        box.add_button(self.tr("Cancel"))
        box.open()

    def _lay_out(self, *buttons: QPushButton) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(M)
        grid.setVerticalSpacing(S)
        for row, (text, combo) in enumerate(((self.tr("Plants"), self._plants), (self.tr("Format"), self._forms))):
            label = PlainLabel(text)
            label.setBuddy(combo)
            combo.setMinimumWidth(_WIDTH)
            combo.setAccessibleName(text)
            grid.addWidget(label, row, 0)
            grid.addWidget(combo, row, 1)
        text = self.tr(
            "All fields are written. CSV is for programs: PlantDesk reads it exactly. CSV for Excel marks cells "
            "that Excel would take for formulas with a leading '."
        )
        foot = QHBoxLayout()
        foot.setSpacing(S)
        foot.addStretch(1)
        for button in buttons:
            foot.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(XXL, XL, XXL, XL)
        layout.setSpacing(L)
        add_layout(layout, grid)
        layout.addWidget(PlainLabel(text, tone="muted", wrapped=True))
        layout.addStretch(1)
        add_layout(layout, foot)
        self.setMinimumWidth(480)


def _form_of(file: Path, chosen: Format) -> Format | None:
    """Return the format that the suffix of a file says; `chosen` where that has the same suffix."""
    suffix = file.suffix.lower()
    found = SUFFIXES.get(suffix)
    if found is Format.CSV and chosen is Format.EXCEL:
        return chosen
    return found if found in WRITTEN and suffix != ".xlsm" else None  # what is written has no macros
