"""The export: a dialog, and a controller that writes the file in the background."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QGridLayout, QWidget
from typing_extensions import override

from plantdesk.domain.protocols import PlantReader, PlantStore
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import Selection
from plantdesk.domain.texts import Text
from plantdesk.transfer.formats import EXPORT_FORMATS, SUFFIXES, Format
from plantdesk.transfer.writing import write_plants
from plantdesk.ui.background import Task
from plantdesk.ui.feature import ShownPlants, WindowContext
from plantdesk.ui.qt import STRETCH, documents_folder
from plantdesk.ui.texts import error_text, quoted, translated
from plantdesk.ui.theme.metrics import L, M, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.transfer.import_job import ImportProgress, Reporter, progress_text
from plantdesk.ui.widgets.dialog import ENTER_KEYS, ButtonRole, Dialog, FileDialog, MessageBox, press_focused_button
from plantdesk.ui.widgets.fields import ComboBox, add_labelled
from plantdesk.ui.widgets.messages import Tone
from plantdesk.ui.widgets.plain_text import PlainLabel

_BOX_WIDTH = 320
_ALL = "all"
_SHOWN = "shown"
_SELECTED = "selected"


class ExportDialog(Dialog):
    """The dialog in which the user chooses plants, format and file of an export."""

    #: (choice, file_format, file) Export the plants of a choice to a file.
    export_requested = Signal(str, object, object)

    def __init__(
        self, theme: Theme, choices: Sequence[tuple[str, str]], chosen: int, folder: Path, parent: QWidget | None = None
    ) -> None:
        """Offer `choices`, each a text and a name; that at the index `chosen` is the default."""
        super().__init__(self.tr("Export"), parent)
        self._theme = theme
        self._folder = folder
        self._plants_box = ComboBox(self.tr("Plants"))
        for text, name in choices:
            self._plants_box.addItem(text, name)
        self._plants_box.setCurrentIndex(chosen)
        self._format_box = ComboBox(self.tr("Format"))
        for file_format, text, _ in self._list_formats():
            self._format_box.addItem(text, file_format)
        self.add_primary(self.tr("&Save as…"), self._on_save)
        self.buttons.addButton(self.tr("Cancel"), ButtonRole.RejectRole)
        self._lay_out()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let Enter press Save, unless another button has the focus."""
        if event.key() not in ENTER_KEYS:
            super().keyPressEvent(event)
        elif not press_focused_button(self):
            self._on_save()

    def _list_formats(self) -> list[tuple[Format, str, str]]:
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
        """Ask for a file. A known suffix decides its format; otherwise that of the chosen format is added."""
        file_format, text, suffix = self._list_formats()[self._format_box.currentIndex()]
        start = str(self._folder / f"{self.tr('plants')}{suffix}")
        name = FileDialog.get_save_file(self, self.tr("Export plants"), start, f"{text} (*{suffix})")
        file = Path(name)
        if not name:
            return
        if (named := _format_of(file, file_format)) is not None:
            self._accept(named, file)
        elif (suffixed := file.with_name(file.name + suffix)).exists():
            self._ask_to_replace(file_format, suffixed)
        else:
            self._accept(file_format, suffixed)

    def _accept(self, file_format: Format, file: Path) -> None:
        self.export_requested.emit(self._plants_box.currentData(), file_format, file)
        self.accept()

    def _ask_to_replace(self, file_format: Format, file: Path) -> None:
        """Ask whether to replace the file, as the file dialog saw its name without the suffix."""
        text = self.tr("{file} exists already.").format(file=quoted(file.name))
        box = MessageBox(self._theme, self.tr("Export"), text, self.tr("Its content would be replaced."), self)
        box.add_button(self.tr("&Replace")).clicked.connect(partial(self._accept, file_format, file))
        box.add_button(self.tr("Cancel"), ButtonRole.RejectRole)
        box.open()

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(M)
        grid.setVerticalSpacing(S)
        for combo in (self._plants_box, self._format_box):
            combo.setMinimumWidth(_BOX_WIDTH)
        add_labelled(grid, ((self.tr("Plants"), self._plants_box), (self.tr("Format"), self._format_box)))
        text = self.tr(
            "All fields are written. CSV is for programs: PlantDesk reads it exactly. CSV for Excel marks cells "
            "that Excel would take for formulas with a leading '."
        )
        self.arrange(grid, PlainLabel(text, tone="muted", wrapped=True), STRETCH, spacing=L)
        self.setMinimumWidth(480)


