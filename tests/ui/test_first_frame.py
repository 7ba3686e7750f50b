"""The window is as it was before its store is open: nothing comes, goes or moves when the plants are there."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget
from typing_extensions import override

from plantdesk import __version__
from plantdesk.domain.edits import DeleteAll
from plantdesk.domain.records import COMMAND
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store import location_of
from plantdesk.ui.main_window import MainWindow
from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.plants.table.view import PlantTableView
from plantdesk.ui.preferences import Preferences
from plantdesk.ui.sidebar.view import SidebarView
from plantdesk.ui.workspace import Workspace
from tests.support.desk import Desk
from tests.ui.conftest import NoServer

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtCore import QRect
    from pytestqt.qtbot import QtBot

    from plantdesk.store.sqlite.store import Store
    from plantdesk.ui.bridge import Bridge
    from plantdesk.ui.server_control import ApiControl
    from plantdesk.ui.theme.theme import Theme
    from tests.ui.conftest import Adder


class Frame(Desk):
    """A window whose settings were saved by another one."""

    def __init__(self, qtbot: QtBot, theme: Theme, bridge: Bridge, folder: Path) -> None:
        preferences = Preferences(folder / "settings.json")
        window = MainWindow(preferences)
        super().__init__(qtbot, window)
        qtbot.addWidget(window)
        self.theme = theme
        server = cast("ApiControl", NoServer())
        self.workspace = Workspace(theme, bridge, preferences, server, location_of(folder / "plants.db"), window)
        with qtbot.waitActive(window):  # shortcuts are those of the active window
            window.show()

    @property
    def columns(self) -> list[int]:
        table = self.the(PlantTableView)
        return [-1 if table.isColumnHidden(each) else table.columnViewportPosition(each) for each in Column]

    @property
    def entries(self) -> list[str]:
        model = self.the(SidebarView).model()
        return [model.index(row, 0).data() for row in range(model.rowCount())]

    @property
    def seen(self) -> list[str]:
        """What is in sight in the card."""
        return [each.text() for each in self.workspace.card.findChildren(QLabel) if each.isVisible()]

    @property
    def places(self) -> list[QRect]:
        return [self.workspace.sidebar.geometry(), self.name.geometry(), self.tag.geometry()]

    @property
    def places_of_bars(self) -> list[QRect]:
        return [*(bar.geometry() for bar in self.bars), self.workspace.list_rect, self.message.geometry()]


class Moved(QObject):
    """Notes when a widget is moved, resized, shown or hidden."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.kinds: list[QEvent.Type] = []
        widget.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in {QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide}:
            self.kinds.append(event.type())
        return False


def test_the_first_frame_has_the_last_layout(
    qtbot: QtBot, theme: Theme, bridge: Bridge, store: Store, add: Adder, tmp_path: Path
) -> None:
    add("Aloe", tag="kitchen")
    store.add(new_plant({"id": 12_345_678_901, "name": "Basil", "tag": "bed 4"}), COMMAND).result()
    before = Frame(qtbot, theme, bridge, tmp_path)
    before.workspace.complete()
    before.workspace.set_store(store)
    before.until(lambda: before.columns[Column.SOURCE] > 0 and "kitchen" in before.entries)
    before.until(lambda: before.field("ID").placeholderText().endswith("902"))  # for which the field has grown
    before.field("Search by name, tag or ID").setText("-dill")
    before.until(lambda: before.the(PlantTableView).model().rowCount() == 2)
    QCoreApplication.processEvents()  # the layout moves Name when the field has grown
    places, columns, entries = before.places, before.columns, before.entries
    before.workspace.release_store()
    before.window.close()

    after = Frame(qtbot, theme, bridge, tmp_path)
    after.workspace.complete()
    QCoreApplication.processEvents()
    assert (after.places, after.entries) == (places, entries), "in the first paint of the content"
    after.until(lambda: after.columns == columns)
    assert after.field("Search by name, tag or ID").text() == "-dill"
    after.until(lambda: after.message.text.startswith("Opening your plants…"))
    after.workspace.set_store(store)
    after.until(lambda: after.the(PlantTableView).model().rowCount() == 2)
    assert (after.places, after.columns, after.entries) == (places, columns, entries)
    after.until(lambda: not after.message.text.startswith("Opening"))
    after.workspace.release_store()


