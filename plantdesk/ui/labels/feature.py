"""The command that prints labels of the selected plants, or writes them to a PDF file."""

from __future__ import annotations

from array import array
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, Qt, Slot
from PySide6.QtWidgets import QApplication, QToolButton

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.protocols import PlantReader
from plantdesk.domain.records import PlantRow
from plantdesk.ui.background import Task
from plantdesk.ui.feature import Feature, ShownPlants, WindowContext
from plantdesk.ui.menus import Section
from plantdesk.ui.qt import documents_folder
from plantdesk.ui.texts import error_text, quoted
from plantdesk.ui.widgets.dialog import FileDialog

if TYPE_CHECKING:
    from plantdesk.ui.labels.dialog import LabelDialog
    from plantdesk.ui.labels.painting import LabelJob

#: Plants whose labels are printed at once.
_MAX_PLANTS = 10_000


class LabelsFeature(Feature):
    """The command that opens the dialog of labels for the selected plants, and prints or saves them."""

    def __init__(self, context: WindowContext, plants: ShownPlants) -> None:
        super().__init__(context)
        self._plants = plants
        self._problem = ""
        text = self.tr("Print &labels…")
        self.enable_with_store(context.menus.add(Section.FILE_EXPORT, text, self.print_selected, "Ctrl+P"))

    @Slot()
    def withdraw_problem(self) -> None:
        """Remove the message that asks to select other plants, as the selection has changed."""
        self.context.page.toast.withdraw(self._problem)

    @Slot()
    def print_selected(self) -> None:
        """Open the dialog for the selected plants, read in full; for none or too many, say how many to select."""
        ids = self._plants.selected_ids()
        if self.opened is None:
            return
        if not 0 < len(ids) <= _MAX_PLANTS:
            too_many = self.tr("Select at most {count} plants.").format(count=QLocale().toString(_MAX_PLANTS))
            self._problem = too_many if ids else self.tr("Select the plants that get a label.")
            self.context.page.toast.show_problem(self._problem)
            return
        self.opened.queries.run(self, partial(_read_rows, ids), self._open_dialog)

    def _open_dialog(self, rows: list[PlantRow]) -> None:
        """Open the dialog for these plants, and save the choices of the user when it is closed."""
        from plantdesk.ui.labels.dialog import LabelDialog

        if not rows or QApplication.activeModalWidget() is not None:  # requested twice
            return
        preferences = self.context.preferences
        choices = preferences.settings.label_sheet, preferences.settings.label_line
        dialog = LabelDialog(self.context.theme, rows, *choices, self.context.page)
        dialog.print_requested.connect(partial(self._print, dialog))
        dialog.pdf_requested.connect(partial(self._save, dialog))
        dialog.finished.connect(
            lambda _result: preferences.change(label_sheet=dialog.sheet_index, label_line=dialog.line)
        )
        dialog.open()

    def _save(self, dialog: LabelDialog, job: LabelJob) -> None:
        """Ask the user for a PDF file, write the labels to it, and close the dialog."""
        from plantdesk.ui.labels.painting import write_pdf

        start = str(documents_folder() / self.tr("labels.pdf"))
        name = FileDialog.get_save_file(dialog, self.tr("Save labels"), start, self.tr("PDF (*.pdf)"))
        if not name:
            return
        file = Path(name)
        if not file.suffix and not file.with_suffix(".pdf").exists():  # the dialog did not ask about that file
            file = file.with_suffix(".pdf")
        try:
            write_pdf(file, job)
        except (OSError, PlantDeskError) as error:
            dialog.show_failure(error_text(error))
            return
        dialog.accept()
        text = self.tr("Saved the labels to {file}.").format(file=quoted(file.name))
        toast = self.context.page.toast
        toast.show_message(text, (self.tr("Open"), partial(toast.open_file, file)))

    def _print(self, dialog: LabelDialog, job: LabelJob) -> None:
        """Open the printer dialog; when the user accepts it, print the labels and close the dialog."""
        from PySide6.QtPrintSupport import QPrintDialog, QPrinter

        from plantdesk.ui.labels.painting import make_page_layout, paint_job

        printer = QPrinter(QPrinter.PrinterMode.HighResolution)
        printer.setPageLayout(make_page_layout(job))
        printer.setFullPage(True)
        print_dialog = QPrintDialog(printer, dialog)
        print_dialog.setWindowTitle(self.tr("Print labels"))
        print_dialog.setWindowModality(Qt.WindowModality.WindowModal)

        def print_labels() -> None:
            try:
                paint_job(printer, job, printer.paperRect(QPrinter.Unit.DevicePixel).toRect())
            except PlantDeskError as error:
                dialog.show_failure(error_text(error))
            else:
                dialog.accept()

        print_dialog.accepted.connect(print_labels)
        print_dialog.show()
        browse_button = print_dialog.findChild(QToolButton, "fileBrowser")
        if browse_button is not None:
            browse_button.hide()  # it opens a dialog of Qt that opens each file: see FileDialog


def _read_rows(ids: array[int], reader: PlantReader, _task: Task) -> list[PlantRow]:
    rows = reader.rows(ids)
    return [rows[plant_id] for plant_id in ids if plant_id in rows]
