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


def choices(desk: TransferDriver) -> list[str]:
    box = desk.export_dialog.the(QComboBox, "Plants")
    return [box.itemText(at) for at in range(box.count())]


def export(desk: TransferDriver, file: Path, plants: str, form: str) -> list[str]:
    """Choose what and how by keys, and return the lines of the file."""
    save_as(desk, file, form, plants)
    desk.until(lambda: file.exists() and "Exported" in desk.toast.text)
    return file.read_text(encoding="utf-8").splitlines()


def save_as(desk: TransferDriver, file: Path, form: str, plants: str = "All plants") -> None:
    """Choose what and how by keys, and type the name of a file."""
    desk.answer_file_dialogs(file)
    desk.export_dialog.pick("Plants", plants)
    desk.export_dialog.pick("Format", form)
    desk.export_dialog.button("Save as…").click()


@pytest.mark.parametrize("name", ["Plants", "Format"])
def test_enter_in_a_list_saves(desk: TransferDriver, tmp_path: Path, name: str) -> None:
    desk.choose("File", "Export…")
    desk.answer_file_dialogs(tmp_path / "all.csv")
    box = desk.export_dialog.the(QComboBox, name)
    box.setFocus()
    desk.qtbot.keyClick(box, Qt.Key.Key_Return)
    desk.until((tmp_path / "all.csv").exists)


def test_all_plants_are_exported(desk: TransferDriver, tmp_path: Path) -> None:
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    assert choices(desk) == ["All plants"]
    lines = export(desk, tmp_path / "all.csv", "All plants", "CSV")
    assert [line.split(",")[1] for line in lines] == ["name", '"Aster"', '"=Basil"', '"Cactus"']
    assert "Exported 3 plants to “all.csv”." in desk.toast.text
    assert desk.bars == []


def test_the_search_or_the_selection_is_exported(desk: TransferDriver, tmp_path: Path) -> None:
    desk.table.search_text, desk.table.selected = "bas", [3]
    desk.choose("File", "Export…")
    assert choices(desk) == ["All plants", "Those that the search “bas” finds", "The selected plant"]
    lines = export(desk, tmp_path / "found.csv", "Those that the search “bas” finds", "CSV for Excel")
    assert [line.split(",")[1] for line in lines[1:]] == ['"\'=Basil"']
    desk.choose("File", "Export…")
    (line,) = export(desk, tmp_path / "selected.jsonl", "The selected plant", "JSON Lines")
    assert '"name": "Cactus"' in line


@pytest.mark.parametrize(("selected", "chosen"), [([3], "All plants"), ([1, 3], "The 2 selected plants")])
def test_a_row_that_is_selected_by_the_way_is_not_chosen(
    desk: TransferDriver, selected: list[int], chosen: str
) -> None:
    desk.table.selected = selected
    desk.choose("File", "Export…")
    assert desk.export_dialog.the(QComboBox, "Plants").currentText() == chosen


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
    desk: TransferDriver, tmp_path: Path, typed: str, form: str, written: str, start: bytes
) -> None:
    desk.choose("File", "Export…")
    save_as(desk, tmp_path / typed, form)
    desk.until(lambda: desk.toast.text == f"Exported 3 plants to “{written}”.")
    assert (tmp_path / written).read_bytes().startswith(start)
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith("sea")] == [written]


def test_a_file_whose_suffix_was_left_out_is_replaced_after_a_question(desk: TransferDriver, tmp_path: Path) -> None:
    file = tmp_path / "sea.csv"
    file.write_text("precious", encoding="utf-8")
    desk.choose("File", "Export…")
    save_as(desk, tmp_path / "sea", "CSV")
    question = WindowDriver(desk.qtbot, desk.the(MessageBox))
    assert "“sea.csv” exists already." in question.texts()
    question.button("Cancel").click()
    assert file.read_text(encoding="utf-8") == "precious"
    desk.export_dialog.button("Save as…").click()
    WindowDriver(desk.qtbot, desk.the(MessageBox)).button("Replace").click()
    desk.until(lambda: "Exported" in desk.toast.text)
    assert file.read_text(encoding="utf-8").startswith("id,name")


def test_an_export_that_fails_is_reported(desk: TransferDriver, tmp_path: Path) -> None:
    desk.choose("File", "Export…")
    desk.answer_file_dialogs(tmp_path / "missing" / "all.csv")
    desk.export_dialog.button("Save as…").click()
    desk.until_toast("Nothing was exported")
