"""A megabyte of text pasted into every field of the window: refused whole, never cut."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QToolTip
from pytestqt.qtbot import QtBot

from plantdesk.domain.records import FORM
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.card.note import NoteEdit
from plantdesk.ui.plants.table.view import PlantTableView
from plantdesk.ui.sidebar.view import SidebarView
from plantdesk.ui.widgets.fields import LineEdit
from plantdesk.ui.workspace import Workspace
from tests.support.window_driver import WindowDriver
from tests.ui.conftest import open_store

CONTROL = Qt.KeyboardModifier.ControlModifier
MEGABYTE = "x" * 1_000_000


@pytest.fixture
def desk(qtbot: QtBot, bare: Workspace, store: SqliteStore) -> WindowDriver:
    store.add(new_plant({"id": 1, "name": "Fern", "tag": "hall"}), FORM).result()
    open_store(bare, store)
    desk = WindowDriver(qtbot, bare.window())
    desk.window.resize(1300, 800)
    table, view = desk.the(PlantTableView), desk.the(SidebarView)
    qtbot.waitUntil(lambda: table.model().rowCount() == 1 and view.set_current(("tag", "hall")))
    desk.window.activateWindow()
    QGuiApplication.clipboard().setText(MEGABYTE)
    return desk


@pytest.mark.parametrize(
    ("name", "most"), [("ID", "10,000"), ("Name", "10,000"), ("Tag", "10,000"), ("Search by name, tag or ID", "300")]
)
def test_into_the_form_and_the_search(desk: WindowDriver, name: str, most: str) -> None:
    field = desk.field(name)
    desk.type(field, "7")
    field.selectAll()
    desk.press(Qt.Key.Key_V, CONTROL)
    assert field.text() == "7"
    assert most in (QToolTip.text() if most == "300" else desk.message.text)


@pytest.mark.parametrize("key", [Qt.Key.Key_F2, Qt.Key.Key_T])
def test_into_a_cell(desk: WindowDriver, key: Qt.Key) -> None:
    table = desk.the(PlantTableView)
    table.setFocus()
    table.selectRow(0)
    desk.press(key, CONTROL if key == Qt.Key.Key_T else Qt.KeyboardModifier.NoModifier)
    desk.until(table.editor.isVisible)
    before = table.editor.text()
    desk.press(Qt.Key.Key_V, CONTROL)
    assert table.editor.text() == before
    assert "10,000" in QToolTip.text()


def test_into_the_name_of_a_tag(desk: WindowDriver) -> None:
    view = desk.the(SidebarView)
    view.setFocus()
    view.set_current(("tag", "hall"))
    desk.press(Qt.Key.Key_F2)
    editor = view.findChildren(QLineEdit)[0]
    assert editor.text() == "hall"
    QTest.keyClick(editor, Qt.Key.Key_V, CONTROL)
    assert editor.text() == "hall"
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert view.currentIndex().data() == "hall"


def test_into_a_note(desk: WindowDriver) -> None:
    table = desk.the(PlantTableView)
    table.selectRow(0)
    desk.press(Qt.Key.Key_I, CONTROL)
    desk.until(lambda: desk.the(NoteEdit).isVisible())  # made for the first plant
    note = desk.the(NoteEdit)
    note.setFocus()
    QTest.keyClick(note, Qt.Key.Key_V, CONTROL)
    QApplication.processEvents()
    assert len(note.toPlainText()) in {0, len(MEGABYTE)}


def test_a_letter_at_the_end_of_the_room_removes_nothing(qtbot: QtBot) -> None:
    field = LineEdit(max_length=5)
    qtbot.addWidget(field)
    QTest.keyClicks(field, "hallo")
    with qtbot.waitSignal(field.refused) as refused:
        QTest.keyClicks(field, "x")
    assert field.text() == "hallo"
    assert refused.args is not None
    assert "5 characters" in refused.args[0]
    field.selectAll()
    QTest.keyClicks(field, "new")
    assert field.text() == "new"
