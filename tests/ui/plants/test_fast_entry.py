"""Entering many plants quickly, in the whole window."""

import sqlite3
from contextlib import closing

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QListView
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from plantdesk.domain.edits import SetTag
from plantdesk.domain.records import FORM
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.menus import Key, key_text
from plantdesk.ui.plants.add_queue import AddQueue
from plantdesk.ui.plants.browser import WelcomePage
from plantdesk.ui.plants.form import PlantForm
from plantdesk.ui.plants.form_fields import NameField
from plantdesk.ui.plants.name_completion import MAX_OFFERS, NameCompletion, NameDelegate
from plantdesk.ui.plants.table.view import PlantTableView
from plantdesk.ui.plants.unsaved_plants import UnsavedPlants
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.transfer.import_dialog import ImportDialog
from plantdesk.ui.widgets.messages import MessageLine
from plantdesk.ui.widgets.offers import TagCompleter
from plantdesk.ui.workspace import Workspace
from tests.support.waiting import MILLISECONDS, SECONDS
from tests.support.window_driver import WindowDriver, plain

CONTROL = Qt.KeyboardModifier.ControlModifier


class EntryDriver(WindowDriver):
    """The window; its cursor is in Name."""

    def __init__(self, qtbot: QtBot, workspace: Workspace, store: SqliteStore) -> None:
        super().__init__(qtbot, workspace.window())
        self.workspace = workspace
        self.store = store
        self.window.resize(1200, 760)

    @property
    def offers(self) -> QListView:
        return self.the(QListView, "Known names")

    @property
    def completer(self) -> TagCompleter:
        completer = self.tag.completer()
        assert isinstance(completer, TagCompleter)
        return completer

    def type_name(self, text: str) -> None:
        """Put the cursor into Name, and type there."""
        self.window.activateWindow()
        self.name.setFocus()
        self.qtbot.waitUntil(self.name.hasFocus)
        QTest.keyClicks(self.name, text)

    def enter(self, text: str, plant_id: str = "") -> None:
        """Type into Name, and perhaps ID, and press Enter."""
        self.id.setText(plant_id)
        self.type_name(text)
        self.press(Qt.Key.Key_Return)

    def add_and_wait(self, name: str) -> None:
        self.enter(name)
        self.qtbot.waitUntil(lambda: self.message.text == f"Added “{name}”.")

    def wait_for_tags(self) -> None:
        self.qtbot.waitUntil(lambda: self.completer.tags.rowCount() > 1)

    def expect_offered_tags(self, *tags: str) -> None:
        """Wait until just these tags are offered."""
        model = self.completer.completionModel()
        self.qtbot.waitUntil(lambda: [model.index(row, 0).data() for row in range(model.rowCount())] == list(tags))

    def wait_for_offers(self) -> None:
        self.qtbot.waitUntil(self.offers.isVisible)

    def expect_fields(self, name: str, tag: str) -> None:
        self.qtbot.waitUntil(lambda: (self.name.text(), self.tag.text()) == (name, tag))

    def expect_seen_fields(self, name: str, tag: str) -> None:
        """Wait until the user has seen what is filled in: Enter takes it."""
        self.expect_fields(name, tag)
        self.qtbot.waitUntil(lambda: self.the(NameField).is_fill_seen)

    def expect_newest(self, *plants: tuple[str, str | None]) -> None:
        """Wait until these are the plants that were added last, the newest first."""
        self.qtbot.waitUntil(lambda: self.newest(len(plants)) == list(plants), timeout=MILLISECONDS)

    def newest(self, count: int) -> list[tuple[str, str | None]]:
        with closing(self.store.reader()) as reader:
            return [(row.name, row.tag) for row in reader.selected(Selection())][:count]


