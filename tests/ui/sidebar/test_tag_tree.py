"""Tags with slashes as a tree in the sidebar, driven by keys and clicks."""

from contextlib import closing

import pytest
from PySide6.QtCore import QEvent, QModelIndex, QPoint, Qt
from PySide6.QtGui import QDrag, QDragEnterEvent, QDragMoveEvent, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.plant_drag import make_tag_data, read_dragged_tag
from plantdesk.ui.sidebar.view import ENTRY_ROLE
from plantdesk.ui.widgets.dialog import MessageBox
from plantdesk.ui.widgets.plain_text import PlainLabel
from plantdesk.ui.workspace import Workspace
from tests.ui.conftest import Adder, open_store
from tests.ui.sidebar.test_sidebar import SidebarDriver, drop

CONTROL, NONE = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.NoModifier
LEFT = Qt.MouseButton.LeftButton


class TreeDriver(SidebarDriver):
    """The window with a tree of tags."""

    def __init__(self, qtbot: QtBot, workspace: Workspace, store: SqliteStore) -> None:
        super().__init__(qtbot, workspace)
        self.store = store

    def tree(self) -> list[str]:
        """The tags as they are seen, indented, with their numbers."""
        entries = [(index.data(ENTRY_ROLE), levels_above(index)) for index in self.indexes()]
        return [f"{'  ' * level}{each.text} {each.plants}" for each, level in entries if each.tag is not None]

    def shows_tree(self, *lines: str) -> None:
        self.until(lambda: self.tree() == list(lines))

    def tags(self) -> dict[str, str | None]:
        with closing(self.store.reader()) as reader:
            return {row.name: row.tag for row in reader.rows(range(1, 10)).values()}


def levels_above(index: QModelIndex) -> int:
    return 1 + levels_above(index.parent()) if index.parent().isValid() else 0


TREE = ("garden 4", "  bed 1 1", "  bed 3 2", "    left 1", "hall 1")


@pytest.fixture
def user(qtbot: QtBot, bare: Workspace, store: SqliteStore, add: Adder) -> TreeDriver:
    for name, tag in (
        ("Aloe", "garden"),
        ("Basil", "garden/bed 1"),
        ("Cactus", "garden/bed 3"),
        ("Dill", "garden/bed 3/left"),
        ("Elder", "hall"),
    ):
        add(name, tag=tag)
    open_store(bare, store)
    user = TreeDriver(qtbot, bare, store)
    user.shows_tree(*TREE)
    user.until(lambda: user.table.model().rowCount() == 5)
    return user


def chevron(user: TreeDriver, text: str, depth: int = 0) -> QPoint:
    return QPoint(8 + 16 * depth, user.point(text).y())


def test_a_click_shows_the_branch_and_the_menu_the_tag_itself(user: TreeDriver) -> None:
    user.click("garden")
    user.expect_names("Aloe", "Basil", "Cactus", "Dill")
    assert user.chips() == ["garden and below"]
    assert user.active() == ["garden"]
    user.click("bed 3")
    user.expect_names("Cactus", "Dill")
    user.go_to("garden")
    user.choose_in_menu("Show only garden itself")
    user.expect_names("Aloe")


def test_tags_that_differ_in_case_are_counted_shown_and_renamed_apart(user: TreeDriver, add: Adder) -> None:
    add("Fir", tag="Garden")
    add("Gorse", tag="Garden/bed 1")
    add("Holly", tag="hall/")  # an odd slash makes no level
    user.shows_tree("Garden 2", "  bed 1 1", *TREE, "hall/ 1")
    user.click("garden")
    user.expect_names("Aloe", "Basil", "Cactus", "Dill")
    user.click("Garden")
    user.expect_names("Fir", "Gorse")
    user.press(Qt.Key.Key_F2)
    user.type_name("park")
    user.shows_tree(*TREE, "hall/ 1", "park 2", "  bed 1 1")
    assert user.chips() == ["park and below"]
    user.click("hall/")
    user.expect_names("Holly")
    assert user.active() == ["hall/"]


