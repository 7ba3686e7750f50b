"""The card, driven by keys and clicks."""

from collections.abc import Iterator
from contextlib import closing
from functools import partial

import pytest
from PySide6.QtCore import QDate, QMimeData, Qt, QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from plantdesk.domain.edits import DeleteAll, Edit, SetTag, edited
from plantdesk.domain.errors import StoreReadOnlyError
from plantdesk.domain.records import COMMAND, FORM, PlantRow
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.reader import SqliteReader
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.card.feature import CardFeature
from plantdesk.ui.card.note import NoteEdit
from plantdesk.ui.feature import OpenStore, WindowContext
from plantdesk.ui.plants.feature import PlantsFeature
from plantdesk.ui.questions import TagDialog
from plantdesk.ui.widgets.dialog import order_tabs
from plantdesk.ui.window.commands import EditCommands
from tests.support.waiting import SECONDS
from tests.support.window_driver import WindowDriver, plain
from tests.ui.conftest import Adder, PlantsDriver, unreachable

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


class CardDriver(PlantsDriver):
    """Table and card of three plants: Cactus, Basil and Aloe, with the ids 3, 2 and 1."""

    def __init__(self, qtbot: QtBot, context: WindowContext, store: SqliteStore, queries: StoreQueries) -> None:
        super().__init__(qtbot, context.page.window())
        self.context = context
        self.store = store
        self.plants = PlantsFeature(context)
        self.card = CardFeature(context, self.plants)
        self.plants.browser.table.selection_count_changed.connect(self.card.show_selection)
        self.plants.browser.table.card_requested.connect(self.card.toggle)
        self.card.delete_requested.connect(self.plants.commands.delete)
        self.card.requests.tag.connect(self.plants.commands.change_tag)
        self.card.requests.copy.connect(self.plants.browser.copy_selection)
        self.features = [self.plants, self.card, EditCommands(context)]
        self.window.resize(1280, 760)
        for feature in self.features:
            feature.set_up()
        self.plants.focus_form()
        self.open(OpenStore(store, queries))

    def open(self, opened: OpenStore) -> None:
        for feature in self.features:
            feature.set_store(opened)

    def close(self) -> None:
        for feature in self.features:
            feature.release_store()

    @property
    def note(self) -> NoteEdit:
        return self.the(NoteEdit)

    def select(self, *rows: int) -> None:
        """Select rows by clicks."""
        for number, row in enumerate(rows):
            place = self.table.visualRect(self.table.model().index(row, 1)).center()
            modifier = CONTROL if number else Qt.KeyboardModifier.NoModifier
            QTest.mouseClick(self.table.viewport(), Qt.MouseButton.LeftButton, modifier, place)

    def expect_texts(self, *texts: str) -> None:
        """Wait until the card shows these texts."""

        def seen() -> bool:
            labels = self.context.page.card_pane.findChildren(QLabel)
            shown = [each.text().replace("\u00a0", " ") for each in labels if each.isVisible()]
            return all(any(text in each for each in shown) for text in texts)

        self.until(seen)

    def open_card(self, row: int = 2) -> None:
        """Show the card of a row, by default of Aloe."""
        self.select(row)
        self.table.setFocus()
        self.press(Qt.Key.Key_Space)
        self.expect_texts(f"ID {3 - row}")

    def write(self, text: str) -> None:
        """Type a note."""
        self.note.setFocus()
        QTest.keyClicks(self.note, text)

    def write_beside(self, other: Edit) -> None:
        """Type a note for Aloe, which another program changes meanwhile."""
        self.open_card()
        self.write("Mine")
        self.change(other)

    def rows(self) -> dict[int, PlantRow]:
        with closing(self.store.reader()) as reader:
            return reader.rows([1, 2, 3])

    def row(self, plant_id: int) -> PlantRow:
        return self.rows()[plant_id]

    def has_note(self, plant_id: int, note: str | None) -> None:
        self.until(lambda: (plant_id, note) in {(row.id, row.note) for row in self.rows().values()})

    def change(self, *edits: Edit) -> None:
        """Change plants as another program does."""
        self.store.apply(edits, COMMAND).result()


@pytest.fixture
def desk(
    qtbot: QtBot, context: WindowContext, store: SqliteStore, queries: StoreQueries, add: Adder
) -> Iterator[CardDriver]:
    add("Aloe", tag="kitchen")
    add("Basil", "Cactus")
    desk = CardDriver(qtbot, context, store, queries)
    qtbot.waitUntil(lambda: desk.table.model().rowCount() == 3 and desk.table.model().index(2, 1).data() == "Aloe")
    with qtbot.waitActive(desk.window):
        desk.window.activateWindow()
    yield desk
    desk.close()


