"""A list of known names: imported, offered after the user's own names, and removed."""

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from plantdesk.domain.records import FORM
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.transfer.known_names import KnownNames
from plantdesk.ui.plants.table.view import PlantTableView
from plantdesk.ui.widgets.dialog import FileDialog
from plantdesk.ui.window.known_names import NamesDialog
from plantdesk.ui.workspace import Workspace
from tests.ui.conftest import open_store
from tests.ui.plants.test_fast_entry import EntryDriver

LISTED = ["Salvia nemorosa", "Salvia officinalis", "Salvia pratensis", "Monstera deliciosa", "Monstera adansonii"]


class ListDriver(EntryDriver):
    """The window, whose store has one plant, and a folder for files."""

    def __init__(self, qtbot: QtBot, workspace: Workspace, store: SqliteStore, folder: Path) -> None:
        super().__init__(qtbot, workspace, store)
        self.folder = folder
        self.names = KnownNames(folder / "plants.db-names")

    def offered(self) -> list[str]:
        model = self.offers.model()
        names = [model.index(row, 0).data() for row in range(model.rowCount())]
        return names if self.offers.isVisible() else []

    def count(self) -> int:
        """The number of names on the list."""
        about = self.names.info()
        return about.names if about is not None else 0

    def open_dialog(self) -> None:
        self.choose("Tools", "Known names…")
        self.until(lambda: self.the(NamesDialog).isVisible() and self.button("Choose a file…").isEnabled())

    def file(self, text: str, name: str = "names.txt") -> Path:
        file = self.folder / name
        file.write_text(text, encoding="utf-8")
        return file


@pytest.fixture
def user(qtbot: QtBot, bare: Workspace, store: SqliteStore, tmp_path: Path) -> ListDriver:
    store.add(new_plant({"id": 1, "name": "Monstera deliciosa", "tag": "office"}), FORM).result()
    open_store(bare, store)
    user = ListDriver(qtbot, bare, store, tmp_path)
    user.until(lambda: user.the(PlantTableView).model().rowCount() == 1)
    return user


@pytest.fixture
def listed(user: ListDriver) -> ListDriver:
    user.names.replace(LISTED, "names.txt")
    return user


def test_own_names_come_first_then_those_of_the_list(listed: ListDriver) -> None:
    listed.type_name("monst")
    listed.until(lambda: listed.offered() == ["Monstera deliciosa", "Monstera adansonii"])


def test_a_listed_name_is_never_filled_in_and_enter_adds_what_is_typed(listed: ListDriver) -> None:
    listed.type_name("Salv")
    listed.until(lambda: len(listed.offered()) == 3)
    assert listed.name.text() == "Salv"
    QTest.keyClick(listed.name, Qt.Key.Key_Return)
    listed.expect_newest(("Salv", None))


def test_a_listed_name_that_is_typed_whole_is_not_filled_up(listed: ListDriver) -> None:
    plant = new_plant({"id": 2, "name": "Salvia nemorosa 'Caradonna'", "tag": "bed"})
    listed.store.add(plant, FORM).result()
    listed.type_name("Salvia nemorosa")
    listed.until(lambda: listed.offered() == ["Salvia nemorosa 'Caradonna'"])
    assert (listed.name.text(), listed.tag.text()) == ("Salvia nemorosa", "")


def test_a_listed_name_is_chosen_by_a_key(listed: ListDriver) -> None:
    listed.type_name("salv")
    listed.until(lambda: len(listed.offered()) == 3)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Return):
        QTest.keyClick(listed.name, key)
    listed.expect_newest(("Salvia officinalis", None))


def test_for_a_misspelt_name_that_of_a_plant_is_offered(user: ListDriver) -> None:
    user.type_name("Monstera delizioza")
    user.until(lambda: user.offered() == ["Monstera deliciosa"])
    assert (user.name.text(), user.tag.text()) == ("Monstera delizioza", "")
    QTest.keyClicks(user.name, "xyz")
    user.until(lambda: not user.offered())
    assert user.name.text() == "Monstera deliziozaxyz"
    user.type(user.name, "Monstera delizioza")
    user.until(lambda: user.offered() == ["Monstera deliciosa"])
    QTest.keyClick(user.name, Qt.Key.Key_Down)
    assert (user.name.text(), user.tag.text()) == ("Monstera deliciosa", "office")
    QTest.keyClick(user.name, Qt.Key.Key_Return)
    user.expect_newest(("Monstera deliciosa", "office"), ("Monstera deliciosa", "office"))


