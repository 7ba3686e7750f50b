"""The letters of mnemonics are underlined while Alt is held."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPushButton, QVBoxLayout, QWidget

from plantdesk.ui.widgets.plain_text import PlainLabel

if TYPE_CHECKING:
    from PySide6.QtGui import QImage
    from pytestqt.qtbot import QtBot

    from plantdesk.ui.theme.theme import Theme


@pytest.fixture
def window(qtbot: QtBot, theme: Theme) -> QWidget:
    assert theme.colors
    window = QWidget()
    qtbot.addWidget(window)
    field, label = QLineEdit(), PlainLabel("&Name")
    label.setBuddy(field)
    layout = QVBoxLayout(window)
    for widget in (label, field, QPushButton("&Add")):
        layout.addWidget(widget)
    with qtbot.waitActive(window):
        window.show()
    return window


def pictures(window: QWidget) -> list[QImage]:
    return [each.grab().toImage() for each in (*window.findChildren(PlainLabel), *window.findChildren(QPushButton))]


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has no mnemonics")
def test_letters_are_underlined_while_alt_is_held(window: QWidget) -> None:
    handle, plain = window.windowHandle(), pictures(window)
    QTest.keyPress(handle, Qt.Key.Key_Alt, Qt.KeyboardModifier.AltModifier)
    assert all(now != before for now, before in zip(pictures(window), plain, strict=True))
    QTest.keyRelease(handle, Qt.Key.Key_Alt)
    assert pictures(window) == plain


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has no mnemonics")
def test_a_release_that_went_to_a_menu_is_noticed_at_the_next_event(window: QWidget) -> None:
    handle, plain = window.windowHandle(), pictures(window)
    QTest.keyPress(handle, Qt.Key.Key_Alt, Qt.KeyboardModifier.AltModifier)
    QTest.mouseMove(handle, QPoint(3, 3))
    assert pictures(window) == plain