@pytest.fixture
def user(qtbot: QtBot, bare: Workspace, store: SqliteStore) -> EntryDriver:
    """Two plants of one name, with different tags, and two others."""
    plants = [("Monstera deliciosa", "office"), ("Monarda", None), ("Mentha × piperita", "bed")]
    plants.append(("Monstera deliciosa", "living room"))
    for plant_id, (name, tag) in enumerate(plants, start=1):
        values = {"id": plant_id, "name": name} | ({} if tag is None else {"tag": tag})
        store.add(new_plant(values), FORM).result(SECONDS)
    bare.set_up()
    bare.set_store(store)
    user = EntryDriver(qtbot, bare, store)
    qtbot.waitUntil(lambda: user.the(PlantTableView).model().rowCount() == 4)
    return user


# --- names ------------------------------------------------------------------------------------------------------------


def test_three_letters_and_enter_add_a_plant_with_its_usual_tag(user: EntryDriver) -> None:
    user.type_name("Mon")
    user.expect_seen_fields("Monstera deliciosa", "living room")
    assert user.name.selectedText() == "stera deliciosa"
    user.press(Qt.Key.Key_Return)
    user.expect_newest(("Monstera deliciosa", "living room"), ("Monstera deliciosa", "living room"))
    user.expect_fields("", "")
    assert not user.offers.isVisible()


def test_what_is_filled_in_is_no_part_of_the_draft(user: EntryDriver) -> None:
    form = user.the(PlantForm)
    user.type_name("Mon")
    user.expect_fields("Monstera deliciosa", "living room")
    assert form.draft() == ["", "Mon", ""]
    user.press(Qt.Key.Key_Down)
    user.press(Qt.Key.Key_Tab)
    assert form.draft() == ["", "Monarda", ""]


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Tab])
def test_who_types_on_without_looking_adds_what_was_typed(
    user: EntryDriver, monkeypatch: pytest.MonkeyPatch, key: Qt.Key
) -> None:
    monkeypatch.setattr("plantdesk.ui.plants.form_fields._SEEN_AFTER_SECONDS", 3600)  # on a machine of any speed
    user.type_name("Mon")
    user.expect_fields("Monstera deliciosa", "living room")
    user.press(key)
    if key is Qt.Key.Key_Tab:
        assert (user.name.text(), user.tag.text()) == ("Mon", "")
        user.press(Qt.Key.Key_Return)
    user.expect_newest(("Mon", None), ("Monstera deliciosa", "living room"))


@pytest.mark.parametrize("typed", ["mon", "MONSTERA", "monstera", "mentha x p"])
def test_what_was_typed_is_never_changed(user: EntryDriver, typed: str) -> None:
    user.type_name(typed)
    user.wait_for_offers()
    assert (user.name.text(), user.tag.text()) == (typed, "")
    user.press(Qt.Key.Key_Return)
    user.expect_newest((typed, None), ("Monstera deliciosa", "living room"))


@pytest.mark.parametrize("key", ["Esc", "Ctrl+Z"])
def test_escape_and_undo_keep_what_was_typed_alone(user: EntryDriver, key: str) -> None:
    user.type_name("Mon")
    user.expect_seen_fields("Monstera deliciosa", "living room")
    QTest.keySequence(user.name, QKeySequence(key))
    user.expect_fields("Mon", "")
    user.press(Qt.Key.Key_Return)
    user.expect_newest(("Mon", None), ("Monstera deliciosa", "living room"))
    assert not user.offers.isVisible()


def test_the_arrows_choose_another_offer(user: EntryDriver) -> None:
    user.type_name("mon")
    user.wait_for_offers()
    user.press(Qt.Key.Key_Down)
    user.expect_fields("Monstera deliciosa", "living room")
    user.press(Qt.Key.Key_Down)
    user.expect_fields("Monarda", "")
    user.press(Qt.Key.Key_Up)
    user.expect_fields("Monstera deliciosa", "living room")
    user.press(Qt.Key.Key_Escape)
    user.expect_fields("mon", "")
    user.type_name("a")
    user.wait_for_offers()
    user.press(Qt.Key.Key_Down)
    user.press(Qt.Key.Key_Return)
    user.expect_newest(("Monarda", None))


