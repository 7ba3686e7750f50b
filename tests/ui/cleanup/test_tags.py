"""Tidy up tags, driven by keys and clicks."""

from contextlib import closing

import pytest
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from plantdesk.domain.edits import DeleteAll, Insert
from plantdesk.domain.records import FORM
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.cleanup.dialog import CleanUpDialog
from plantdesk.ui.cleanup.feature import CleanUpFeature
from plantdesk.ui.cleanup.pages import TagGroup
from plantdesk.ui.feature import OpenStore, WindowContext
from tests.support.window_driver import Table, WindowDriver

TAGS = {"kitchen": 5, "Kitchen": 3, "kitchn": 1, "bed 4": 4, "Bed 4": 2, "bed 3": 3, "hall": 1}


class TagsDriver(WindowDriver):
    """A window whose store has plants with tags that are alike."""

    def __init__(self, qtbot: QtBot, context: WindowContext, store: SqliteStore, queries: StoreQueries) -> None:
        super().__init__(qtbot, context.page.window())
        self.context, self.store = context, store
        tags = [tag for tag, count in TAGS.items() for _ in range(count)]
        plants = [{"id": number, "name": "Fern", "tag": tag} for number, tag in enumerate(tags)]
        store.apply([Insert(new_plant(plant)) for plant in plants], FORM).result()
        context.undo_stack.set_store(store)
        self.feature = CleanUpFeature(context, Table())
        self.feature.set_store(OpenStore(store, queries))

    def have(self, tags: dict[str, int]) -> None:
        """Let the store have other plants, so many of each tag."""
        self.store.apply([DeleteAll(Selection())], FORM).result()
        plants = [tag for tag, count in tags.items() for _ in range(count)]
        inserts = [Insert(new_plant({"id": 100 + at, "name": "Fern", "tag": tag})) for at, tag in enumerate(plants)]
        self.store.apply(inserts, FORM).result()

    def open(self) -> None:
        self.action("Tidy up tags…").trigger()
        # Qt shows what is added to a visible window in the next turn of its loop; until then, Tab passes over it.
        self.until(lambda: any(group.isVisible() for group in self.the(CleanUpDialog).findChildren(TagGroup)))

    def tags(self) -> dict[str, int]:
        with closing(self.store.reader()) as reader:
            return reader.tag_counts()


@pytest.fixture
def user(qtbot: QtBot, context: WindowContext, store: SqliteStore, queries: StoreQueries) -> TagsDriver:
    return TagsDriver(qtbot, context, store, queries)


def test_all_groups_are_merged_as_one_change_with_one_undo(user: TagsDriver) -> None:
    user.open()
    assert {"6 of 7 tags look like others", "takes 4 plants", "takes 2 plants"} <= {*user.texts()}
    assert "6 plants get another tag. One change; Ctrl+Z takes it back." in user.texts()
    user.button("Merge 3 tags").click()
    user.until(lambda: user.toast.text == "6 plants got another tag.")
    assert user.tags() == {"kitchen": 9, "bed 4": 6, "bed 3": 3, "hall": 1}
    with closing(user.store.reader()) as reader:
        assert str(reader.history()[0].title) == "Merge tags “Bed 4”, “Kitchen”, “kitchn”"
    user.context.undo_stack.undo()
    user.until(lambda: user.tags() == TAGS)


def test_branches_are_merged_level_by_level(user: TagsDriver) -> None:
    user.have({"greenhouse/bench 1": 3, "Greenhouse/Bench 1": 4, "greenhouse/bench 2": 1, "bed 3": 3})
    user.open()
    assert {"3 of 4 tags look like others", "4 plants get another tag. One change; Ctrl+Z takes it back."} <= {
        *user.texts()
    }
    user.button("Merge 2 tags").click()
    user.until(lambda: user.tags() == {"Greenhouse/Bench 1": 7, "Greenhouse/bench 2": 1, "bed 3": 3})


def test_the_tag_that_is_kept_is_shown_as_the_merge_of_those_above_it_makes_it(user: TagsDriver) -> None:
    user.have({"greenhouse/bench 1": 2, "Greenhouse/Bench 1": 1, "Greenhouse/pot": 1})  # a tie above
    user.open()
    above, below = user.the(CleanUpDialog).findChildren(TagGroup)
    box = below.findChildren(QComboBox)[0]
    assert box.currentText() == "Greenhouse/bench 1"
    WindowDriver(user.qtbot, above).button("Keep").click()
    assert box.currentText() == "greenhouse/bench 1"
    WindowDriver(user.qtbot, above).button("Keep").click()
    user.button("Merge 2 tags").click()
    user.until(lambda: user.tags() == {"Greenhouse/bench 1": 3, "Greenhouse/pot": 1})


def test_the_user_chooses_the_tag_into_which_others_are_merged(user: TagsDriver) -> None:
    user.open()
    boxes = [combo for combo in user.the(CleanUpDialog).findChildren(QComboBox) if combo.findData("Kitchen") >= 0]
    boxes[0].setCurrentIndex(boxes[0].findData("Kitchen"))
    assert "takes 6 plants" in user.texts()
    user.button("Merge 3 tags").click()
    user.until(lambda: user.tags() == {"Kitchen": 9, "bed 4": 6, "bed 3": 3, "hall": 1})


def test_a_tag_without_its_tick_stays(user: TagsDriver) -> None:
    user.open()
    assert not user.button("bed 3, 3 plants, another number, so not ticked").isChecked()
    user.button("kitchn, 1 plant, one letter off").click()
    user.button("Bed 4, 2 plants, case").click()
    user.button("Merge 1 tag").click()
    user.until(lambda: user.tags() == {"kitchen": 8, "kitchn": 1, "bed 4": 4, "Bed 4": 2, "bed 3": 3, "hall": 1})


def test_what_is_alike_is_chosen_above(user: TagsDriver) -> None:
    user.open()
    user.button("one letter").click()
    user.until(lambda: "4 of 7 tags look like others" in user.texts())
    user.button("case and accents").click()
    user.until(lambda: "No tag looks like another one." in user.texts())
    assert not user.button("Merge").isEnabled()
