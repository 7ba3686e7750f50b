"""The text cursor blinks while somebody types, and some seconds longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from plantdesk.ui.platform import cursor_blinking
from plantdesk.ui.platform.cursor_blinking import CursorBlinking
from tests.support.desk import Desk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from plantdesk.ui.workspace import Workspace


@pytest.fixture(autouse=True)
def blinking(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(cursor_blinking, "_BLINKING_MS", 50)
    yield
    QGuiApplication.styleHints().setCursorFlashTime(-1)


def blinks() -> bool:
    return QGuiApplication.styleHints().cursorFlashTime() > 0


@pytest.fixture
def widget(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    layout = QVBoxLayout(widget)
    for kind in (QLineEdit, QPlainTextEdit):
        layout.addWidget(kind())
    qtbot.addWidget(widget)
    widget.show()
    widget.activateWindow()
    line = widget.findChildren(QLineEdit)[0]
    line.setFocus()
    qtbot.waitUntil(line.hasFocus)
    CursorBlinking(widget)
    return widget


@pytest.mark.parametrize("kind", [QLineEdit, QPlainTextEdit])
def test_it_stops_after_the_last_key_and_begins_with_the_next(
    qtbot: QtBot, widget: QWidget, kind: type[QWidget]
) -> None:
    field = widget.findChildren(kind)[0]
    field.setFocus()
    for key in (Qt.Key.Key_A, Qt.Key.Key_Left):
        qtbot.waitUntil(lambda: not blinks())
        QTest.keyClick(field, key)
        assert blinks()
    qtbot.waitUntil(lambda: not blinks())


def test_a_click_into_another_field_lets_it_blink(qtbot: QtBot, widget: QWidget) -> None:
    qtbot.waitUntil(lambda: not blinks())
    QTest.mouseClick(widget.findChildren(QPlainTextEdit)[0].viewport(), Qt.MouseButton.LeftButton)
    assert blinks()


def test_a_cursor_that_does_not_blink_by_the_users_choice_never_does(qtbot: QtBot, widget: QWidget) -> None:
    QGuiApplication.styleHints().setCursorFlashTime(0)
    stops: list[int] = []
    widget.findChildren(CursorBlinking)[0].findChildren(QTimer)[0].timeout.connect(lambda: stops.append(1))
    qtbot.waitUntil(lambda: bool(stops))
    QTest.keyClick(widget.findChildren(QLineEdit)[0], Qt.Key.Key_A)
    assert not blinks()


def test_the_window_lets_its_cursor_rest(qtbot: QtBot, bare: Workspace) -> None:
    bare.complete()
    name = Desk(qtbot, bare).name
    qtbot.waitUntil(lambda: not blinks())
    QTest.keyClick(name, Qt.Key.Key_A)
    assert blinks()
    assert name.text() == "a"
