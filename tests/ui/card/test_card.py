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
            shown = [label.text().replace("\u00a0", " ") for label in labels if label.isVisible()]
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
def user(
    qtbot: QtBot, context: WindowContext, store: SqliteStore, queries: StoreQueries, add: Adder
) -> Iterator[CardDriver]:
    add("Aloe", tag="kitchen")
    add("Basil", "Cactus")
    user = CardDriver(qtbot, context, store, queries)
    qtbot.waitUntil(lambda: user.table.model().rowCount() == 3 and user.table.model().index(2, 1).data() == "Aloe")
    with qtbot.waitActive(user.window):
        user.window.activateWindow()
    yield user
    user.close()


# --- showing -----------------------------------------------------------------------------------------------------


def test_space_shows_and_hides_the_card_of_the_selected_plant(user: CardDriver, spoken: list[str]) -> None:
    user.open_card()
    user.expect_texts("Aloe", "in the form", "Added in the form")
    assert user.action("Card").isChecked()
    user.press(Qt.Key.Key_Down)
    user.press(Qt.Key.Key_Up)
    user.press(Qt.Key.Key_Up)
    user.expect_texts("ID 3")
    user.press(Qt.Key.Key_Space)
    assert user.context.page.card_pane.isHidden()
    assert [text for text in spoken if text.startswith("Card")] == ["Card: shown", "Card: hidden"]


def test_it_is_hidden_while_nothing_is_selected_and_remembered(
    user: CardDriver, store: SqliteStore, queries: StoreQueries
) -> None:
    user.table.setFocus()
    user.table.jump_to_top()
    assert user.table.selected_count() == 0
    user.press(Qt.Key.Key_Space)  # selects the current row
    user.expect_texts("ID 3")
    user.table.clearSelection()
    user.until(user.context.page.card_pane.isHidden)
    user.close()
    user.open(OpenStore(store, queries))
    user.until_rows(3)
    user.select(1)
    user.expect_texts("ID 2")


def test_f6_comes_to_the_note_and_escape_leaves_it(user: CardDriver) -> None:
    user.open_card()
    user.context.page.focus_next_part(1)
    assert user.note.hasFocus()
    assert user.card.handle_escape()
    assert user.table.hasFocus()


def test_tab_goes_through_the_card_and_comes_to_its_cross_last(user: CardDriver) -> None:
    user.window.focus_moving.connect(partial(order_tabs, user.context.page))
    user.open_card()

    def stops() -> list[str]:
        user.note.setFocus()
        names = []
        for _ in range(len(expected)):
            names.append(user.focused.accessibleName() or user.focused.property("text"))
            user.press(Qt.Key.Key_Tab)
        return names

    expected = ["Note", "Undo: Added in the form", "Print label…", "Delete", "Close the card"]
    user.until(lambda: stops() == expected)
    user.change(edited(user.row(1), tag="office"))
    user.expect_texts("Tag set to office")
    expected.insert(1, "Undo: Tag set to office")
    user.until(lambda: stops() == expected)
    user.button("Close the card").setFocus()
    user.press(Qt.Key.Key_Space)
    assert user.context.page.card_pane.isHidden()
    assert user.table.hasFocus()


def test_names_are_shown_as_they_are_and_never_widen_the_card(user: CardDriver) -> None:
    user.change(edited(user.row(1), name="<h1>x</h1>" + "y" * 5000, tag="<b>z</b>" * 100))
    user.open_card()
    width = user.context.page.card_pane.width()
    user.expect_texts("<h1>x</h1>")
    assert user.context.page.card_pane.width() == width <= 330


# --- the note ----------------------------------------------------------------------------------------------------


def test_a_note_is_saved_when_selection_card_or_window_goes_away(user: CardDriver) -> None:
    user.open_card()
    user.write("One")
    user.select(0)
    user.has_note(1, "One")
    user.expect_texts("ID 3")
    assert user.note.toPlainText() == ""
    user.select(2)
    user.until(lambda: user.note.toPlainText() == "One")
    user.note.selectAll()
    user.write("Two")
    user.card.toggle()
    user.has_note(1, "Two")
    user.card.toggle()
    user.until(lambda: user.note.isVisible() and user.note.toPlainText() == "Two")
    user.note.selectAll()
    user.write("Three")
    user.close()
    user.has_note(1, "Three")


