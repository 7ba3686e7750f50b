"""Exports in the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox

from tests.support.desk import TIMEOUT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.conftest import Adder
    from tests.ui.transfer.conftest import TransferDesk


@pytest.fixture(autouse=True)
def plants(add: Adder) -> None:
    add("Aster", "=Basil", "Cactus")


def choices(desk: TransferDesk) -> list[str]:
    box = desk.export_dialog.the(QComboBox, "Plants")
    return [box.itemText(at) for at in range(box.count())]


def export(desk: TransferDesk, file: Path, plants: str, form: str) -> list[str]:
    """Choose what and how by keys, and return the lines of the file."""
    desk.answer_file_dialogs(file)
    for name, choice in (("Plants", plants), ("Format", form)):
        box = desk.export_dialog.the(QComboBox, name)
        box.setFocus()
        desk.qtbot.keyClick(box, Qt.Key.Key_Home)
        for _ in range(box.findText(choice)):
            desk.qtbot.keyClick(box, Qt.Key.Key_Down)
        assert box.currentText() == choice
    desk.export_dialog.button("Save as…").click()
    desk.qtbot.waitUntil(lambda: file.exists() and "Exported" in desk.toast.text, timeout=TIMEOUT)
    return file.read_text(encoding="utf-8").splitlines()


def test_all_plants_are_exported(desk: TransferDesk, tmp_path: Path) -> None:
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    assert choices(desk) == ["All plants"]
    lines = export(desk, tmp_path / "all.csv", "All plants", "CSV")
    assert [line.split(",")[1] for line in lines] == ["name", '"Aster"', '"=Basil"', '"Cactus"']
    assert "Exported 3 plants to “all.csv”." in desk.toast.text
    assert desk.bars == []


def test_the_search_or_the_selection_is_exported(desk: TransferDesk, tmp_path: Path) -> None:
    desk.table.search_text, desk.table.selected = "bas", [3]
    desk.choose("File", "Export…")
    assert choices(desk) == ["All plants", "Those that the search “bas” finds", "The selected plant"]
    lines = export(desk, tmp_path / "found.csv", "Those that the search “bas” finds", "CSV for Excel")
    assert [line.split(",")[1] for line in lines[1:]] == ['"\'=Basil"']
    desk.choose("File", "Export…")
    (line,) = export(desk, tmp_path / "selected.jsonl", "The selected plant", "JSON Lines")
    assert '"name": "Cactus"' in line


def test_an_export_that_fails_is_reported(desk: TransferDesk, tmp_path: Path) -> None:
    desk.choose("File", "Export…")
    desk.answer_file_dialogs(tmp_path / "missing" / "all.csv")
    desk.export_dialog.button("Save as…").click()
    desk.until_bar("Nothing was exported")
