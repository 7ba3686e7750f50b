"""The update of a shared store's tables: the question, which names the desks, and the work after a backup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QProgressBar, QVBoxLayout
from typing_extensions import override

from plantdesk.domain.locations import update_store
from plantdesk.ui.feature import Feature
from plantdesk.ui.qt import fill
from plantdesk.ui.texts import error_text, one_line, short_time
from plantdesk.ui.theme.metrics import EDGE, L, M
from plantdesk.ui.widgets.dialog import ButtonRole, Dialog
from plantdesk.ui.widgets.messages import MessageLine, Tone
from plantdesk.ui.widgets.plain_table import PlainTable
from plantdesk.ui.widgets.plain_text import PlainLabel

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QWidget

    from plantdesk.domain.backups import Backup
    from plantdesk.domain.desks import TablesUpdate
    from plantdesk.ui.background import Task
    from plantdesk.ui.feature import WindowContext

#: For text of 13 px.
_WIDTH = 600
_MAX_ROWS = 6
#: Of the progress.
_STEPS = 1000


class UpdateDialog(Dialog):
    """Names the desks of the last 30 days, and what each can do afterwards; backs up and updates while it is open.

    `running(is_running)`: the update has begun, or ended. `updated`: it was made.
    """

    running = Signal(bool)
    updated = Signal()

    def __init__(self, context: WindowContext, update: TablesUpdate, folder: Path) -> None:
        """Ask for the store of the window, whose backups are in a `folder`."""
        super().__init__(self.tr("Update the shared store"), context.page)
        self._context, self._location = context, context.location
        self._task: Task | None = None
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._progress.setRange(0, _STEPS)
        self._progress.hide()
        self._message = MessageLine(context.theme)
        self._update_button = self.buttons.addButton(self.tr("&Back up and update"), ButtonRole.AcceptRole)
        self._update_button.clicked.connect(self._start)
        self._cancel_button = self.buttons.addButton(self.tr("Cancel"), ButtonRole.RejectRole)
        self._lay_out(update, folder)
        self._cancel_button.setFocus(Qt.FocusReason.OtherFocusReason)  # others are affected
        self.finished.connect(self._on_finished)

    def _lay_out(self, update: TablesUpdate, folder: Path) -> None:
        title = self.tr("Bring “{name}” to version {version} for all computers?")
        about = self.tr(
            "It has version {before}. This PlantDesk needs version {after} to change plants. An older one can only "
            "read it then, and says so, until it is updated."
        )
        saved = self.tr("A backup comes first, in {folder}. The update itself cannot be undone.")
        name = one_line(self._location.name)
        fill(
            QVBoxLayout(self),
            PlainLabel(title.format(name=name, version=update.after), role="strong", wrapped=True),
            PlainLabel(about.format(before=update.before, after=update.after), tone="muted", wrapped=True),
            self._card(update),
            PlainLabel(saved.format(folder=str(folder)), tone="muted", wrapped=True),
            self._progress,
            self._message,
            self.buttons,
            margins=(EDGE, L, EDGE, L),
            spacing=M,
        )
        self._fit()

    def _card(self, update: TablesUpdate) -> QWidget:
        """Return the table of the desks."""
        headings = (self.tr("Computer"), self.tr("Version"), self.tr("Last seen"), self.tr("Afterwards"))
        name = self.tr("Computers of the last 30 days")
        table = PlainTable(self._context.theme, name, headings, wide=0, max_rows=_MAX_ROWS)
        works, reads = self.tr("works on"), self.tr("only reads, until updated")
        table.show_rows(
            [
                (
                    one_line(desk.name),
                    desk.version or self.tr("unknown"),
                    short_time(desk.last_seen),
                    works if update.goes_on(desk) else reads,
                )
                for desk in update.desks
            ]
        )
        card = table.framed()
        card.setVisible(bool(update.desks))
        return card

    @Slot()
    def _start(self) -> None:
        """Back up and update; a failed attempt can be repeated."""
        if self._task is not None:
            return
        location = self._location

        def update(task: Task) -> Backup | None:
            def report(fraction: float) -> None:
                if not task.complete(lambda: None):
                    raise InterruptedError
                task.report(fraction)

            return update_store(location, report)

        self._update_button.setEnabled(False)
        self._show_progress(0.0)
        self._progress.show()
        self._fit()
        self._task = self._context.bridge.long_tasks.ask(
            self, update, self._on_updated, self._on_failed, progress=self._show_progress
        )
        self.running.emit(True)

    def _show_progress(self, fraction: float) -> None:
        """Show how far the backup is; after it, the update cannot be cancelled any more."""
        is_saved = fraction >= 1
        self._progress.setValue(round(fraction * _STEPS))
        self._message.show_message(Tone.HINT, self.tr("Updating…") if is_saved else self.tr("Backing up…"))
        self._cancel_button.setEnabled(not is_saved)

    @override
    def reject(self) -> None:
        if self._task is None or self._cancel_button.isEnabled():
            super().reject()

    def _on_updated(self, _backup: Backup | None) -> None:
        self._task = None
        self.running.emit(False)
        self.updated.emit()
        self.accept()

    def _on_failed(self, error: Exception) -> None:
        self._task = None
        self.running.emit(False)
        self._progress.hide()
        self._cancel_button.setEnabled(True)
        self._update_button.setText(self.tr("&Try again"))
        self._update_button.setEnabled(True)
        text = self.tr("Nothing was changed. {reason}").format(reason=error_text(error))
        self._message.show_message(Tone.ERROR, text)
        self._fit()

    def _fit(self) -> None:
        self.fit_height(self._context.theme.metrics.scaled(_WIDTH))

    @Slot()
    def _on_finished(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self.running.emit(False)


class StoreUpdate(Feature):
    """Asks whether to update the shared store that is shown, and updates it; the store notices by itself."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._toast = context.page.toast

    @Slot()
    def ask(self) -> None:
        """Open the question where an update is needed."""
        location = self.context.location

        def show(update: TablesUpdate | None) -> None:
            if update is None or location.backups is None:
                self._toast.show_message(self.tr("The shared store is up to date."))
                return
            dialog = UpdateDialog(self.context, update, location.backups.folder)
            dialog.running.connect(self._on_running)
            dialog.updated.connect(self._on_updated)
            dialog.open()

        self.context.bridge.long_tasks.ask(self, lambda _task: location.needed_update(), show, self._toast.show_error)

    @Slot(bool)
    def _on_running(self, is_running: bool) -> None:
        self.set_running(self.tr("The shared store is being updated: it would stay as it is.") if is_running else "")

    @Slot()
    def _on_updated(self) -> None:
        self._toast.show_message(self.tr("The shared store is up to date. The backup is listed under Restore."))