# --- showing -----------------------------------------------------------------------------------------------------


def test_space_shows_and_hides_the_card_of_the_selected_plant(desk: CardDriver, spoken: list[str]) -> None:
    desk.open_card()
    desk.expect_texts("Aloe", "in the form", "Added in the form")
    assert desk.action("Card").isChecked()
    desk.press(Qt.Key.Key_Down)
    desk.press(Qt.Key.Key_Up)
    desk.press(Qt.Key.Key_Up)
    desk.expect_texts("ID 3")
    desk.press(Qt.Key.Key_Space)
    assert desk.context.page.card_pane.isHidden()
    assert [each for each in spoken if each.startswith("Card")] == ["Card: shown", "Card: hidden"]


def test_it_is_hidden_while_nothing_is_selected_and_remembered(
    desk: CardDriver, store: SqliteStore, queries: StoreQueries
) -> None:
    desk.table.setFocus()
    desk.table.jump_to_top()
    assert desk.table.selected_count() == 0
    desk.press(Qt.Key.Key_Space)  # selects the current row
    desk.expect_texts("ID 3")
    desk.table.clearSelection()
    desk.until(desk.context.page.card_pane.isHidden)
    desk.close()
    desk.open(OpenStore(store, queries))
    desk.until_rows(3)
    desk.select(1)
    desk.expect_texts("ID 2")


def test_f6_comes_to_the_note_and_escape_leaves_it(desk: CardDriver) -> None:
    desk.open_card()
    desk.context.page.focus_next_part(1)
    assert desk.note.hasFocus()
    assert desk.card.handle_escape()
    assert desk.table.hasFocus()


def test_tab_goes_through_the_card_and_comes_to_its_cross_last(desk: CardDriver) -> None:
    desk.window.focus_moving.connect(partial(order_tabs, desk.context.page))
    desk.open_card()

    def stops() -> list[str]:
        desk.note.setFocus()
        names = []
        for _ in range(len(expected)):
            names.append(desk.focused.accessibleName() or desk.focused.property("text"))
            desk.press(Qt.Key.Key_Tab)
        return names

    expected = ["Note", "Undo: Added in the form", "Print label…", "Delete", "Close the card"]
    desk.until(lambda: stops() == expected)
    desk.change(edited(desk.row(1), tag="office"))
    desk.expect_texts("Tag set to office")
    expected.insert(1, "Undo: Tag set to office")
    desk.until(lambda: stops() == expected)
    desk.button("Close the card").setFocus()
    desk.press(Qt.Key.Key_Space)
    assert desk.context.page.card_pane.isHidden()
    assert desk.table.hasFocus()


def test_names_are_shown_as_they_are_and_never_widen_the_card(desk: CardDriver) -> None:
    desk.change(edited(desk.row(1), name="<h1>x</h1>" + "y" * 5000, tag="<b>z</b>" * 100))
    desk.open_card()
    width = desk.context.page.card_pane.width()
    desk.expect_texts("<h1>x</h1>")
    assert desk.context.page.card_pane.width() == width <= 330


# --- the note ----------------------------------------------------------------------------------------------------


def test_a_note_is_saved_when_another_plant_is_selected_the_card_closes_or_the_window(desk: CardDriver) -> None:
    desk.open_card()
    desk.write("One")
    desk.select(0)
    desk.has_note(1, "One")
    desk.expect_texts("ID 3")
    assert desk.note.toPlainText() == ""
    desk.select(2)
    desk.until(lambda: desk.note.toPlainText() == "One")
    desk.note.selectAll()
    desk.write("Two")
    desk.card.toggle()
    desk.has_note(1, "Two")
    desk.card.toggle()
    desk.until(lambda: desk.note.isVisible() and desk.note.toPlainText() == "Two")
    desk.note.selectAll()
    desk.write("Three")
    desk.close()
    desk.has_note(1, "Three")


def test_ctrl_z_takes_back_typing_first_and_then_the_note(desk: CardDriver) -> None:
    desk.open_card()
    desk.write("Dry")
    desk.press(Qt.Key.Key_Z, CONTROL)
    assert desk.note.toPlainText() == ""
    desk.write("Wet")
    desk.table.setFocus()
    desk.has_note(1, "Wet")
    desk.until(lambda: desk.context.undo_stack.next_undo is not None)
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.has_note(1, None)
    desk.until(lambda: desk.note.toPlainText() == "")


