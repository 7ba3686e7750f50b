"""Names as a script or a file may bring them, at every place of the window that shows one."""

import os
from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QTableView, QWidget
from pytestqt.qtbot import QtBot

from plantdesk.domain.records import Changes, PlantRow, Source, SourceKind
from plantdesk.domain.server_state import Failed, ServerFailedError
from plantdesk.domain.texts import Text
from plantdesk.store.sqlite.backups import FileBackups
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.api_access.status import ApiStatus
from plantdesk.ui.api_access.token_panel import TokenPanel
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.plants.table.cells import Column, cell_text, tool_tip
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.dialog import MessageBox
from plantdesk.ui.widgets.messages import InfoBar, MessageLine, Tone
from plantdesk.ui.widgets.painting import StatePage
from plantdesk.ui.widgets.plain_text import set_tool_tip
from plantdesk.ui.window.backups import RestoreDialog
from tests.support.waiting import SECONDS
from tests.ui.conftest import Adder

NAMES = {
    "heading": "<h1>Fern</h1>",
    "image": '<img src="file:///etc/hostname" height=600>',
    "link": '<a href="http://127.0.0.1/">Aloe</a> &amp; &lt;b&gt;',
    "lines": "Fern\n\r\u2028Aloe\tBasil\x85",
    "turned": "Fern \u202e gpj.elA \u2066",
    "long": "x" * 1_000_000,
    "nul": "Fe\0rn\x1b[31m",
}


@pytest.fixture(params=list(NAMES.values()), ids=list(NAMES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def check(widget: QWidget) -> None:
    """Every label of `widget` shows plain text of one script's making on a line of its own, without markup."""
    labels = widget.findChildren(QLabel)
    assert labels
    for label in labels:
        assert label.textFormat() is Qt.TextFormat.PlainText
        assert len(label.text()) <= 2000
        assert all(part.isprintable() for part in label.text().split("\n"))
    for each in [widget, *widget.findChildren(QWidget)]:
        assert not any(part in each.toolTip() for part in ("<img", "<h1", "<a ", "\u202e", "\0"))


def show_widget(qtbot: QtBot, widget: QWidget) -> QWidget:
    qtbot.addWidget(widget)
    widget.resize(700, widget.sizeHint().height())
    widget.show()
    return widget


def test_the_status_line(qtbot: QtBot, theme: Theme, name: str) -> None:
    line = ApiStatus(theme)
    show_widget(qtbot, line)
    height = line.sizeHint().height()
    line.show_changes(Changes((PlantRow(1, name, name, 0, Source(3, SourceKind.TOKEN, name, 1)),)))
    check(line)
    assert line.sizeHint().height() == height
    line.show_server(Failed(ServerFailedError(Text("{name}", name=name)), 1))
    check(line)


def test_messages_bars_and_pages_without_rows(qtbot: QtBot, theme: Theme, name: str) -> None:
    line, bar = MessageLine(theme), InfoBar(theme)
    page = StatePage(theme, "search-x", "muted", "No plants match")
    for widget in (line, bar, page):
        show_widget(qtbot, widget)
    bar.show_state(Tone.WARNING, name, name)
    page.set_text(name)
    for width in (300, 900):
        line.resize(width, line.height())
        line.show_message(Tone.OK, f"Added “{name}”.")
        for widget in (line, bar, page):
            check(widget)


def test_a_message_box(qtbot: QtBot, theme: Theme, name: str) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    box = MessageBox(theme, "Revoke", f"Revoke “{name[:100]}”?", name[:100], window)
    box.add_button("Cancel")
    box.open()
    check(box)
    assert box.height() < box.screen().availableGeometry().height()


@pytest.mark.parametrize("text_of", [cell_text, tool_tip])
@pytest.mark.parametrize("column", [Column.NAME, Column.TAG, Column.SOURCE])
def test_a_cell_and_its_tool_tip(name: str, column: Column, text_of: Callable[[PlantRow, Column], str]) -> None:
    text = text_of(PlantRow(1, name, name, 0, Source(3, SourceKind.TOKEN, name, 1)), column)
    assert all(each.isprintable() for each in text)
    if text_of is tool_tip:
        assert len(text) < 2000
        assert not any(part in text for part in ("<img", "<h1", "<a "))


def test_a_tool_tip_is_wrapped_and_read_without_markup(qtbot: QtBot) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    set_tool_tip(widget, "Fern & <b>Aloe</b> " * 10)
    lines = widget.toolTip().split("<br>")
    assert len(lines) > 2
    assert "&lt;b&gt;" in widget.toolTip()
    assert QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Description) == "Fern & <b>Aloe</b> " * 10


@pytest.mark.parametrize("name", [each[:100] for each in NAMES.values() if each[:100].isprintable()])
def test_the_tokens(qtbot: QtBot, theme: Theme, bridge: Bridge, store: SqliteStore, name: str) -> None:
    """The store refuses a token whose name is not printable."""
    panel = TokenPanel(theme, bridge, store.tokens)
    show_widget(qtbot, panel)
    store.tokens.create(name).result(SECONDS)
    panel.refresh()
    table = panel.findChildren(QTableView)[0]
    qtbot.waitUntil(lambda: table.model().rowCount() == 1)
    assert table.model().index(0, 0).data().isprintable()
    table.selectRow(0)
    panel.revoke_selected()
    box = panel.findChildren(MessageBox)[0]
    check(box)
    next(button for button in box.findChildren(QPushButton) if button.text() == "Revoke").click()
    qtbot.waitUntil(lambda: table.model().rowCount() == 0)
    field = next(each for each in panel.findChildren(QLineEdit) if "greenhouse" in each.placeholderText())
    field.setText(name)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: any("New token for" in label.text() for label in panel.findChildren(QLabel)))
    check(panel)


def test_the_preview_of_a_restore(
    qtbot: QtBot, theme: Theme, bridge: Bridge, store: SqliteStore, add: Adder, name: str
) -> None:
    backup = FileBackups(store.path).make().path
    file = backup.with_name("<b>“x”<br>\u202e.db" if os.name == "posix" else "“x”\u202e.db")
    backup.rename(file)
    add(name)
    dialog = RestoreDialog(theme, bridge, FileBackups(store.path))
    show_widget(qtbot, dialog)
    dialog.choose_file(file)
    qtbot.waitUntil(lambda: any("Goes: 1 plant" in label.text() for label in dialog.findChildren(QLabel)))
    check(dialog)
