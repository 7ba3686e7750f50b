"""Find duplicates, driven by keys and clicks."""

from contextlib import closing

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from plantdesk.domain.edits import Insert, edited
from plantdesk.domain.records import COMMAND, FORM, PlantRow
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.cleanup.dialog import CleanUpDialog
from plantdesk.ui.cleanup.duplicate_table import DuplicateModel, DuplicateTable
from plantdesk.ui.cleanup.feature import CleanUpFeature
from plantdesk.ui.feature import OpenStore, WindowContext
from tests.support.adding import plant
from tests.support.waiting import MILLISECONDS
from tests.support.window_driver import Table, WindowDriver

PLANTS = [
    (1, "Aloe vera", "kitchen", "South window"),
    (2, "aloe  vera", "Kitchen", None),
    (3, "Fern", None, None),
    (4, "Monstera", "office", "Mother plant"),
    (5, "monstera", "office", "Cutting of 4, the smaller one"),
    (6, "Aloe vera", "office", None),
]
Role = Qt.ItemDataRole


class TidyingDriver(WindowDriver):
    """A window whose store has plants that are alike."""

    def __init__(self, qtbot: QtBot, context: WindowContext, store: SqliteStore, queries: StoreQueries) -> None:
        super().__init__(qtbot, context.page.window())
        self.context, self.store = context, store
        store.apply([Insert(plant(*values[:3]), values[3]) for values in PLANTS], FORM).result()
        context.undo_stack.set_store(store)
        self.feature = CleanUpFeature(context, Table())
        self.feature.set_store(OpenStore(store, queries))

    def find(self) -> None:
        self.choose("Tools", "Clean up…")
        self.until(lambda: self.view.isVisible() and self.view.model().rowCount() > 0)
        self.view.setFocus()

    @property
    def dialog(self) -> CleanUpDialog:
        return self.the(CleanUpDialog)

    @property
    def view(self) -> DuplicateTable:
        return self.the(DuplicateTable)

    def spoken(self) -> list[str]:
        model = self.view.model()
        return [str(model.index(row, 0).data(Role.AccessibleTextRole)) for row in range(model.rowCount())]

    def kept(self) -> list[int]:
        """The rows of the list whose plant is kept."""
        return [row for row, text in enumerate(self.spoken()) if text.startswith("Keep")]

    def merge(self) -> None:
        self.button(next(name for name in self.buttons() if name.startswith("Merge"))).click()
        self.until(lambda: self.toast.text.startswith("Merged"))

    def rows(self) -> dict[int, PlantRow]:
        with closing(self.store.reader()) as reader:
            return reader.rows(range(100))


@pytest.fixture
def user(qtbot: QtBot, context: WindowContext, store: SqliteStore, queries: StoreQueries) -> TidyingDriver:
    return TidyingDriver(qtbot, context, store, queries)


def test_groups_are_shown_with_what_differs_and_what_is_kept(user: TidyingDriver, qtmodeltester: ModelTester) -> None:
    user.find()
    stays = "the lowest ID stays"
    headings = [f"Aloe vera, 2 alike but for case, blanks, {stays}", f"Monstera, 2 alike but for case, {stays}"]
    assert [text for text in user.spoken() if "alike" in text] == headings
    assert user.spoken()[1].startswith("Keep, ID 1, Aloe vera, ")
    assert user.spoken()[2].startswith("ID 2, aloe ␣vera, ")
    assert user.spoken()[5].endswith(", office, Cutting of 4, the smaller one")
    assert "4 plants in 2 groups" in user.texts()
    assert "2 are kept, with all notes. 2 go; Ctrl+Z brings them back." in user.texts()
    qtmodeltester.check(user.dialog.findChild(DuplicateModel))


def test_a_merge_keeps_one_of_each_group_and_ctrl_z_brings_the_others_back(user: TidyingDriver) -> None:
    user.find()
    before = user.rows()
    user.button("Merge 2 plants").click()
    user.until(lambda: user.toast.text == "Merged 2 plants.")
    assert {plant_id: row.note for plant_id, row in user.rows().items()} == {
        1: "South window",
        3: None,
        4: "Mother plant\nCutting of 4, the smaller one",
        6: None,
    }
    user.context.undo_stack.undo()
    user.until(lambda: user.rows() == before)


