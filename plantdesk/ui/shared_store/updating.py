"""The update of a shared store's tables: the question, which names the desks, and the work after a backup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QVBoxLayout

from plantdesk.domain.locations import update_store
from plantdesk.ui.feature import Feature
from plantdesk.ui.qt import fill
from plantdesk.ui.texts import one_line, short_time
from plantdesk.ui.theme.metrics import EDGE, L, M
from plantdesk.ui.widgets.dialog import ButtonRole, Dialog
from plantdesk.ui.widgets.plain_table import PlainTable
from plantdesk.ui.widgets.plain_text import PlainLabel

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QWidget

    from plantdesk.domain.backups import Backup
    from plantdesk.domain.desks import TablesUpdate
    from plantdesk.domain.locations import StoreLocation
    from plantdesk.ui.feature import WindowContext
    from plantdesk.ui.theme.theme import Theme

#: For text of 13 px.
_WIDTH = 600
_MAX_ROWS = 6


class UpdateDialog(Dialog):
    """Names the desks of the last 30 days, and what each can do afterwards. `confirmed`: back up and update."""

    confirmed = Signal()

    def __init__(
        self, theme: Theme, location: StoreLocation, update: TablesUpdate, folder: Path, parent: QWidget
    ) -> None:
        super().__init__(self.tr("Update the shared store"), parent)
        title = self.tr("Bring “{name}” to version {version} for all computers?")
        about = self.tr(
            "It has version {before}. This PlantDesk needs version {after} to change plants. An older one can only "
            "read it then, and says so, until it is updated."
        )
        saved = self.tr("A backup comes first, in {folder}. The update itself cannot be undone.")
        headings = (self.tr("Computer"), self.tr("Version"), self.tr("Last seen"), self.tr("Afterwards"))
        table = PlainTable(theme, self.tr("Computers of the last 30 days"), headings, wide=0, max_rows=_MAX_ROWS)
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
        self.buttons.addButton(self.tr("&Back up and update"), ButtonRole.AcceptRole).clicked.connect(self._confirm)
        cancel = self.buttons.addButton(self.tr("Cancel"), ButtonRole.RejectRole)
        fill(
            QVBoxLayout(self),
            PlainLabel(title.format(name=one_line(location.name), version=update.after), role="strong", wrapped=True),
            PlainLabel(about.format(before=update.before, after=update.after), tone="muted", wrapped=True),
            card,
            PlainLabel(saved.format(folder=str(folder)), tone="muted", wrapped=True),
            self.buttons,
            margins=(EDGE, L, EDGE, L),
            spacing=M,
        )
        self.fit_height(theme.metrics.scaled(_WIDTH))
        cancel.setFocus(Qt.FocusReason.OtherFocusReason)  # others are affected

    @Slot()
    def _confirm(self) -> None:
        self.accept()
        self.confirmed.emit()


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
            context, folder = self.context, location.backups.folder
            dialog = UpdateDialog(context.theme, location, update, folder, context.page)
            dialog.confirmed.connect(self._update)
            dialog.open()

        self.context.bridge.long_tasks.ask(self, lambda _task: location.needed_update(), show, self._toast.show_error)

    @Slot()
    def _update(self) -> None:
        location = self.context.location
        self.set_running(self.tr("The shared store is being updated: it would stay as it is."))
        self._toast.show_progress(self.tr("Backing up and updating…"))
        self.context.bridge.long_tasks.ask(
            self, lambda _task: update_store(location), self._on_updated, self._on_failed
        )

    def _on_updated(self, _backup: Backup | None) -> None:
        self.set_running("")
        self._toast.show_message(self.tr("The shared store is up to date. The backup is listed under Restore."))

    def _on_failed(self, error: Exception) -> None:
        self.set_running("")
        self._toast.show_error(error)
