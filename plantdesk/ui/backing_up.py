"""Backups as a person makes and restores them from the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QObject, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices

from plantdesk.ui.failures import in_words
from plantdesk.ui.message_line import MessageLine, Tone

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QWidget

    from plantdesk.store import Backup, Restored
    from plantdesk.ui.bridge import Bridge
    from plantdesk.ui.restore_dialog import RestoreDialog
    from plantdesk.ui.theme import Theme


class BackingUp(QObject):
    """Works on the file at `path`, also while it is not open. `restored`: another state is in the file."""

    restored = Signal()

    def __init__(self, theme: Theme, bridge: Bridge, message: MessageLine, path: Path, window: QWidget) -> None:
        """Tell what was done in `message`; `window` is what the dialog belongs to."""
        super().__init__(window)
        self.path = path
        self._theme = theme
        self._bridge = bridge
        self._message = message
        self._window = window

    @Slot()
    def back_up(self) -> None:
        """Make a backup now."""
        from plantdesk.store import back_up

        path = self.path
        self._message.show_message(Tone.HINT, self.tr("Backing up…"))
        making = self._bridge.run(lambda: back_up(path))
        self._bridge.follow(making, self._on_backed_up, self._on_failed)

    @Slot()
    def open_dialog(self) -> RestoreDialog:
        """Open the dialog of the backups."""
        from plantdesk.ui.restore_dialog import RestoreDialog

        dialog = RestoreDialog(self._theme, self._bridge, self.path, self._window)
        dialog.restored.connect(self._on_restored)
        dialog.open()
        return dialog

    def _on_backed_up(self, backup: Backup) -> None:
        def show_folder() -> None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(backup.path.parent)))

        text = self.tr("Backed up to “{file}”.").format(file=backup.path.name)
        self._message.show_message(Tone.OK, text, (self.tr("Open folder"), show_folder))

    def _on_failed(self, error: Exception) -> None:
        self._message.show_message(Tone.ERROR, in_words(error))

    @Slot(object)
    def _on_restored(self, restored: Restored) -> None:
        path, saved = self.path, restored.saved

        def take_back() -> None:
            from plantdesk.store import restore

            if saved is not None:
                self._bridge.follow(self._bridge.run(lambda: restore(path, saved)), self._on_restored, self._on_failed)

        self._message.show_message(
            Tone.OK,
            self._in_words(restored),
            *([(self.tr("Take it back"), take_back)] if restored.can_be_taken_back else []),
        )
        self.restored.emit()

    def _in_words(self, restored: Restored) -> str:
        count = restored.look.plants
        number = QLocale().toString(count)
        one, several = self.tr("There is 1 plant now."), self.tr("There are {n} plants now.").format(n=number)
        text = f"{self.tr('Restored.')} {one if count == 1 else several}"
        if not restored.tokens_kept:
            text += " " + self.tr("Tokens are not valid any more: make new ones under API access.")
        return text
