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
def user(qtbot: QtBot, bare: Workspace, store: SqliteStore) -> WindowDriver:
    store.add(new_plant({"id": 1, "name": "Fern", "tag": "hall"}), FORM).result()
    open_store(bare, store)
    user = WindowDriver(qtbot, bare.window())
    user.window.resize(1300, 800)
    table, view = user.the(PlantTableView), user.the(SidebarView)
    qtbot.waitUntil(lambda: table.model().rowCount() == 1 and view.set_current(("tag", "hall")))
    user.window.activateWindow()
    QGuiApplication.clipboard().setText(MEGABYTE)
    return user


@pytest.mark.parametrize(
    ("name", "most"), [("ID", "10,000"), ("Name", "10,000"), ("Tag", "10,000"), ("Search by name, tag or ID", "300")]
)
def test_into_the_form_and_the_search(user: WindowDriver, name: str, most: str) -> None:
    field = user.field(name)
    user.type(field, "7")
    field.selectAll()
    user.press(Qt.Key.Key_V, CONTROL)
    assert field.text() == "7"
    assert most in (QToolTip.text() if most == "300" else user.message.text)


@pytest.mark.parametrize("key", [Qt.Key.Key_F2, Qt.Key.Key_T])
def test_into_a_cell(user: WindowDriver, key: Qt.Key) -> None:
    table = user.the(PlantTableView)
    table.setFocus()
    table.selectRow(0)
    user.press(key, CONTROL if key == Qt.Key.Key_T else Qt.KeyboardModifier.NoModifier)
    user.until(table.editor.isVisible)
    before = table.editor.text()
    user.press(Qt.Key.Key_V, CONTROL)
    assert table.editor.text() == before
    assert "10,000" in QToolTip.text()


def test_into_the_name_of_a_tag(user: WindowDriver) -> None:
    view = user.the(SidebarView)
    view.setFocus()
    view.set_current(("tag", "hall"))
    user.press(Qt.Key.Key_F2)
    editor = view.findChildren(QLineEdit)[0]
    assert editor.text() == "hall"
    QTest.keyClick(editor, Qt.Key.Key_V, CONTROL)
    assert editor.text() == "hall"
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert view.currentIndex().data() == "hall"


def test_into_a_note(user: WindowDriver) -> None:
    table = user.the(PlantTableView)
    table.selectRow(0)
    user.press(Qt.Key.Key_I, CONTROL)
    user.until(lambda: user.the(NoteEdit).isVisible())  # made for the first plant
    note = user.the(NoteEdit)
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
