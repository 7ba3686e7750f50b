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
def desk(qtbot: QtBot, bare: Workspace, store: SqliteStore) -> EntryDriver:
    """Two plants of one name, with different tags, and two others."""
    plants = [("Monstera deliciosa", "office"), ("Monarda", None), ("Mentha × piperita", "bed")]
    plants.append(("Monstera deliciosa", "living room"))
    for plant_id, (name, tag) in enumerate(plants, start=1):
        values = {"id": plant_id, "name": name} | ({} if tag is None else {"tag": tag})
        store.add(new_plant(values), FORM).result(SECONDS)
    bare.set_up()
    bare.set_store(store)
    desk = EntryDriver(qtbot, bare, store)
    qtbot.waitUntil(lambda: desk.the(PlantTableView).model().rowCount() == 4)
    return desk


# --- names ------------------------------------------------------------------------------------------------------------


def test_three_letters_and_enter_add_a_plant_with_its_usual_tag(desk: EntryDriver) -> None:
    desk.type_name("Mon")
    desk.expect_seen_fields("Monstera deliciosa", "living room")
    assert desk.name.selectedText() == "stera deliciosa"
    desk.press(Qt.Key.Key_Return)
    desk.expect_newest(("Monstera deliciosa", "living room"), ("Monstera deliciosa", "living room"))
    desk.expect_fields("", "")
    assert not desk.offers.isVisible()


def test_what_is_filled_in_is_no_part_of_the_draft(desk: EntryDriver) -> None:
    form = desk.the(PlantForm)
    desk.type_name("Mon")
    desk.expect_fields("Monstera deliciosa", "living room")
    assert form.draft() == ["", "Mon", ""]
    desk.press(Qt.Key.Key_Down)
    desk.press(Qt.Key.Key_Tab)
    assert form.draft() == ["", "Monarda", ""]


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Tab])
def test_who_types_on_without_looking_adds_what_was_typed(
    desk: EntryDriver, monkeypatch: pytest.MonkeyPatch, key: Qt.Key
) -> None:
    monkeypatch.setattr("plantdesk.ui.plants.form_fields._SEEN_AFTER_SECONDS", 3600)  # on a machine of any speed
    desk.type_name("Mon")
    desk.expect_fields("Monstera deliciosa", "living room")
    desk.press(key)
    if key is Qt.Key.Key_Tab:
        assert (desk.name.text(), desk.tag.text()) == ("Mon", "")
        desk.press(Qt.Key.Key_Return)
    desk.expect_newest(("Mon", None), ("Monstera deliciosa", "living room"))


@pytest.mark.parametrize("typed", ["mon", "MONSTERA", "monstera", "mentha x p"])
def test_what_was_typed_is_never_changed(desk: EntryDriver, typed: str) -> None:
    desk.type_name(typed)
    desk.wait_for_offers()
    assert (desk.name.text(), desk.tag.text()) == (typed, "")
    desk.press(Qt.Key.Key_Return)
    desk.expect_newest((typed, None), ("Monstera deliciosa", "living room"))


@pytest.mark.parametrize("key", ["Esc", "Ctrl+Z"])
def test_escape_and_undo_keep_what_was_typed_alone(desk: EntryDriver, key: str) -> None:
    desk.type_name("Mon")
    desk.expect_seen_fields("Monstera deliciosa", "living room")
    QTest.keySequence(desk.name, QKeySequence(key))
    desk.expect_fields("Mon", "")
    desk.press(Qt.Key.Key_Return)
    desk.expect_newest(("Mon", None), ("Monstera deliciosa", "living room"))
    assert not desk.offers.isVisible()


def test_the_arrows_choose_another_offer(desk: EntryDriver) -> None:
    desk.type_name("mon")
    desk.wait_for_offers()
    desk.press(Qt.Key.Key_Down)
    desk.expect_fields("Monstera deliciosa", "living room")
    desk.press(Qt.Key.Key_Down)
    desk.expect_fields("Monarda", "")
    desk.press(Qt.Key.Key_Up)
    desk.expect_fields("Monstera deliciosa", "living room")
    desk.press(Qt.Key.Key_Escape)
    desk.expect_fields("mon", "")
    desk.type_name("a")
    desk.wait_for_offers()
    desk.press(Qt.Key.Key_Down)
    desk.press(Qt.Key.Key_Return)
    desk.expect_newest(("Monarda", None))


