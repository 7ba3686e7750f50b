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
def user(qtbot: QtBot, context: WindowContext, store: SqliteStore) -> BackupDriver:
    context.undo_stack.set_store(store)
    return BackupDriver(qtbot, context, store)


@pytest.fixture
def backup(store: SqliteStore, add: Adder) -> Backup:
    """Of two plants, of which there are three since then."""
    add("Aloe", "Basil")
    made = FileBackups(store.path).make()
    add("Cactus")
    return made


def test_a_backup_is_made_by_one_command(user: BackupDriver, add: Adder) -> None:
    add("Aloe")
    user.choose("File", "Back up now")
    user.until_toast("Backed up")
    (made,) = BackupFolder(user.store.path).newest_first()
    assert made.kind is BackupKind.BY_HAND
    assert made.path.name in user.toast.text


def test_a_failed_backup_is_reported(user: BackupDriver) -> None:
    BackupFolder(user.store.path).folder.write_text("in the way")
    user.choose("File", "Back up now")
    user.until_toast("No backup can be kept")


def test_failing_automatic_backups_are_shown_until_one_is_made(user: BackupDriver, context: WindowContext) -> None:
    error = BackupFolderError(Text("The drive is not there."))
    for _ in range(2):
        context.bridge.notify_backup(error)
    user.until(lambda: [(bar.title, bar.text) for bar in user.bars] == [("Backups fail", "The drive is not there.")])
    user.button("Back up now").click()
    user.until(lambda: not user.bars)
    context.bridge.notify_backup(error)
    user.until(lambda: len(user.bars) == 1)
    context.bridge.notify_backup(None)
    user.until(lambda: not user.bars)
    context.bridge.notify_backup(StoreUnreachableError())  # the server of a shared store, which has a bar of its own
    context.bridge.notify_backup(error)
    user.until(lambda: len(user.bars) == 1)


@pytest.mark.usefixtures("backup")
def test_enter_in_the_list_leads_to_the_button_and_enter_there_restores(user: BackupDriver) -> None:
    dialog = user.open()
    table = dialog.findChildren(QTableView)[0]
    user.expect_texts("holds 2 plants", "Goes: 1 plant (3 “Cactus”)")
    user.until(user.dialog.button("Restore").isEnabled)
    assert table.hasFocus()
    user.qtbot.keyClick(table, Qt.Key.Key_Return)
    assert user.dialog.button("Restore").hasFocus()
    assert user.dialog.button("Restore").isEnabled()  # nothing is restored yet
    assert user.ids() == [1, 2, 3]
    user.qtbot.keyClick(user.dialog.button("Restore"), Qt.Key.Key_Return)
    user.until_toast("Restored 2 plants.")
    assert user.ids() == [1, 2]
    user.undo()
    user.until(lambda: user.ids() == [1, 2, 3])