def test_what_is_half_typed_is_in_the_first_frame(
    qtbot: QtBot, theme: Theme, bridge: Bridge, store: Store, tmp_path: Path
) -> None:
    texts = ["77", "half a name", "hall"]
    before = Frame(qtbot, theme, bridge, tmp_path)
    before.workspace.complete()
    before.workspace.set_store(store)
    before.button("Pin").click()
    for field, text in zip((before.id, before.name, before.tag), texts, strict=True):
        field.setText(text)
    before.workspace.release_store()
    after = Frame(qtbot, theme, bridge, tmp_path)
    after.workspace.complete()
    after.workspace.appear()
    assert [field.text() for field in (after.id, after.name, after.tag)] == texts
    QTest.keyClicks(after.focused, "d")
    assert after.name.text() == "half a named", "the next key does not replace it"
    after.workspace.set_store(store)
    assert after.action("Keep tag for the next plant").isChecked()
    after.workspace.release_store()


@pytest.fixture
def closed(qtbot: QtBot, theme: Theme, bridge: Bridge, store: Store, add: Adder, tmp_path: Path) -> Frame:
    """A window that was closed with the card of a plant beside the list."""
    add("Aloe", tag="kitchen")
    store.add(new_plant({"id": 2, "name": "Basil", "tag": "bed 4"}), COMMAND).result()
    frame = Frame(qtbot, theme, bridge, tmp_path)
    frame.window.resize(1180, 700)
    frame.workspace.complete()
    frame.workspace.set_store(store)
    frame.until(lambda: frame.columns[Column.SOURCE] > 0 and frame.the(PlantTableView).model().rowCount() == 2)
    frame.the(PlantTableView).setFocus()
    frame.the(PlantTableView).selectRow(0)
    frame.press(Qt.Key.Key_I, Qt.KeyboardModifier.ControlModifier)
    frame.until(lambda: "ID 2" in frame.seen)
    frame.workspace.release_store()
    frame.window.close()
    return frame


def next_frame(qtbot: QtBot, theme: Theme, bridge: Bridge, closed: Frame, folder: Path) -> Frame:
    """The window of the next start, before its store is open."""
    frame = Frame(qtbot, theme, bridge, folder)
    frame.window.resize(closed.window.size())
    frame.workspace.complete()
    frame.workspace.appear()
    QCoreApplication.processEvents()
    return frame


def test_the_card_of_the_last_plant_has_its_place_from_the_start(
    qtbot: QtBot, theme: Theme, bridge: Bridge, store: Store, closed: Frame, tmp_path: Path
) -> None:
    frame = next_frame(qtbot, theme, bridge, closed, tmp_path)
    columns, moved = frame.columns, Moved(frame.workspace.card)
    assert columns[Column.SOURCE] == -1, "there is no room for it beside the card"
    assert frame.workspace.card.isVisible()
    assert not frame.seen
    frame.workspace.set_store(store)
    frame.until(lambda: "ID 2" in frame.seen)
    QCoreApplication.processEvents()
    assert (frame.columns, moved.kinds) == (columns, [])
    frame.workspace.release_store()


def test_the_card_is_withdrawn_where_the_last_plant_is_gone(
    qtbot: QtBot, theme: Theme, bridge: Bridge, store: Store, closed: Frame, tmp_path: Path
) -> None:
    store.apply([DeleteAll(Selection(ids=[2]))], COMMAND).result()
    frame = next_frame(qtbot, theme, bridge, closed, tmp_path)
    assert frame.workspace.card.isVisible()
    frame.workspace.set_store(store)
    frame.until(frame.workspace.card.isHidden)
    frame.until(lambda: frame.workspace.list_rect.right() == frame.workspace.rect().right())
    frame.workspace.release_store()


def test_a_bar_at_the_start_moves_nothing_afterwards(
    qtbot: QtBot, theme: Theme, bridge: Bridge, store: Store, add: Adder, tmp_path: Path
) -> None:
    add("Aloe")
    Preferences(tmp_path / "settings.json").change(seen_version="0.0.9")
    frame = Frame(qtbot, theme, bridge, tmp_path)
    frame.workspace.complete()
    frame.workspace.appear()
    places = frame.places_of_bars
    frame.workspace.set_store(store)
    frame.until(lambda: frame.the(PlantTableView).model().rowCount() == 1)
    assert f"This is PlantDesk {__version__}" in [bar.title for bar in frame.bars]
    QCoreApplication.processEvents()
    assert frame.places_of_bars == places
    frame.workspace.release_store()
