import os
import threading
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QMenu, QPlainTextEdit, QPushButton, QTableView, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import delete, isValid

from plantdesk.domain.errors import ErrorNumber, TokenRefusedError
from plantdesk.domain.records import FORM, Source, SourceKind, now_ms
from plantdesk.domain.server_state import Failed, Off, On, PortInUseError
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.api_access.dialog import ApiDialog
from plantdesk.ui.api_access.token_panel import TokenPanel
from plantdesk.ui.api_control import ApiControl
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.buttons import copy_secret
from plantdesk.ui.widgets.dialog import MessageBox
from plantdesk.ui.widgets.messages import MessageLine
from tests.support.api_switch import ApiSwitch
from tests.support.window_driver import WindowDriver, click_in, rows_of


class DialogDriver(WindowDriver):
    """The dialog of the API."""

    def __init__(self, qtbot: QtBot, outer: QWidget, dialog: ApiDialog, switch: ApiSwitch) -> None:
        super().__init__(qtbot, dialog)
        self.outer = outer
        self.dialog = dialog
        self.switch = switch
        self.table = self.the(QTableView, "Tokens")
        self.token = self.field("New token")

    @property
    def token_name(self) -> QLineEdit:
        return self.field("Name for a new token")

    def choose_in_menu(self, row: int, command: str) -> None:
        """Open the menu of a token by Shift+F10, and click a command in it."""
        self.table.setFocus()
        self.table.selectRow(row)
        QTest.keyClick(self.table, Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
        click_in(self.popup(), command)

    def create(self, name: str) -> str:
        before = self.token.text()
        self.token_name.setFocus()
        self.qtbot.keyClicks(self.token_name, name)
        self.qtbot.keyClick(self.token_name, Qt.Key.Key_Return)
        self.until(lambda: self.token.text() != before)
        return self.token.text()

    def box_of_question(self) -> MessageBox:
        return next(box for box in self.dialog.findChildren(MessageBox) if box.isVisible())

    def names(self) -> list[str]:
        return [row[0] for row in rows_of(self.table)]


def press(box: MessageBox, label: str) -> QPushButton:
    return next(button for button in box.findChildren(QPushButton) if button.text() == label)


def source_of(store: SqliteStore, token: str) -> Source:
    with closing(store.tokens.open_lookup()) as lookup:
        return lookup.source(token)


@pytest.fixture
def user(qtbot: QtBot, theme: Theme, bridge: Bridge, store: SqliteStore, queries: StoreQueries) -> DialogDriver:
    switch = ApiSwitch(bridge)
    window = QWidget()
    qtbot.addWidget(window)
    dialog = ApiDialog(theme, bridge, store, queries, cast("ApiControl", switch), window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
    with qtbot.waitExposed(dialog):
        dialog.show()
    return DialogDriver(qtbot, window, dialog, switch)


def test_a_new_token_is_shown_once_copied_and_good(user: DialogDriver, store: SqliteStore) -> None:
    purpose = "No tokens yet. A program needs one to add plants."
    assert purpose in user.texts()
    token = user.create("greenhouse")
    assert user.token.isVisible()
    user.button("Copy token").click()
    assert QGuiApplication.clipboard().text() == token
    assert source_of(store, token).label == "greenhouse"
    user.until(lambda: user.names() == ["greenhouse"] and purpose not in user.texts())
    assert user.token_name.text() == ""


def test_an_invalid_name_is_reported(user: DialogDriver) -> None:
    user.create("greenhouse")
    user.qtbot.keyClicks(user.token_name, "greenhouse")
    user.button("Create token").click()
    user.until(lambda: any("already" in label.text() for label in user.dialog.findChildren(QLabel)))
    assert user.token_name.text() == "greenhouse"


def test_a_double_click_on_create_makes_one_token_without_an_error(user: DialogDriver, store: SqliteStore) -> None:
    user.type(user.field("Name for a new token"), "sync")
    for _ in range(2):
        user.button("Create token").click()
    user.until(lambda: "New token for “sync”" in user.texts())
    assert [row.name for row in store.tokens.list()] == ["sync"]
    assert not any("already" in text for text in user.texts())


def test_a_token_is_revoked_after_a_question(user: DialogDriver, store: SqliteStore) -> None:
    token = user.create("greenhouse")
    user.until(lambda: user.names() == ["greenhouse"])
    user.choose_in_menu(0, "Revoke…")
    box = user.box_of_question()
    assert box.text == "Revoke “greenhouse”?"
    user.until(press(box, "Cancel").hasFocus)
    user.qtbot.keyClick(box, Qt.Key.Key_Return)  # presses what has the focus
    user.until(lambda: not isValid(box))
    assert user.names() == ["greenhouse"]
    user.dialog.activateWindow()
    user.until(user.dialog.isActiveWindow)
    user.table.setFocus()
    user.press(Qt.Key.Key_Delete)
    press(user.box_of_question(), "Revoke").click()
    user.until(lambda: user.names() == [])
    with pytest.raises(TokenRefusedError):
        source_of(store, token)


def test_the_examples_hold_address_a_free_id_and_the_file_of_the_token(user: DialogDriver, tmp_path: Path) -> None:
    text = user.dialog.findChildren(QPlainTextEdit)[0]
    token = user.create("greenhouse")
    assert "http://127.0.0.1:8721/plants" in text.toPlainText()
    assert '"id": 1,' in text.toPlainText()
    file = tmp_path / "greenhouse.token"
    user.dialog.findChildren(TokenPanel)[0].save_token(file)  # the result of the file dialog
    user.until(lambda: str(file) in text.toPlainText())
    assert token not in text.toPlainText()
    assert file.read_text() == f"{token}\n"
    assert os.name != "posix" or file.stat().st_mode & 0o777 == 0o600
    user.button("Copy example").click()
    assert QGuiApplication.clipboard().text() == text.toPlainText()
    user.switch.show(On("http://127.0.0.1:9000", 9000))
    assert "http://127.0.0.1:9000/plants" in text.toPlainText()


def test_a_saved_token_replaces_no_database(user: DialogDriver, store: SqliteStore) -> None:
    user.create("greenhouse")
    panel = user.dialog.findChildren(TokenPanel)[0]
    panel.save_token(store.path)
    user.until(lambda: any("database" in line.text for line in panel.findChildren(MessageLine)))
    assert store.path.read_bytes().startswith(b"SQLite format 3")


def test_an_api_that_is_off_can_be_turned_on_also_with_another_port(user: DialogDriver) -> None:
    assert "Turn on" not in user.buttons()
    user.switch.show(Off())
    user.button("Turn on").click()
    assert user.switch.asked == [8721]
    user.switch.show(Failed(PortInUseError(8721, 8722), 8721))
    user.button("Use port 8722").click()
    assert user.switch.asked == [8721, 8722]


def test_enter_presses_the_focused_button(user: DialogDriver) -> None:
    token = user.create("greenhouse")
    assert user.button("Copy token").hasFocus()
    QGuiApplication.clipboard().clear()
    user.qtbot.keyClick(user.button("Copy token"), Qt.Key.Key_Return)
    assert QGuiApplication.clipboard().text() == token
    user.button("Close").setFocus()
    user.qtbot.keyClick(user.button("Close"), Qt.Key.Key_Enter)
    assert not user.dialog.isVisible()


def test_a_copied_token_is_marked_as_a_secret_and_cannot_be_selected(user: DialogDriver) -> None:
    token = user.create("greenhouse")
    user.token.selectAll()
    assert user.token.selectedText() == ""
    QGuiApplication.clipboard().clear()
    user.qtbot.keyClick(user.token, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    content = QGuiApplication.clipboard().mimeData()
    assert content.text() == token
    assert content.data("x-kde-passwordManagerHint").data() == b"secret"


def test_a_secret_leaves_the_clipboard_by_itself_unless_something_else_is_there(
    qtbot: QtBot, qapp: QApplication
) -> None:
    clipboard = QGuiApplication.clipboard()
    copy_secret("secret", 1)
    qtbot.waitUntil(lambda: clipboard.text() == "")
    copy_secret("secret")
    qapp.aboutToQuit.emit()
    assert clipboard.text() == "", "the program ends within the minute"
    copy_secret("secret", 1)
    clipboard.setText("a letter")
    copied = threading.Event()
    QTimer.singleShot(20, copied.set)
    qtbot.waitUntil(copied.is_set)
    assert clipboard.text() == "a letter"


def test_a_dialog_that_is_closed_with_results_pending_reports_no_defect(
    user: DialogDriver, bridge: Bridge, caplog: pytest.LogCaptureFixture
) -> None:
    user.create("greenhouse")
    user.until(lambda: user.names() == ["greenhouse"])
    released = threading.Event()
    bridge.short_tasks.run(bridge, lambda _task: released.wait())  # what is asked from now on is pending
    with user.qtbot.captureExceptions() as raised:
        panel = user.dialog.findChildren(TokenPanel)[0]
        panel.refresh()
        user.qtbot.keyClicks(user.token_name, "another")
        user.button("Create token").click()
        user.table.selectRow(0)
        panel.revoke_selected()
        press(user.box_of_question(), "Revoke").click()
        panel.save_token(Path(os.devnull) / "cannot" / "be")
        delete(user.dialog)
        released.set()
        received: list[int] = []
        bridge.short_tasks.run(bridge, lambda _task: 1, received.append)
        user.until(lambda: received == [1])
        user.until(lambda: not any(thread.name == "window-task" for thread in threading.enumerate()))
        bridge.short_tasks.run(bridge, lambda _task: 2, received.append)
        user.until(lambda: received == [1, 2])
    assert raised == []
    assert caplog.records == []


# --- tokens and activity -----------------------------------------------------------------------------------------


def test_the_dialog_is_as_high_as_its_content_but_stays_on_the_screen(user: DialogDriver) -> None:
    before = user.dialog.height()
    for number in range(3):
        user.create(f"token {number}")
    user.until(lambda: len(user.names()) == 3 and user.dialog.height() > before)
    collapsed, screen = user.dialog.height(), user.dialog.screen().availableGeometry()
    user.dialog.move(0, screen.bottom() - collapsed)
    user.button("Try it").click()
    user.until(lambda: user.dialog.height() > collapsed + 50)
    assert screen.contains(user.dialog.frameGeometry())
    example = user.the(QPlainTextEdit, "Example command")
    user.until(lambda: example.isVisible() and example.visibleRegion().boundingRect() == example.rect())
    expanded = user.dialog.height()
    user.button("Try it").click()
    user.until(lambda: user.dialog.height() < expanded - 50)


def test_limits_of_a_token_can_be_seen(user: DialogDriver, store: SqliteStore) -> None:
    source = store.tokens.create("sensor", expires_at=now_ms() + 3_600_000, max_plants=300).result().row.source
    store.add(new_plant({"id": 1, "name": "Fern"}), source).result()
    user.the(TokenPanel).refresh()
    user.until(lambda: user.table.model().index(0, 3).data() == "1 of 300")
    assert ":" in user.table.model().index(0, 2).data(), "the hour, as the day says too little"


def test_a_new_token_is_hidden_when_it_is_closed_or_was_used(user: DialogDriver, store: SqliteStore) -> None:
    user.create("greenhouse")
    user.button("Close the new token").click()
    assert not user.the(QLineEdit, "New token").isVisible()
    token = user.create("office")
    assert user.the(QLineEdit, "New token").isVisible()
    store.add(new_plant({"id": 1, "name": "Fern"}), source_of(store, token)).result()
    user.the(TokenPanel).refresh()
    user.until(lambda: not user.the(QLineEdit, "New token").isVisible())


def test_a_token_is_revoked_together_with_its_plants(user: DialogDriver, store: SqliteStore) -> None:
    token = user.create("greenhouse")
    store.add(new_plant({"id": 1, "name": "Fern"}), source_of(store, token)).result()
    user.dialog.findChildren(TokenPanel)[0].refresh()
    user.until(lambda: user.table.model().index(0, 3).data() == "1")
    user.choose_in_menu(0, "Revoke and delete its plants…")
    with user.qtbot.waitSignal(user.dialog.plants_removed):
        press(user.box_of_question(), "Revoke and delete").click()
    user.until(lambda: user.names() == [])
    with closing(store.reader()) as reader:
        assert reader.history(1)[0].source.kind is SourceKind.FORM


@pytest.fixture
def active(user: DialogDriver, store: SqliteStore) -> DialogDriver:
    """The dialog after a plant that was added, and one that was refused."""
    row = store.add(new_plant({"id": 7, "name": "Fern"}), FORM).result()
    garden = Source(9, SourceKind.TOKEN, "garden-sync")
    user.switch.activity.record_added(garden, row)
    sent = {"id": 7, "name": "It’s <b>Basil</b>", "tag": "kitchen", "other": 1}
    user.switch.activity.record_refused(ErrorNumber.ID_TAKEN, "ID 7 already belongs to “Fern”.", garden, sent)
    user.switch.activity.record_refused(ErrorNumber.TOKEN_MISSING, "A token is missing.")
    user.dialog.show_activity()
    user.until(lambda: len(requests(user)) == 3)
    return user


def requests(user: DialogDriver) -> list[tuple[str, str]]:
    return [(row[1], row[2]) for row in rows_of(user.the(QTableView, "Requests"))]


def test_the_last_requests_are_shown_live(active: DialogDriver, store: SqliteStore) -> None:
    assert requests(active) == [
        ("An unknown program was refused", "No token"),
        ("garden-sync was refused", "ID 7 is taken"),
        ("garden-sync added “Fern”", "ID 7"),
    ]
    result = active.the(QTableView, "Requests").model().index(1, 2)
    assert "ID 7 already belongs to “Fern”." in result.data(Qt.ItemDataRole.ToolTipRole)
    with closing(store.reader()) as reader:
        row = reader.rows([7])[7]
    active.switch.activity.record_added(Source(9, SourceKind.TOKEN, "garden-sync"), row, is_new=False)
    active.until(lambda: requests(active)[0] == ("garden-sync sent “Fern”", "ID 7 was there already"))
    active.switch.activity.record_refused(ErrorNumber.NOT_JSON, "The body is not JSON.")
    active.until(lambda: len(requests(active)) == 5)
    active.button("Refused only").click()
    assert [who for who, _ in requests(active)] == ["An unknown program was refused"] * 2 + ["garden-sync was refused"]


def menu_of_request(user: DialogDriver, row: int) -> QMenu:
    table = user.the(QTableView, "Requests")
    table.setFocus()
    table.selectRow(row)
    user.press(Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    return user.popup()


def test_the_reason_of_a_refusal_is_copied_and_its_plant_put_into_the_form(active: DialogDriver) -> None:
    click_in(menu_of_request(active, 1), "Copy the reason")
    assert QGuiApplication.clipboard().text() == "ID 7 already belongs to “Fern”."
    menu = menu_of_request(active, 1)
    with active.qtbot.waitSignal(active.dialog.plant_requested) as requested:
        click_in(menu, "Put this plant into the form")
    assert requested.args == [{"id": "7", "name": "It’s <b>Basil</b>", "tag": "kitchen"}]
    assert not active.dialog.isVisible()
