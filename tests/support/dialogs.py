"""Opens each dialog of a window, for tests and pictures that look at all of them."""

from contextlib import closing
from pathlib import Path

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QComboBox, QDialog, QPushButton, QTableView

from plantdesk.domain.edits import SetTag, edited
from plantdesk.domain.records import FORM
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store import location_of
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.api_access.dialog import ApiDialog
from plantdesk.ui.api_access.token_panel import TokenPanel
from plantdesk.ui.cleanup.dialog import CleanUpDialog
from plantdesk.ui.cleanup.duplicate_table import DuplicateTable
from plantdesk.ui.cleanup.pages import TagGroup
from plantdesk.ui.history.feature import HistoryDialog
from plantdesk.ui.labels.dialog import LabelDialog
from plantdesk.ui.plants.table.view import PlantTableView
from plantdesk.ui.questions import TagDialog
from plantdesk.ui.settings.feature import SettingsDialog
from plantdesk.ui.shared_store.copying import CopyDialog
from plantdesk.ui.shared_store.dialog import SharedStoreDialog
from plantdesk.ui.sidebar.tag_commands import TagCommands
from plantdesk.ui.single_window import StuckWindowError
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.transfer.export import ExportDialog
from plantdesk.ui.transfer.feature import TransferFeature
from plantdesk.ui.transfer.import_dialog import ImportDialog, RefusedDialog
from plantdesk.ui.widgets.containers import CollapsibleHeader
from plantdesk.ui.widgets.dialog import MessageBox
from plantdesk.ui.window.backups import RestoreDialog
from plantdesk.ui.window.command_dialogs import ShortcutsDialog
from plantdesk.ui.window.help_dialogs import AboutDialog, ManualDialog
from plantdesk.ui.window.known_names import NamesDialog
from tests.support.other_languages import english
from tests.support.window_driver import WindowDriver, plain, rows_of

_CSV = "id;name;tag;note\n11;Aster;bed 4;sunny\n12;Ivy;;\n;Rose;bed 2;\n1;Fern;;\ntwelve;Thyme;;\n"
_PLANTS = (("Salvia nemorosa", "bed 4"), ("Mentha × piperita", "kitchen"), ("Monstera deliciosa", None))


def fill(store: SqliteStore) -> None:
    """Add plants, changes, a note and a backup's worth of history for the dialogs to show."""
    plants = [{"id": number, "name": name, **({"tag": tag} if tag else {})} for number, (name, tag) in _number_plants()]
    for plant in plants:
        store.add(new_plant(plant), FORM).result()
    with closing(store.reader()) as reader:
        row = reader.rows([2])[2]
    store.apply([edited(row, note="Beside the tap, in its own pot: runs.")], FORM).result()
    store.apply([SetTag(Selection(ids=[1]), "kitchen")], FORM).result()


def _number_plants() -> list[tuple[int, tuple[str, str | None]]]:
    return list(enumerate(_PLANTS * 4, start=1))


#: Dialogs that need nothing but their command.
OF_COMMANDS: dict[str, tuple[str, type[QDialog]]] = {
    "about": ("About PlantDesk", AboutDialog),
    "manual": ("Manual", ManualDialog),
    "shortcuts": ("Keyboard shortcuts", ShortcutsDialog),
    "settings": ("Settings…", SettingsDialog),
    "api": ("API access…", ApiDialog),
    "copy-store": ("Copy store…", CopyDialog),
    "known-names": ("Known names…", NamesDialog),
}