def test_an_offer_is_clicked(desk: EntryDriver) -> None:
    desk.type_name("mon")
    desk.wait_for_offers()
    view = desk.offers
    second = view.visualRect(view.model().index(1, 0)).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=second)
    desk.expect_fields("Monarda", "")
    assert desk.name.hasFocus()


def test_nothing_is_filled_in_after_backspace_a_whole_word_or_a_space(desk: EntryDriver) -> None:
    desk.type_name("Mon")
    desk.expect_fields("Monstera deliciosa", "living room")
    desk.press(Qt.Key.Key_Backspace)
    desk.expect_fields("Mon", "")
    desk.wait_for_offers()
    desk.press(Qt.Key.Key_S)
    desk.expect_fields("Monstera deliciosa", "living room")
    desk.name.clear()
    desk.type_name("Monstera")
    delegate = desk.offers.itemDelegate()
    assert isinstance(delegate, NameDelegate)
    desk.qtbot.waitUntil(lambda: delegate.typed == "Monstera")  # the answer to the last key
    assert desk.name.text() == "Monstera"
    desk.type_name(" ")
    desk.wait_for_offers()
    assert desk.name.text() == "Monstera "


def test_a_known_name_is_offered_as_well_and_not_refused(desk: EntryDriver) -> None:
    desk.type_name("Monarda")
    desk.qtbot.waitUntil(lambda: desk.offers.isVisible() and desk.offers.model().index(0, 0).data() == "Monarda")
    assert desk.name.text() == "Monarda"
    desk.press(Qt.Key.Key_Return)
    desk.expect_newest(("Monarda", None))


def test_a_name_that_plants_have_is_not_filled_up_however_many_others_begin_so(desk: EntryDriver) -> None:
    names = ["Rosa", *(f"Rosa {kind}" for kind in "abcdefg" for _ in range(2))]
    for plant_id, name in enumerate(names, 100):
        desk.store.add(new_plant({"id": plant_id, "name": name, "tag": "bed"}), FORM).result(SECONDS)
    desk.type_name("Rosa")
    desk.qtbot.waitUntil(lambda: desk.offers.isVisible() and desk.offers.model().rowCount() == MAX_OFFERS - 1)
    assert (desk.name.text(), desk.tag.text()) == ("Rosa", "")


def test_a_typed_or_pinned_tag_stays(desk: EntryDriver) -> None:
    desk.tag.setFocus()
    QTest.keyClicks(desk.tag, "hall")
    desk.type_name("Mon")
    desk.expect_fields("Monstera deliciosa", "hall")
    desk.press(Qt.Key.Key_Escape)
    desk.expect_fields("Mon", "hall")


def test_up_recalls_the_last_plants(desk: EntryDriver) -> None:
    desk.type_name("Fern")
    desk.tag.setFocus()
    QTest.keyClicks(desk.tag, " hall/ ")  # a slash at the end leads nowhere
    desk.press(Qt.Key.Key_Return)
    desk.expect_newest(("Fern", "hall"))
    desk.expect_fields("", "")
    desk.enter("Ivy")
    desk.press(Qt.Key.Key_Up)
    desk.expect_fields("Ivy", "")
    desk.press(Qt.Key.Key_Up)
    desk.expect_fields("Fern", "hall")
    desk.press(Qt.Key.Key_Up)
    desk.expect_fields("Fern", "hall")
    desk.press(Qt.Key.Key_Down)
    desk.expect_fields("Ivy", "")
    desk.press(Qt.Key.Key_Return)
    desk.expect_newest(("Ivy", None), ("Ivy", None), ("Fern", "hall"))


