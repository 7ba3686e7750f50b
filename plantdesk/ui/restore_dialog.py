"""The backups of a store, what restoring one would do, and doing it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QDateTime, QLocale, QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QFileDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from plantdesk.errors import shortened
from plantdesk.store import BackupKind, Backups, look_at, restore
from plantdesk.ui.failures import in_words
from plantdesk.ui.message_line import MessageLine, Tone
from plantdesk.ui.metrics import XL, XXL, M, S
from plantdesk.ui.plain_table import PlainTable

if TYPE_CHECKING:
    from plantdesk.store import Backup, Group, Look, Restored
    from plantdesk.ui.bridge import Bridge
    from plantdesk.ui.theme import Theme

_SIZE = QSize(680, 620)
_LONGEST_NAME = 30


class RestoreDialog(QDialog):
    """Works on the file of a store, whether it is open, damaged or gone. `restored` carries what was done."""

    restored = Signal(object)

    def __init__(self, theme: Theme, bridge: Bridge, path: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Restore a backup"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._bridge = bridge
        self._path = path
        self._backups: list[Backup] = []
        self._file: Path | None = None
        heads = (self.tr("Made"), self.tr("Why"), self.tr("Size"))
        self._table = PlainTable(theme, self.tr("Backups"), heads, wide=1)
        self._look = QLabel(wordWrap=True)
        self._look.setTextFormat(Qt.TextFormat.PlainText)
        self._look.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._message = MessageLine(theme)
        self._file_button = QPushButton(self.tr("&Another file…"))
        self._cancel_button = QPushButton(self.tr("Cancel"))
        self._restore_button = QPushButton(self.tr("&Restore"))
        self._restore_button.setProperty("variant", "primary")
        for button in (self._file_button, self._cancel_button):
            button.setAutoDefault(False)
        self._lay_out()
        self._table.itemSelectionChanged.connect(self._on_selection)
        self._file_button.clicked.connect(self._on_another_file)
        self._cancel_button.clicked.connect(self.reject)
        self._restore_button.clicked.connect(self._on_restore)
        self._choose(None)
        self._list()

    def choose_file(self, file: Path) -> None:
        """Look at a file that is not in the list."""
        self._table.selectionModel().clear()
        self._choose(file)

    # --- the list ---

    def _list(self) -> None:
        path = self._path
        self._bridge.follow(self._bridge.run(lambda: Backups(path).newest_first()), self._on_listed, self._on_failed)

    def _on_listed(self, backups: list[Backup]) -> None:
        self._backups = backups
        self._table.show_rows([(_moment(each.made_at), self._why(each.kind), _size(each.size)) for each in backups])
        if backups:
            self._table.selectRow(0)
            self._table.setFocus()
        else:
            self._look.setText(self.tr("There are no backups yet. The first is made soon after PlantDesk is opened."))

    @Slot()
    def _on_selection(self) -> None:
        row = self._table.selected_row
        if row is not None:
            self._choose(self._backups[row].path)

    @Slot()
    def _on_another_file(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self, self.tr("Choose a backup"), str(self._path.parent), self.tr("Plant stores (*.db)")
        )
        if name:
            self.choose_file(Path(name))

    # --- the look ---

    def _choose(self, file: Path | None) -> None:
        self._file = file
        self._restore_button.setEnabled(False)
        self._message.show_message(Tone.HINT, "")
        self._look.setText("" if file is None else self.tr("Comparing…"))
        if file is not None:
            path = self._path
            self._bridge.follow(self._bridge.run(lambda: (file, look_at(path, file))), self._on_look, self._on_failed)

    def _on_look(self, found: tuple[Path, Look]) -> None:
        file, look = found
        if file == self._file:
            self._look.setText("\n".join(self._in_words(file, look)))
            self._restore_button.setEnabled(not look.changes_nothing)

    def _in_words(self, file: Path, look: Look) -> list[str]:
        holds = self.tr("“{file}” holds {plants}.").format(file=file.name, plants=self._plants(look.plants))
        if look.difference is None:
            return [holds, self.tr("All of them come back. The damaged file, if there is one, is kept.")]
        if look.changes_nothing:
            return [holds, self.tr("They are the plants that are here now: nothing would change.")]
        returning, leaving, changing = look.difference
        return [
            holds,
            *self._line(self.tr("Comes back: {plants}"), returning),
            *self._line(self.tr("Goes: {plants}"), leaving),
            *self._line(self.tr("Changes back: {plants}"), changing),
        ]

    def _line(self, text: str, group: Group) -> list[str]:
        if not group.size:
            return []
        names = ", ".join(f"“{shortened(name, _LONGEST_NAME)}”" for _, name in group.newest)
        more = ", …" if group.size > len(group.newest) else ""
        return [f"{text.format(plants=self._plants(group.size))} ({names}{more})"]

    # --- doing it ---

    @Slot()
    def _on_restore(self) -> None:
        path, file = self._path, self._file
        if file is not None:
            self._set_busy(busy=True)
            self._message.show_message(Tone.HINT, self.tr("Restoring…"))
            self._bridge.follow(self._bridge.run(lambda: restore(path, file)), self._on_restored, self._on_failed)

    def _on_restored(self, restored: Restored) -> None:
        self.restored.emit(restored)
        self.accept()

    def _on_failed(self, error: Exception) -> None:
        self._set_busy(busy=False)
        self._look.clear()
        self._message.show_message(Tone.ERROR, in_words(error))

    def _set_busy(self, *, busy: bool) -> None:
        for widget in (self._table, self._file_button):
            widget.setEnabled(not busy)
        self._restore_button.setEnabled(False)

    # --- inside ---

    def _why(self, kind: BackupKind) -> str:
        return {
            BackupKind.AUTOMATIC: self.tr("Made automatically"),
            BackupKind.BY_HAND: self.tr("Made by hand"),
            BackupKind.BEFORE_RESTORE: self.tr("Before a restore"),
            BackupKind.BEFORE_UPDATE: self.tr("Before an update of PlantDesk"),
            BackupKind.REPLACED: self.tr("Before another file took the place"),
            BackupKind.DAMAGED: self.tr("Set aside: damaged"),
        }[kind]

    def _plants(self, count: int) -> str:
        return self.tr("1 plant") if count == 1 else self.tr("{n} plants").format(n=QLocale().toString(count))

    def _lay_out(self) -> None:
        about = QLabel(
            self.tr(
                "Your plants become those of the backup. The present state is backed up first, "
                "so that this can be taken back."
            ),
            wordWrap=True,
        )
        about.setProperty("tone", "muted")
        foot = QHBoxLayout()
        foot.setSpacing(S)
        foot.addWidget(self._file_button)
        foot.addStretch(1)
        foot.addWidget(self._cancel_button)
        foot.addWidget(self._restore_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(XXL, XL, XXL, XL)
        layout.setSpacing(M)
        layout.addWidget(about)
        layout.addWidget(self._table.framed(), 1)
        layout.addWidget(self._look)
        layout.addWidget(self._message)
        layout.addLayout(foot)
        self._look.setMinimumHeight(5 * self._look.fontMetrics().lineSpacing())
        self.resize(_SIZE.boundedTo(self.screen().availableSize() * 0.9))


def _moment(milliseconds: int) -> str:
    return QLocale().toString(QDateTime.fromMSecsSinceEpoch(milliseconds), QLocale.FormatType.ShortFormat)


def _size(size: int) -> str:
    return QLocale().formattedDataSize(size, 0)
