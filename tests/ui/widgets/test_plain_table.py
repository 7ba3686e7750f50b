"""Tables of dialogs."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