def test_an_added_plant_is_taken_back_and_added_again(desk: EntryDriver) -> None:
    desk.add_and_wait("Fern")
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.expect_newest(("Monstera deliciosa", "living room"))
    desk.qtbot.waitUntil(lambda: desk.toast.text == "Took back “Fern”.")
    assert key_text(Key.Redo) in WindowDriver(desk.qtbot, desk.toast).texts()
    assert "Undo" not in WindowDriver(desk.qtbot, desk.message).buttons(), "it would do nothing"
    desk.press(Qt.Key.Key_Z, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    desk.expect_newest(("Fern", None))
    desk.qtbot.waitUntil(lambda: desk.toast.text == "Added “Fern” again.")
    assert key_text(Key.Undo) in WindowDriver(desk.qtbot, desk.toast).texts()
    assert "Undo Add “Fern”" in desk.enabled("Edit")
    desk.add_and_wait("Ivy")
    assert desk.toast.isHidden(), "its key and its button take back something else now"
    QTest.mouseClick(WindowDriver(desk.qtbot, desk.message).button("Undo"), Qt.MouseButton.LeftButton)
    desk.expect_newest(("Fern", None))
    assert desk.name.hasFocus()


def test_the_page_of_an_empty_store_offers_undo_while_there_is_something_to_undo(
    desk: EntryDriver, other_program: sqlite3.Connection
) -> None:
    other_program.execute("DELETE FROM plant")
    other_program.commit()
    desk.add_and_wait("Fern")
    page, table = WindowDriver(desk.qtbot, desk.the(WelcomePage)), desk.the(PlantTableView)
    desk.qtbot.waitUntil(lambda: table.model().rowCount() == 1)
    table.selectAll()
    desk.choose("Edit", "Delete plant")
    desk.qtbot.waitUntil(lambda: page.widget.isVisible() and "Undo" in page.buttons())
    desk.activate()
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.qtbot.waitUntil(lambda: table.isVisible() and "Undo" in page.buttons())
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.qtbot.waitUntil(page.widget.isVisible)
    assert "No plants any more" in page.texts()
    assert "Undo" not in page.buttons(), "it would do nothing"


def test_undo_right_after_enter_takes_back_what_was_entered(
    desk: EntryDriver, other_program: sqlite3.Connection
) -> None:
    """And not the plant before, while the store has not answered yet."""
    desk.add_and_wait("Ivy")
    other_program.execute("BEGIN IMMEDIATE")
    desk.enter("Fern")
    desk.press(Qt.Key.Key_Z, CONTROL)
    other_program.rollback()
    desk.qtbot.waitUntil(lambda: desk.toast.text == "Took back “Fern”.")
    desk.expect_newest(("Ivy", None), ("Monstera deliciosa", "living room"))
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.qtbot.waitUntil(lambda: desk.toast.text == "Took back “Ivy”.")


def test_what_escape_empties_comes_back_by_undo(desk: EntryDriver) -> None:
    desk.enter("Ivy")
    desk.expect_newest(("Ivy", None))
    desk.type_name("Helleborus niger")
    while desk.name.text():
        desk.press(Qt.Key.Key_Escape)
    desk.press(Qt.Key.Key_Z, CONTROL)
    assert desk.name.text() == "Helleborus niger"
    desk.press(Qt.Key.Key_Return)
    desk.expect_newest(("Helleborus niger", None), ("Ivy", None))
    desk.qtbot.waitUntil(lambda: desk.message.text == "Added “Helleborus niger”.")
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.expect_newest(("Ivy", None), ("Monstera deliciosa", "living room"))


def test_a_refusal_names_what_was_requested(desk: EntryDriver) -> None:
    """The store knows a plant that was added as a deletion, which is undone where the user redoes."""
    desk.add_and_wait("Fern")
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.qtbot.waitUntil(lambda: desk.toast.text == "Took back “Fern”.")
    desk.store.add(new_plant({"id": 5, "name": "Fern"}), FORM).result(SECONDS)
    desk.press(Qt.Key.Key_Z, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    because = "as the plant has been changed or deleted since, or is there again"
    desk.qtbot.waitUntil(lambda: desk.toast.text == f"Not redone, {because}: Add “Fern”.")
    desk.add_and_wait("Ivy")
    desk.store.apply([SetTag(Selection(ids=[6]), "hall")], FORM).result(SECONDS)
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.qtbot.waitUntil(lambda: desk.toast.text == f"Not undone, {because}: Add “Ivy”.")


def test_offered_tags_are_spoken_once(desk: EntryDriver, spoken: list[str]) -> None:
    desk.wait_for_tags()
    desk.tag.setFocus()
    QTest.keyClicks(desk.tag, "i")
    desk.expect_offered_tags("living room", "office")
    assert spoken[-1] == "2 tags offered: living room, office"
    QTest.keyClicks(desk.tag, "v")
    assert spoken[-1] == "1 tag offered: living room"
    QTest.keyClicks(desk.tag, "ing room")
    assert len(spoken) == 2


def test_the_same_plant_under_its_id_is_reported_as_there(desk: EntryDriver) -> None:
    desk.enter("Monarda", "2")
    desk.qtbot.waitUntil(lambda: "Edit" in desk.buttons())
    reason = "“Monarda” is already there with ID 2. To add it once more, choose another ID."
    assert desk.unsaved() == {"Monarda": reason}
    desk.buttons()["Edit"].click()
    assert desk.message.text == reason


@pytest.mark.parametrize("is_key", [True, False])
def test_discarded_plants_are_brought_back_and_added_as_one_change(desk: EntryDriver, *, is_key: bool) -> None:
    before = desk.newest(9)
    for name in ("Fern", "Ivy"):
        desk.enter(name, "2")
    desk.qtbot.waitUntil(lambda: "Discard 2 plants" in desk.buttons())
    desk.buttons()["Discard 2 plants"].click()
    desk.qtbot.waitUntil(lambda: desk.message.text == "Discarded 2 plants.")
    if is_key:
        desk.press(Qt.Key.Key_Z, CONTROL)
    else:
        WindowDriver(desk.qtbot, desk.message).button("Undo").click()
    desk.qtbot.waitUntil(lambda: not desk.message.text.startswith("Discarded"))
    desk.buttons()["Use free IDs for 2 plants"].click()
    desk.expect_newest(("Ivy", None), ("Fern", None))
    desk.qtbot.waitUntil(lambda: desk.message.text == "Added 2 plants.")
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.qtbot.waitUntil(lambda: desk.newest(9) == before)


def test_keys_in_the_list_of_unsaved_plants_leave_those_of_the_table(desk: EntryDriver) -> None:
    desk.the(PlantTableView).selectAll()
    desk.enter("Ivy", "2")
    desk.qtbot.waitUntil(lambda: "Discard" in desk.buttons())
    plants = desk.newest(9)
    desk.the(UnsavedPlants).focus_first()
    desk.press(Qt.Key.Key_D, CONTROL)
    desk.press(Qt.Key.Key_Delete)
    desk.qtbot.waitUntil(lambda: desk.message.text == "Discarded 1 plant.")
    assert desk.newest(9) == plants


@pytest.mark.parametrize(
    ("key", "modifier"), [(Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier), (Qt.Key.Key_N, CONTROL)]
)
def test_a_key_after_the_search_had_the_focus_deletes_nothing_that_was_typed(
    desk: EntryDriver, key: Qt.Key, modifier: Qt.KeyboardModifier
) -> None:
    desk.type_name("Ros")
    desk.tag.setFocus()
    desk.press(Qt.Key.Key_F, CONTROL)
    assert not desk.name.hasFocus()
    desk.press(key, modifier)
    assert desk.name.hasFocus()
    desk.press(Qt.Key.Key_E)
    assert desk.name.text().lower() == "rose"


@pytest.mark.parametrize("taken", [False, True])
def test_a_kept_name_takes_its_usual_tag_along_when_it_is_replaced(desk: EntryDriver, *, taken: bool) -> None:
    desk.type_name("Mon")
    desk.expect_seen_fields("Monstera deliciosa", "living room")
    if taken:
        desk.press(Qt.Key.Key_Tab)
        assert (desk.tag.hasFocus(), desk.offers.isVisible()) == (True, False)
        desk.press(Qt.Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
    desk.press(Qt.Key.Key_Return, CONTROL)
    usual = ("Monstera deliciosa", "living room")
    desk.expect_newest(usual, usual)
    desk.expect_fields(*usual)
    desk.press(Qt.Key.Key_Return, CONTROL)
    desk.expect_newest(usual, usual, usual)
    desk.name.selectAll()
    desk.type_name("Fern")
    desk.expect_fields("Fern", "")
    desk.press(Qt.Key.Key_Return)
    desk.expect_newest(("Fern", None), usual)


@pytest.mark.parametrize("pinned", [False, True])
def test_a_typed_or_pinned_tag_is_kept_with_the_name(desk: EntryDriver, *, pinned: bool) -> None:
    desk.type_name("Mon")
    desk.expect_seen_fields("Monstera deliciosa", "living room")
    if pinned:
        QTest.mouseClick(desk.button("Pin"), Qt.MouseButton.LeftButton)
    else:
        desk.press(Qt.Key.Key_Tab)
        QTest.keyClicks(desk.tag, "living room")
        desk.name.setFocus()
    desk.press(Qt.Key.Key_Return, CONTROL)
    desk.expect_newest(("Monstera deliciosa", "living room"), ("Monstera deliciosa", "living room"))
    desk.name.selectAll()
    desk.type_name("Fern")
    desk.expect_fields("Fern", "living room")


# --- several ----------------------------------------------------------------------------------------------------------


def test_a_quantity_adds_so_many_as_one_change(desk: EntryDriver) -> None:
    desk.type_name("20 x Salvia")
    assert "Add 20" in desk.buttons()
    desk.press(Qt.Key.Key_Return)
    desk.expect_newest(*[("Salvia", None)] * 20, ("Monstera deliciosa", "living room"))
    desk.qtbot.waitUntil(lambda: desk.message.text == "Added 20 plants.")
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.expect_newest(("Monstera deliciosa", "living room"))


def test_a_quantity_completes_the_name_behind_it(desk: EntryDriver) -> None:
    desk.type_name("3x Mon")
    desk.expect_seen_fields("3x Monstera deliciosa", "living room")
    desk.press(Qt.Key.Key_Return)
    desk.expect_newest(*[("Monstera deliciosa", "living room")] * 4)


def test_a_quantity_with_an_id_takes_the_next_ids_or_is_refused(desk: EntryDriver) -> None:
    desk.enter("3 x Salvia", "70")
    desk.expect_newest(*[("Salvia", None)] * 3)
    reader = desk.store.reader()
    assert sorted(reader.rows([70, 71, 72])) == [70, 71, 72]
    reader.close()
    desk.enter("3 x Basil", "2")
    desk.qtbot.waitUntil(lambda: "Use the next free ID" in desk.buttons())
    assert "already belongs" in next(iter(desk.unsaved().values()))
    assert desk.newest(1) == [("Salvia", None)]


@pytest.mark.parametrize("text", ["1001 x Salvia", "0 x Salvia", "999999999 x Salvia"])
def test_too_many_are_refused(desk: EntryDriver, text: str) -> None:
    desk.enter(text)
    desk.qtbot.waitUntil(lambda: "From 1 to 1,000" in desk.message.text)
    assert desk.name.text() == text


def imported(desk: EntryDriver) -> WindowDriver:
    """Wait for the import of what came into Name."""
    desk.qtbot.waitUntil(lambda: desk.window.findChildren(ImportDialog) != [])
    dialog = WindowDriver(desk.qtbot, desk.window.findChildren(ImportDialog)[0])
    dialog.until(lambda: "counted over the whole file" in dialog.texts())
    return dialog


def test_pasted_lines_are_shown_and_imported_with_the_tag_as_one_change(desk: EntryDriver) -> None:
    desk.tag.setText("bed 4")
    QGuiApplication.clipboard().setText("Aster\n\nAjuga\n")
    desk.name.setFocus()
    desk.press(Qt.Key.Key_V, CONTROL)
    dialog = imported(desk)
    QTest.mouseClick(dialog.button("Import 2 plants"), Qt.MouseButton.LeftButton)
    desk.expect_newest(("Ajuga", "bed 4"), ("Aster", "bed 4"), ("Monstera deliciosa", "living room"))
    desk.qtbot.waitUntil(lambda: any("2 plants from" in each for each in desk.texts()))  # what Ctrl+Z takes back
    desk.window.activateWindow()
    desk.name.setFocus()
    desk.qtbot.waitUntil(desk.name.hasFocus)
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.expect_newest(("Monstera deliciosa", "living room"))


@pytest.mark.parametrize("way", ["context menu", "drop"])
def test_lines_are_shown_whichever_way_they_come_into_the_name(desk: EntryDriver, way: str) -> None:
    text = "Aster\nAjuga\n"
    if way == "drop":
        data = QMimeData()
        data.setText(text)
        assert desk.drop(desk.name, data)
    else:
        QGuiApplication.clipboard().setText(text)
        QApplication.sendEvent(desk.name, QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(5, 5), QPoint()))
        menu = desk.popup()
        paste_action = next(each for each in menu.actions() if plain(each.text()).startswith("Paste"))
        QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(paste_action).center())
    assert "Import 2 plants" in imported(desk).buttons()
    assert desk.name.text() == ""


def test_one_pasted_line_is_a_name(desk: EntryDriver) -> None:
    QGuiApplication.clipboard().setText("Aster\n")
    desk.name.setFocus()
    desk.press(Qt.Key.Key_V, CONTROL)
    assert desk.name.text().strip() == "Aster"


# --- the form ---------------------------------------------------------------------------------------------------------


def test_tags_are_completed_from_those_there_are_now(desk: EntryDriver) -> None:
    desk.wait_for_tags()
    change = desk.store.apply([SetTag(Selection(), "winter garden")], FORM).result(SECONDS).change
    completer = desk.completer
    desk.qtbot.waitUntil(lambda: completer.tags.rowCount() == 1)
    desk.type_name("Ficus")
    desk.tag.setFocus()
    QTest.keyClicks(desk.tag, "GARD")
    popup = completer.popup()
    assert popup is not None
    desk.qtbot.waitUntil(popup.isVisible)
    assert popup.verticalScrollBar().maximum() == 0, "all offers are seen"
    QTest.keyClick(popup, Qt.Key.Key_Down)
    QTest.keyClick(popup, Qt.Key.Key_Return)
    assert desk.tag.text() == "winter garden"
    desk.store.undo(change, FORM).result(SECONDS)
    desk.qtbot.waitUntil(lambda: completer.tags.rowCount() > 1)


def test_tags_are_completed_level_by_level(desk: EntryDriver) -> None:
    for plant_id, tag in enumerate(("garden/bed 1/left", "garden/bed 3", "kitchen garden"), 500):
        desk.store.add(new_plant({"id": plant_id, "name": "Aloe", "tag": tag}), FORM).result(SECONDS)
    desk.qtbot.waitUntil(lambda: "garden/bed 3" in desk.completer.tags.stringList())
    desk.type_name("Fern")
    desk.tag.setFocus()
    for typed, offers in (
        ("gar", ["garden", "kitchen garden"]),
        ("den", ["garden/bed 1", "garden/bed 3", "garden", "kitchen garden"]),
        ("/BED 1", ["garden/bed 1/left", "garden/bed 1"]),
        ("/", ["garden/bed 1/left"]),
    ):
        QTest.keyClicks(desk.tag, typed)
        desk.expect_offered_tags(*offers)
    popup = desk.completer.popup()
    assert popup is not None
    QTest.keyClick(popup, Qt.Key.Key_Down)
    QTest.keyClick(popup, Qt.Key.Key_Return)
    assert desk.tag.text() == "garden/bed 1/left"


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
