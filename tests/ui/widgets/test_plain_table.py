"""Tables of dialogs."""

from PySide6.QtCore import QBuffer, Qt
from PySide6.QtSvg import QSvgGenerator
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.plain_table import Cell, PlainTable


def test_the_columns_are_measured_once_for_many_rows(qtbot: QtBot, theme: Theme) -> None:
    table = PlainTable(theme, "Requests", ("Time", "Request"), wide=1)
    qtbot.addWidget(table)
    with qtbot.waitExposed(table):
        table.show()
    changes: list[object] = []
    table.model().dataChanged.connect(lambda *_arguments: changes.append(None))
    table.show_rows([("12:00", "Added")] * 500)
    assert changes == [], "they are new"
    narrow = table.columnWidth(0)
    table.show_rows([("Monday, 12:00:00", Cell("Added", "ID 7"))] * 500, range(500))
    assert table.columnWidth(0) > narrow
    for text in ("Added", "Refused", "Refused"):
        table.show_rows([("Monday, 12:00:00", text)] * 500, range(500))
    assert len(changes) == 2, "the cells, and nothing the third time"


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
    table.show_rows([("garden", Cell("7", "seven", ("check", "ok"), "text_2"))], ["garden"])
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
