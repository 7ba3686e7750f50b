"""The rows of the backups: where they are, how often they are made, how many are kept, and the last one."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QPushButton, QSpinBox

from plantdesk.domain.backups import BackupKind
from plantdesk.platform.settings import MOST_BACKUPS
from plantdesk.ui.settings.rows import SettingRow
from plantdesk.ui.texts import long_time, size_text
from plantdesk.ui.widgets.fields import ComboBox, spin_box

if TYPE_CHECKING:
    from plantdesk.domain.backups import Backup, StoreBackups
    from plantdesk.ui.background import Task
    from plantdesk.ui.feature import WindowContext


class BackupRows(QObject):
    """Rows of the store of a window; the settings are those of all stores. `requested`: back up now."""

    requested = Signal()

    def __init__(self, context: WindowContext, parent: QObject) -> None:
        super().__init__(parent)
        self._context, self._theme = context, context.theme
        location = context.location
        self.rows: list[SettingRow] = []
        if location.backups is not None:
            self.rows += self._rows(location.backups)
            context.preferences.changed.connect(self._show)
            self._show()
            self.show_last()
        if location.folder is not None:
            show = self._button(self.tr("Show folder"), partial(_open, str(location.folder)))
            self.rows.append(SettingRow(self._theme, self.tr("Plants"), show, hint=str(location.folder)))

    @Slot()
    def show_last(self) -> None:
        """Show when the last backup was made, and how large one is."""
        backups = self._context.location.backups
        if backups is not None:
            self._context.bridge.long_tasks.ask(
                self, lambda _task: backups.newest_first(), self._on_listed, lambda _error: None
            )

    def _rows(self, backups: StoreBackups) -> list[SettingRow]:
        change = self._button(self.tr("Change…"), self._choose)
        show = self._button(self.tr("Show backups"), self._open_folder)
        self._folder = SettingRow(self._theme, self.tr("Folder"), change, hint=" ", words=self.tr("drive disk"))
        intervals = [(self.tr("Day"), "day"), (self.tr("Week"), "week"), (self.tr("Never"), "never")]
        if not backups.is_shared:
            intervals.insert(0, (self.tr("Hour"), "hour"))
        self._every = ComboBox("")
        for text, value in intervals:
            self._every.addItem(text, value)
        self._every.activated.connect(self._on_interval)
        hint = self.tr("When plants have changed.")
        self._count = spin_box(QSpinBox)
        self._count.setRange(1, MOST_BACKUPS)
        self._count.setKeyboardTracking(False)
        self._count.valueChanged.connect(self._on_count)
        self._keep = SettingRow(self._theme, self.tr("Keep"), self._count, hint=" ", words=self.tr("number"))
        make = self._button(self.tr("Back up now"), self.requested.emit)
        self._last = SettingRow(self._theme, self.tr("Last one"), make, show, hint=" ")
        every = SettingRow(self._theme, self.tr("Every"), self._every, hint=hint, words=self.tr("how often interval"))
        return [self._folder, every, self._keep, self._last]

    @Slot()
    def _show(self) -> None:
        settings, backups = self._context.preferences.settings, self._context.location.backups
        if backups is not None:
            self._folder.set_hint(str(backups.folder))
        self._every.setCurrentIndex(max(0, self._every.findData(settings.backup_every)))
        if self._count.value() != settings.backup_count:
            self._count.setValue(settings.backup_count)

    def _on_listed(self, backups: Sequence[Backup]) -> None:
        self._last.set_hint(long_time(backups[0].made_at) if backups else self.tr("None yet."))
        size = next((each.size for each in backups if each.kind is not BackupKind.DAMAGED), None)
        oldest = self.tr("The oldest goes first. Those that you make stay.")
        each = "" if size is None else " " + self.tr("{size} each.").format(size=size_text(size))
        self._keep.set_hint(oldest + each)

    # --- changes ---

    @Slot(int)
    def _on_interval(self, _place: int) -> None:
        self._context.preferences.change(backup_every=self._every.currentData())

    @Slot(int)
    def _on_count(self, count: int) -> None:
        self._context.preferences.change(backup_count=count)

    @Slot()
    def _choose(self) -> None:
        """Let the user name a folder; that of the plants is the usual place, beside them."""
        backups = self._context.location.backups
        if backups is None:
            return
        name = QFileDialog.getExistingDirectory(
            self._folder, self.tr("Choose a folder for backups"), str(backups.folder.parent)
        )
        if name:
            is_usual = Path(name) == self._context.location.folder
            self._folder.show_error("")
            done = partial(self._use, "" if is_usual else name)
            self._context.bridge.long_tasks.ask(self, partial(_check, Path(name)), done, self._on_unusable)

    def _use(self, name: str, _nothing: None) -> None:
        self._context.preferences.change(backup_folder=name)
        self.show_last()

    def _on_unusable(self, _error: Exception) -> None:
        self._folder.show_error(self.tr("This folder cannot be written to."))

    @Slot()
    def _open_folder(self) -> None:
        backups = self._context.location.backups
        if backups is not None:
            folder = backups.folder if backups.folder.is_dir() else backups.folder.parent
            _open(str(folder))

    def _button(self, text: str, slot: Callable[[], object]) -> QPushButton:
        button = QPushButton(text)
        button.clicked.connect(slot)
        return button


def _check(folder: Path, _task: Task) -> None:
    """Raise OSError where a folder cannot be written to."""
    with tempfile.TemporaryFile(dir=folder):
        return


def _open(folder: str) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(folder))
