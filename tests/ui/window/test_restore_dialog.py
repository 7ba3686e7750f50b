"""Backups from the window: made, previewed, restored, taken back."""

import os
import threading
from contextlib import closing

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTableView
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from plantdesk.domain.backups import Backup, BackupKind
from plantdesk.domain.errors import BackupFolderError, StoreUnreachableError
from plantdesk.domain.texts import Text
from plantdesk.store.sqlite.backups import FileBackups
from plantdesk.store.sqlite.files.backup_folder import BackupFolder
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.feature import WindowContext
from plantdesk.ui.widgets.messages import MessageLine, Tone
from plantdesk.ui.window.backups import BackupsFeature, RestoreDialog
from tests.support.window_driver import WindowDriver
from tests.ui.conftest import Adder


class BackupDriver(WindowDriver):
    """The window, and the dialog once it is open."""

    def __init__(self, qtbot: QtBot, context: WindowContext, store: SqliteStore) -> None:
        super().__init__(qtbot, context.page)
        self.store = store
        BackupsFeature(context)

    @property
    def dialog(self) -> WindowDriver:
        return WindowDriver(self.qtbot, self.the(RestoreDialog))

    def open(self) -> RestoreDialog:
        self.choose("File", "Restore…")
        return self.the(RestoreDialog)

    def expect_texts(self, *texts: str) -> None:
        def seen() -> None:
            shown = self.dialog.texts()
            assert all(any(text in each for each in shown) for text in texts), shown

        self.until(seen)

    def until_toast(self, text: str) -> None:
        self.until(lambda: self.toast.isVisible() and text in self.toast.text)

    def undo(self) -> None:
        self.button("Undo").click()

    def ids(self) -> list[int]:
        with closing(self.store.reader()) as reader:
            return sorted(reader.rows(range(100)))


@pytest.fixture
def desk(qtbot: QtBot, context: WindowContext, store: SqliteStore) -> BackupDriver:
    context.undo_stack.set_store(store)
    return BackupDriver(qtbot, context, store)


@pytest.fixture
def backup(store: SqliteStore, add: Adder) -> Backup:
    """Of two plants, of which there are three since then."""
    add("Aloe", "Basil")
    made = FileBackups(store.path).make()
    add("Cactus")
    return made


def test_a_backup_is_made_by_one_command(desk: BackupDriver, add: Adder) -> None:
    add("Aloe")
    desk.choose("File", "Back up now")
    desk.until_toast("Backed up")
    (made,) = BackupFolder(desk.store.path).newest_first()
    assert made.kind is BackupKind.BY_HAND
    assert made.path.name in desk.toast.text


def test_a_failed_backup_is_reported(desk: BackupDriver) -> None:
    BackupFolder(desk.store.path).folder.write_text("in the way")
    desk.choose("File", "Back up now")
    desk.until_toast("No backup can be kept")


def test_failing_automatic_backups_are_shown_until_one_is_made(desk: BackupDriver, context: WindowContext) -> None:
    error = BackupFolderError(Text("The drive is not there."))
    for _ in range(2):
        context.bridge.notify_backup(error)
    desk.until(lambda: [(bar.title, bar.text) for bar in desk.bars] == [("Backups fail", "The drive is not there.")])
    desk.button("Back up now").click()
    desk.until(lambda: not desk.bars)
    context.bridge.notify_backup(error)
    desk.until(lambda: len(desk.bars) == 1)
    context.bridge.notify_backup(None)
    desk.until(lambda: not desk.bars)
    context.bridge.notify_backup(StoreUnreachableError())  # the server of a shared store, which has a bar of its own
    context.bridge.notify_backup(error)
    desk.until(lambda: len(desk.bars) == 1)


@pytest.mark.usefixtures("backup")
def test_enter_in_the_list_leads_to_the_button_and_enter_there_restores(desk: BackupDriver) -> None:
    dialog = desk.open()
    table = dialog.findChildren(QTableView)[0]
    desk.expect_texts("holds 2 plants", "Goes: 1 plant (3 “Cactus”)")
    desk.until(desk.dialog.button("Restore").isEnabled)
    assert table.hasFocus()
    desk.qtbot.keyClick(table, Qt.Key.Key_Return)
    assert desk.dialog.button("Restore").hasFocus()
    assert desk.dialog.button("Restore").isEnabled()  # nothing is restored yet
    assert desk.ids() == [1, 2, 3]
    desk.qtbot.keyClick(desk.dialog.button("Restore"), Qt.Key.Key_Return)
    desk.until_toast("Restored 2 plants.")
    assert desk.ids() == [1, 2]
    desk.undo()
    desk.until(lambda: desk.ids() == [1, 2, 3])


