from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPlainTextEdit,
    QPushButton,
    QTableWidget,
)

from plantdesk.errors import TokenRefusedError
from plantdesk.server_state import Failed, Off, On, PortInUseError, Starting
from plantdesk.ui.api_dialog import ApiDialog

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from plantdesk.server_state import ServerState
    from plantdesk.store import Store
    from plantdesk.ui.bridge import Bridge
    from plantdesk.ui.questions import Questions
    from plantdesk.ui.theme import Theme


class Switch:
    """A server control that only notes what is asked of it; the real one is tested with the whole program."""

    def __init__(self, bridge: Bridge) -> None:
        self.state: ServerState = On("http://127.0.0.1:8721", 8721)
        self.asked: list[int | None] = []
        self._bridge = bridge

    def turn_on(self, port: int | None = None) -> None:
        self.asked.append(port)
        self.tell(Starting(port or 8721))

    def turn_off(self) -> None:
        self.tell(Off())

    def tell(self, state: ServerState) -> None:
        self.state = state
        self._bridge.server_changed.emit(state)


class Desk:
    """The dialog as a person has it."""

    def __init__(self, qtbot: QtBot, dialog: ApiDialog, switch: Switch) -> None:
        self.qtbot = qtbot
        self.dialog = dialog
        self.switch = switch
        self.table = dialog.findChildren(QTableWidget)[0]
        self.box = dialog.findChildren(QCheckBox)[0]
        fields = dialog.findChildren(QLineEdit)
        self.port = next(each for each in fields if each.text() == "8721")
        self.token = next(each for each in fields if each.accessibleName() == "New token")
        self.name = next(each for each in fields if "greenhouse" in each.placeholderText())

    def button(self, text: str) -> QPushButton:
        buttons = self.dialog.findChildren(QPushButton)
        return next(each for each in buttons if text in each.text().replace("&", ""))

    def create(self, name: str) -> str:
        before = self.token.text()
        self.name.setFocus()
        self.qtbot.keyClicks(self.name, name)
        self.qtbot.keyClick(self.name, Qt.Key.Key_Return)
        self.qtbot.waitUntil(lambda: self.token.text() != before)
        return self.token.text()

    def names(self) -> list[str]:
        items = [self.table.item(row, 0) for row in range(self.table.rowCount())]
        return [item.text() for item in items if item is not None]


@pytest.fixture
def desk(qtbot: QtBot, theme: Theme, bridge: Bridge, store: Store, questions: Questions) -> Desk:
    switch = Switch(bridge)
    dialog = ApiDialog(theme, bridge, store, questions, switch, 8721)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
    qtbot.addWidget(dialog)
    with qtbot.waitExposed(dialog):
        dialog.show()
    return Desk(qtbot, dialog, switch)


def test_a_new_token_is_shown_once_copied_and_good(desk: Desk, store: Store) -> None:
    token = desk.create("greenhouse")
    assert desk.token.isVisible()
    desk.button("Copy token").click()
    assert QGuiApplication.clipboard().text() == token
    checker = store.tokens.checker()
    assert checker.source(token).label == "greenhouse"
    checker.close()
    desk.qtbot.waitUntil(lambda: desk.names() == ["greenhouse"])
    assert desk.name.text() == ""


def test_a_name_that_will_not_do_is_told(desk: Desk) -> None:
    desk.create("greenhouse")
    desk.qtbot.keyClicks(desk.name, "greenhouse")
    desk.button("Create token").click()
    desk.qtbot.waitUntil(lambda: any("already" in each.text() for each in desk.dialog.findChildren(QLabel)))
    assert desk.name.text() == "greenhouse"


def test_a_token_is_revoked_after_a_question(desk: Desk, store: Store) -> None:
    token = desk.create("greenhouse")
    desk.qtbot.waitUntil(lambda: desk.names() == ["greenhouse"])
    assert not desk.button("Revoke").isEnabled()
    desk.table.selectRow(0)

    def agree() -> None:
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        assert "Revoke “greenhouse”?" in box.text()
        next(each for each in box.buttons() if each.text() == "Revoke").click()

    QTimer.singleShot(0, agree)
    desk.button("Revoke").click()
    desk.qtbot.waitUntil(lambda: desk.names() == [])
    checker = store.tokens.checker()
    with pytest.raises(TokenRefusedError):
        checker.source(token)
    checker.close()


def test_the_examples_hold_address_token_and_a_free_id(desk: Desk) -> None:
    text = desk.dialog.findChildren(QPlainTextEdit)[0]
    token = desk.create("greenhouse")
    desk.qtbot.waitUntil(lambda: token in text.toPlainText())
    assert "http://127.0.0.1:8721/plants" in text.toPlainText()
    assert '"id": 1,' in text.toPlainText()
    desk.button("Copy example").click()
    assert QGuiApplication.clipboard().text() == text.toPlainText()
    desk.switch.tell(On("http://127.0.0.1:9000", 9000))
    assert "http://127.0.0.1:9000/plants" in text.toPlainText()


def test_the_box_switches_the_api(desk: Desk) -> None:
    assert desk.box.isChecked()
    desk.box.click()
    assert desk.switch.state == Off()
    desk.box.click()
    assert desk.switch.asked == [8721]


def test_another_port_is_taken_when_entered(desk: Desk) -> None:
    desk.port.selectAll()
    desk.qtbot.keyClicks(desk.port, "9000")
    desk.qtbot.keyClick(desk.port, Qt.Key.Key_Return)
    assert desk.switch.asked == [9000]


@pytest.mark.parametrize("text", ["0", "70000", "web", ""])
def test_a_port_that_is_none_is_told(desk: Desk, text: str) -> None:
    desk.port.clear()
    desk.qtbot.keyClicks(desk.port, text)
    desk.qtbot.keyClick(desk.port, Qt.Key.Key_Return)
    assert desk.switch.asked == []
    assert desk.port.property("fault") == "true"


def test_a_taken_port_offers_a_free_one(desk: Desk) -> None:
    desk.switch.tell(Failed(PortInUseError(8721, 8722), 8721))
    desk.button("Use port 8722").click()
    assert desk.switch.asked == [8722]