def test_the_settings_have_the_number_of_names_and_a_switch(listed: ListDriver) -> None:
    listed.choose("Edit", "Settings…")
    listed.until(lambda: "5 names" in listed.texts())
    box: QAbstractButton = listed.button("Offer known names from a list")
    assert box.isChecked()
    box.click()
    listed.type_name("Salv")
    listed.type_name("ia")
    listed.until(lambda: listed.newest(1) == [("Monstera deliciosa", "office")])
    QTest.keyClick(listed.name, Qt.Key.Key_Return)
    listed.expect_newest(("Salvia", None))
    assert listed.offered() == []


def test_a_list_is_made_of_a_file_and_removed(user: ListDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    file = user.file("\n".join(LISTED))
    monkeypatch.setattr(FileDialog, "get_open_file", lambda *_: str(file))
    user.open_dialog()
    assert "There is no list yet." in user.texts()
    user.button("Choose a file…").click()
    user.until(lambda: any(text.startswith("5 names from “names.txt”") for text in user.texts()))
    assert user.names.beginning("salvia n", 9) == ["Salvia nemorosa"]
    assert user.button("Choose a file…").hasFocus(), "another Enter removes nothing"
    user.button("Remove the list").click()
    user.until(lambda: "There is no list yet." in user.texts())
    assert user.count() == 0


def test_what_is_left_out_of_a_downloaded_list_is_said(user: ListDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    table = (
        "taxonID\tkingdom\tscientificName\ttaxonomicStatus\n1\tPlantae\tSalvia nemorosa\tAccepted\n"
        "2\tPlantae\tSalvia odd\tSynonym\n3\tAnimalia\tPanthera leo\tAccepted\n"
    )
    file = user.folder / "classification.csv"
    file.write_text(table, encoding="utf-8")
    monkeypatch.setattr(FileDialog, "get_open_file", lambda *_: str(file))
    user.open_dialog()
    user.button("Choose a file…").click()
    left_out = "2 names are left out, as they are not accepted, not of plants or fungi, or cannot be read."
    user.until(lambda: left_out in user.texts())
    assert any(text.startswith("1 name from “classification.csv”") for text in user.texts())
    dialog = user.the(NamesDialog)
    layout = dialog.layout()
    assert layout is not None
    user.until(lambda: dialog.height() >= layout.totalHeightForWidth(dialog.width()))


def test_closing_while_a_list_is_read_leaves_the_one_before(
    listed: ListDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = listed.file("".join(f"Rosa {number}\n" for number in range(500_000)))
    monkeypatch.setattr(FileDialog, "get_open_file", lambda *_: str(file))
    listed.open_dialog()
    listed.button("Choose a file…").click()
    assert not listed.button("Choose a file…").isEnabled()
    QTest.keyClick(listed.the(NamesDialog), Qt.Key.Key_Escape)
    listed.until(lambda: not any(dialog.isVisible() for dialog in listed.window.findChildren(NamesDialog)))
    listed.until(lambda: not any(each.name == "window-task" and each.is_alive() for each in threading.enumerate()))
    assert listed.count() == 5


def test_a_file_without_names_leaves_the_list_as_it_was(listed: ListDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    file = listed.file("price,stock\n1,2\n3,4\n", "prices.csv")
    monkeypatch.setattr(FileDialog, "get_open_file", lambda *_: str(file))
    listed.open_dialog()
    assert listed.button("Choose a file…").hasFocus()
    listed.button("Choose a file…").click()
    listed.until(lambda: any("There is no column for the name." in text for text in listed.texts()))
    assert listed.count() == 5
    listed.the(NamesDialog).close()
