"""The commands of import and export, and import by drag and drop or pasting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, QLocale, QMimeData, QObject, Qt, Signal, Slot
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QLineEdit
from typing_extensions import override

from plantdesk.domain.edits import Applied
from plantdesk.domain.errors import prevents_changes
from plantdesk.domain.records import SourceKind
from plantdesk.domain.selections import AddedBy
from plantdesk.domain.texts import Text
from plantdesk.ui.feature import Feature, ShownPlants, WindowContext
from plantdesk.ui.menus import Key, Section, key_text
from plantdesk.ui.qt import documents_folder
from plantdesk.ui.texts import error_text, quoted, translated
from plantdesk.ui.widgets.dialog import FileDialog
from plantdesk.ui.widgets.messages import MessageAction, Tone
from plantdesk.ui.widgets.plain_text import PlainLabel

if TYPE_CHECKING:
    from plantdesk.transfer.files import InputFile
    from plantdesk.transfer.inputs import ReadOptions
    from plantdesk.ui.transfer.export import ExportController
    from plantdesk.ui.transfer.import_dialog import ImportDialog
    from plantdesk.ui.transfer.import_job import ImportJob, ImportProgress


_DRAG_EVENTS = frozenset({QEvent.Type.DragEnter, QEvent.Type.Drop})
_DRAG_END_EVENTS = frozenset({QEvent.Type.DragLeave, QEvent.Type.Drop})


class TransferFeature(Feature):
    """Runs one import and one export at a time. An import continues when its dialog is closed."""

    #: (term, add) Show the imported plants.
    imported_requested = Signal(object, bool)

    def __init__(self, context: WindowContext, plants: ShownPlants) -> None:
        super().__init__(context)
        self._plants = plants
        self._dialog: ImportDialog | None = None
        self._job: ImportJob | None = None
        self._export_controller: ExportController | None = None
        self._bar = context.page.add_bar()
        #: Covers the page while files or text that can be imported are dragged over it.
        self._drop_frame = PlainLabel(role="drop", alignment=Qt.AlignmentFlag.AlignCenter)
        self._drop_frame.hide()
        self._drop_frame.setParent(context.page)
        self._drop_frame.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        add = context.menus.add
        self._import_action = add(Section.FILE_IMPORT, self.tr("&Import…"), self.choose_files, "Ctrl+Shift+I")
        self.enable_with_store(add(Section.FILE_EXPORT, self.tr("&Export…"), self.export, "Ctrl+E"))
        context.bridge.health_changed.connect(self._enable_commands)

    @property
    @override
    def running_text(self) -> str:
        return self._running_text or ("" if self._export_controller is None else self._export_controller.running_text)

    @override
    def set_up(self) -> None:
        window = self.context.page.window()
        window.setAcceptDrops(True)
        for widget in (window, *window.findChildren(QLineEdit)):  # else a field inserts the path
            widget.installEventFilter(self)

    @override
    def release_store(self) -> None:
        super().release_store()
        if self._export_controller is not None:
            self._export_controller.close()
            self._export_controller = None
        if self._dialog is not None:
            self._dialog.close_job()
            self._dialog.reject()
        if self._job is not None:
            self._job.close()
            self._job = None
            self._running_text = ""
        self._bar.clear()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _DRAG_END_EVENTS:
            self._drop_frame.hide()
        if self.opened is not None and event.type() in _DRAG_EVENTS:
            dropped = cast("QDropEvent", event)
            data = dropped.mimeData()
            files = _list_files(data)
            is_text = data.hasText() and not data.hasUrls() and not isinstance(watched, QLineEdit)
            if files or is_text:
                dropped.setDropAction(Qt.DropAction.CopyAction)  # so that the source keeps the files
                dropped.accept()
                if event.type() is not QEvent.Type.Drop:
                    self._show_drop(files)
                elif files:
                    self.import_files(files)
                else:
                    self.import_text(data.text(), self.tr("dropped text"))
                return True
        return super().eventFilter(watched, event)

    def _show_drop(self, files: Sequence[Path]) -> None:
        names = [quoted(file.name) for file in files]
        subject = names[0] if len(names) == 1 else self.tr("{count} files").format(count=QLocale().toString(len(names)))
        self._drop_frame.setText(self.tr("Import {what}").format(what=subject if names else self.tr("the text")))
        self._drop_frame.setGeometry(self.context.page.rect())
        self._drop_frame.show()
        self._drop_frame.raise_()

    def import_files(self, files: Sequence[Path]) -> None:
        """Open the import dialog for files, unless it is open or an import runs."""
        from plantdesk.transfer.columns import Columns
        from plantdesk.transfer.files import input_file
        from plantdesk.transfer.inputs import ReadOptions

        self._open_dialog([input_file(file) for file in files], ReadOptions(columns=Columns(has_header=None)))

    @Slot(str)
    def import_text(self, text: str, name: str = "", tag: str = "") -> None:
        """Open the import dialog for pasted or dropped text; `tag` is proposed for plants without one."""
        from plantdesk.transfer.inputs import pasted_file, pasted_read_options

        if text.strip():
            file = pasted_file(name or self.tr("clipboard"), text)
            self._open_dialog([file], pasted_read_options(file.text), tag)

    @Slot()
    def choose_files(self) -> None:
        """Let the user choose files, and open the import dialog for them."""
        names = FileDialog.get_open_files(
            self.context.page, self.tr("Import plants"), str(documents_folder()), ";;".join(self._make_file_filters())
        )
        if names:
            self.import_files([Path(name) for name in names])

    def _make_file_filters(self) -> list[str]:
        from plantdesk.transfer.formats import SUFFIXES

        known = " ".join(f"*{suffix}" for suffix in SUFFIXES)
        return [self.tr("Files of plants ({suffixes})").format(suffixes=known), self.tr("All files (*)")]

    def _open_dialog(self, sources: Sequence[InputFile], reading: ReadOptions, tag: str = "") -> None:
        from plantdesk.ui.transfer.import_dialog import ImportDialog

        if self.opened is None or self._dialog is not None:
            return
        if self._running_text:
            text = self.tr("An import is running. Wait until it is done, or cancel it.")
            self.context.page.toast.show_problem(text)
            return
        self._dialog = ImportDialog(self.context, self.opened.store, sources, reading, documents_folder(), tag)
        self._dialog.started.connect(self._follow_job)
        self._dialog.finished.connect(self._on_dialog_closed)
        self._dialog.open()

    @Slot()
    def _on_dialog_closed(self) -> None:
        self._dialog = None

    @Slot()
    def export(self) -> None:
        """Ask which plants to export, and to which file."""
        if self._export_controller is None and self.opened is not None:
            from plantdesk.ui.transfer.export import ExportController

            self._export_controller = ExportController(self.context, self.opened.store, self)
            self._export_controller.ended.connect(self.close_unblocked)
        if self._export_controller is not None:
            self._export_controller.open_dialog(self._plants)

    @Slot()
    @override
    def _enable_commands(self) -> None:
        """Enable the import only while plants can be changed, as each import is one change."""
        super()._enable_commands()
        self._import_action.setEnabled(self.opened is not None and not prevents_changes(self.opened.store.change_error))

    @Slot(object)
    def _follow_job(self, job: ImportJob) -> None:
        """Show the progress of an import that the dialog has started, and report its result."""
        if self._job is not None:
            self._job.end()
        self._job = job
        text = self.tr("An import is running: nothing of {names} would be imported.")
        self.set_running_text(text.format(names=quoted(job.names, 80)))
        self._show_running(self.tr("Preparing…"), None)
        job.progressed.connect(self._on_progress)
        self.context.follow_change(self, job.written, self._on_applied, _ignore)
        job.failed.connect(self._on_failed)
        job.refused_saved.connect(self._on_saved)
        job.refused_not_saved.connect(self.context.page.toast.show_error)
        job.ended.connect(self._on_ended)

    def _show_running(self, text: str, fraction: float | None) -> None:
        if self._job is not None:
            title = self.tr("Importing {names}").format(names=quoted(self._job.names, 80))
            self._bar.show_state(Tone.INFO, title, text, (self.tr("Cancel"), self._cancel), persistent=True)
            self._bar.set_progress(text, fraction)

    @Slot(object)
    def _on_progress(self, progress: ImportProgress) -> None:
        from plantdesk.ui.transfer.import_job import progress_text

        if self._job is not None and not self._job.is_cancelled:
            self._bar.set_progress(progress_text(progress), progress.fraction)

    def _cancel(self) -> None:
        if self._job is not None:
            self._job.cancel()
            self._bar.set_progress(self.tr("Cancelling…"), None)

    @Slot(object)
    def _on_applied(self, applied: Applied) -> None:
        """Report a finished import, with actions that show and undo it."""
        self.set_running_text("")
        job = self._job
        if job is None:
            return
        self._bar.clear()
        names = quoted(job.names, 80)
        actions: list[MessageAction] = []
        if applied.change is None:
            text = self.tr("Nothing new in {names}.").format(names=names)
        else:
            self.context.undo_stack.push(applied.change)
            template = Text("Imported {count:,} plants from {names}.", one="Imported 1 plant from {names}.")
            text = translated(template.filled(count=applied.plants, names=names))
            imported = AddedBy(SourceKind.IMPORT, applied.change.source.label)
            show = self.tr("Show"), partial(self.imported_requested.emit, imported, False)
            actions = [show, self.context.undo_stack.make_undo_action(applied.change)]
        if job.left_out_count:
            self._show_left_out(text, actions, job.left_out_count)
        else:
            self.context.page.toast.show_message(text, *actions, key=key_text(Key.Undo) if actions else "")
            job.end()

    def _show_left_out(self, text: str, actions: Sequence[MessageAction], count: int) -> None:
        """Report an import that left rows out, with an action that saves them; the message stays until it is closed."""
        left_out = translated(Text("{count:,} rows were left out.", one="1 row was left out.", count=count))
        save = translated(Text("Save them with the reasons…", one="Save it with the reason…", count=count))

        def show_and_stay(show: Callable[[], object]) -> None:
            show()
            self._show_left_out(text, actions, count)

        staying = [(label, partial(show_and_stay, show)) for label, show in actions[:1]]
        self.context.page.toast.show_problem(f"{text} {left_out}", (save, self._save_refused), *staying, *actions[1:])

    def _save_refused(self) -> None:
        start = str(documents_folder() / self.tr("refused.csv"))
        name = FileDialog.get_save_file(self.context.page, self.tr("Save rows"), start, self.tr("CSV (*.csv)"))
        if name and self._job is not None:
            self._job.save_refused(Path(name))

    @Slot(object)
    def _on_saved(self, file: Path) -> None:
        self.context.page.toast.show_message(self.tr("Saved to “{file}”.").format(file=file.name))

    @Slot(object)
    def _on_failed(self, error: Exception) -> None:
        from plantdesk.domain.imports import ImportConflictError
        from plantdesk.transfer.importing import InvalidRowsError

        job = self._job
        self._job = None
        self.set_running_text("")
        self._bar.clear()
        actions = []
        if job is not None and isinstance(error, InvalidRowsError | ImportConflictError):
            reopen = partial(self._open_dialog, job.sources, job.options.reading)
            actions = [(self.tr("Choose what happens to them…"), reopen)]
        text = self.tr("Nothing was imported. {reason}").format(reason=error_text(error))
        self.context.page.toast.show_problem(text, *actions)

    @Slot()
    def _on_ended(self) -> None:
        if self.sender() is self._job:
            self._job = None
            if self._running_text:
                self.set_running_text("")
                self._bar.clear()
                self.context.page.toast.show_message(self.tr("The import was cancelled. Nothing was imported."))


def _ignore(_error: Exception) -> None:
    """Do nothing, as `ImportJob.failed` signals the failure."""


def _list_files(data: QMimeData) -> list[Path]:
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile() and Path(url.toLocalFile()).is_file()]
