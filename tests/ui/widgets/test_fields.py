"""Fields that the wheel does not change, and fields with a button."""

from collections.abc import Callable
from functools import partial

import pytest
from PySide6.QtCore import QBuffer, Qt
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QSpinBox, QWidget
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.fields import ComboBox, make_spin_box
from plantdesk.ui.widgets.plain_table import Cell, PlainTable
from tests.support.window_driver import WindowDriver


def combo_box() -> QComboBox:
    box = ComboBox("Format")
    box.addItems(["CSV", "JSON"])
    return box


@pytest.mark.parametrize("make", [combo_box, partial(make_spin_box, QSpinBox), partial(make_spin_box, QDoubleSpinBox)])
def test_the_wheel_is_left_to_what_a_field_is_in(qtbot: QtBot, make: Callable[[], QWidget]) -> None:
    field = make()
    user = WindowDriver(qtbot, field)
    qtbot.addWidget(field)
    with qtbot.waitActive(field):
        field.show()
    field.setFocus()
    before = field.grab().toImage()
    assert user.turn_wheel(field)
    assert field.grab().toImage() == before


# --- tables of dialogs ------------------------------------------------------------------------------------------------


def test_the_selected_row_stays_selected_where_others_come_and_go(qtbot: QtBot, theme: Theme) -> None:
    table = PlainTable(theme, "Tokens", ("Token",))
    qtbot.addWidget(table)
    with qtbot.waitExposed(table):
        table.show()
    table.show_rows([("garden",), ("sync",)], ["garden", "sync"])
    table.selectRow(1)
    table.show_rows([("new",), ("garden",), ("sync",)], ["new", "garden", "sync"])
    assert table.selected_row == 2
    table.show_rows([("new",)], ["new"])
    assert [table.selected_row] == [None]
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_Down)
    assert table.selected_row == 0


def test_the_model_does_what_a_model_of_qt_must(qtmodeltester: ModelTester, qtbot: QtBot, theme: Theme) -> None:
    table = PlainTable(theme, "Tokens", ("Token", "Plants"), numbers=[1])
    qtbot.addWidget(table)
    qtmodeltester.check(table.model())
    table.show_rows([("garden", Cell("7", "seven", ("check", "ok"), "muted"))], ["garden"])
    table.show_rows([("garden", "8")], ["garden"])
    table.show_rows([("sync", "8"), ("garden", "8")], ["sync", "garden"])
    qtmodeltester.check(table.model())


def test_a_column_has_room_for_its_texts(qtbot: QtBot, theme: Theme) -> None:
    table = PlainTable(theme, "Requests", ("Time", "Request"), wide=1)
    qtbot.addWidget(table)
    table.resize(600, 200)
    table.show_rows([("12:00:00", "Added")])
    with qtbot.waitExposed(table):
        table.show()
    buffer = QBuffer()
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    table.render(generator)
    assert ">12:00:00<" in bytes(buffer.data().data()).decode()