def test_ctrl_z_takes_back_typing_first_and_then_the_note(user: CardDriver) -> None:
    user.open_card()
    user.write("Dry")
    user.press(Qt.Key.Key_Z, CONTROL)
    assert user.note.toPlainText() == ""
    user.write("Wet")
    user.table.setFocus()
    user.has_note(1, "Wet")
    user.until(lambda: user.context.undo_stack.next_undo is not None)
    user.press(Qt.Key.Key_Z, CONTROL)
    user.has_note(1, None)
    user.until(lambda: user.note.toPlainText() == "")


@pytest.mark.parametrize(("button", "kept"), [("Keep mine", "Mine"), ("Take theirs", "Theirs")])
def test_of_two_notes_the_user_chooses_one(user: CardDriver, button: str, kept: str) -> None:
    user.write_beside(edited(user.row(1), note="Theirs"))
    user.table.setFocus()
    user.until(lambda: bool(user.bars))
    assert "“Mine”" in user.bars[0].text
    assert "“Theirs”" in user.bars[0].text
    user.button(button).click()
    user.has_note(1, kept)
    user.until(lambda: user.note.toPlainText() == kept and not user.bars)


def test_a_note_is_kept_while_the_other_version_cannot_be_read(
    user: CardDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    user.write_beside(edited(user.row(1), note="Theirs"))
    with monkeypatch.context() as fault:
        fault.setattr(SqliteReader, "plant", unreachable)
        user.table.setFocus()
        user.until(lambda: bool(user.bars))
        assert "“Mine”" in user.bars[0].text
    user.button("Try again").click()
    user.until(lambda: any("“Theirs”" in bar.text for bar in user.bars))
    user.button("Keep mine").click()
    user.has_note(1, "Mine")


def test_an_unanswered_question_keeps_both_notes_when_the_window_closes(user: CardDriver) -> None:
    user.write_beside(edited(user.row(1), note="Theirs"))
    user.table.setFocus()
    user.until(lambda: bool(user.bars))
    user.close()
    user.has_note(1, "Theirs\n\nMine")


def test_another_name_given_meanwhile_is_no_conflict(user: CardDriver) -> None:
    user.write_beside(edited(user.row(1), name="Aloe vera"))
    user.table.setFocus()
    user.has_note(1, "Mine")
    assert user.row(1).name == "Aloe vera"
    assert user.bars == []


def test_the_note_of_a_plant_that_is_deleted_meanwhile_waits_for_an_answer(user: CardDriver) -> None:
    user.write_beside(DeleteAll(Selection(ids=[1])))
    user.until(lambda: bool(user.bars))
    assert "Yours: “Mine”" in user.bars[0].text
    user.until(user.window.hasFocus)  # what is typed further presses no button and edits no other plant
    QTest.keyClicks(user.window, " and more")
    QTest.keyClick(user.window, Qt.Key.Key_Return)
    assert user.bars[0].isVisible()
    user.button("Add it again").click()
    user.has_note(1, "Mine")
    user.until(lambda: not user.bars)
    assert user.row(1).tag == "kitchen"
    user.until(lambda: user.context.undo_stack.next_undo is not None)
    user.table.setFocus()
    user.press(Qt.Key.Key_Z, CONTROL)
    user.until(lambda: user.rows().keys() == {2, 3})


def test_a_plant_that_came_back_meanwhile_gets_the_note_that_was_typed(user: CardDriver, store: SqliteStore) -> None:
    user.write_beside(DeleteAll(Selection(ids=[1])))
    user.until(lambda: bool(user.bars))
    store.undo(None, COMMAND).result(SECONDS)
    user.button("Add it again").click()
    user.has_note(1, "Mine")
    user.until(lambda: not user.bars)


def test_the_note_of_a_deleted_plant_is_dropped_when_the_user_says_so(user: CardDriver) -> None:
    user.write_beside(DeleteAll(Selection(ids=[1])))
    user.until(lambda: bool(user.bars))
    user.button("Leave it deleted").click()
    user.until(lambda: not user.bars)
    assert user.rows().keys() == {2, 3}


def test_a_note_that_is_too_long_is_refused_while_it_is_pasted(user: CardDriver) -> None:
    user.open_card()
    user.write("Short")
    user.note.insertPlainText("é" * 50_000)
    assert user.note.toPlainText() == "Short"
    assert "100,000 bytes" in user.toast.text
    QTest.keyClicks(user.note, "er")
    assert not user.toast.isVisible()
    QGuiApplication.clipboard().setText("\n" * 100_001)
    user.note.setFocus()
    user.press(Qt.Key.Key_V, CONTROL)
    assert user.note.toPlainText() == "Shorter"
    assert "100,000 bytes" in user.toast.text


def test_pasted_lines_are_one_step_of_undo_and_replace_the_selection(user: CardDriver) -> None:
    user.open_card()
    user.write("Short")
    user.note.setFocus()
    user.note.selectAll()
    QGuiApplication.clipboard().setText("<b>one</b>\r\ntwo\n")
    user.press(Qt.Key.Key_V, CONTROL)
    assert user.note.toPlainText() == "<b>one</b>\ntwo\n"
    user.press(Qt.Key.Key_Z, CONTROL)
    assert user.note.toPlainText() == "Short"


def test_a_file_that_is_dropped_on_the_note_is_left_to_the_window(user: CardDriver) -> None:
    user.open_card()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/plants.csv")])
    assert not user.drop(user.note.viewport(), data)
    data.clear()
    data.setText("Water it")
    assert user.drop(user.note.viewport(), data)
    assert user.note.toPlainText() == "Water it"


# --- the history -------------------------------------------------------------------------------------------------


def undo_button(user: CardDriver, what: str) -> None:
    user.button(f"Undo: {what}").click()


def test_a_line_is_undone_for_this_plant_alone_and_once(user: CardDriver) -> None:
    user.change(SetTag(Selection(ids=[1, 2]), "office"))
    user.open_card()
    user.expect_texts("Tag set to office", " · was kitchen", "on the command line")
    button = user.button("Undo: Tag set to office")
    button.click()
    button.click()
    user.until(lambda: user.toast.text == "Changed “Aloe”.")
    assert (user.row(1).tag, user.row(2).tag) == ("kitchen", "office")


def test_a_double_click_does_not_undo_the_line_that_moves_below_the_pointer(user: CardDriver) -> None:
    user.change(edited(user.row(1), name="Agave"))
    user.open_card()
    user.expect_texts("Name changed", "was “Aloe”")
    undo_button(user, "Name changed")
    user.until(lambda: "Name changed" not in user.texts())
    button = user.button("Undo: Added in the form")
    user.press_again(button, button.rect().center())
    user.change(SetTag(Selection(ids=[1]), "office"))
    user.expect_texts("Tag set to office")
    assert user.row(1).name == "Aloe"


def test_what_was_changed_again_has_no_undo(user: CardDriver) -> None:
    for name in ("Agave", "Aloe vera"):
        user.change(edited(user.row(1), name=name))
    user.open_card()
    user.expect_texts("was “Agave”", "was “Aloe”")
    assert [button.isVisible() for button in user.buttons().values() if plain(button.text()) == "Undo"] == [True]
    undo_button(user, "Name changed")
    user.until(lambda: user.row(1).name == "Agave")


def test_the_undo_of_its_adding_deletes_the_plant_and_the_toast_brings_it_back(user: CardDriver) -> None:
    user.open_card()
    undo_button(user, "Added in the form")
    user.until_rows(2)
    user.until(lambda: user.toast.text == "Took back “Aloe”.")
    user.toast.focus_first()
    user.press(Qt.Key.Key_Space)
    user.until_rows(3)


def test_after_six_lines_the_others_are_shown_on_demand(user: CardDriver) -> None:
    for number in range(8):
        user.change(edited(user.row(1), tag=f"bed {number}"))
    user.open_card()
    user.expect_texts("Tag set to bed 7", "Tag set to bed 2")
    user.button("Show all").click()
    user.expect_texts("Tag set to bed 0", "Added in the form")


# --- several plants ----------------------------------------------------------------------------------------------


def test_several_plants_are_copied_printed_and_exported_and_get_a_tag_together(user: CardDriver) -> None:
    requests = user.card.requests
    user.open_card()
    with user.qtbot.waitSignal(requests.labels):
        user.button("Label…").click()
    user.select(1, 2)
    user.expect_texts("2 plants", "IDs 1 to 2", "No tag", "2 in the form", "Do with all 2")
    assert not user.action("Add dated note line").isEnabled()
    user.button("Copy").click()
    user.until(lambda: all(name in QApplication.clipboard().text() for name in ("Aloe", "Basil")))
    for name, wanted in (("Print labels…", requests.labels), ("Export…", requests.export)):
        with user.qtbot.waitSignal(wanted):
            user.button(name).click()
    user.button("Change tag…").click()
    dialog = WindowDriver(user.qtbot, user.the(TagDialog))
    dialog.qtbot.keyClicks(dialog.field("Tag of 2 plants"), "bed 4")
    dialog.button("Change tag of 2 plants").click()
    user.until(lambda: [user.row(number).tag for number in (1, 2, 3)] == ["bed 4", "bed 4", None])
    user.until(lambda: "bed 4: 2" in {label.accessibleName() for label in user.widget.findChildren(QLabel)})


def test_several_plants_are_deleted_or_none_is_selected(user: CardDriver) -> None:
    user.open_card()
    user.select(0, 1)
    user.expect_texts("2 plants")
    assert user.button("Delete").accessibleName() == "Delete 2 plants"
    user.button("Delete").click()
    user.until_rows(1)
    user.table.selectAll()
    user.expect_texts("ID 1")
    user.until(lambda: user.context.undo_stack.next_undo is not None)
    user.context.undo_stack.undo()
    user.until_rows(3)
    user.table.setFocus()
    user.press(Qt.Key.Key_A, CONTROL)
    user.expect_texts("3 plants")
    user.button("Select none").click()
    user.until(user.context.page.card_pane.isHidden)


def test_a_read_only_store_shows_cards_that_change_nothing(user: CardDriver) -> None:
    user.open_card()
    user.context.bridge.health_changed.emit(StoreReadOnlyError())
    assert user.note.isReadOnly()
    assert not user.button("Delete").isEnabled()
    user.context.bridge.health_changed.emit(None)
    assert not user.note.isReadOnly()


def test_a_plant_that_a_script_adds_does_not_disturb_a_note(user: CardDriver) -> None:
    user.open_card()
    user.write("Half a ")
    user.store.add(new_plant({"id": 9, "name": "Dill"}), FORM).result()
    user.until_rows(4)
    user.write("sentence")
    assert user.note.toPlainText() == "Half a sentence"
    assert user.note.hasFocus()


# --- dated lines -------------------------------------------------------------------------------------------------


def today() -> str:
    return QDate.currentDate().toString(Qt.DateFormat.ISODate)


def test_ctrl_semicolon_opens_the_card_and_begins_a_line_with_the_date(user: CardDriver) -> None:
    user.change(edited(user.row(1), note="from Anna"))
    user.select(2)
    user.press(Qt.Key.Key_Semicolon, CONTROL)
    user.until(lambda: user.note.hasFocus())  # noqa: PLW0108  made later
    QTest.keyClicks(user.note, "watered")
    user.press(Qt.Key.Key_Semicolon, CONTROL)
    QTest.keyClicks(user.note, "fed")
    user.press(Qt.Key.Key_Escape)
    user.table.setFocus()
    user.has_note(1, f"from Anna\n{today()} watered\n{today()} fed")


def test_the_date_goes_to_the_plant_that_is_selected_by_now(user: CardDriver) -> None:
    user.open_card()
    user.table.setFocus()
    user.press(Qt.Key.Key_Up)
    for _ in range(2):  # an empty line is used again
        user.press(Qt.Key.Key_Semicolon, CONTROL)
        user.until(user.note.hasFocus)
    QTest.keyClicks(user.note, "watered")
    user.table.setFocus()
    user.has_note(2, f"{today()} watered")
    user.has_note(1, None)


@pytest.mark.parametrize("card", ["shown", "hidden"])
def test_letters_typed_before_the_note_is_read_are_in_the_note(user: CardDriver, card: str) -> None:
    user.change(edited(user.row(2), note="from Anna"))
    if card == "shown":
        user.open_card()
    else:
        user.select(2)
    user.press(Qt.Key.Key_Up)
    user.press(Qt.Key.Key_Semicolon, CONTROL)
    user.hit(*"wet", Qt.Key.Key_Return, *"fed", Qt.Key.Key_Delete)
    user.until(lambda: user.note.toPlainText() == f"from Anna\n{today()} wet\nfed")
    QTest.keyClicks(user.note, "!")
    user.press(Qt.Key.Key_Escape)
    user.table.setFocus()
    user.has_note(2, f"from Anna\n{today()} wet\nfed!")
    user.has_note(1, None)


def test_letters_for_a_note_are_dropped_when_another_plant_is_clicked(user: CardDriver) -> None:
    user.select(2)
    user.press(Qt.Key.Key_Semicolon, CONTROL)
    QTest.keyClicks(user.table, "wet")
    user.select(1)
    user.expect_texts("ID 2")
    assert user.note.toPlainText() == ""
    assert user.rows().keys() == {1, 2, 3}
    assert user.table.selected_ids().tolist() == [2]
