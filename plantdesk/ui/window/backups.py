"""The commands that make and restore backups, and the dialog that lists and restores them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QDateTime, QLocale, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from plantdesk.domain.backups import Backup, BackupKind, Restored, RestorePreview, StoreBackups, preview_text
from plantdesk.domain.errors import BackupFolderError, StoreError, StoreUnreachableError
from plantdesk.domain.records import FORM
from plantdesk.domain.texts import Text
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.feature import Feature, WindowContext
from plantdesk.ui.menus import Section
from plantdesk.ui.texts import error_text, size_text, translated
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.dialog import ENTER_KEYS, START_ROLE, ButtonRole, Dialog, FileDialog
from plantdesk.ui.widgets.messages import MessageLine, Tone
from plantdesk.ui.widgets.plain_table import PlainTable
from plantdesk.ui.widgets.plain_text import PlainLabel

#: For text of 13 px.
_WIDTH = 680
_MAX_ROWS = 8


class RestoreDialog(Dialog):
    """Lists the backups of a store, and previews and requests a restore, even if the store cannot be opened."""

    #: (file) Restore this backup; the dialog stays open until that has ended.
    restore_requested = Signal(object)

    def __init__(self, theme: Theme, bridge: Bridge, backups: StoreBackups, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Restore a backup"), parent)
        self._theme = theme
        self._bridge = bridge
        self._backups = backups
        self._listed: list[Backup] = []
        self._chosen_file: Path | None = None
        self._compared_file: Path | None = None
        headings = (self.tr("Made"), self.tr("Why"), self.tr("Size"))
        self._table = PlainTable(theme, self.tr("Backups"), headings, wide=1, max_rows=_MAX_ROWS)
        self._card = self._table.make_frame()
        self._card.hide()
        self._preview = PlainLabel(alignment=Qt.AlignmentFlag.AlignTop, wrapped=True)
        self._message = MessageLine(theme)
        self._file_button = self.buttons.addButton(self.tr("&Another file…"), START_ROLE)
        self._restore_button = self.add_primary(self.tr("&Restore"), self._on_restore)
        self._cancel_button = self.buttons.addButton(self.tr("Cancel"), ButtonRole.RejectRole)
        self._lay_out()
        self._table.selectionModel().selectionChanged.connect(self._on_selection)
        self._file_button.clicked.connect(self._on_another_file)
        self._choose(None)
        bridge.short_tasks.run(self, lambda _task: backups.newest_first(), self._on_listed, self.show_failure)

    def choose_file(self, file: Path) -> None:
        """Clear the selection, and preview this file, which need not be in the list."""
        self._table.selectionModel().clear()
        self._choose(file)

    def show_failure(self, error: Exception) -> None:
        """Show why listing, comparing or restoring has failed; another backup can be chosen."""
        self._set_busy(busy=False)
        self._preview.clear()
        self._message.show_message(Tone.ERROR, error_text(error))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER_KEYS and self._table.hasFocus():
            # A restore replaces all plants: its button has to be pressed itself.
            self._restore_button.setFocus(Qt.FocusReason.TabFocusReason)
        else:
            super().keyPressEvent(event)

    def _on_listed(self, backups: list[Backup]) -> None:
        """Show the backups, and choose the newest that was made automatically or by hand."""
        self._listed = backups
        self._table.show_rows(
            [(_time_text(backup.made_at), self._kind_text(backup.kind), size_text(backup.size)) for backup in backups]
        )
        self._card.setVisible(bool(backups))
        self.fit_height(self.width())
        if self._chosen_file is not None:  # chosen before the list was there
            return
        if backups:  # the state before a restore, or a damaged file, is seldom what is wanted
            kinds = (BackupKind.AUTOMATIC, BackupKind.BY_HAND)
            self._table.selectRow(next((row for row, backup in enumerate(backups) if backup.kind in kinds), 0))
            self._table.setFocus()
        else:
            text = self.tr("There are no backups yet. The first is made soon after PlantDesk is opened.")
            self._preview.setText(text)

    @Slot()
    def _on_selection(self) -> None:
        row = self._table.selected_row
        if row is not None:
            self._choose(self._listed[row].path)

    @Slot()
    def _on_another_file(self) -> None:
        name = FileDialog.get_open_file(
            self,
            self.tr("Choose a backup"),
            str(self._backups.folder.parent),
            self.tr("Plant stores (*{suffix})").format(suffix=self._backups.suffix),
        )
        if name:
            self.choose_file(Path(name))

    def _choose(self, file: Path | None) -> None:
        self._chosen_file = file
        self._restore_button.setEnabled(False)
        self._message.show_message(Tone.HINT, "")
        self._preview.setText("" if file is None else self.tr("Comparing…"))
        self._compare()

    def _compare(self) -> None:
        """Preview the chosen backup, one at a time, as each preview copies a file."""
        file = self._chosen_file
        if file is not None and self._compared_file is None:
            self._compared_file = file
            self._bridge.long_tasks.run(
                self, lambda _task: self._backups.preview(file), self._on_compared, self._on_not_compared
            )

    def _on_compared(self, preview: RestorePreview) -> None:
        """Show the preview of the chosen backup, unless another one was chosen meanwhile."""
        file = self._compared_file
        self._compared_file = None
        if file is None or file != self._chosen_file:
            self._compare()
            return
        self._about.setVisible(preview.difference is not None)  # else there is nothing that could be backed up
        self._preview.setText(translated(preview_text(preview, file.name)))
        if preview.is_partial:
            self._message.show_message(Tone.WARNING, self.tr("This backup is damaged. Choose another one, if you can."))
        self.fit_height(self.width())
        self._restore_button.setEnabled(not preview.changes_nothing)

    def _on_not_compared(self, error: Exception) -> None:
        file = self._compared_file
        self._compared_file = None
        if file == self._chosen_file:
            self.show_failure(error)
        else:
            self._compare()

    @Slot()
    def _on_restore(self) -> None:
        if self._chosen_file is not None:
            self._set_busy(busy=True)
            self._message.show_message(Tone.HINT, self.tr("Restoring…"))
            self.restore_requested.emit(self._chosen_file)

    def _set_busy(self, *, busy: bool) -> None:
        for widget in (self._table, self._file_button):
            widget.setEnabled(not busy)
        self._restore_button.setEnabled(False)
        self._cancel_button.setText(self.tr("Close") if busy else self.tr("Cancel"))  # closing does not end a restore

    def _kind_text(self, kind: BackupKind) -> str:
        return {
            BackupKind.AUTOMATIC: self.tr("Made automatically"),
            BackupKind.BY_HAND: self.tr("Made by hand"),
            BackupKind.BEFORE_RESTORE: self.tr("Before a restore"),
            BackupKind.BEFORE_UPDATE: self.tr("Before an update of PlantDesk"),
            BackupKind.REPLACED: self.tr("Before another file took the place"),
            BackupKind.DAMAGED: self.tr("Damaged file"),
        }[kind]

    def _lay_out(self) -> None:
        text = self.tr(
            "Your plants become those of the backup. The present state is backed up first, "
            "so that this can be taken back."
        )
        if self._backups.is_shared:
            text = self.tr(
                "The plants of all computers become those of the backup, also what others have changed since. "
                "The present state is backed up first, and the history can take this back."
            )
        self._about = PlainLabel(text, tone="" if self._backups.is_shared else "muted", wrapped=True)
        self.arrange(self._about, self._card, (self._preview, 1), self._message)
        self._preview.setMinimumHeight(5 * self._preview.fontMetrics().lineSpacing())
        self.fit_height(self._theme.metrics.scaled(_WIDTH))


def _time_text(timestamp: int) -> str:
    return QLocale().toString(QDateTime.fromMSecsSinceEpoch(timestamp), QLocale.FormatType.ShortFormat)


class BackupsFeature(Feature):
    """Makes and restores backups, even without an open store. A restore goes on when its dialog is closed."""

    #: A backup was made.
    made = Signal()
    #: A backup was restored.
    restored = Signal()

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._toast = context.page.toast
        self._bar = context.page.add_bar()
        self._is_failing = False
        self._dialog: RestoreDialog | None = None
        words = self.tr("backup safety copy recover")
        context.menus.add(Section.FILE_BACKUPS, self.tr("&Back up now"), self.back_up, words=words)
        context.menus.add(Section.FILE_BACKUPS, self.tr("&Restore…"), self.open_dialog, words=words)
        context.bridge.backup_changed.connect(self._show_backup_state)

    @Slot(object)
    def _show_backup_state(self, error: StoreError | None) -> None:
        """Show why automatic backups fail; another bar reports a server that does not answer."""
        if isinstance(error, StoreUnreachableError) and not isinstance(error, BackupFolderError):
            return
        if error is None:
            self._hide_bar()
        elif not self._is_failing:
            retry_action = self.tr("Back up now"), self.back_up
            self._is_failing = True
            self._bar.show_state(Tone.WARNING, self.tr("Backups fail"), error_text(error), retry_action)

    def _hide_bar(self) -> None:
        self._is_failing = False
        self._bar.clear()

    @Slot()
    def back_up(self) -> None:
        """Make a backup on another thread, and report it in the toast."""
        backups = self.context.location.backups
        self.set_running_text(self.tr("A backup is being made: it would not be finished."))
        self._toast.show_progress(self.tr("Backing up…"))
        self.context.bridge.long_tasks.run(self, lambda _task: backups.make(), self._on_backed_up, self._show_failure)

    @Slot()
    def open_dialog(self) -> None:
        """Open the dialog that lists and restores backups."""
        context = self.context
        dialog = RestoreDialog(context.theme, context.bridge, context.location.backups, context.page)
        self._dialog = dialog
        dialog.restore_requested.connect(self._restore)
        dialog.finished.connect(self._on_dialog_closed)
        dialog.open()

    def _on_backed_up(self, backup: Backup) -> None:
        self.set_running_text("")
        self.made.emit()
        self._hide_bar()
        text = self.tr("Backed up to “{file}”.").format(file=backup.path.name)
        self._toast.show_message(text, (self.tr("Open folder"), partial(self._toast.open_file, backup.path.parent)))

    def _show_failure(self, error: Exception) -> None:
        self.set_running_text("")
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
        self.set_running_text(self.tr("A restore is running: the plants would stay as they are."))
        self.context.bridge.long_tasks.run(
            self, lambda _task: backups.restore(file, FORM), self._on_restored, self._show_failure
        )

    def _on_restored(self, restored: Restored) -> None:
        self.set_running_text("")
        if self._dialog is not None:
            self._dialog.accept()
        actions = []
        if restored.change is not None:
            stack = self.context.undo_stack
            stack.push(restored.change)
            actions = [stack.make_undo_action(restored.change)]
        show_message = self._toast.show_message if restored.tokens_retained else self._toast.show_problem
        show_message(self._summarize(restored), *actions)
        self.restored.emit()

    def _summarize(self, restored: Restored) -> str:
        text = translated(Text("Restored {count:,} plants.", one="Restored 1 plant.", count=restored.preview.plants))
        if not restored.tokens_retained:
            text += " " + self.tr("Tokens are not valid any more: make new ones under API access.")
        return text
