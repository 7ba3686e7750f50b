"""Tables of dialogs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer
from PySide6.QtSvg import QSvgGenerator

from plantdesk.ui.widgets.plain_table import PlainTable

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from plantdesk.ui.theme.theme import Theme


def test_the_columns_are_measured_once_for_many_rows(qtbot: QtBot, theme: Theme) -> None:
    table = PlainTable(theme, "Requests", ("Time", "Request"), wide=1)
    qtbot.addWidget(table)
    with qtbot.waitExposed(table):
        table.show()
    changes: list[object] = []
    table.model().dataChanged.connect(lambda *_arguments: changes.append(None))
    table.show_rows([("12:00", "Added")] * 500)
    assert len(changes) == 1
    narrow = table.columnWidth(0)
    with table.changing_cells():
        for row in range(500):
            table.set_tool_tip(row, 1, "ID 7")
    assert len(changes) == 2
    table.show_rows([("Monday, 12:00:00", "Added")] * 500)
    assert table.columnWidth(0) > narrow


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
