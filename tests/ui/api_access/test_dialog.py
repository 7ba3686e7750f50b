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
        boxes = self.dialog.findChildren(MessageBox)
        return next(each for each in boxes if each.isVisible())

    def names(self) -> list[str]:
        return [row[0] for row in rows_of(self.table)]


def press(box: MessageBox, label: str) -> QPushButton:
    return next(each for each in box.findChildren(QPushButton) if each.text() == label)


def source_of(store: SqliteStore, token: str) -> Source:
    with closing(store.tokens.checker()) as checker:
        return checker.source(token)


@pytest.fixture
def desk(qtbot: QtBot, theme: Theme, bridge: Bridge, store: SqliteStore, queries: StoreQueries) -> DialogDriver:
    switch = ApiSwitch(bridge)
    window = QWidget()
    qtbot.addWidget(window)
    dialog = ApiDialog(theme, bridge, store, queries, cast("ApiControl", switch), window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
    with qtbot.waitExposed(dialog):
        dialog.show()
    return DialogDriver(qtbot, window, dialog, switch)


def test_a_new_token_is_shown_once_copied_and_good(desk: DialogDriver, store: SqliteStore) -> None:
    purpose = "No tokens yet. A program needs one to add plants."
    assert purpose in desk.texts()
    token = desk.create("greenhouse")
    assert desk.token.isVisible()
    desk.button("Copy token").click()
    assert QGuiApplication.clipboard().text() == token
    assert source_of(store, token).label == "greenhouse"
    desk.until(lambda: desk.names() == ["greenhouse"] and purpose not in desk.texts())
    assert desk.token_name.text() == ""


def test_an_invalid_name_is_reported(desk: DialogDriver) -> None:
    desk.create("greenhouse")
    desk.qtbot.keyClicks(desk.token_name, "greenhouse")
    desk.button("Create token").click()
    desk.until(lambda: any("already" in each.text() for each in desk.dialog.findChildren(QLabel)))
    assert desk.token_name.text() == "greenhouse"


def test_a_double_click_on_create_makes_one_token_without_an_error(desk: DialogDriver, store: SqliteStore) -> None:
    desk.type(desk.field("Name for a new token"), "sync")
    for _ in range(2):
        desk.button("Create token").click()
    desk.until(lambda: "New token for “sync”" in desk.texts())
    assert [row.name for row in store.tokens.list()] == ["sync"]
    assert not any("already" in each for each in desk.texts())


def test_a_token_is_revoked_after_a_question(desk: DialogDriver, store: SqliteStore) -> None:
    token = desk.create("greenhouse")
    desk.until(lambda: desk.names() == ["greenhouse"])
    desk.choose_in_menu(0, "Revoke…")
    box = desk.box_of_question()
    assert box.text == "Revoke “greenhouse”?"
    desk.until(press(box, "Cancel").hasFocus)
    desk.qtbot.keyClick(box, Qt.Key.Key_Return)  # presses what has the focus
    desk.until(lambda: not isValid(box))
    assert desk.names() == ["greenhouse"]
    desk.dialog.activateWindow()
    desk.until(desk.dialog.isActiveWindow)
    desk.table.setFocus()
    desk.press(Qt.Key.Key_Delete)
    press(desk.box_of_question(), "Revoke").click()
    desk.until(lambda: desk.names() == [])
    with pytest.raises(TokenRefusedError):
        source_of(store, token)


def test_the_examples_hold_address_a_free_id_and_the_file_of_the_token(desk: DialogDriver, tmp_path: Path) -> None:
    text = desk.dialog.findChildren(QPlainTextEdit)[0]
    token = desk.create("greenhouse")
    assert "http://127.0.0.1:8721/plants" in text.toPlainText()
    assert '"id": 1,' in text.toPlainText()
    file = tmp_path / "greenhouse.token"
    desk.dialog.findChildren(TokenPanel)[0].save_token(file)  # the result of the file dialog
    desk.until(lambda: str(file) in text.toPlainText())
    assert token not in text.toPlainText()
    assert file.read_text() == f"{token}\n"
    assert os.name != "posix" or file.stat().st_mode & 0o777 == 0o600
    desk.button("Copy example").click()
    assert QGuiApplication.clipboard().text() == text.toPlainText()
    desk.switch.show(On("http://127.0.0.1:9000", 9000))
    assert "http://127.0.0.1:9000/plants" in text.toPlainText()


def test_a_saved_token_replaces_no_database(desk: DialogDriver, store: SqliteStore) -> None:
    desk.create("greenhouse")
    panel = desk.dialog.findChildren(TokenPanel)[0]
    panel.save_token(store.path)
    desk.until(lambda: any("database" in line.text for line in panel.findChildren(MessageLine)))
    assert store.path.read_bytes().startswith(b"SQLite format 3")


def test_an_api_that_is_off_can_be_turned_on_also_with_another_port(desk: DialogDriver) -> None:
    assert "Turn on" not in desk.buttons()
    desk.switch.show(Off())
    desk.button("Turn on").click()
    assert desk.switch.asked == [8721]
    desk.switch.show(Failed(PortInUseError(8721, 8722), 8721))
    desk.button("Use port 8722").click()
    assert desk.switch.asked == [8721, 8722]


def test_enter_presses_the_focused_button(desk: DialogDriver) -> None:
    token = desk.create("greenhouse")
    assert desk.button("Copy token").hasFocus()
    QGuiApplication.clipboard().clear()
    desk.qtbot.keyClick(desk.button("Copy token"), Qt.Key.Key_Return)
    assert QGuiApplication.clipboard().text() == token
    desk.button("Close").setFocus()
    desk.qtbot.keyClick(desk.button("Close"), Qt.Key.Key_Enter)
    assert not desk.dialog.isVisible()


def test_a_copied_token_is_marked_as_a_secret_and_cannot_be_selected(desk: DialogDriver) -> None:
    token = desk.create("greenhouse")
    desk.token.selectAll()
    assert desk.token.selectedText() == ""
    QGuiApplication.clipboard().clear()
    desk.qtbot.keyClick(desk.token, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
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
    desk: DialogDriver, bridge: Bridge, caplog: pytest.LogCaptureFixture
) -> None:
    desk.create("greenhouse")
    desk.until(lambda: desk.names() == ["greenhouse"])
    released = threading.Event()
    bridge.short_tasks.run(bridge, lambda _task: released.wait())  # what is asked from now on is pending
    with desk.qtbot.captureExceptions() as raised:
        panel = desk.dialog.findChildren(TokenPanel)[0]
        panel.refresh()
        desk.qtbot.keyClicks(desk.token_name, "another")
        desk.button("Create token").click()
        desk.table.selectRow(0)
        panel.revoke_selected()
        press(desk.box_of_question(), "Revoke").click()
        panel.save_token(Path(os.devnull) / "cannot" / "be")
        delete(desk.dialog)
        released.set()
        received: list[int] = []
        bridge.short_tasks.run(bridge, lambda _task: 1, received.append)
        desk.until(lambda: received == [1])
        desk.until(lambda: not any(each.name == "window-task" for each in threading.enumerate()))
        bridge.short_tasks.run(bridge, lambda _task: 2, received.append)
        desk.until(lambda: received == [1, 2])
    assert raised == []
    assert caplog.records == []


# --- tokens and activity -----------------------------------------------------------------------------------------


def test_the_dialog_is_as_high_as_its_content_but_stays_on_the_screen(desk: DialogDriver) -> None:
    before = desk.dialog.height()
    for number in range(3):
        desk.create(f"token {number}")
    desk.until(lambda: len(desk.names()) == 3 and desk.dialog.height() > before)
    collapsed, screen = desk.dialog.height(), desk.dialog.screen().availableGeometry()
    desk.dialog.move(0, screen.bottom() - collapsed)
    desk.button("Try it").click()
    desk.until(lambda: desk.dialog.height() > collapsed + 50)
    assert screen.contains(desk.dialog.frameGeometry())
    example = desk.the(QPlainTextEdit, "Example command")
    desk.until(lambda: example.isVisible() and example.visibleRegion().boundingRect() == example.rect())
    expanded = desk.dialog.height()
    desk.button("Try it").click()
    desk.until(lambda: desk.dialog.height() < expanded - 50)


def test_limits_of_a_token_can_be_seen(desk: DialogDriver, store: SqliteStore) -> None:
    source = store.tokens.create("sensor", expires_at=now_ms() + 3_600_000, max_plants=300).result().row.source
    store.add(new_plant({"id": 1, "name": "Fern"}), source).result()
    desk.the(TokenPanel).refresh()
    desk.until(lambda: desk.table.model().index(0, 3).data() == "1 of 300")
    assert ":" in desk.table.model().index(0, 2).data(), "the hour, as the day says too little"


def test_a_new_token_is_hidden_when_it_is_closed_or_was_used(desk: DialogDriver, store: SqliteStore) -> None:
    desk.create("greenhouse")
    desk.button("Close the new token").click()
    assert not desk.the(QLineEdit, "New token").isVisible()
    token = desk.create("office")
    assert desk.the(QLineEdit, "New token").isVisible()
    store.add(new_plant({"id": 1, "name": "Fern"}), source_of(store, token)).result()
    desk.the(TokenPanel).refresh()
    desk.until(lambda: not desk.the(QLineEdit, "New token").isVisible())


def test_a_token_is_revoked_together_with_its_plants(desk: DialogDriver, store: SqliteStore) -> None:
    token = desk.create("greenhouse")
    store.add(new_plant({"id": 1, "name": "Fern"}), source_of(store, token)).result()
    desk.dialog.findChildren(TokenPanel)[0].refresh()
    desk.until(lambda: desk.table.model().index(0, 3).data() == "1")
    desk.choose_in_menu(0, "Revoke and delete its plants…")
    with desk.qtbot.waitSignal(desk.dialog.plants_removed):
        press(desk.box_of_question(), "Revoke and delete").click()
    desk.until(lambda: desk.names() == [])
    with closing(store.reader()) as reader:
        assert reader.history(1)[0].source.kind is SourceKind.FORM


@pytest.fixture
def active(desk: DialogDriver, store: SqliteStore) -> DialogDriver:
    """The dialog after a plant that was added, and one that was refused."""
    row = store.add(new_plant({"id": 7, "name": "Fern"}), FORM).result()
    garden = Source(9, SourceKind.TOKEN, "garden-sync")
    desk.switch.activity.record_added(garden, row)
    sent = {"id": 7, "name": "It’s <b>Basil</b>", "tag": "kitchen", "other": 1}
    desk.switch.activity.record_refused(ErrorNumber.ID_TAKEN, "ID 7 already belongs to “Fern”.", garden, sent)
    desk.switch.activity.record_refused(ErrorNumber.TOKEN_MISSING, "A token is missing.")
    desk.dialog.show_activity()
    desk.until(lambda: len(requests(desk)) == 3)
    return desk


def requests(desk: DialogDriver) -> list[tuple[str, str]]:
    return [(row[1], row[2]) for row in rows_of(desk.the(QTableView, "Requests"))]


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


def menu_of_request(desk: DialogDriver, row: int) -> QMenu:
    table = desk.the(QTableView, "Requests")
    table.setFocus()
    table.selectRow(row)
    desk.press(Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    return desk.popup()


def test_the_reason_of_a_refusal_is_copied_and_its_plant_put_into_the_form(active: DialogDriver) -> None:
    click_in(menu_of_request(active, 1), "Copy the reason")
    assert QGuiApplication.clipboard().text() == "ID 7 already belongs to “Fern”."
    menu = menu_of_request(active, 1)
    with active.qtbot.waitSignal(active.dialog.plant_requested) as requested:
        click_in(menu, "Put this plant into the form")
    assert requested.args == [{"id": "7", "name": "It’s <b>Basil</b>", "tag": "kitchen"}]
    assert not active.dialog.isVisible()
