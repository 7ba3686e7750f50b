"""Backups from the window: made, looked at, restored, taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QTableWidget, QWidget

from plantdesk.store import BackupKind, Backups, back_up
from plantdesk.ui.backing_up import BackingUp
from plantdesk.ui.message_line import MessageLine, Tone

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from plantdesk.store import Backup, Store
    from plantdesk.ui.bridge import Bridge
    from plantdesk.ui.restore_dialog import RestoreDialog
    from plantdesk.ui.theme import Theme
    from tests.ui.conftest import Adder

PATIENCE = 10_000


class Desk:
    """What a person has before them, once the dialog is open."""

    def __init__(self, qtbot: QtBot, theme: Theme, bridge: Bridge, store: Store) -> None:
        self.qtbot = qtbot
        window = QWidget()
        qtbot.addWidget(window)
        self.message = MessageLine(theme, window)
        self.backing_up = BackingUp(theme, bridge, self.message, store.path, window)
        self.store = store
        window.show()

    def open(self) -> RestoreDialog:
        self.dialog = self.backing_up.open_dialog()
        return self.dialog

    def says(self, *texts: str) -> None:
        def seen() -> None:
            told = [label.text() for label in self.dialog.findChildren(QLabel)]
            assert all(any(text in each for each in told) for text in texts), told

        self.qtbot.waitUntil(seen, timeout=PATIENCE)

    def button(self, text: str) -> QPushButton:
        buttons = [*self.dialog.findChildren(QPushButton), *self.message.findChildren(QPushButton)]
        return next(each for each in buttons if each.text().replace("&", "") == text)

    def until_told(self, text: str, tone: Tone = Tone.OK) -> None:
        self.qtbot.waitUntil(lambda: text in self.message.text, timeout=PATIENCE)
        assert self.message.tone is tone

    def ids(self) -> list[int]:
        reader = self.store.reader()
        found = sorted(reader.rows(range(100)))
        reader.close()
        return found


@pytest.fixture
def desk(qtbot: QtBot, theme: Theme, bridge: Bridge, store: Store) -> Desk:
    return Desk(qtbot, theme, bridge, store)


@pytest.fixture
def backup(store: Store, add: Adder) -> Backup:
    """Of two plants, of which there are three since then."""
    add("Aloe", "Basil")
    made = back_up(store.path)
    add("Cactus")
    return made


def test_a_backup_is_made_by_one_command(desk: Desk, add: Adder) -> None:
    add("Aloe")
    desk.backing_up.back_up()
    desk.until_told("Backed up")
    (made,) = Backups(desk.store.path).newest_first()
    assert made.kind is BackupKind.BY_HAND
    assert made.path.name in desk.message.text


def test_a_backup_that_fails_is_told(desk: Desk) -> None:
    Backups(desk.store.path).folder.write_text("in the way")
    desk.backing_up.back_up()
    desk.until_told("No backup can be kept", Tone.ERROR)


@pytest.mark.usefixtures("backup")
def test_enter_restores_the_newest_after_a_look_and_it_can_be_taken_back(desk: Desk) -> None:
    dialog = desk.open()
    desk.says("holds 2 plants", "Goes: 1 plant (“Cactus”)")
    desk.qtbot.waitUntil(desk.button("Restore").isEnabled, timeout=PATIENCE)
    desk.qtbot.keyClick(dialog, Qt.Key.Key_Return)
    desk.until_told("There are 2 plants now.")
    assert desk.ids() == [1, 2]
    next(each for each in desk.message.findChildren(QPushButton) if each.text() == "Take it back").click()
    desk.until_told("There are 3 plants now.")
    assert desk.ids() == [1, 2, 3]


@pytest.mark.usefixtures("backup")
def test_another_row_is_another_look(desk: Desk, add: Adder) -> None:
    back_up(desk.store.path)
    add("Daisy")
    dialog = desk.open()
    desk.says("holds 3 plants", "Goes: 1 plant (“Daisy”)")
    table = dialog.findChildren(QTableWidget)[0]
    desk.qtbot.keyClick(table, Qt.Key.Key_Down)
    desk.says("holds 2 plants", "Goes: 2 plants (“Daisy”, “Cactus”)")
    desk.button("Cancel").click()
    assert desk.ids() == [1, 2, 3, 4]


def test_what_would_change_nothing_cannot_be_restored(desk: Desk, add: Adder) -> None:
    add("Aloe")
    back_up(desk.store.path)
    desk.open()
    desk.says("holds 1 plant", "nothing would change")
    assert not desk.button("Restore").isEnabled()


def test_without_backups_the_dialog_says_so(desk: Desk) -> None:
    desk.open()
    desk.says("There are no backups yet.")
    assert not desk.button("Restore").isEnabled()


@pytest.mark.usefixtures("backup")
def test_a_file_that_is_no_backup_is_refused_and_another_may_be_chosen(desk: Desk) -> None:
    dialog = desk.open()
    desk.says("holds 2 plants")
    diary = desk.store.path.with_name("diary.txt")
    diary.write_text("today")
    dialog.choose_file(diary)  # what the file dialog tells
    desk.says("not a PlantDesk store")
    assert not desk.button("Restore").isEnabled()
    desk.qtbot.keyClick(dialog.findChildren(QTableWidget)[0], Qt.Key.Key_Home)
    desk.says("holds 2 plants")


def test_a_damaged_store_is_restored_while_it_is_open(desk: Desk, backup: Backup) -> None:
    path = desk.store.path
    with path.open("r+b") as file:
        file.write(b"\x5a" * path.stat().st_size)
    dialog = desk.open()
    desk.says("holds 2 plants", "All of them come back")
    desk.qtbot.waitUntil(desk.button("Restore").isEnabled, timeout=PATIENCE)
    desk.qtbot.keyClick(dialog, Qt.Key.Key_Return)
    desk.until_told("There are 2 plants now.")
    assert "Tokens are not valid" in desk.message.text
    desk.qtbot.waitUntil(lambda: desk.ids() == [1, 2], timeout=PATIENCE)
    assert backup.path.exists()