def test_a_branch_is_folded_by_its_arrow_and_stays_so(user: TreeDriver, bare: Workspace, store: SqliteStore) -> None:
    QTest.mouseClick(user.view.viewport(), LEFT, NONE, chevron(user, "garden"))
    user.shows_tree("garden 4", "hall 1")
    assert not user.chips(), "it chooses nothing"
    bare.release_store()
    bare.set_store(store)
    user.shows_tree("garden 4", "hall 1")
    QTest.mouseDClick(user.view.viewport(), LEFT, NONE, chevron(user, "garden"))
    user.shows_tree(*TREE)


def test_keys_fold_unfold_and_go_through_the_tree(user: TreeDriver) -> None:
    user.go_to("left")
    user.press(Qt.Key.Key_Left)
    assert user.view.currentIndex().data() == "bed 3"
    user.press(Qt.Key.Key_Left)
    user.shows_tree("garden 4", "  bed 1 1", "  bed 3 2", "hall 1")
    for _ in range(2):
        user.press(Qt.Key.Key_Left)
    user.shows_tree("garden 4", "hall 1")
    assert user.view.currentIndex().data() == "garden"
    user.press(Qt.Key.Key_Right)
    user.shows_tree("garden 4", "  bed 1 1", "  bed 3 2", "hall 1")
    user.press(Qt.Key.Key_Right)
    assert user.view.currentIndex().data() == "bed 1"
    user.press(Qt.Key.Key_Left)
    user.press(Qt.Key.Key_Asterisk)
    user.shows_tree(*TREE)
    assert user.view.currentIndex().data() == "garden"


def test_a_branch_is_renamed_as_one_change_and_the_filter_follows(user: TreeDriver) -> None:
    user.click("garden")
    user.expect_names("Aloe", "Basil", "Cactus", "Dill")
    user.edit("garden")
    user.type_name("yard")
    user.shows_tree("hall 1", "yard 4", "  bed 1 1", "  bed 3 2", "    left 1")
    user.until(lambda: user.chips() == ["yard and below"])
    assert user.view.currentIndex().data() == "yard"
    assert user.toast.text == "Changed the tag of 4 plants from “garden” to “yard”."
    user.button("Undo").click()
    user.shows_tree(*TREE)
    user.until(lambda: user.chips() == ["garden and below"])
    assert user.view.currentIndex().data() == "garden"


def test_the_focus_stays_on_a_tag_in_a_branch_that_is_renamed_and_undone(user: TreeDriver) -> None:
    user.go_to("left")
    drop(user, "hall", make_tag_data("garden"))
    user.shows_tree("hall 5", "  garden 4", "    bed 1 1", "    bed 3 2", "      left 1")
    assert user.view.currentIndex().data() == "left"
    user.button("Undo").click()
    user.shows_tree(*TREE)
    assert user.view.currentIndex().data() == "left"


def test_the_focus_stays_on_a_tag_that_gets_others_below_it(user: TreeDriver, add: Adder) -> None:
    user.go_to("hall")
    add("Fern", tag="hall/shelf/top")
    user.shows_tree(*TREE[:-1], "hall 2", "  shelf 1", "    top 1")
    assert user.view.currentIndex().data() == "hall"


def test_another_path_moves_a_branch_and_asks_where_there_are_plants(user: TreeDriver) -> None:
    user.edit("bed 3")
    assert user.editor.text() == "garden/bed 3"
    user.type_name("garden/bed 1")
    user.until(lambda: user.widget.findChildren(MessageBox) != [])
    box = user.the(MessageBox)
    assert box.text == "Change the tag of 2 plants from “garden/bed 3” to “garden/bed 1”?"
    assert any("1 plant has the tag" in label.text() for label in box.findChildren(PlainLabel))
    user.button("Merge").click()
    user.shows_tree("garden 4", "  bed 1 3", "    left 1", "hall 1")