def test_a_damaged_backup_has_a_warning(user: BackupDriver, add: Adder) -> None:
    add(*(f"Fern {number} {'x' * 300}" for number in range(300)))
    made = FileBackups(user.store.path).make()
    with made.path.open("r+b") as file:
        file.seek(made.size // 2 // 4096 * 4096)
        file.write(b"\x5a" * 4096)
    dialog = user.open()
    user.until(lambda: dialog.findChildren(MessageLine)[0].tone is Tone.WARNING)
    user.expect_texts("is damaged: no more than", "Choose another one")


@pytest.mark.usefixtures("backup")
def test_a_restore_whose_dialog_is_closed_goes_on_and_can_be_taken_back(user: BackupDriver) -> None:
    dialog = user.open()
    user.until(user.dialog.button("Restore").isEnabled)
    user.dialog.button("Restore").click()
    with user.qtbot.waitSignal(dialog.destroyed):
        user.qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    user.until_toast("Restored 2 plants.")
    user.undo()
    user.until(lambda: len(user.ids()) == 3)


@pytest.mark.usefixtures("backup")
def test_a_dialog_that_is_closed_while_it_compares_leaves_nothing_behind(
    user: BackupDriver, caplog: pytest.LogCaptureFixture
) -> None:
    with user.qtbot.captureExceptions() as raised:
        for _ in range(5):
            dialog = user.open()
            dialog.choose_file(BackupFolder(user.store.path).newest_first()[0].path)
            with user.qtbot.waitSignal(dialog.destroyed):
                dialog.reject()
        user.open()
        user.expect_texts("holds 2 plants")
        user.until(lambda: not any(thread.name == "window-task" for thread in threading.enumerate()))
    assert raised == []
    assert caplog.records == []


@pytest.mark.usefixtures("backup")
def test_another_row_is_previewed(user: BackupDriver, add: Adder) -> None:
    FileBackups(user.store.path).make()
    add("Daisy")
    dialog = user.open()
    user.expect_texts("holds 3 plants", "Goes: 1 plant (4 “Daisy”)")
    table = dialog.findChildren(QTableView)[0]
    user.qtbot.keyClick(table, Qt.Key.Key_Down)
    user.expect_texts("holds 2 plants", "Goes: 2 plants (4 “Daisy”, 3 “Cactus”)")
    user.dialog.button("Cancel").click()
    assert user.ids() == [1, 2, 3, 4]


def test_nothing_and_what_would_change_nothing_cannot_be_restored(user: BackupDriver, add: Adder) -> None:
    dialog = user.open()
    user.expect_texts("There are no backups yet.")
    assert not user.dialog.button("Restore").isEnabled()
    with user.qtbot.waitSignal(dialog.destroyed):
        dialog.reject()
    add("Aloe")
    FileBackups(user.store.path).make()
    user.open()
    user.expect_texts("holds 1 plant", "nothing would change")
    assert not user.dialog.button("Restore").isEnabled()


def test_a_file_chosen_before_the_list_is_there_stays_chosen(
    user: BackupDriver, bridge: Bridge, backup: Backup
) -> None:
    released = threading.Event()
    bridge.short_tasks.run(bridge, lambda _task: released.wait())  # the list waits behind it
    dialog = user.open()
    other = backup.path.with_name("other.db")
    backup.path.rename(other)
    dialog.choose_file(other)
    user.expect_texts("“other.db” holds 2 plants")
    released.set()
    received: list[int] = []
    bridge.short_tasks.run(bridge, lambda _task: 1, received.append)
    user.until(lambda: received == [1])
    user.expect_texts("“other.db” holds 2 plants")


@pytest.mark.usefixtures("backup")
def test_a_file_that_is_no_backup_is_refused_and_another_may_be_chosen(user: BackupDriver) -> None:
    dialog = user.open()
    user.expect_texts("holds 2 plants")
    diary = user.store.path.with_name("diary.txt")
    diary.write_text("today")
    dialog.choose_file(diary)  # the result of the file dialog
    user.expect_texts("not a PlantDesk store")
    assert not user.dialog.button("Restore").isEnabled()
    user.qtbot.keyClick(dialog.findChildren(QTableView)[0], Qt.Key.Key_Home)
    user.expect_texts("holds 2 plants")


@pytest.mark.skipif(os.name != "posix", reason="Windows lets nobody replace an open file")
def test_a_damaged_store_is_restored_while_it_is_open(user: BackupDriver, backup: Backup) -> None:
    path = user.store.path
    with path.open("r+b") as file:
        file.write(b"\x5a" * path.stat().st_size)
    dialog = user.open()
    user.expect_texts("holds 2 plants", "What it holds comes back, which cannot be undone.")
    assert not any("taken back" in text for text in user.dialog.texts())
    user.until(user.dialog.button("Restore").isEnabled)
    user.dialog.button("Restore").click()
    user.until_toast("Restored 2 plants.")
    assert "Tokens are not valid" in user.toast.text
    user.until(lambda: not isValid(dialog))
    user.until(lambda: user.ids() == [1, 2])
    assert backup.path.exists()
