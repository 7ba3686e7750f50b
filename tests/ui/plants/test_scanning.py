"""A barcode reader that types the QR code of a label, `plantdesk:ID` and Enter, wherever the cursor is."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from plantdesk.domain.edits import Insert
from plantdesk.domain.records import FORM
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.plants.browser import PlantBrowser
from plantdesk.ui.plants.form import PlantForm
from plantdesk.ui.widgets.fields import CellEditor
from plantdesk.ui.workspace import Workspace
from tests.support.waiting import SECONDS
from tests.ui.conftest import PlantsDriver


class ReaderDriver(PlantsDriver):
    """The window, with three plants."""

    def scan(self, field: QWidget, plant_id: int, key: Qt.Key = Qt.Key.Key_Return) -> None:
        """Type an address and Enter, without waiting for anything."""
        self.window.activateWindow()
        field.setFocus()
        QTest.keyClicks(field, f"plantdesk:{plant_id}")
        QTest.keyClick(field, key)

    def expect_shown(self, plant_id: int) -> None:
        """Wait until this plant alone is selected, and its card is there."""
        self.until(lambda: [*self.table.selected_ids()] == [plant_id])
        self.until(lambda: f"ID {plant_id}" in self.texts())

    def expect_toast(self, text: str) -> None:
        self.until(lambda: self.toast.text == text)


@pytest.fixture
def user(qtbot: QtBot, bare: Workspace, store: SqliteStore) -> ReaderDriver:
    for plant_id, name in enumerate(("Aloe", "Ficus", "Salvia"), start=1):
        store.add(new_plant({"id": plant_id, "name": name}), FORM).result(SECONDS)
    bare.set_up()
    bare.set_store(store)
    user = ReaderDriver(qtbot, bare.window())
    user.window.resize(1200, 760)
    user.until_rows(3)
    return user


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Tab])
@pytest.mark.parametrize("label", ["Name", "Tag"])
def test_scans_into_a_field_show_one_plant_after_the_other_and_add_none(
    user: ReaderDriver, label: str, key: Qt.Key
) -> None:
    field = user.name if label == "Name" else user.the(PlantForm).tag_field
    for plant_id in (2, 3, 1):
        user.scan(field, plant_id, key)
        user.expect_shown(plant_id)
        assert field.hasFocus()
        assert field.text() == ""
    assert user.names() == ["Salvia", "Ficus", "Aloe"]


def test_scans_into_the_list_show_one_plant_after_the_other_and_edit_none(user: ReaderDriver) -> None:
    user.table.selectRow(0)
    for plant_id in (1, 2):
        user.scan(user.table, plant_id)
        user.expect_shown(plant_id)
        assert not user.table.editor.isVisible()


def test_keys_right_after_a_scan_are_for_its_plant(user: ReaderDriver) -> None:
    user.table.selectRow(0)
    user.scan(user.table, 1)
    user.press(Qt.Key.Key_F2)  # the store has not answered yet
    editor = user.the(CellEditor)
    user.until(editor.isVisible)
    assert editor.text() == "Aloe"


def test_what_was_typed_before_a_scan_stays(user: ReaderDriver) -> None:
    user.type(user.name, "Rosa")
    user.scan(user.name, 2)
    user.expect_shown(2)
    assert user.name.text() == "Rosa"


def test_a_scan_shows_its_plant_where_enter_goes_to_the_tag(user: ReaderDriver) -> None:
    user.the(PlantForm).enter_goes_to_tag = True
    user.scan(user.name, 2)
    user.expect_shown(2)


def test_a_scan_into_id_is_the_id_of_the_new_plant(user: ReaderDriver) -> None:
    user.scan(user.id, 3333)
    assert user.id.text() == "3333"  # and not the end of an address that is longer than the field
    user.id.clear()
    user.scan(user.id, 9)
    assert user.name.hasFocus()
    QTest.keyClicks(user.name, "Rosa")
    user.press(Qt.Key.Key_Return)
    user.until(lambda: user.names()[0] == "Rosa")
    user.scan(user.name, 9)
    user.expect_shown(9)


def test_a_label_of_a_plant_that_is_gone_is_reported(user: ReaderDriver) -> None:
    user.scan(user.name, 7)
    user.expect_toast("No plant has the ID 7.")
    user.scan(user.search, 8)
    user.expect_toast("No plant has the ID 8.")


def test_a_url_shows_its_plant_and_any_other_text_only_a_sentence(user: ReaderDriver, bare: Workspace) -> None:
    bare.open_plant_url("plantdesk:2")
    user.expect_shown(2)
    assert user.table.hasFocus()
    bare.open_plant_url("plantdesk:3<b>x</b>\n&")
    user.expect_toast(
        "“plantdesk:3<b>x</b> &” is not the address of a plant. Such an address is “plantdesk:” and an ID."
    )
    user.expect_shown(2)


def test_scans_into_the_search_find_plants_far_below_whatever_is_read(user: ReaderDriver, store: SqliteStore) -> None:
    store.apply([Insert(new_plant({"id": each, "name": f"Fern {each}"})) for each in range(4, 3001)], FORM).result(
        SECONDS
    )
    QTest.keyClicks(user.search, "Aloe")
    for plant_id in (1100, 2222, 7, 1500, 1501, 3):
        user.scan(user.search, plant_id)
        user.expect_shown(plant_id)
        user.until_rows(3000)
        assert [*user.table.selected_ids()] == [plant_id]
        assert user.table.visualRect(user.table.currentIndex()).intersects(user.table.viewport().rect())
        assert user.search.hasFocus()


def test_a_scan_that_is_answered_while_rows_are_read_is_shown_when_they_are(
    user: ReaderDriver, store: SqliteStore
) -> None:
    store.apply([Insert(new_plant({"id": each, "name": f"Fern {each}"})) for each in range(4, 3001)], FORM).result(
        SECONDS
    )
    QTest.keyClicks(user.search, "Aloe")
    user.until_rows(1)
    user.search.clear()  # reads all plants again
    user.the(PlantBrowser).show_plant(1100)
    user.until_rows(3000)
    user.until(lambda: [*user.table.selected_ids()] == [1100])
    assert user.table.visualRect(user.table.currentIndex()).intersects(user.table.viewport().rect())