@pytest.mark.parametrize("into", ["garden", "garden/bed 1", "garden/bed 3"])
@pytest.mark.parametrize("is_folded", [False, True])
def test_the_focus_stays_on_the_tag_into_which_one_is_merged(user: TreeDriver, into: str, *, is_folded: bool) -> None:
    if is_folded:
        user.go_to("garden")
        user.press(Qt.Key.Key_Left)
    user.edit("hall")
    user.type_name(into)
    user.until(lambda: user.widget.findChildren(MessageBox) != [])
    user.button("Merge").click()
    user.until(lambda: "hall" not in user.entries())
    assert user.view.currentIndex().data() == into.removeprefix("garden/")


@pytest.mark.parametrize(
    ("tag", "target", "tags"),
    [
        ("hall", "garden", {"Elder": "garden/hall"}),
        ("garden/bed 3", "hall", {"Cactus": "hall/bed 3", "Dill": "hall/bed 3/left"}),
        ("garden/bed 3", "Tags", {"Cactus": "bed 3", "Dill": "bed 3/left"}),
        ("garden", "hall", {"Aloe": "hall/garden", "Dill": "hall/garden/bed 3/left"}),
    ],
)
def test_a_tag_is_dragged_to_another_place(user: TreeDriver, tag: str, target: str, tags: dict[str, str]) -> None:
    before = user.tags()
    assert drop(user, target, make_tag_data(tag))
    user.until(lambda: user.tags().items() >= tags.items())
    user.until(lambda: "Undo" in user.buttons())
    user.button("Undo").click()
    user.until(lambda: user.tags() == before)


def test_a_tag_is_dragged_by_the_mouse_but_not_by_its_arrow(user: TreeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    dragged: list[str | None] = []
    monkeypatch.setattr(QDrag, "exec", lambda drag, _actions: dragged.append(read_dragged_tag(drag.mimeData())))
    user.go_to("hall")
    viewport, least = user.view.viewport(), QApplication.startDragDistance()
    for start in (user.point("All plants"), user.point("bed 3"), chevron(user, "garden")):
        QTest.mousePress(viewport, LEFT, NONE, start)
        for distance in (least - 2, least + 2):
            end = (start + QPoint(distance, 0)).toPointF()
            move = QMouseEvent(QEvent.Type.MouseMove, end, viewport.mapToGlobal(end), LEFT, LEFT, NONE)
            QApplication.sendEvent(viewport, move)
        QTest.mouseRelease(viewport, LEFT, NONE, start)
    assert dragged == ["garden/bed 3"]


@pytest.mark.parametrize(
    ("tag", "target"),
    [("garden", "left"), ("garden", "garden"), ("garden/bed 1", "garden"), ("hall", "Tags"), ("hall", "All plants")],
)
def test_a_tag_is_not_dropped_where_it_cannot_go(user: TreeDriver, tag: str, target: str) -> None:
    assert not drop(user, target, make_tag_data(tag))


def test_a_branch_is_removed(user: TreeDriver) -> None:
    user.go_to("garden")
    user.press(Qt.Key.Key_Delete)
    user.shows_tree("hall 1")
    user.until(lambda: user.toast.text == "Removed the tag “garden” from 4 plants.")
    user.expect_names("Aloe", "Basil", "Cactus", "Dill", "Elder")


def test_a_folded_branch_is_opened_by_what_is_dragged_over_it(user: TreeDriver) -> None:
    user.go_to("garden")
    user.press(Qt.Key.Key_Left)
    user.shows_tree("garden 4", "hall 1")
    viewport, arguments = user.view.viewport(), (Qt.DropAction.CopyAction, make_tag_data("hall"), LEFT, NONE)
    QApplication.sendEvent(viewport, QDragEnterEvent(user.point("garden"), *arguments))
    QApplication.sendEvent(viewport, QDragMoveEvent(user.point("garden"), *arguments))
    user.shows_tree(*TREE)
