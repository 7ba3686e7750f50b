"""Sample plants in the window: one click adds them, one removes them, and what the user has made of them stays."""

import contextlib

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from plantdesk.domain.edits import edited
from plantdesk.domain.imports import ImportRow, OnConflict
from plantdesk.domain.records import FORM, PlantRow
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.plants.table.view import PlantTableView
from plantdesk.ui.sidebar.view import ENTRY_ROLE, SidebarView
from plantdesk.ui.workspace import Workspace
from tests.support.window_driver import WindowDriver
from tests.ui.conftest import open_store

ADD, REMOVE = "Add 20 sample plants", "Remove 20 sample plants"


@pytest.fixture
def user(qtbot: QtBot, bare: Workspace, store: SqliteStore) -> WindowDriver:
    """The window with an empty store."""
    open_store(bare, store)
    user = WindowDriver(qtbot, bare.window())
    user.until(lambda: ADD in user.buttons() and user.button(ADD).isVisible())
    return user


def rows(store: SqliteStore) -> list[PlantRow]:
    with contextlib.closing(store.reader()) as reader:
        return list(reader.rows(range(1, 30)).values())


def add_samples(user: WindowDriver) -> None:
    user.button(ADD).click()
    user.until(lambda: bool(user.bars) and user.bars[0].labels == [REMOVE])
    table = user.the(PlantTableView)
    user.until(lambda: table.isVisible() and table.model().rowCount() == 20)  # which another thread has read


def test_samples_are_added_and_removed_by_a_click(user: WindowDriver, store: SqliteStore) -> None:
    add_samples(user)
    assert {row.source.label for row in rows(store)} == {"Samples"}
    user.button(REMOVE).click()
    user.until(lambda: user.button(ADD).isVisible() and not user.bars)
    assert not rows(store)
    user.button("Redo").click()
    user.until(lambda: bool(user.bars) and len(rows(store)) == 20)
    user.until(user.the(PlantTableView).isVisible)
    user.the(PlantTableView).setFocus()
    user.press(Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    user.until(lambda: not user.bars)
    assert not rows(store)


def test_the_button_counts_what_it_removes(user: WindowDriver, store: SqliteStore) -> None:
    add_samples(user)
    user.add("Mine")
    first, second, *_ = rows(store)
    store.apply([edited(first, name="Paprika")], FORM).result()
    user.until(lambda: user.bars[0].labels == ["Remove 19 sample plants"])
    assert "1 that you changed stays." in user.bars[0].text
    changed = store.apply([edited(second, tag="mine")], FORM).result().change
    user.until(lambda: user.bars[0].labels == ["Remove 18 sample plants"])
    assert "2 that you changed stay." in user.bars[0].text
    store.undo(changed, FORM).result()
    user.until(lambda: user.bars[0].labels == ["Remove 19 sample plants"])
    user.button("Remove 19 sample plants").click()
    user.until(lambda: "1 plant has been changed since and was left as it is." in user.toast.text)
    user.until(lambda: not user.bars)
    assert [row.name for row in rows(store)] == ["Paprika", "Mine"]


def test_keys_act_on_the_row_that_is_framed_when_the_samples_are_there(user: WindowDriver, store: SqliteStore) -> None:
    user.button(ADD).setFocus()
    add_samples(user)
    table = user.the(PlantTableView)
    table.setFocus()
    assert table.selected_count() == 0
    user.press(Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    user.until(lambda: len(rows(store)) == 21)
    assert rows(store)[-1].name == rows(store)[-2].name


def test_a_closed_bar_stays_away(user: WindowDriver, bare: Workspace, store: SqliteStore) -> None:
    add_samples(user)
    user.button("Close this message").click()
    user.add("Mine")
    user.until(lambda: user.the(PlantTableView).model().rowCount() == 21)
    bare.release_store()
    bare.set_store(store)
    user.until(lambda: user.the(PlantTableView).model().rowCount() == 21)
    assert not user.bars


def test_plants_of_a_file_of_that_name_are_not_samples(user: WindowDriver, bridge: Bridge, store: SqliteStore) -> None:
    with contextlib.closing(store.new_import()) as found:
        found.add([ImportRow(1, 1, None, "Fern", None, None)])
        found.compare(OnConflict.REFUSE, ())
        found.apply("Samples")
    user.until(lambda: user.the(PlantTableView).model().rowCount() == 1)
    counted = user.the(SidebarView).model()
    user.until(lambda: counted.index(0, 0).data(ENTRY_ROLE).plants == 1)  # all is counted
    bridge.short_tasks.run_and_wait(lambda: None)  # after what was asked then
    QApplication.processEvents()
    assert not user.bars