class Dialogs:
    """Opens the dialogs of the whole window, whose store is filled by `fill`; files are made in a folder."""

    def __init__(self, user: WindowDriver, theme: Theme, store: SqliteStore, folder: Path) -> None:
        self.user, self.theme, self._store = user, theme, store
        self._folder = folder

    def open(self, name: str) -> QDialog:
        """Open a dialog, and wait until it shows what it reads."""
        if name in OF_COMMANDS:
            return self._open_by_command(*OF_COMMANDS[name])
        opened: QDialog = getattr(self, f"_{name.replace('-', '_')}")()
        return opened

    def _history(self) -> QDialog:
        dialog = self._open_by_command("History…", HistoryDialog)
        self._wait_for_text(dialog, "…", absent=True)
        return dialog

    def _token(self, name: str = "greenhouse") -> QDialog:
        dialog = self.open("api")
        inside = WindowDriver(self.user.qtbot, dialog)
        inside.field("Name for a new token").setText(name)
        inside.the(TokenPanel).create_token()
        self._wait_for_text(dialog, "New token for")
        table = inside.the(QTableView, "Tokens")
        self.user.until(lambda: table.isVisible() and [row[0] for row in rows_of(table)].count(name) == 1)
        return dialog

    def _expanded(self) -> QDialog:
        dialog = self._token("greenhouse 2")
        for button in dialog.findChildren(QPushButton):
            if button.accessibleDescription() == "hidden":
                button.click()
        return dialog

    def _revoke(self) -> QDialog:
        panel = WindowDriver(self.user.qtbot, self._token("greenhouse 3")).the(TokenPanel)
        WindowDriver(self.user.qtbot, panel).the(QTableView, "Tokens").selectRow(0)
        panel.revoke_selected()
        return self._wait_until_visible(MessageBox)

    def _restore(self) -> QDialog:
        self.user.action("Back up now").trigger()
        self.user.until(lambda: "Backed up" in english(self.user.toast.text))
        self.user.toast.clear()
        dialog = self._open_by_command("Restore…", RestoreDialog)
        table = WindowDriver(self.user.qtbot, dialog).the(QTableView)
        self.user.until(lambda: table.model().rowCount() > 0)
        self._wait_for_text(dialog, "…", absent=True)
        return dialog

    def _shared_store(self) -> QDialog:
        dialog = self._open_by_command("Shared store…", SharedStoreDialog)
        WindowDriver(self.user.qtbot, dialog).the(CollapsibleHeader).set_expanded(is_expanded=True)
        return dialog

    def _import(self) -> QDialog:
        file = self._folder / "plants-2026.csv"
        file.write_text(_CSV, encoding="utf-8")
        transfer = self.user.window.findChild(TransferFeature)
        assert transfer is not None
        transfer.import_files([file])
        dialog = self._wait_until_visible(ImportDialog)
        self._wait_for_text(dialog, "counted over the whole file")
        return dialog

    def _refused(self) -> QDialog:
        WindowDriver(self.user.qtbot, self._import()).button("Show").click()
        return self._wait_until_visible(RefusedDialog)

    def _export(self) -> QDialog:
        self._select()
        return self._open_by_command("Export…", ExportDialog)

    def _labels(self) -> QDialog:
        self._select()
        return self._open_by_command("Print labels…", LabelDialog)

    def _tag(self) -> QDialog:
        self._table().selectAll()
        actions = self.user.window.findChildren(QAction)
        next(action for action in actions if "Change tag" in plain(action.text())).trigger()
        return self._wait_until_visible(TagDialog)

    def _replace(self) -> QDialog:
        dialog = self._open_by_command("Find and replace…", CleanUpDialog)
        inside = WindowDriver(self.user.qtbot, dialog)
        inside.field("Find").setText("Salvia")
        inside.field("Replace with").setText("Sage")
        self.user.until(lambda: "Replace in 4 plants" in map(english, inside.buttons()))
        return dialog

    def _replace_tidy(self) -> QDialog:
        dialog = self._replace()
        WindowDriver(self.user.qtbot, dialog).the(QComboBox, "Do").setCurrentIndex(4)
        self._wait_for_text(dialog, "There is nothing to change.")
        return dialog

    def _duplicates(self) -> QDialog:
        dialog = self._open_by_command("Find duplicates…", CleanUpDialog)
        self.user.until(lambda: WindowDriver(self.user.qtbot, dialog).the(DuplicateTable).isVisible())
        return dialog

    def _tidy_tags(self) -> QDialog:
        self._store.apply([SetTag(Selection(ids=[3]), "Kitchen")], FORM).result()
        dialog = self._open_by_command("Tidy up tags…", CleanUpDialog)
        self.user.until(lambda: bool(dialog.findChildren(TagGroup)))
        return dialog

    def _merge(self) -> QDialog:
        commands = self.user.window.findChild(TagCommands)
        assert commands is not None
        commands.counts = {"bed 4": 1, "kitchen": 5}
        commands.rename("bed 4", "kitchen")
        return self._wait_until_visible(MessageBox)

    def _failure(self) -> QDialog:
        text = str(StuckWindowError(location_of(self._folder / "plants.db")))
        box = MessageBox(self.theme, "PlantDesk cannot be opened", text, "", self.user.window)
        box.add_button("Close")
        box.open()
        return box

    def _select(self) -> None:
        table = self._table()

        def is_selected() -> bool:
            table.setCurrentIndex(table.model().index(1, 1))  # again where the rows were read anew meanwhile
            return len(table.selected_ids()) == 1

        self.user.until(is_selected)

    def _table(self) -> PlantTableView:
        table = self.user.the(PlantTableView)
        self.user.until(lambda: table.model().rowCount() > 0)
        table.setFocus()
        return table

    def _open_by_command(self, command: str, kind: type[QDialog]) -> QDialog:
        self.user.action(command).trigger()
        return self._wait_until_visible(kind)

    def _wait_until_visible(self, kind: type[QDialog]) -> QDialog:
        def found() -> list[QDialog]:
            return [dialog for dialog in self.user.window.findChildren(kind) if dialog.isVisible()]

        self.user.until(lambda: bool(found()))
        return found()[-1]

    def _wait_for_text(self, dialog: QDialog, text: str, *, absent: bool = False) -> None:
        inside = WindowDriver(self.user.qtbot, dialog)
        self.user.until(lambda: any(text in label for label in inside.texts()) is not absent)