def test_plants_that_were_added_together_or_agree_in_everything_are_left(user: TidyingDriver) -> None:
    salvias = [Insert(plant(plant_id, "Salvia", None), note) for plant_id, note in ((10, None), (11, "cut back"))]
    user.store.apply(salvias, FORM).result()
    for plant_id in (12, 13):
        user.store.add(plant(plant_id, "Fern", None), FORM).result()
    user.find()
    left = {text for text in user.spoken() if text.endswith("left as they are")}
    assert {text.split(", left")[0] for text in left} == {"Salvia, 2 alike, added together", "Fern, 3 alike"}
    headings = [text for text in user.spoken() if " alike" in text]
    assert {*headings[-2:]} == left, "what is to be merged comes first"
    user.merge()
    assert {*user.rows()} == {1, 3, 4, 6, 10, 11, 12, 13}


def test_the_rule_says_which_plant_is_kept(user: TidyingDriver) -> None:
    user.find()
    assert user.kept() == [1, 4]
    assert "the lowest ID stays" in user.spoken()[0]
    user.the(QComboBox, "Keep").setCurrentText("the one with the longest note")
    assert user.kept() == [1, 5]
    stays = [text.rpartition(", ")[2] for text in user.spoken() if "stays" in text]
    assert stays == ["the longest note stays", "the longest note stays"]
    user.merge()
    assert {*user.rows()} == {1, 3, 5, 6}


def test_keys_go_from_row_to_row_and_choose_the_plant_that_is_kept(user: TidyingDriver) -> None:
    user.find()
    user.hit(Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Space)
    assert user.kept() == [2, 4]
    assert "2 chosen" in user.spoken()[0]
    user.hit(Qt.Key.Key_Down, Qt.Key.Key_Space)
    assert user.kept() == [2]
    assert "left as they are" in user.spoken()[3]
    user.merge()
    assert {*user.rows()} == {2, 3, 4, 5, 6}


def test_a_click_on_a_plant_keeps_it_and_one_on_a_heading_leaves_the_group(user: TidyingDriver) -> None:
    user.find()
    for row in (0, 5):
        index = user.view.model().index(row, 0)
        QTest.mouseClick(user.view.viewport(), Qt.MouseButton.LeftButton, pos=user.view.visualRect(index).center())
    assert user.kept() == [5]
    assert user.view.model().index(0, 0).data(Role.CheckStateRole) == Qt.CheckState.Unchecked


def test_none_and_all_groups_can_be_chosen_at_once(user: TidyingDriver) -> None:
    user.find()
    user.the(QComboBox, "Alike in").setCurrentText("name")
    user.until(lambda: "5 plants in 2 groups" in user.texts())
    user.the(QComboBox, "Alike in").setCurrentText("name and tag")
    user.until(lambda: user.view.model().rowCount() == 6)  # read after they were counted
    assert "4 plants in 2 groups" in user.texts()
    user.button("Choose none").click()
    assert not user.button("Merge").isEnabled()
    assert user.kept() == []
    user.hit(Qt.Key.Key_Down, Qt.Key.Key_Space)
    user.merge()
    assert {*user.rows()} == {1, 3, 4, 5, 6}


def test_what_changes_meanwhile_stays_and_is_reported(user: TidyingDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plantdesk.ui.cleanup.dialog._REFRESH_DELAY_MS", MILLISECONDS)
    user.find()
    user.store.apply([edited(user.rows()[2], note="Repotted")], COMMAND).result()
    user.button("Merge 2 plants").click()
    user.until(lambda: user.toast.text.startswith("Merged 1 plant. 1 plant stays"))
    assert {*user.rows()} == {1, 2, 3, 4, 6}


def test_a_long_list_is_read_as_one_scrolls(user: TidyingDriver) -> None:
    plants = [Insert(plant(1000 + n, f"{('Hosta', 'hosta')[n % 2]} {n // 2}", None), None) for n in range(600)]
    user.store.apply(plants, FORM).result()
    user.find()
    first = user.view.model().rowCount()
    assert first < 600
    assert "604 plants in 302 groups" in user.texts()
    user.press(Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    user.until(lambda: user.view.model().rowCount() > first)
    user.press(Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    user.merge()
    with closing(user.store.reader()) as reader:
        assert reader.count() == 304


def test_rows_are_check_boxes_for_screen_readers(user: TidyingDriver) -> None:
    user.find()
    found = QAccessible.queryAccessibleInterface(user.view)
    columns = user.view.model().columnCount() + 1  # Qt counts the headings of the rows, although these are hidden
    rows = [found.child((row + 1) * columns + 1) for row in range(3)]
    assert rows[0].text(QAccessible.Text.Name).startswith("Aloe vera, 2 alike")
    assert [(row.state().checkable, row.state().checked) for row in rows] == [(1, 1), (1, 1), (1, 0)]
