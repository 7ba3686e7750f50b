"""Closing the window while it imports, exports or backs up."""

import sqlite3
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.transfer.export import ExportDialog
from plantdesk.ui.transfer.import_dialog import ImportDialog
from plantdesk.ui.widgets.dialog import FileDialog, MessageBox
from plantdesk.ui.window.backups import RestoreDialog
from plantdesk.ui.workspace import Workspace
from tests.support.window_driver import WindowDriver
from tests.ui.conftest import open_store


class ImportingDriver(WindowDriver):
    """The window, while it imports a file."""

    def __init__(self, qtbot: QtBot, workspace: Workspace, other_program: sqlite3.Connection, file: Path) -> None:
        super().__init__(qtbot, workspace.window())
        self._other_program, self.file = other_program, file

    def begin(self, button: str = "Import 1 plant") -> None:
        """Import the file. The plant waits for the lock that another program has."""
        self._other_program.execute("BEGIN IMMEDIATE")
        self.choose("File", "Import…")
        dialog = WindowDriver(self.qtbot, self.the(ImportDialog))
        self.until(lambda: button in dialog.buttons() and dialog.button(button).isEnabled())
        dialog.button(button).click()
        self.until(lambda: [bar.title for bar in self.bars] == ["Importing “one.csv”"])

    def go_on(self) -> None:
        """Let the import write."""
        self._other_program.rollback()

    def press_close(self) -> None:
        self.activate()
        self.qtbot.keyClick(self.window, Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)

    @property
    def question(self) -> MessageBox:
        return self.the(MessageBox)

    @property
    def is_asked(self) -> bool:
        return any(box.isVisible() for box in self.widget.findChildren(MessageBox))

    def count(self) -> int:
        (count,) = self._other_program.execute("SELECT count(*) FROM plant").fetchone()
        return int(count)


@pytest.fixture
def user(
    qtbot: QtBot,
    bare: Workspace,
    store: SqliteStore,
    other_program: sqlite3.Connection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> ImportingDriver:
    file = tmp_path / "one.csv"
    file.write_text("name\nAster\n", encoding="utf-8")
    monkeypatch.setattr(FileDialog, "get_open_files", lambda *_: [str(file)])
    open_store(bare, store)
    return ImportingDriver(qtbot, bare, other_program, file)


def test_the_import_button_of_the_empty_table_opens_the_dialog(user: ImportingDriver) -> None:
    user.until(lambda: "Import…" in user.buttons())
    user.qtbot.mouseClick(user.button("Import…"), Qt.MouseButton.LeftButton)
    assert user.the(ImportDialog).isVisible()


def test_closing_during_an_import_is_asked_and_escape_keeps_the_window(user: ImportingDriver) -> None:
    user.begin()
    user.press_close()
    assert user.window.isVisible()
    assert "nothing of “one.csv” would be imported" in " ".join(WindowDriver(user.qtbot, user.question).texts())
    user.qtbot.keyClick(user.question, Qt.Key.Key_Escape)
    user.until(lambda: not user.is_asked)
    assert user.window.isVisible()
    user.go_on()
    user.until(lambda: user.count() == 1)
    user.until(lambda: user.toast.text == "Imported 1 plant from “one.csv”.")
    user.press_close()
    assert not user.window.isVisible()


def test_the_import_is_cancelled_on_demand(user: ImportingDriver, bare: Workspace) -> None:
    user.file.write_text("name\n" + "Aster\n" * 200_000, encoding="utf-8")
    user.begin("Import")  # before all is read
    user.press_close()
    user.window.close()  # pressed twice, it is asked once
    assert len([box for box in user.widget.findChildren(MessageBox) if box.isVisible()]) == 1
    WindowDriver(user.qtbot, user.question).button("Cancel it and close").click()
    user.until(lambda: not user.window.isVisible())
    bare.release_store()
    user.go_on()
    assert user.count() == 0


def test_a_backup_is_asked_about_as_well(user: ImportingDriver) -> None:
    user.choose("File", "Back up now")
    user.window.close()
    assert "A backup is being made" in " ".join(WindowDriver(user.qtbot, user.question).texts())
    user.until(user.window.isHidden)


def test_an_export_is_asked_about_as_well(
    user: ImportingDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "all.csv"
    monkeypatch.setattr(FileDialog, "get_save_file", lambda *_, **_options: str(target))
    user.choose("File", "Export…")
    WindowDriver(user.qtbot, user.the(ExportDialog)).button("Save as…").click()
    user.window.close()
    assert "“all.csv” would not be written" in " ".join(WindowDriver(user.qtbot, user.question).texts())
    user.until(user.window.isHidden)
    assert target.exists()


def test_the_window_closes_when_the_import_ends_during_the_question(user: ImportingDriver) -> None:
    user.begin()
    user.press_close()
    user.until(user.question.isVisible)
    user.go_on()
    user.until(user.window.isHidden)
    assert user.count() == 1


def test_the_window_stays_with_a_dialog_that_is_open(user: ImportingDriver) -> None:
    user.begin()
    user.choose("File", "Restore…")
    user.until(user.the(RestoreDialog).isVisible)
    user.window.close()
    user.until(user.question.isVisible)
    user.go_on()
    user.until(lambda: "Imported 1 plant" in user.toast.text)
    user.until(lambda: not user.is_asked)
    assert user.window.isVisible()
    assert user.the(RestoreDialog).isVisible()


def test_the_window_stays_with_the_message_about_rows_that_were_left_out(user: ImportingDriver) -> None:
    user.file.write_text("id,name\n7,Aster\nx,Ivy\n", encoding="utf-8")
    user.begin()
    user.press_close()
    user.until(user.question.isVisible)
    user.go_on()
    user.until(lambda: "1 row was left out" in user.toast.text)
    user.until(lambda: not user.is_asked)
    assert user.window.isVisible()
    assert QApplication.activeModalWidget() is None
