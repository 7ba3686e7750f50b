"""A session of cleaning up in the whole window: page after page, in one dialog."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QTabBar
from pytestqt.qtbot import QtBot

from plantdesk.domain.edits import DeleteAll, Insert
from plantdesk.domain.records import COMMAND, FORM
from plantdesk.domain.selections import Selection
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.cleanup.changed_texts import ChangedTextTable
from plantdesk.ui.cleanup.dialog import CleanUpDialog
from plantdesk.ui.cleanup.duplicate_table import DuplicateTable
from plantdesk.ui.widgets.fields import ComboBox
from plantdesk.ui.workspace import Workspace
from tests.support.adding import plant
from tests.support.window_driver import WindowDriver
from tests.ui.conftest import open_store

PLANTS = [
    (1, "Aloe vera", "kitchen"),
    (2, "aloe vera", "kitchen"),
    (3, "Monstera", "office"),
    (4, "monstera", "office"),
    (5, "Fern", "kitchen"),
    (6, "Fern wild", "Kitchen"),
    (7, "Rose", "ofice"),
]
CONTROL = Qt.KeyboardModifier.ControlModifier


class Session(WindowDriver):
    """The dialog over the plants of the store."""

    def __init__(self, qtbot: QtBot, workspace: Workspace, store: SqliteStore) -> None:
        self.main, self.store = WindowDriver(qtbot, workspace.window()), store
        self.main.action("Clean up…").trigger()
        self.dialog = self.main.the(CleanUpDialog)
        super().__init__(qtbot, self.dialog)
        self.until(self.dialog.isActiveWindow)
        self.until(lambda: "Merge 2 plants" in self.buttons() and len(self.spoken(DuplicateTable)) == 6)

    def turn_to(self, page: str) -> None:
        for _ in range(3):
            if self.page != page:
                self.press(Qt.Key.Key_Tab, CONTROL)
        assert self.page == page

    @property
    def page(self) -> str:
        tabs = self.the(QTabBar)
        return tabs.tabText(tabs.currentIndex())

    def spoken(self, kind: type[QAbstractItemView]) -> list[str]:
        model = self.the(kind).model()
        role = Qt.ItemDataRole.AccessibleTextRole
        return [str(model.index(row, 0).data(role)) for row in range(model.rowCount())]

    def scopes(self) -> list[str]:
        box = self.the(ComboBox, "Where")
        return [box.itemText(number) for number in range(box.count())]

    def kept(self) -> list[str]:
        """What is said of the plants that are kept."""
        return [text for text in self.spoken(DuplicateTable) if text.startswith("Keep")]

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Wait until the duplicates have been read again."""
        with self.qtbot.waitSignal(self.the(DuplicateTable).model().modelReset):
            yield

    def click(self, button: str) -> None:
        # Qt shows what is added to a visible window in the next turn of its loop.
        self.until(lambda: self.button(button).isVisible())
        QTest.mouseClick(self.button(button), Qt.MouseButton.LeftButton)

    def expect_text(self, text: str) -> None:
        self.until(lambda: text in self.texts())

    def plants(self) -> dict[int, tuple[str, str | None]]:
        with closing(self.store.reader()) as reader:
            return {row.id: (row.name, row.tag) for row in reader.rows(range(100)).values()}


@pytest.fixture
def session(qtbot: QtBot, bare: Workspace, store: SqliteStore) -> Session:
    store.apply([Insert(plant(*values)) for values in PLANTS], FORM).result()
    open_store(bare, store)
    return Session(qtbot, bare, store)


def test_one_dialog_serves_a_whole_session(session: Session) -> None:
    session.the(DuplicateTable).setFocus()
    session.hit(Qt.Key.Key_Down, Qt.Key.Key_Space)  # the group of Aloe vera is left
    session.turn_to("Tags")
    session.until(lambda: "Merge 2 tags" in session.buttons())
    session.click("ofice, 1 plant, one letter off")
    session.turn_to("Names and notes")
    session.hit(*"Fern", Qt.Key.Key_Tab, *"Polypody")
    session.until(lambda: "Replace in 2 plants" in session.buttons())
    session.the(ChangedTextTable).setFocus()
    session.hit(Qt.Key.Key_Down, Qt.Key.Key_Space)  # Fern stays
    session.until(lambda: "Replace in 1 plant" in session.buttons())

    session.turn_to("Duplicates")
    session.click("Merge 1 plant")
    session.expect_text("Merged 1 plant.")
    session.until(lambda: not session.kept() and len(session.spoken(DuplicateTable)) == 3)

    session.turn_to("Tags")
    session.click("Merge 1 tag")
    session.expect_text("1 plant got another tag.")
    assert session.plants()[6] == ("Fern wild", "kitchen")
    assert not session.button("ofice, 1 plant, one letter off").isChecked()

    session.turn_to("Names and notes")
    session.until(lambda: "Replace in 1 plant" in session.buttons())
    assert session.spoken(ChangedTextTable)[1] == "5, Name: Fern, stays"
    session.field("Replace with").setFocus()
    session.press(Qt.Key.Key_Return)
    session.expect_text("Replaced in 1 plant.")
    assert {name for name, _ in session.plants().values()} >= {"Fern", "Polypody wild"}
    assert session.dialog.isVisible()
    session.press(Qt.Key.Key_Escape)
    session.until(lambda: not session.main.widget.findChildren(CleanUpDialog))


