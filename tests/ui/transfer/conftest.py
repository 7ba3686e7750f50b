"""The window with the commands of import and export."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from plantdesk.domain.selections import Selection
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.feature import OpenStore, WindowContext
from plantdesk.ui.transfer.export import ExportDialog
from plantdesk.ui.transfer.feature import TransferFeature
from plantdesk.ui.transfer.import_dialog import ImportDialog
from plantdesk.ui.widgets.dialog import FileDialog
from plantdesk.ui.window.commands import EditCommands
from tests.support.window_driver import Table, WindowDriver

Plants = list[tuple[int, str, str | None, str | None]]


class TransferDriver(WindowDriver):
    """The window, and its dialogs once they are open."""

    def __init__(
        self, qtbot: QtBot, context: WindowContext, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        super().__init__(qtbot, context.page)
        self.store, self.folder, self.table = store, store.path.parent, Table()
        self.feature = TransferFeature(context, self.table)
        EditCommands(context).text_pasted.connect(self.feature.import_text)
        self._monkeypatch = monkeypatch

    @property
    def dialog(self) -> WindowDriver:
        """The dialog of an import."""
        return WindowDriver(self.qtbot, self.the(ImportDialog))

    @property
    def export_dialog(self) -> WindowDriver:
        """The dialog of an export."""
        return WindowDriver(self.qtbot, self.the(ExportDialog))

    def answer_file_dialogs(self, *files: Path) -> None:
        """Let the system's file dialogs, which no test can drive, return `files`."""
        names = [str(file) for file in files]
        self._monkeypatch.setattr(FileDialog, "get_open_files", lambda *_: names)
        self._monkeypatch.setattr(FileDialog, "get_save_file", lambda *_, **_options: names[0])

    def open_import(self, *files: Path) -> None:
        """Choose files by the key of the command, and wait for the counts."""
        self.answer_file_dialogs(*files)
        self.window.activateWindow()  # no window manager does it when a dialog closes
        self.until(self.window.isActiveWindow)
        self.qtbot.keyClick(
            self.window, Qt.Key.Key_I, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        )
        self.until_dialog_shows("counted over the whole file")

    def open_text(self, text: str | bytes) -> None:
        """Open the import of a file with a text."""
        file = self.folder / "plants.csv"
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        self.open_import(file)

    def until_dialog_shows(self, text: str) -> None:
        """Wait until a label of the import's dialog has a text."""
        self.until(lambda: any(text in each for each in self.dialog.texts()))

    def start_import(self) -> None:
        """Press the button of the import, whatever number it shows."""
        name = next(each for each in self.dialog.buttons() if each.startswith("Import"))
        button = self.dialog.button(name)
        assert button.isEnabled()
        self.dialog.widget.activateWindow()
        button.setFocus()
        self.until(button.hasFocus)
        self.qtbot.keyClick(button, Qt.Key.Key_Return)

    def run_import(self, toast: str) -> None:
        """Press the button of the import, and wait for a toast with this text."""
        self.start_import()
        self.until_toast(toast)

    def until_bar(self, title: str) -> None:
        """Wait for a bar."""

        def check() -> None:
            assert any(title in bar.title for bar in self.bars), [(bar.title, bar.text) for bar in self.bars]

        self.until(check)

    def toast_button(self, text: str) -> QAbstractButton:
        """Return a button of the toast."""
        return WindowDriver(self.qtbot, self.toast).button(text)

    def until_toast(self, text: str) -> None:
        """Wait for a toast with a text, after which no bar is left."""

        def check() -> None:
            assert text in self.toast.text, self.toast.text

        self.until(check)
        assert self.bars == []

    def plants(self) -> Plants:
        """Return the plants of the store."""
        with closing(self.store.reader()) as reader:
            return [(each.id, each.name, each.tag, each.note) for page in reader.pages(Selection()) for each in page]


@pytest.fixture
def user(
    qtbot: QtBot, context: WindowContext, store: SqliteStore, queries: StoreQueries, monkeypatch: pytest.MonkeyPatch
) -> Iterator[TransferDriver]:
    context.undo_stack.set_store(store)
    user = TransferDriver(qtbot, context, store, monkeypatch)
    user.feature.set_up()
    user.feature.set_store(OpenStore(store, queries))
    yield user
    user.feature.release_store()