def _format_of(file: Path, chosen: Format) -> Format | None:
    """Return the format that the suffix of a file means, `chosen` if it fits; None if it means none."""
    suffix = file.suffix.lower()
    of_suffix = SUFFIXES.get(suffix)
    if of_suffix is Format.CSV and chosen is Format.EXCEL:
        return chosen
    return of_suffix if of_suffix in EXPORT_FORMATS and suffix != ".xlsm" else None  # the written file has no macros


class ExportController(QObject):
    """Asks what to export, and writes one file at a time in the background, with a bar of its progress."""

    #: An export is done, has failed or was cancelled.
    ended = Signal()

    def __init__(self, context: WindowContext, store: PlantStore, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._store = store
        self._task: Task | None = None
        self._bar = context.page.add_bar()
        #: As `Feature.running_text`.
        self.running_text = ""

    def open_dialog(self, plants: ShownPlants) -> None:
        """Open the dialog, unless an export runs; it offers all, found and selected plants."""
        is_cancelling = self._task is not None and self._task.is_cancelled and not self._task.has_ended
        if self.running_text or is_cancelling:
            self._context.page.toast.show_problem(self.tr("An export is running."))
            return
        self._shown_plants = plants
        selected = plants.selected_ids()
        choices = [(self.tr("All plants"), _ALL)]
        if plants.search_text:
            choices.append(
                (self.tr("Those that the search {text} finds").format(text=quoted(plants.search_text)), _SHOWN)
            )
        chosen = len(choices) - (0 if len(selected) > 1 else 1)  # a single selected row is rarely meant
        if selected:
            choices.append(
                (
                    translated(Text("The {count:,} selected plants", one="The selected plant", count=len(selected))),
                    _SELECTED,
                )
            )
        dialog = ExportDialog(self._context.theme, choices, chosen, documents_folder(), self._context.page)
        dialog.export_requested.connect(self._export)
        dialog.open()

    def close(self) -> None:
        """Cancel the export, and block until it does not read the store any more."""
        if self._task is not None:
            self._task.cancel()
            self._task.wait()
        self._bar.clear()
        self._bar.deleteLater()
        self.deleteLater()

    @Slot(str, object, object)
    def _export(self, choice: str, file_format: Format, file: Path) -> None:
        """Begin to write the file, and show a bar with its progress and a Cancel button."""
        selection = parse_search(self._shown_plants.search_text) if choice == _SHOWN else Selection()
        if choice == _SELECTED:
            selection = Selection(ids=self._shown_plants.selected_ids())

        def write(task: Task) -> int:
            with closing(self._store.reader()) as reader, task.interrupted_by(reader.interrupt):
                return _write_file(task, reader, file, file_format, selection)

        title = self.tr("Exporting to {file}").format(file=quoted(file.name))
        self._bar.show_state(Tone.INFO, title, "", (self.tr("Cancel"), self._cancel), persistent=True)
        self._bar.set_progress("", None)
        text = self.tr("An export is running: {file} would not be written.")
        self.running_text = text.format(file=quoted(file.name))
        self._task = self._context.bridge.long_tasks.run(
            self, write, lambda count: self._on_done(file, count), self._on_failed, progress=self._on_progress
        )

    def _on_progress(self, progress: ImportProgress) -> None:
        self._bar.set_progress(progress_text(progress), progress.fraction)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self._end_run()
        self._context.page.toast.show_message(self.tr("The export was cancelled. No file was written."))

    def _on_done(self, file: Path, count: int) -> None:
        self._end_run()
        toast = self._context.page.toast
        folder = (self.tr("Open folder"), partial(toast.open_file, file.parent))
        template = Text("Exported {count:,} plants to {file}.", one="Exported 1 plant to {file}.")
        toast.show_message(translated(template.filled(count=count, file=quoted(file.name))), folder)

    def _on_failed(self, error: Exception) -> None:
        self._end_run()
        text = self.tr("Nothing was exported. {reason}").format(reason=error_text(error))
        self._context.page.toast.show_problem(text)

    def _end_run(self) -> None:
        self.running_text = ""
        self._bar.clear()
        self.ended.emit()


def _write_file(task: Task, reader: PlantReader, file: Path, file_format: Format, selection: Selection) -> int:
    total = max(1, reader.count_selected(selection))
    reporter = Reporter(task.report)

    def report_progress(count: int) -> None:
        task.raise_if_cancelled()
        reporter.report_rows(count, max(total, count))

    return write_plants(file, file_format, reader, selection, report_progress)