def test_an_offer_is_clicked(user: EntryDriver) -> None:
    user.type_name("mon")
    user.wait_for_offers()
    view = user.offers
    second = view.visualRect(view.model().index(1, 0)).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=second)
    user.expect_fields("Monarda", "")
    assert user.name.hasFocus()


def test_nothing_is_filled_in_after_backspace_a_whole_word_or_a_space(user: EntryDriver) -> None:
    user.type_name("Mon")
    user.expect_fields("Monstera deliciosa", "living room")
    user.press(Qt.Key.Key_Backspace)
    user.expect_fields("Mon", "")
    user.wait_for_offers()
    user.press(Qt.Key.Key_S)
    user.expect_fields("Monstera deliciosa", "living room")
    user.name.clear()
    user.type_name("Monstera")
    delegate = user.offers.itemDelegate()
    assert isinstance(delegate, NameDelegate)
    user.qtbot.waitUntil(lambda: delegate.typed == "Monstera")  # the answer to the last key
    assert user.name.text() == "Monstera"
    user.type_name(" ")
    user.wait_for_offers()
    assert user.name.text() == "Monstera "


def test_a_known_name_is_offered_as_well_and_not_refused(user: EntryDriver) -> None:
    user.type_name("Monarda")
    user.qtbot.waitUntil(lambda: user.offers.isVisible() and user.offers.model().index(0, 0).data() == "Monarda")
    assert user.name.text() == "Monarda"
    user.press(Qt.Key.Key_Return)
    user.expect_newest(("Monarda", None))


def test_a_name_that_plants_have_is_not_filled_up_however_many_others_begin_so(user: EntryDriver) -> None:
    names = ["Rosa", *(f"Rosa {kind}" for kind in "abcdefg" for _ in range(2))]
    for plant_id, name in enumerate(names, 100):
        user.store.add(new_plant({"id": plant_id, "name": name, "tag": "bed"}), FORM).result(SECONDS)
    user.type_name("Rosa")
    user.qtbot.waitUntil(lambda: user.offers.isVisible() and user.offers.model().rowCount() == MAX_OFFERS - 1)
    assert (user.name.text(), user.tag.text()) == ("Rosa", "")


def test_a_typed_or_pinned_tag_stays(user: EntryDriver) -> None:
    user.tag.setFocus()
    QTest.keyClicks(user.tag, "hall")
    user.type_name("Mon")
    user.expect_fields("Monstera deliciosa", "hall")
    user.press(Qt.Key.Key_Escape)
    user.expect_fields("Mon", "hall")


def test_up_recalls_the_last_plants(user: EntryDriver) -> None:
    user.type_name("Fern")
    user.tag.setFocus()
    QTest.keyClicks(user.tag, " hall/ ")  # a slash at the end leads nowhere
    user.press(Qt.Key.Key_Return)
    user.expect_newest(("Fern", "hall"))
    user.expect_fields("", "")
    user.enter("Ivy")
    user.press(Qt.Key.Key_Up)
    user.expect_fields("Ivy", "")
    user.press(Qt.Key.Key_Up)
    user.expect_fields("Fern", "hall")
    user.press(Qt.Key.Key_Up)
    user.expect_fields("Fern", "hall")
    user.press(Qt.Key.Key_Down)
    user.expect_fields("Ivy", "")
    user.press(Qt.Key.Key_Return)
    user.expect_newest(("Ivy", None), ("Ivy", None), ("Fern", "hall"))


