"""Exports in the window."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox

from plantdesk.ui.widgets.dialog import MessageBox
from tests.support.window_driver import WindowDriver
from tests.ui.conftest import Adder
from tests.ui.transfer.conftest import TransferDriver


@pytest.fixture(autouse=True)
def plants(add: Adder) -> None:
    add("Aster", "=Basil", "Cactus")


def choices(user: TransferDriver) -> list[str]:
    box = user.export_dialog.the(QComboBox, "Plants")
    return [box.itemText(at) for at in range(box.count())]


def export(user: TransferDriver, file: Path, plants: str, form: str) -> list[str]:
    """Choose what and how by keys, and return the lines of the file."""
    save_as(user, file, form, plants)
    user.until(lambda: file.exists() and "Exported" in user.toast.text)
    return file.read_text(encoding="utf-8").splitlines()


def save_as(user: TransferDriver, file: Path, form: str, plants: str = "All plants") -> None:
    """Choose what and how by keys, and type the name of a file."""
    user.answer_file_dialogs(file)
    user.export_dialog.pick("Plants", plants)
    user.export_dialog.pick("Format", form)
    user.export_dialog.button("Save as…").click()


@pytest.mark.parametrize("name", ["Plants", "Format"])
def test_enter_in_a_list_saves(user: TransferDriver, tmp_path: Path, name: str) -> None:
    user.choose("File", "Export…")
    user.answer_file_dialogs(tmp_path / "all.csv")
    box = user.export_dialog.the(QComboBox, name)
    box.setFocus()
    user.qtbot.keyClick(box, Qt.Key.Key_Return)
    user.until((tmp_path / "all.csv").exists)


def test_all_plants_are_exported(user: TransferDriver, tmp_path: Path) -> None:
    user.qtbot.keyClick(user.window, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    assert choices(user) == ["All plants"]
    lines = export(user, tmp_path / "all.csv", "All plants", "CSV")
    assert [line.split(",")[1] for line in lines] == ["name", '"Aster"', '"=Basil"', '"Cactus"']
    assert "Exported 3 plants to “all.csv”." in user.toast.text
    assert user.bars == []


def test_the_search_or_the_selection_is_exported(user: TransferDriver, tmp_path: Path) -> None:
    user.table.search_text, user.table.selected = "bas", [3]
    user.choose("File", "Export…")
    assert choices(user) == ["All plants", "Those that the search “bas” finds", "The selected plant"]
    lines = export(user, tmp_path / "found.csv", "Those that the search “bas” finds", "CSV for Excel")
    assert [line.split(",")[1] for line in lines[1:]] == ['"\'=Basil"']
    user.choose("File", "Export…")
    (line,) = export(user, tmp_path / "selected.jsonl", "The selected plant", "JSON Lines")
    assert '"name": "Cactus"' in line


@pytest.mark.parametrize(("selected", "chosen"), [([3], "All plants"), ([1, 3], "The 2 selected plants")])
def test_a_row_that_is_selected_by_the_way_is_not_chosen(
    user: TransferDriver, selected: list[int], chosen: str
) -> None:
    user.table.selected = selected
    user.choose("File", "Export…")
    assert user.export_dialog.the(QComboBox, "Plants").currentText() == chosen


@pytest.mark.parametrize(
    ("typed", "form", "written", "start"),
    [
        ("sea.xlsx", "CSV", "sea.xlsx", b"PK"),
        ("sea.jsonl", "Excel workbook", "sea.jsonl", b'{"id": 1'),
        ("sea.CSV", "CSV for Excel", "sea.CSV", b"\xef\xbb\xbf"),
        ("sea", "TSV (tab-separated)", "sea.tsv", b"id\tname"),
        ("sea.2026", "JSON", "sea.2026.json", b"["),
        ("sea.xlsm", "Excel workbook", "sea.xlsm.xlsx", b"PK"),
    ],
)
def test_format_and_suffix_agree(
    user: TransferDriver, tmp_path: Path, typed: str, form: str, written: str, start: bytes
) -> None:
    user.choose("File", "Export…")
    save_as(user, tmp_path / typed, form)
    user.until(lambda: user.toast.text == f"Exported 3 plants to “{written}”.")
    assert (tmp_path / written).read_bytes().startswith(start)
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith("sea")] == [written]


def test_a_file_whose_suffix_was_left_out_is_replaced_after_a_question(user: TransferDriver, tmp_path: Path) -> None:
    file = tmp_path / "sea.csv"
    file.write_text("precious", encoding="utf-8")
    user.choose("File", "Export…")
    save_as(user, tmp_path / "sea", "CSV")
    question = WindowDriver(user.qtbot, user.the(MessageBox))
    assert "“sea.csv” exists already." in question.texts()
    question.button("Cancel").click()
    assert file.read_text(encoding="utf-8") == "precious"
    user.export_dialog.button("Save as…").click()
    WindowDriver(user.qtbot, user.the(MessageBox)).button("Replace").click()
    user.until(lambda: "Exported" in user.toast.text)
    assert file.read_text(encoding="utf-8").startswith("id,name")


def test_an_export_that_fails_is_reported(user: TransferDriver, tmp_path: Path) -> None:
    user.choose("File", "Export…")
    user.answer_file_dialogs(tmp_path / "missing" / "all.csv")
    user.export_dialog.button("Save as…").click()
    user.until_toast("Nothing was exported")
