"""Backups that the user makes and restores in the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices

from plantdesk.domain.errors import BackupFolderError, StoreUnreachableError, Text
from plantdesk.domain.records import FORM
from plantdesk.ui.feature import Feature
from plantdesk.ui.menus import Section
from plantdesk.ui.texts import error_text, shown
from plantdesk.ui.widgets.messages import Tone

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.domain.backups import Backup, Restored
    from plantdesk.domain.errors import StoreError
    from plantdesk.ui.feature import WindowContext
    from plantdesk.ui.window.restore_dialog import RestoreDialog


class BackupController(Feature):
    """Works on the file of the store, also while it is not open.

    `made`: there is a new backup. `restored`: the file has another state.

    A restore goes on when its dialog is closed.
    """

    made = Signal()
    restored = Signal()

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._toast = context.page.toast
        self._bar = context.page.add_bar()
        self._is_failing = False
        self._dialog: RestoreDialog | None = None
        self._actions = [
            context.menus.add(Section.FILE_BACKUPS, self.tr("&Back up now"), self.back_up),
            context.menus.add(Section.FILE_BACKUPS, self.tr("&Restore…"), self.open_dialog),
        ]
        context.menus.menu(Section.FILE_BACKUPS).aboutToShow.connect(self._show_actions)
        context.bridge.backup_changed.connect(self._show_automatic)

    @Slot()
    def _show_actions(self) -> None:
        """Offer backups where PlantDesk makes them."""
        for action in self._actions:
            action.setVisible(self.context.location.backups is not None)

    @Slot(object)
    def _show_automatic(self, error: StoreError | None) -> None:
        """Show why automatic backups fail; a server that does not answer has a bar of its own."""
        if isinstance(error, StoreUnreachableError) and not isinstance(error, BackupFolderError):
            return
        if error is None:
            self._hide_bar()
        elif not self._is_failing:
            again = self.tr("Back up now"), self.back_up
            self._is_failing = True
            self._bar.show_state(Tone.WARNING, self.tr("Backups fail"), error_text(error), again)

    def _hide_bar(self) -> None:
        self._is_failing = False
        self._bar.clear()

    @Slot()
    def back_up(self) -> None:
        """Make a backup now."""
        backups = self.context.location.backups
        if backups is None:
            return
        self.set_running(self.tr("A backup is being made: it would not be finished."))
        self._toast.show_progress(self.tr("Backing up…"))
        self.context.bridge.long_tasks.ask(self, lambda _task: backups.make(), self._on_backed_up, self._show_failure)

    @Slot()
    def open_dialog(self) -> None:
        """Open the dialog of the backups."""
        from plantdesk.ui.window.restore_dialog import RestoreDialog

        context = self.context
        backups = context.location.backups
        if backups is None:
            return
        dialog = self._dialog = RestoreDialog(context.theme, context.bridge, backups, context.page)
        dialog.restore_requested.connect(self._restore)
        dialog.finished.connect(self._on_dialog_closed)
        dialog.open()

    def _on_backed_up(self, backup: Backup) -> None:
        self.set_running("")
        self.made.emit()
        self._hide_bar()

        def show_folder() -> None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(backup.path.parent)))

        text = self.tr("Backed up to “{file}”.").format(file=backup.path.name)
        self._toast.show_message(text, (self.tr("Open folder"), show_folder))

    def _show_failure(self, error: Exception) -> None:
        self.set_running("")
        if self._dialog is not None:
            self._dialog.show_failure(error)
        else:
            self._toast.show_error(error)

    @Slot()
    def _on_dialog_closed(self) -> None:
        self._dialog = None

    @Slot(object)
    def _restore(self, file: Path) -> None:
        backups = self.context.location.backups
        if backups is None:
            return
        self.set_running(self.tr("A restore is running: the plants would stay as they are."))
        self.context.bridge.long_tasks.ask(
            self, lambda _task: backups.restore(file, FORM), self._on_restored, self._show_failure
        )

    def _on_restored(self, restored: Restored) -> None:
        self.set_running("")
        if self._dialog is not None:
            self._dialog.accept()
        actions = []
        if restored.change is not None:
            stack = self.context.undo_stack
            stack.push(restored.change)
            actions = [stack.undo_action(restored.change)]
        show = self._toast.show_message if restored.tokens_retained else self._toast.show_problem
        show(self._summary(restored), *actions)
        self.restored.emit()

    def _summary(self, restored: Restored) -> str:
        text = shown(Text("Restored {count:,} plants.", one="Restored 1 plant.", count=restored.preview.plants))
        if not restored.tokens_retained:
            text += " " + self.tr("Tokens are not valid any more: make new ones under API access.")
        return text