def test_an_added_plant_is_taken_back_and_added_again(user: EntryDriver) -> None:
    user.add_and_wait("Fern")
    user.press(Qt.Key.Key_Z, CONTROL)
    user.expect_newest(("Monstera deliciosa", "living room"))
    user.qtbot.waitUntil(lambda: user.toast.text == "Took back “Fern”.")
    assert key_text(Key.Redo) in WindowDriver(user.qtbot, user.toast).texts()
    assert "Undo" not in WindowDriver(user.qtbot, user.message).buttons(), "it would do nothing"
    user.press(Qt.Key.Key_Z, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    user.expect_newest(("Fern", None))
    user.qtbot.waitUntil(lambda: user.toast.text == "Added “Fern” again.")
    assert key_text(Key.Undo) in WindowDriver(user.qtbot, user.toast).texts()
    assert "Undo Add “Fern”" in user.enabled("Edit")
    user.add_and_wait("Ivy")
    assert user.toast.isHidden(), "its key and its button take back something else now"
    QTest.mouseClick(WindowDriver(user.qtbot, user.message).button("Undo"), Qt.MouseButton.LeftButton)
    user.expect_newest(("Fern", None))
    assert user.name.hasFocus()


def test_the_page_of_an_empty_store_offers_undo_while_there_is_something_to_undo(
    user: EntryDriver, other_program: sqlite3.Connection
) -> None:
    other_program.execute("DELETE FROM plant")
    other_program.commit()
    user.add_and_wait("Fern")
    page, table = WindowDriver(user.qtbot, user.the(WelcomePage)), user.the(PlantTableView)
    user.qtbot.waitUntil(lambda: table.model().rowCount() == 1)
    table.selectAll()
    user.choose("Edit", "Delete plant")
    user.qtbot.waitUntil(lambda: page.widget.isVisible() and "Undo" in page.buttons())
    user.activate()
    user.press(Qt.Key.Key_Z, CONTROL)
    user.qtbot.waitUntil(lambda: table.isVisible() and "Undo" in page.buttons())
    user.press(Qt.Key.Key_Z, CONTROL)
    user.qtbot.waitUntil(page.widget.isVisible)
    assert "No plants any more" in page.texts()
    assert "Undo" not in page.buttons(), "it would do nothing"


def test_undo_right_after_enter_takes_back_what_was_entered(
    user: EntryDriver, other_program: sqlite3.Connection
) -> None:
    """And not the plant before, while the store has not answered yet."""
    user.add_and_wait("Ivy")
    other_program.execute("BEGIN IMMEDIATE")
    user.enter("Fern")
    user.press(Qt.Key.Key_Z, CONTROL)
    other_program.rollback()
    user.qtbot.waitUntil(lambda: user.toast.text == "Took back “Fern”.")
    user.expect_newest(("Ivy", None), ("Monstera deliciosa", "living room"))
    user.press(Qt.Key.Key_Z, CONTROL)
    user.qtbot.waitUntil(lambda: user.toast.text == "Took back “Ivy”.")


def test_what_escape_empties_comes_back_by_undo(user: EntryDriver) -> None:
    user.enter("Ivy")
    user.expect_newest(("Ivy", None))
    user.type_name("Helleborus niger")
    while user.name.text():
        user.press(Qt.Key.Key_Escape)
    user.press(Qt.Key.Key_Z, CONTROL)
    assert user.name.text() == "Helleborus niger"
    user.press(Qt.Key.Key_Return)
    user.expect_newest(("Helleborus niger", None), ("Ivy", None))
    user.qtbot.waitUntil(lambda: user.message.text == "Added “Helleborus niger”.")
    user.press(Qt.Key.Key_Z, CONTROL)
    user.expect_newest(("Ivy", None), ("Monstera deliciosa", "living room"))


def test_a_refusal_names_what_was_requested(user: EntryDriver) -> None:
    """The store knows a plant that was added as a deletion, which is undone where the user redoes."""
    user.add_and_wait("Fern")
    user.press(Qt.Key.Key_Z, CONTROL)
    user.qtbot.waitUntil(lambda: user.toast.text == "Took back “Fern”.")
    user.store.add(new_plant({"id": 5, "name": "Fern"}), FORM).result(SECONDS)
    user.press(Qt.Key.Key_Z, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    because = "as the plant has been changed or deleted since, or is there again"
    user.qtbot.waitUntil(lambda: user.toast.text == f"Not redone, {because}: Add “Fern”.")
    user.add_and_wait("Ivy")
    user.store.apply([SetTag(Selection(ids=[6]), "hall")], FORM).result(SECONDS)
    user.press(Qt.Key.Key_Z, CONTROL)
    user.qtbot.waitUntil(lambda: user.toast.text == f"Not undone, {because}: Add “Ivy”.")


def test_offered_tags_are_spoken_once(user: EntryDriver, spoken: list[str]) -> None:
    user.wait_for_tags()
    user.tag.setFocus()
    QTest.keyClicks(user.tag, "i")
    user.expect_offered_tags("living room", "office")
    assert spoken[-1] == "2 tags offered: living room, office"
    QTest.keyClicks(user.tag, "v")
    assert spoken[-1] == "1 tag offered: living room"
    QTest.keyClicks(user.tag, "ing room")
    assert len(spoken) == 2


def test_the_same_plant_under_its_id_is_reported_as_there(user: EntryDriver) -> None:
    user.enter("Monarda", "2")
    user.qtbot.waitUntil(lambda: "Edit" in user.buttons())
    reason = "“Monarda” is already there with ID 2. To add it once more, choose another ID."
    assert user.unsaved() == {"Monarda": reason}
    user.buttons()["Edit"].click()
    assert user.message.text == reason


@pytest.mark.parametrize("is_key", [True, False])
def test_discarded_plants_are_brought_back_and_added_as_one_change(user: EntryDriver, *, is_key: bool) -> None:
    before = user.newest(9)
    for name in ("Fern", "Ivy"):
        user.enter(name, "2")
    user.qtbot.waitUntil(lambda: "Discard 2 plants" in user.buttons())
    user.buttons()["Discard 2 plants"].click()
    user.qtbot.waitUntil(lambda: user.message.text == "Discarded 2 plants.")
    if is_key:
        user.press(Qt.Key.Key_Z, CONTROL)
    else:
        WindowDriver(user.qtbot, user.message).button("Undo").click()
    user.qtbot.waitUntil(lambda: not user.message.text.startswith("Discarded"))
    user.buttons()["Use free IDs for 2 plants"].click()
    user.expect_newest(("Ivy", None), ("Fern", None))
    user.qtbot.waitUntil(lambda: user.message.text == "Added 2 plants.")
    user.press(Qt.Key.Key_Z, CONTROL)
    user.qtbot.waitUntil(lambda: user.newest(9) == before)


def test_keys_in_the_list_of_unsaved_plants_leave_those_of_the_table(user: EntryDriver) -> None:
    user.the(PlantTableView).selectAll()
    user.enter("Ivy", "2")
    user.qtbot.waitUntil(lambda: "Discard" in user.buttons())
    plants = user.newest(9)
    user.the(UnsavedPlants).focus_first()
    user.press(Qt.Key.Key_D, CONTROL)
    user.press(Qt.Key.Key_Delete)
    user.qtbot.waitUntil(lambda: user.message.text == "Discarded 1 plant.")
    assert user.newest(9) == plants


@pytest.mark.parametrize(
    ("key", "modifier"), [(Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier), (Qt.Key.Key_N, CONTROL)]
)
def test_a_key_after_the_search_had_the_focus_deletes_nothing_that_was_typed(
    user: EntryDriver, key: Qt.Key, modifier: Qt.KeyboardModifier
) -> None:
    user.type_name("Ros")
    user.tag.setFocus()
    user.press(Qt.Key.Key_F, CONTROL)
    assert not user.name.hasFocus()
    user.press(key, modifier)
    assert user.name.hasFocus()
    user.press(Qt.Key.Key_E)
    assert user.name.text().lower() == "rose"


@pytest.mark.parametrize("taken", [False, True])
def test_a_kept_name_takes_its_usual_tag_along_when_it_is_replaced(user: EntryDriver, *, taken: bool) -> None:
    user.type_name("Mon")
    user.expect_seen_fields("Monstera deliciosa", "living room")
    if taken:
        user.press(Qt.Key.Key_Tab)
        assert (user.tag.hasFocus(), user.offers.isVisible()) == (True, False)
        user.press(Qt.Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
    user.press(Qt.Key.Key_Return, CONTROL)
    usual = ("Monstera deliciosa", "living room")
    user.expect_newest(usual, usual)
    user.expect_fields(*usual)
    user.press(Qt.Key.Key_Return, CONTROL)
    user.expect_newest(usual, usual, usual)
    user.name.selectAll()
    user.type_name("Fern")
    user.expect_fields("Fern", "")
    user.press(Qt.Key.Key_Return)
    user.expect_newest(("Fern", None), usual)


@pytest.mark.parametrize("pinned", [False, True])
def test_a_typed_or_pinned_tag_is_kept_with_the_name(user: EntryDriver, *, pinned: bool) -> None:
    user.type_name("Mon")
    user.expect_seen_fields("Monstera deliciosa", "living room")
    if pinned:
        QTest.mouseClick(user.button("Pin"), Qt.MouseButton.LeftButton)
    else:
        user.press(Qt.Key.Key_Tab)
        QTest.keyClicks(user.tag, "living room")
        user.name.setFocus()
    user.press(Qt.Key.Key_Return, CONTROL)
    user.expect_newest(("Monstera deliciosa", "living room"), ("Monstera deliciosa", "living room"))
    user.name.selectAll()
    user.type_name("Fern")
    user.expect_fields("Fern", "living room")


# --- several ----------------------------------------------------------------------------------------------------------


def test_a_quantity_adds_so_many_as_one_change(user: EntryDriver) -> None:
    user.type_name("20 x Salvia")
    assert "Add 20" in user.buttons()
    user.press(Qt.Key.Key_Return)
    user.expect_newest(*[("Salvia", None)] * 20, ("Monstera deliciosa", "living room"))
    user.qtbot.waitUntil(lambda: user.message.text == "Added 20 plants.")
    user.press(Qt.Key.Key_Z, CONTROL)
    user.expect_newest(("Monstera deliciosa", "living room"))


def test_a_quantity_completes_the_name_behind_it(user: EntryDriver) -> None:
    user.type_name("3x Mon")
    user.expect_seen_fields("3x Monstera deliciosa", "living room")
    user.press(Qt.Key.Key_Return)
    user.expect_newest(*[("Monstera deliciosa", "living room")] * 4)


def test_a_quantity_with_an_id_takes_the_next_ids_or_is_refused(user: EntryDriver) -> None:
    user.enter("3 x Salvia", "70")
    user.expect_newest(*[("Salvia", None)] * 3)
    reader = user.store.reader()
    assert sorted(reader.rows([70, 71, 72])) == [70, 71, 72]
    reader.close()
    user.enter("3 x Basil", "2")
    user.qtbot.waitUntil(lambda: "Use the next free ID" in user.buttons())
    assert "already belongs" in next(iter(user.unsaved().values()))
    assert user.newest(1) == [("Salvia", None)]


@pytest.mark.parametrize("text", ["1001 x Salvia", "0 x Salvia", "999999999 x Salvia"])
def test_too_many_are_refused(user: EntryDriver, text: str) -> None:
    user.enter(text)
    user.qtbot.waitUntil(lambda: "From 1 to 1,000" in user.message.text)
    assert user.name.text() == text


def imported(user: EntryDriver) -> WindowDriver:
    """Wait for the import of what came into Name."""
    user.qtbot.waitUntil(lambda: user.window.findChildren(ImportDialog) != [])
    dialog = WindowDriver(user.qtbot, user.window.findChildren(ImportDialog)[0])
    dialog.until(lambda: "counted over the whole file" in dialog.texts())
    return dialog


def test_pasted_lines_are_shown_and_imported_with_the_tag_as_one_change(user: EntryDriver) -> None:
    user.tag.setText("bed 4")
    QGuiApplication.clipboard().setText("Aster\n\nAjuga\n")
    user.name.setFocus()
    user.press(Qt.Key.Key_V, CONTROL)
    dialog = imported(user)
    QTest.mouseClick(dialog.button("Import 2 plants"), Qt.MouseButton.LeftButton)
    user.expect_newest(("Ajuga", "bed 4"), ("Aster", "bed 4"), ("Monstera deliciosa", "living room"))
    user.qtbot.waitUntil(lambda: any("2 plants from" in text for text in user.texts()))  # what Ctrl+Z takes back
    user.window.activateWindow()
    user.name.setFocus()
    user.qtbot.waitUntil(user.name.hasFocus)
    user.press(Qt.Key.Key_Z, CONTROL)
    user.expect_newest(("Monstera deliciosa", "living room"))


@pytest.mark.parametrize("way", ["context menu", "drop"])
def test_lines_are_shown_whichever_way_they_come_into_the_name(user: EntryDriver, way: str) -> None:
    text = "Aster\nAjuga\n"
    if way == "drop":
        data = QMimeData()
        data.setText(text)
        assert user.drop(user.name, data)
    else:
        QGuiApplication.clipboard().setText(text)
        QApplication.sendEvent(user.name, QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(5, 5), QPoint()))
        menu = user.popup()
        paste_action = next(action for action in menu.actions() if plain(action.text()).startswith("Paste"))
        QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(paste_action).center())
    assert "Import 2 plants" in imported(user).buttons()
    assert user.name.text() == ""


def test_one_pasted_line_is_a_name(user: EntryDriver) -> None:
    QGuiApplication.clipboard().setText("Aster\n")
    user.name.setFocus()
    user.press(Qt.Key.Key_V, CONTROL)
    assert user.name.text().strip() == "Aster"


# --- the form ---------------------------------------------------------------------------------------------------------


def test_tags_are_completed_from_those_there_are_now(user: EntryDriver) -> None:
    user.wait_for_tags()
    change = user.store.apply([SetTag(Selection(), "winter garden")], FORM).result(SECONDS).change
    completer = user.completer
    user.qtbot.waitUntil(lambda: completer.tags.rowCount() == 1)
    user.type_name("Ficus")
    user.tag.setFocus()
    QTest.keyClicks(user.tag, "GARD")
    popup = completer.popup()
    assert popup is not None
    user.qtbot.waitUntil(popup.isVisible)
    assert popup.verticalScrollBar().maximum() == 0, "all offers are seen"
    QTest.keyClick(popup, Qt.Key.Key_Down)
    QTest.keyClick(popup, Qt.Key.Key_Return)
    assert user.tag.text() == "winter garden"
    user.store.undo(change, FORM).result(SECONDS)
    user.qtbot.waitUntil(lambda: completer.tags.rowCount() > 1)


def test_tags_are_completed_level_by_level(user: EntryDriver) -> None:
    for plant_id, tag in enumerate(("garden/bed 1/left", "garden/bed 3", "kitchen garden"), 500):
        user.store.add(new_plant({"id": plant_id, "name": "Aloe", "tag": tag}), FORM).result(SECONDS)
    user.qtbot.waitUntil(lambda: "garden/bed 3" in user.completer.tags.stringList())
    user.type_name("Fern")
    user.tag.setFocus()
    for typed, offers in (
        ("gar", ["garden", "kitchen garden"]),
        ("den", ["garden/bed 1", "garden/bed 3", "garden", "kitchen garden"]),
        ("/BED 1", ["garden/bed 1/left", "garden/bed 1"]),
        ("/", ["garden/bed 1/left"]),
    ):
        QTest.keyClicks(user.tag, typed)
        user.expect_offered_tags(*offers)
    popup = user.completer.popup()
    assert popup is not None
    QTest.keyClick(popup, Qt.Key.Key_Down)
    QTest.keyClick(popup, Qt.Key.Key_Return)
    assert user.tag.text() == "garden/bed 1/left"


def test_a_form_that_is_deleted_has_no_list_to_close(qtbot: QtBot, theme: Theme, bridge: Bridge) -> None:
    form = PlantForm(theme, MessageLine(theme))
    NameCompletion(form, AddQueue(bridge, form, on_sent=lambda _answer: None), lambda: None)
    with qtbot.waitExposed(form):
        form.show()
    form.activateWindow()
    form.name_field.setFocus()
    qtbot.waitUntil(form.name_field.hasFocus)
    with qtbot.captureExceptions() as raised:
        delete(form)
    assert not raised
