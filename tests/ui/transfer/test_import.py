"""Imports in the window: previewed, run, cancelled, undone."""

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QPushButton, QSpinBox, QTableView

from plantdesk.ui.transfer.import_dialog import ImportDialog, RefusedDialog
from plantdesk.ui.widgets.messages import MessageLine, Tone
from tests.support.window_driver import WindowDriver, rows_of
from tests.ui.conftest import Adder
from tests.ui.transfer.conftest import TransferDriver

CSV = "Nr.;Sorte;Beet;Bemerkung;Preis\n11;Aster;bed 4;sunny;4,90\n12;Ivy;;;6,50\n;Rose;bed 2;;9,80\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "plants-2026.csv"
    file.write_text(CSV, encoding="utf-8")
    return file


def cells(user: TransferDriver) -> list[list[str]]:
    """Return the texts of the table below the combo boxes."""
    return rows_of(user.dialog.the(QTableView))


def test_a_file_is_previewed_imported_and_undone(user: TransferDriver, file: Path) -> None:
    user.open_import(file)
    shown = user.dialog.texts()
    assert "plants-2026.csv" in shown
    assert any("3 rows" in each and "semicolon" in each and "UTF-8" in each for each in shown)
    assert cells(user)[:2] == [
        ["Nr.", "Sorte", "Beet", "Bemerkung", "Preis"],
        ["11", "Aster", "bed 4", "sunny", "4,90"],
    ]
    assert user.plants() == []
    assert "Import 3 plants" in user.dialog.buttons()
    user.run_import("Imported 3 plants from “plants-2026.csv”")
    assert user.plants() == [(11, "Aster", "bed 4", "sunny"), (12, "Ivy", None, None), (13, "Rose", "bed 2", None)]
    user.toast_button("Undo").click()
    user.until(lambda: user.plants() == [])