def test_undo_in_the_dialog_brings_back_what_it_lists(session: Session) -> None:
    session.click("Merge 2 plants")
    session.until(lambda: "No two plants are alike." in session.texts())
    session.click("Undo")
    session.until(lambda: any(text.startswith("Undone: ") for text in session.texts()))
    session.until(lambda: "Merge 2 plants" in session.buttons())
    assert session.plants().keys() == {1, 2, 3, 4, 5, 6, 7}


def test_after_enter_on_a_button_ctrl_z_in_a_field_undoes_the_change(session: Session) -> None:
    session.turn_to("Names and notes")
    session.hit(*"Fern", Qt.Key.Key_Tab, *"Polypody")
    session.until(lambda: "Replace in 2 plants" in session.buttons())
    session.button("Replace in 2 plants").setFocus()
    session.press(Qt.Key.Key_Return)
    session.expect_text("Replaced in 2 plants.")
    assert session.focused is session.the(ComboBox, "Do")
    assert session.dialog.isVisible()
    session.field("Replace with").setFocus()
    session.press(Qt.Key.Key_Z, CONTROL)
    session.until(lambda: session.plants()[5][0] == "Fern")
    assert session.field("Replace with").text() == "Polypody"
    session.until(lambda: "Replace in 2 plants" in session.buttons())


def test_another_plant_or_tag_that_was_chosen_to_be_kept_stays_chosen(session: Session) -> None:
    session.the(DuplicateTable).setFocus()
    session.hit(Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Space)  # plant 2
    session.turn_to("Tags")
    session.until(lambda: "Merge 2 tags" in session.buttons())
    box = next(combo for combo in session.dialog.findChildren(QComboBox) if combo.findData("ofice") >= 0)
    box.setCurrentIndex(box.findData("ofice"))
    session.click("Kitchen, 1 plant, case")
    with session.reading():
        session.click("Merge 1 tag")
    session.expect_text("2 plants got another tag.")
    session.press(Qt.Key.Key_Backtab, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    assert session.page == "Duplicates"
    session.until(lambda: [text.split(", ")[1] for text in session.kept()] == ["ID 2", "ID 3"])
    session.click("Choose none")
    with session.reading():
        session.click("Undo")
    session.until(lambda: len(session.spoken(DuplicateTable)) == 6)
    assert session.plants()[3] == ("Monstera", "office")
    assert not session.kept()
    session.turn_to("Tags")
    session.until(lambda: session.button("Kitchen, 1 plant, case").isVisible())
    assert not session.button("Kitchen, 1 plant, case").isChecked()


def test_what_others_change_is_followed(session: Session) -> None:
    session.turn_to("Tags")
    session.until(lambda: "Merge 2 tags" in session.buttons())
    session.turn_to("Names and notes")
    session.hit(*"Fern", Qt.Key.Key_Tab, *"Polypody")
    session.until(lambda: "Replace in 2 plants" in session.buttons())
    plants = len(session.plants())
    session.until(lambda: f"In all {plants} plants" in session.scopes())
    fern = next(plant_id for plant_id, (name, _) in session.plants().items() if name == "Fern")
    session.store.apply([DeleteAll(Selection(ids=[fern]))], COMMAND).result()
    session.until(lambda: "Replace in 1 plant" in session.buttons())
    session.until(lambda: f"In all {plants - 1} plants" in session.scopes())
    session.turn_to("Duplicates")
    kept = len(session.kept())
    assert kept
    alike = [plant_id for plant_id, (name, _) in session.plants().items() if name.casefold() == "aloe vera"]
    session.store.apply([DeleteAll(Selection(ids=alike))], COMMAND).result()
    session.until(lambda: len(session.kept()) < kept)