@pytest.mark.parametrize(("button", "kept"), [("Keep mine", "Mine"), ("Take theirs", "Theirs")])
def test_of_two_notes_the_user_chooses_one(desk: CardDriver, button: str, kept: str) -> None:
    desk.write_beside(edited(desk.row(1), note="Theirs"))
    desk.table.setFocus()
    desk.until(lambda: bool(desk.bars))
    assert "“Mine”" in desk.bars[0].text
    assert "“Theirs”" in desk.bars[0].text
    desk.button(button).click()
    desk.has_note(1, kept)
    desk.until(lambda: desk.note.toPlainText() == kept and not desk.bars)


def test_a_note_is_kept_while_the_other_version_cannot_be_read(
    desk: CardDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write_beside(edited(desk.row(1), note="Theirs"))
    with monkeypatch.context() as fault:
        fault.setattr(SqliteReader, "plant", unreachable)
        desk.table.setFocus()
        desk.until(lambda: bool(desk.bars))
        assert "“Mine”" in desk.bars[0].text
    desk.button("Try again").click()
    desk.until(lambda: any("“Theirs”" in bar.text for bar in desk.bars))
    desk.button("Keep mine").click()
    desk.has_note(1, "Mine")


def test_an_unanswered_question_keeps_both_notes_when_the_window_closes(desk: CardDriver) -> None:
    desk.write_beside(edited(desk.row(1), note="Theirs"))
    desk.table.setFocus()
    desk.until(lambda: bool(desk.bars))
    desk.close()
    desk.has_note(1, "Theirs\n\nMine")


def test_another_name_given_meanwhile_is_no_conflict(desk: CardDriver) -> None:
    desk.write_beside(edited(desk.row(1), name="Aloe vera"))
    desk.table.setFocus()
    desk.has_note(1, "Mine")
    assert desk.row(1).name == "Aloe vera"
    assert desk.bars == []


def test_the_note_of_a_plant_that_is_deleted_meanwhile_waits_for_an_answer(desk: CardDriver) -> None:
    desk.write_beside(DeleteAll(Selection(ids=[1])))
    desk.until(lambda: bool(desk.bars))
    assert "Yours: “Mine”" in desk.bars[0].text
    desk.until(desk.window.hasFocus)  # what is typed further presses no button and edits no other plant
    QTest.keyClicks(desk.window, " and more")
    QTest.keyClick(desk.window, Qt.Key.Key_Return)
    assert desk.bars[0].isVisible()
    desk.button("Add it again").click()
    desk.has_note(1, "Mine")
    desk.until(lambda: not desk.bars)
    assert desk.row(1).tag == "kitchen"
    desk.until(lambda: desk.context.undo_stack.next_undo is not None)
    desk.table.setFocus()
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.until(lambda: desk.rows().keys() == {2, 3})


def test_a_plant_that_came_back_meanwhile_gets_the_note_that_was_typed(desk: CardDriver, store: SqliteStore) -> None:
    desk.write_beside(DeleteAll(Selection(ids=[1])))
    desk.until(lambda: bool(desk.bars))
    store.undo(None, COMMAND).result(SECONDS)
    desk.button("Add it again").click()
    desk.has_note(1, "Mine")
    desk.until(lambda: not desk.bars)


def test_the_note_of_a_deleted_plant_is_dropped_when_the_user_says_so(desk: CardDriver) -> None:
    desk.write_beside(DeleteAll(Selection(ids=[1])))
    desk.until(lambda: bool(desk.bars))
    desk.button("Leave it deleted").click()
    desk.until(lambda: not desk.bars)
    assert desk.rows().keys() == {2, 3}


def test_a_note_that_is_too_long_is_refused_while_it_is_pasted(desk: CardDriver) -> None:
    desk.open_card()
    desk.write("Short")
    desk.note.insertPlainText("é" * 50_000)
    assert desk.note.toPlainText() == "Short"
    assert "100,000 bytes" in desk.toast.text
    QTest.keyClicks(desk.note, "er")
    assert not desk.toast.isVisible()
    QGuiApplication.clipboard().setText("\n" * 100_001)
    desk.note.setFocus()
    desk.press(Qt.Key.Key_V, CONTROL)
    assert desk.note.toPlainText() == "Shorter"
    assert "100,000 bytes" in desk.toast.text


def test_pasted_lines_are_one_step_of_undo_and_replace_the_selection(desk: CardDriver) -> None:
    desk.open_card()
    desk.write("Short")
    desk.note.setFocus()
    desk.note.selectAll()
    QGuiApplication.clipboard().setText("<b>one</b>\r\ntwo\n")
    desk.press(Qt.Key.Key_V, CONTROL)
    assert desk.note.toPlainText() == "<b>one</b>\ntwo\n"
    desk.press(Qt.Key.Key_Z, CONTROL)
    assert desk.note.toPlainText() == "Short"


def test_a_file_that_is_dropped_on_the_note_is_left_to_the_window(desk: CardDriver) -> None:
    desk.open_card()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/plants.csv")])
    assert not desk.drop(desk.note.viewport(), data)
    data.clear()
    data.setText("Water it")
    assert desk.drop(desk.note.viewport(), data)
    assert desk.note.toPlainText() == "Water it"


# --- the history -------------------------------------------------------------------------------------------------


def undo_button(desk: CardDriver, what: str) -> None:
    desk.button(f"Undo: {what}").click()


def test_a_line_is_undone_for_this_plant_alone_and_once(desk: CardDriver) -> None:
    desk.change(SetTag(Selection(ids=[1, 2]), "office"))
    desk.open_card()
    desk.expect_texts("Tag set to office", " · was kitchen", "on the command line")
    button = desk.button("Undo: Tag set to office")
    button.click()
    button.click()
    desk.until(lambda: desk.toast.text == "Changed “Aloe”.")
    assert (desk.row(1).tag, desk.row(2).tag) == ("kitchen", "office")


def test_a_double_click_does_not_undo_the_line_that_moves_below_the_pointer(desk: CardDriver) -> None:
    desk.change(edited(desk.row(1), name="Agave"))
    desk.open_card()
    desk.expect_texts("Name changed", "was “Aloe”")
    undo_button(desk, "Name changed")
    desk.until(lambda: "Name changed" not in desk.texts())
    button = desk.button("Undo: Added in the form")
    desk.press_again(button, button.rect().center())
    desk.change(SetTag(Selection(ids=[1]), "office"))
    desk.expect_texts("Tag set to office")
    assert desk.row(1).name == "Aloe"


def test_what_was_changed_again_has_no_undo(desk: CardDriver) -> None:
    for name in ("Agave", "Aloe vera"):
        desk.change(edited(desk.row(1), name=name))
    desk.open_card()
    desk.expect_texts("was “Agave”", "was “Aloe”")
    assert [each.isVisible() for each in desk.buttons().values() if plain(each.text()) == "Undo"] == [True]
    undo_button(desk, "Name changed")
    desk.until(lambda: desk.row(1).name == "Agave")


def test_the_undo_of_its_adding_deletes_the_plant_and_the_toast_brings_it_back(desk: CardDriver) -> None:
    desk.open_card()
    undo_button(desk, "Added in the form")
    desk.until_rows(2)
    desk.until(lambda: desk.toast.text == "Took back “Aloe”.")
    desk.toast.focus_first()
    desk.press(Qt.Key.Key_Space)
    desk.until_rows(3)


def test_after_six_lines_the_others_are_shown_on_demand(desk: CardDriver) -> None:
    for number in range(8):
        desk.change(edited(desk.row(1), tag=f"bed {number}"))
    desk.open_card()
    desk.expect_texts("Tag set to bed 7", "Tag set to bed 2")
    desk.button("Show all").click()
    desk.expect_texts("Tag set to bed 0", "Added in the form")


# --- several plants ----------------------------------------------------------------------------------------------


def test_several_plants_are_copied_printed_and_exported_and_get_a_tag_together(desk: CardDriver) -> None:
    requests = desk.card.requests
    desk.open_card()
    with desk.qtbot.waitSignal(requests.labels):
        desk.button("Label…").click()
    desk.select(1, 2)
    desk.expect_texts("2 plants", "IDs 1 to 2", "No tag", "2 in the form", "Do with all 2")
    assert not desk.action("Add dated note line").isEnabled()
    desk.button("Copy").click()
    desk.until(lambda: all(name in QApplication.clipboard().text() for name in ("Aloe", "Basil")))
    for name, wanted in (("Print labels…", requests.labels), ("Export…", requests.export)):
        with desk.qtbot.waitSignal(wanted):
            desk.button(name).click()
    desk.button("Change tag…").click()
    dialog = WindowDriver(desk.qtbot, desk.the(TagDialog))
    dialog.qtbot.keyClicks(dialog.field("Tag of 2 plants"), "bed 4")
    dialog.button("Change tag of 2 plants").click()
    desk.until(lambda: [desk.row(each).tag for each in (1, 2, 3)] == ["bed 4", "bed 4", None])
    desk.until(lambda: "bed 4: 2" in {each.accessibleName() for each in desk.widget.findChildren(QLabel)})


def test_several_plants_are_deleted_or_none_is_selected(desk: CardDriver) -> None:
    desk.open_card()
    desk.select(0, 1)
    desk.expect_texts("2 plants")
    assert desk.button("Delete").accessibleName() == "Delete 2 plants"
    desk.button("Delete").click()
    desk.until_rows(1)
    desk.table.selectAll()
    desk.expect_texts("ID 1")
    desk.until(lambda: desk.context.undo_stack.next_undo is not None)
    desk.context.undo_stack.undo()
    desk.until_rows(3)
    desk.table.setFocus()
    desk.press(Qt.Key.Key_A, CONTROL)
    desk.expect_texts("3 plants")
    desk.button("Select none").click()
    desk.until(desk.context.page.card_pane.isHidden)


def test_a_read_only_store_shows_cards_that_change_nothing(desk: CardDriver) -> None:
    desk.open_card()
    desk.context.bridge.health_changed.emit(StoreReadOnlyError())
    assert desk.note.isReadOnly()
    assert not desk.button("Delete").isEnabled()
    desk.context.bridge.health_changed.emit(None)
    assert not desk.note.isReadOnly()


def test_a_plant_that_a_script_adds_does_not_disturb_a_note(desk: CardDriver) -> None:
    desk.open_card()
    desk.write("Half a ")
    desk.store.add(new_plant({"id": 9, "name": "Dill"}), FORM).result()
    desk.until_rows(4)
    desk.write("sentence")
    assert desk.note.toPlainText() == "Half a sentence"
    assert desk.note.hasFocus()


# --- dated lines -------------------------------------------------------------------------------------------------


def today() -> str:
    return QDate.currentDate().toString(Qt.DateFormat.ISODate)


def test_ctrl_semicolon_begins_a_line_with_the_date_of_today_and_opens_the_card_for_it(desk: CardDriver) -> None:
    desk.change(edited(desk.row(1), note="from Anna"))
    desk.select(2)
    desk.press(Qt.Key.Key_Semicolon, CONTROL)
    desk.until(lambda: desk.note.hasFocus())  # noqa: PLW0108  made later
    QTest.keyClicks(desk.note, "watered")
    desk.press(Qt.Key.Key_Semicolon, CONTROL)
    QTest.keyClicks(desk.note, "fed")
    desk.press(Qt.Key.Key_Escape)
    desk.table.setFocus()
    desk.has_note(1, f"from Anna\n{today()} watered\n{today()} fed")


def test_the_date_goes_to_the_plant_that_is_selected_by_now(desk: CardDriver) -> None:
    desk.open_card()
    desk.table.setFocus()
    desk.press(Qt.Key.Key_Up)
    for _ in range(2):  # an empty line is used again
        desk.press(Qt.Key.Key_Semicolon, CONTROL)
        desk.until(desk.note.hasFocus)
    QTest.keyClicks(desk.note, "watered")
    desk.table.setFocus()
    desk.has_note(2, f"{today()} watered")
    desk.has_note(1, None)


@pytest.mark.parametrize("card", ["shown", "hidden"])
def test_letters_typed_before_the_note_is_read_are_in_the_note(desk: CardDriver, card: str) -> None:
    desk.change(edited(desk.row(2), note="from Anna"))
    if card == "shown":
        desk.open_card()
    else:
        desk.select(2)
    desk.press(Qt.Key.Key_Up)
    desk.press(Qt.Key.Key_Semicolon, CONTROL)
    desk.hit(*"wet", Qt.Key.Key_Return, *"fed", Qt.Key.Key_Delete)
    desk.until(lambda: desk.note.toPlainText() == f"from Anna\n{today()} wet\nfed")
    QTest.keyClicks(desk.note, "!")
    desk.press(Qt.Key.Key_Escape)
    desk.table.setFocus()
    desk.has_note(2, f"from Anna\n{today()} wet\nfed!")
    desk.has_note(1, None)


def test_letters_for_a_note_are_dropped_when_another_plant_is_clicked(desk: CardDriver) -> None:
    desk.select(2)
    desk.press(Qt.Key.Key_Semicolon, CONTROL)
    QTest.keyClicks(desk.table, "wet")
    desk.select(1)
    desk.expect_texts("ID 2")
    assert desk.note.toPlainText() == ""
    assert desk.rows().keys() == {1, 2, 3}
    assert desk.table.selected_ids().tolist() == [2]