def test_an_undo_before_the_store_has_answered_undoes_this_import(
    user: TransferDriver, file: Path, tmp_path: Path
) -> None:
    first = tmp_path / "first.csv"
    first.write_text("name\nCactus\n", encoding="utf-8")
    user.open_import(first)
    user.run_import("Imported 1 plant")
    user.open_import(file)
    user.start_import()
    user.activate()
    user.qtbot.keyClick(user.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    user.until_toast("plants-2026.csv")
    user.until(lambda: [plant[1] for plant in user.plants()] == ["Cactus"])


def test_another_column_is_the_name_and_plants_get_a_tag(user: TransferDriver, file: Path) -> None:
    user.open_import(file)
    user.dialog.pick("Field of column Bemerkung", "Name")
    user.until_dialog_shows("counted over the whole file")
    user.dialog.pick("Field of column Sorte", "Note")
    user.type(user.dialog.field("Tag for plants without one"), "new")
    user.press(Qt.Key.Key_Tab)
    user.until_dialog_shows("counted over the whole file")
    user.dialog.pick("Rows that are invalid", "Leave them out")
    user.run_import("Imported 1 plant")
    assert user.plants() == [(11, "sunny", "bed 4", "Aster")]


def test_conflicting_and_invalid_rows_are_shown_and_decided_upon(
    user: TransferDriver, tmp_path: Path, add: Adder
) -> None:
    add("Cactus", "Daisy")
    user.open_text("id,name\n1,Aster\n2,Daisy\nx,Ivy\n7,Rose\n")
    words = {"new plant", "is here already and stays as it is", "has an ID that is taken", "cannot be read"}
    assert words <= set(user.dialog.texts())
    assert user.dialog.button("Import 1 plant").isEnabled(), "what is not new is left out at first"
    user.dialog.pick("Rows that are invalid", "Do not import anything")
    assert not user.dialog.button("Import 1 plant").isEnabled()
    user.dialog.button("Show").click()
    rows = WindowDriver(user.qtbot, user.the(RefusedDialog))
    saved = tmp_path / "refused.csv"
    user.answer_file_dialogs(saved)
    rows.button("Save all with reasons…").click()
    user.until(lambda: rows.the(MessageLine).tone is Tone.OK)
    assert len(saved.read_text(encoding="utf-8").splitlines()) == 3
    rows.button("Close").click()
    user.dialog.pick("Rows whose ID is taken", "Give them a new ID")
    user.dialog.pick("Rows that are invalid", "Leave them out")
    user.run_import("Imported 2 plants")
    assert [plant[:2] for plant in user.plants()] == [(1, "Cactus"), (2, "Daisy"), (8, "Aster"), (7, "Rose")]
    saved.unlink()
    user.toast_button("Save it with the reason…").click()
    user.until(saved.exists)
    assert "x,Ivy" in saved.read_text(encoding="utf-8")


def test_the_button_counts_the_plants_that_rows_of_one_id_become(user: TransferDriver, add: Adder) -> None:
    add("Cactus")
    user.open_text("id,name\n1,Aster\n1,Daisy\n7,Ivy\n7,Rose\n")
    assert user.dialog.button("Import 1 plant").isEnabled()
    user.dialog.pick("Rows whose ID is taken", "Give them a new ID")
    assert user.dialog.button("Import 4 plants").isEnabled()
    user.dialog.pick("Rows whose ID is taken", "Replace the plants")
    assert user.dialog.button("Import 2 plants").isEnabled()
    user.until_dialog_shows("Of several rows with one ID the last counts.")
    user.dialog.pick("Rows whose ID is taken", "Leave them out")
    user.until_dialog_shows("Can be undone in one step.")
    user.dialog.pick("Rows whose ID is taken", "Replace the plants")
    user.run_import("Imported 2 plants")
    assert [plant[:2] for plant in user.plants()] == [(1, "Daisy"), (7, "Rose")]


def test_the_rows_of_one_kind_are_shown(user: TransferDriver, add: Adder) -> None:
    add("Cactus")
    user.open_text("id,name\n1,Aster\nx,Ivy\n")
    clashing, invalid = [button for button in user.dialog.widget.findChildren(QPushButton) if button.text() == "Show"]
    clashing.click()
    user.until(lambda: list_refused(user) == [["2", "ID 1 belongs to “Cactus”."]])
    user.qtbot.keyClick(user.the(RefusedDialog), Qt.Key.Key_Escape)
    invalid.click()
    user.until(lambda: list_refused(user) == [["3", "The ID must be a whole number."]])


def list_refused(user: TransferDriver) -> list[list[str]]:
    """Return line and reason of the rows that are shown."""
    return [row[:2] for row in rows_of(user.the(RefusedDialog).findChildren(QTableView)[0])]


def test_lines_above_the_table_are_skipped(user: TransferDriver) -> None:
    user.open_text("Pflanzenliste 2026;;\n\nNr;Pflanze;Beet\n7;Aster;Blume\n8;Ivy;Ranke\n")
    user.dialog.button("Change how it is read…").click()
    user.dialog.pick("Delimiter", "semicolon")
    user.dialog.the(QSpinBox, "Lines above the table").setValue(2)
    user.until_dialog_shows("first row is the header")
    user.until_dialog_shows("counted over the whole file")
    user.run_import("Imported 2 plants")
    assert [(name, tag) for _, name, tag, *_ in user.plants()] == [("Aster", "Blume"), ("Ivy", "Ranke")]


def test_a_title_is_skipped_and_the_window_says_so(user: TransferDriver) -> None:
    user.open_text("My plants 2026\nID;Name;Tag\n7;Aster;bed\n")
    user.until_dialog_shows("1 row above the header is not read")
    assert cells(user) == [["ID", "Name", "Tag"], ["7", "Aster", "bed"]]
    user.run_import("Imported 1 plant")
    assert user.plants() == [(7, "Aster", "bed", None)]


def test_enter_imports_no_unknown_header_unseen(user: TransferDriver) -> None:
    user.open_text("Bitki adı;Yer\nGül;bahçe\n")
    user.until_dialog_shows("Each row becomes a plant, also the first one, “Bitki adı”")
    user.until(user.dialog.button("Change how it is read…").hasFocus)
    user.dialog.the(MessageLine).findChildren(QPushButton)[0].click()
    user.until(lambda: "Import 1 plant" in user.dialog.buttons())
    assert not any("Each row becomes a plant" in text for text in user.dialog.texts())
    user.run_import("Imported 1 plant")
    assert [(name, tag) for _, name, tag, *_ in user.plants()] == [("Gül", "bahçe")]


def test_a_header_is_looked_for_anew_with_another_delimiter(user: TransferDriver) -> None:
    user.open_text("a;b|name\nx;y|Aster\n")
    user.dialog.button("Change how it is read…").click()
    user.dialog.pick("Delimiter", "semicolon")
    user.until_dialog_shows("Each row becomes a plant")
    user.dialog.pick("Delimiter", "bar")
    user.until(lambda: "Import 1 plant" in user.dialog.buttons())
    assert cells(user)[0] == ["a;b", "name"]


def test_how_a_file_is_read_can_be_changed(user: TransferDriver) -> None:
    user.open_text("Rose|Äster;x\nLily|Iris;y\n".encode("cp1252"))
    assert any("encoding guessed, as in “" in text for text in user.dialog.texts())
    user.dialog.button("Change how it is read…").click()
    user.dialog.pick("Delimiter", "bar")
    user.until_dialog_shows("counted over the whole file")
    user.dialog.pick("Encoding", "CP437")
    user.until_dialog_shows("CP437")
    user.until_dialog_shows("counted over the whole file")
    assert cells(user)[1] == ["Rose", "─ster;x"]
    user.dialog.pick("Encoding", "CP1252")
    user.until_dialog_shows("CP1252")
    user.dialog.pick("Field of column 2", "Name")
    user.dialog.the(QCheckBox, "First row is the header").click()
    user.until(lambda: "Import 1 plant" in user.dialog.buttons())
    user.run_import("Imported 1 plant")
    assert [name for _, name, *_ in user.plants()] == ["Iris;y"]


def test_a_closed_dialog_or_store_imports_nothing(user: TransferDriver, file: Path) -> None:
    user.open_import(file)
    dialog = user.dialog.widget
    with user.qtbot.waitSignal(dialog.destroyed):
        user.qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert user.plants() == []
    user.open_import(file)  # and can be opened again
    user.feature.release_store()
    user.store.close()


def test_a_running_import_is_cancelled(user: TransferDriver, tmp_path: Path) -> None:
    file = tmp_path / "many.csv"
    file.write_text("name\n" + "Aster\n" * 200_000, encoding="utf-8")
    user.answer_file_dialogs(file)
    user.choose("File", "Import…")
    user.until(user.dialog.button("Import").isEnabled)
    user.start_import()  # before all is counted
    user.until_bar("Importing")
    user.button("Cancel").click()
    user.until_toast("The import was cancelled")
    assert user.plants() == []


def test_an_import_begun_before_the_counts_leads_back_to_the_choice(user: TransferDriver, tmp_path: Path) -> None:
    file = tmp_path / "many.csv"
    file.write_text("id,name\n" + "1,Aster\n" * 100_000 + "x,Ivy\n", encoding="utf-8")
    user.answer_file_dialogs(file)
    user.choose("File", "Import…")
    user.until(user.dialog.button("Import").isEnabled)
    user.dialog.pick("Rows that are invalid", "Do not import anything")
    user.run_import("Nothing was imported")
    assert user.plants() == []
    user.toast_button("Choose what happens to them…").click()
    user.until_dialog_shows("counted over the whole file")
    user.dialog.pick("Rows that are invalid", "Leave them out")
    user.run_import("Imported 1 plant")


def test_files_and_tables_are_dropped_on_the_window_which_says_what_it_imports(
    user: TransferDriver, file: Path
) -> None:
    data = QMimeData()
    data.setUrls([QUrl("https://example.org/plants.csv")])
    data.setText("https://example.org/plants.csv")
    assert not user.drop(user.window, data)
    data.setUrls([QUrl.fromLocalFile(str(file))])
    keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(user.window, QDragEnterEvent(QPoint(5, 5), Qt.DropAction.CopyAction, data, *keys))
    assert f"Import “{file.name}”" in user.texts()
    QApplication.sendEvent(user.window, QDragLeaveEvent())
    assert f"Import “{file.name}”" not in user.texts()
    assert user.drop(user.window, data)
    user.until_dialog_shows("counted over the whole file")
    assert "plants-2026.csv" in user.dialog.texts()
    user.dialog.button("Cancel").click()
    user.until(lambda: not user.widget.findChildren(ImportDialog))
    table = QMimeData()
    table.setText("Aster\tbed 4\nIvy\tbed 4\n")
    assert user.drop(user.window, table)
    user.until_dialog_shows("counted over the whole file")
    assert cells(user)[1:] == [["Aster", "bed 4"], ["Ivy", "bed 4"]]


def test_a_pasted_table_is_imported(user: TransferDriver) -> None:
    QGuiApplication.clipboard().setText("Aster\tbed 4\nIvy\tbed 4\n")
    user.window.setFocus()
    user.choose("Edit", "Paste")
    user.until_dialog_shows("counted over the whole file")
    assert cells(user)[1:] == [["Aster", "bed 4"], ["Ivy", "bed 4"]]
    user.until(user.dialog.button("Import 2 plants").hasFocus)
    user.run_import("Imported 2 plants from “clipboard”")
    assert user.plants() == [(1, "Aster", "bed 4", None), (2, "Ivy", "bed 4", None)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "It is empty."),
        (bytes(range(256)) * 300, "It is not a text file."),
        (b'id,name\n1,"a\n2,b\n', "line 2: In column 2 a quote is opened and not closed."),
        (b"id,name\n" + b"1,\xc3\xa4\n" * 40_000 + b"2,\xe4\n", "line 40,002: A byte is not UTF-8"),
        (b"number;height\n1;2\n", "Choose the column that is the name."),
        (None, "No such file"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_files_are_refused_in_the_dialog(
    user: TransferDriver, tmp_path: Path, content: bytes | None, message: str
) -> None:
    file = tmp_path / "plants.csv"
    if content is not None:
        file.write_bytes(content)
    user.feature.import_files([file])
    user.until(lambda: message in user.dialog.the(MessageLine).text)
    assert not next(each for name, each in user.dialog.buttons().items() if name.startswith("Import")).isEnabled()
    assert user.plants() == []


def test_what_cannot_happen_is_not_asked(user: TransferDriver) -> None:
    user.open_text("id,name\n1,Aster\n1.000,Ivy\n2.000,Rose\n")
    visible = [box.accessibleName() for box in user.dialog.widget.findChildren(QComboBox) if box.isVisible()]
    assert "Rows that are invalid" in visible
    assert "Rows whose ID is taken" not in visible
    user.run_import("Imported 1 plant")
    assert "Save them with the reasons…" in user.buttons()


def test_codes_are_kept_in_the_note_by_one_tick(user: TransferDriver) -> None:
    user.open_text("ID,Name,Notes\nPL0001,Aster,wet\nPL0002,Ivy,\n")
    assert any("“ID” has codes, not numbers: new IDs" in text for text in user.dialog.texts())
    box = user.dialog.the(QCheckBox, "Keep the codes of “ID”, such as “PL0001”, in the note, in place of “Notes”")
    combos = [user.dialog.the(QComboBox, f"Field of column {name}") for name in ("ID", "Notes")]
    user.qtbot.mouseClick(box, Qt.MouseButton.LeftButton)
    assert [combo.currentText() for combo in combos] == ["Note", "Leave out"]
    user.qtbot.mouseClick(box, Qt.MouseButton.LeftButton)
    assert [combo.currentText() for combo in combos] == ["Leave out", "Note"]
    user.dialog.pick("Field of column ID", "Note")
    assert box.isChecked()
    user.until_dialog_shows("counted over the whole file")
    user.run_import("Imported 2 plants")
    assert user.plants() == [(1, "Aster", None, "PL0001"), (2, "Ivy", None, "PL0002")]


def test_a_name_is_put_together_from_ticked_columns(user: TransferDriver) -> None:
    user.open_text("ID,Cultivar,Genus,Species\n0010,Osakazuki,Acer,palmatum\n7,,Acer,Acer rubrum\n")
    user.until_dialog_shows("1 ID loses its leading zeros")
    together = "name put together from “Genus” + “Species” + “Cultivar”, such as “Acer palmatum ‘Osakazuki’”"
    user.until_dialog_shows(together)
    assert user.dialog.the(QCheckBox, "Put the name together from several columns").isChecked()
    combo = user.dialog.the(QComboBox, "Field of column Cultivar")
    tick = user.dialog.the(QCheckBox, "Column Cultivar is in the name")
    assert (combo.currentText(), tick.isChecked()) == ("Name", True)
    user.qtbot.mouseClick(tick, Qt.MouseButton.LeftButton)
    assert (combo.currentText(), tick.isChecked()) == ("Leave out", False)
    user.until_dialog_shows("“Genus” + “Species”, such as “Acer palmatum”")
    user.dialog.pick("Field of column Cultivar", "Note")
    user.until_dialog_shows("counted over the whole file")
    user.run_import("Imported 2 plants")
    assert user.plants() == [(10, "Acer palmatum", None, "Osakazuki"), (7, "Acer rubrum", None, None)]


def test_columns_without_known_headers_are_ticked(user: TransferDriver) -> None:
    user.open_text("kind,name,where\nAcer,palmatum,hill\n")
    several = user.dialog.the(QCheckBox, "Put the name together from several columns")
    tick = user.dialog.the(QCheckBox, "Column kind is in the name")
    assert not several.isChecked()
    assert not tick.isVisible()
    user.qtbot.keyClick(several, Qt.Key.Key_Space)
    user.qtbot.mouseClick(tick, Qt.MouseButton.LeftButton)
    user.until_dialog_shows("name put together from “kind” + “name”, such as “Acer palmatum”")
    user.dialog.pick("Field of column where", "Name")
    user.until_dialog_shows("such as “Acer palmatum hill”")
    user.dialog.pick("Field of column where", "Leave out")
    user.qtbot.keyClick(several, Qt.Key.Key_Space)
    combos = [user.dialog.the(QComboBox, f"Field of column {text}") for text in ("kind", "name")]
    assert [combo.currentText() for combo in combos] == ["Name", "Leave out"]
    user.qtbot.keyClick(several, Qt.Key.Key_Space)
    user.qtbot.mouseClick(user.dialog.the(QCheckBox, "Column name is in the name"), Qt.MouseButton.LeftButton)
    user.until_dialog_shows("“kind” + “name”, such as “Acer palmatum”")
    user.run_import("Imported 1 plant")
    assert user.plants() == [(1, "Acer palmatum", None, None)]