def test_a_damaged_backup_has_a_warning(desk: BackupDriver, add: Adder) -> None:
    add(*(f"Fern {number} {'x' * 300}" for number in range(300)))
    made = FileBackups(desk.store.path).make()
    with made.path.open("r+b") as file:
        file.seek(made.size // 2 // 4096 * 4096)
        file.write(b"\x5a" * 4096)
    dialog = desk.open()
    desk.until(lambda: dialog.findChildren(MessageLine)[0].tone is Tone.WARNING)
    desk.expect_texts("is damaged: no more than", "Choose another one")


@pytest.mark.usefixtures("backup")
def test_a_restore_whose_dialog_is_closed_goes_on_and_can_be_taken_back(desk: BackupDriver) -> None:
    dialog = desk.open()
    desk.until(desk.dialog.button("Restore").isEnabled)
    desk.dialog.button("Restore").click()
    with desk.qtbot.waitSignal(dialog.destroyed):
        desk.qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    desk.until_toast("Restored 2 plants.")
    desk.undo()
    desk.until(lambda: len(desk.ids()) == 3)


@pytest.mark.usefixtures("backup")
def test_a_dialog_that_is_closed_while_it_compares_leaves_nothing_behind(
    desk: BackupDriver, caplog: pytest.LogCaptureFixture
) -> None:
    with desk.qtbot.captureExceptions() as raised:
        for _ in range(5):
            dialog = desk.open()
            dialog.choose_file(BackupFolder(desk.store.path).newest_first()[0].path)
            with desk.qtbot.waitSignal(dialog.destroyed):
                dialog.reject()
        desk.open()
        desk.expect_texts("holds 2 plants")
        desk.until(lambda: not any(each.name == "window-task" for each in threading.enumerate()))
    assert raised == []
    assert caplog.records == []


@pytest.mark.usefixtures("backup")
def test_another_row_is_previewed(desk: BackupDriver, add: Adder) -> None:
    FileBackups(desk.store.path).make()
    add("Daisy")
    dialog = desk.open()
    desk.expect_texts("holds 3 plants", "Goes: 1 plant (4 “Daisy”)")
    table = dialog.findChildren(QTableView)[0]
    desk.qtbot.keyClick(table, Qt.Key.Key_Down)
    desk.expect_texts("holds 2 plants", "Goes: 2 plants (4 “Daisy”, 3 “Cactus”)")
    desk.dialog.button("Cancel").click()
    assert desk.ids() == [1, 2, 3, 4]


def test_nothing_and_what_would_change_nothing_cannot_be_restored(desk: BackupDriver, add: Adder) -> None:
    dialog = desk.open()
    desk.expect_texts("There are no backups yet.")
    assert not desk.dialog.button("Restore").isEnabled()
    with desk.qtbot.waitSignal(dialog.destroyed):
        dialog.reject()
    add("Aloe")
    FileBackups(desk.store.path).make()
    desk.open()
    desk.expect_texts("holds 1 plant", "nothing would change")
    assert not desk.dialog.button("Restore").isEnabled()


def test_a_file_chosen_before_the_list_is_there_stays_chosen(
    desk: BackupDriver, bridge: Bridge, backup: Backup
) -> None:
    released = threading.Event()
    bridge.short_tasks.run(bridge, lambda _task: released.wait())  # the list waits behind it
    dialog = desk.open()
    other = backup.path.with_name("other.db")
    backup.path.rename(other)
    dialog.choose_file(other)
    desk.expect_texts("“other.db” holds 2 plants")
    released.set()
    received: list[int] = []
    bridge.short_tasks.run(bridge, lambda _task: 1, received.append)
    desk.until(lambda: received == [1])
    desk.expect_texts("“other.db” holds 2 plants")


@pytest.mark.usefixtures("backup")
def test_a_file_that_is_no_backup_is_refused_and_another_may_be_chosen(desk: BackupDriver) -> None:
    dialog = desk.open()
    desk.expect_texts("holds 2 plants")
    diary = desk.store.path.with_name("diary.txt")
    diary.write_text("today")
    dialog.choose_file(diary)  # the result of the file dialog
    desk.expect_texts("not a PlantDesk store")
    assert not desk.dialog.button("Restore").isEnabled()
    desk.qtbot.keyClick(dialog.findChildren(QTableView)[0], Qt.Key.Key_Home)
    desk.expect_texts("holds 2 plants")


@pytest.mark.skipif(os.name != "posix", reason="Windows lets nobody replace an open file")
def test_a_damaged_store_is_restored_while_it_is_open(desk: BackupDriver, backup: Backup) -> None:
    path = desk.store.path
    with path.open("r+b") as file:
        file.write(b"\x5a" * path.stat().st_size)
    dialog = desk.open()
    desk.expect_texts("holds 2 plants", "What it holds comes back, which cannot be undone.")
    assert not any("taken back" in text for text in desk.dialog.texts())
    desk.until(desk.dialog.button("Restore").isEnabled)
    desk.dialog.button("Restore").click()
    desk.until_toast("Restored 2 plants.")
    assert "Tokens are not valid" in desk.toast.text
    desk.until(lambda: not isValid(dialog))
    desk.until(lambda: desk.ids() == [1, 2])
    assert backup.path.exists()
