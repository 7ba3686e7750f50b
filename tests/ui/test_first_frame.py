"""The window is as it was before its store is open: nothing comes, goes or moves when the plants are there."""

from pathlib import Path
from typing import cast

from PySide6.QtCore import QCoreApplication, QPoint, QRect
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from plantdesk import __version__
from plantdesk.domain.records import COMMAND
from plantdesk.domain.server_state import Off
from plantdesk.domain.validation import new_plant
from plantdesk.store import location_of
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.api_control import ApiControl
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.main_window import MainWindow
from plantdesk.ui.plants.browser import PlantBrowser
from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.plants.table.view import PlantTableView
from plantdesk.ui.preferences import Preferences
from plantdesk.ui.sidebar.view import SidebarView
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.workspace import Workspace
from tests.support.api_switch import ApiSwitch
from tests.support.window_driver import WindowDriver
from tests.ui.conftest import Adder, open_store


class Frame(WindowDriver):
    """A window whose settings were saved by another one."""

    def __init__(self, qtbot: QtBot, theme: Theme, bridge: Bridge, folder: Path) -> None:
        preferences = Preferences(folder / "settings.json")
        window = MainWindow(preferences)
        super().__init__(qtbot, window)
        qtbot.addWidget(window)
        self.theme = theme
        server = cast("ApiControl", ApiSwitch(bridge, Off()))
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
    def places(self) -> list[QRect]:
        return [self.workspace.sidebar_pane.geometry(), self.name.geometry(), self.tag.geometry()]

    @property
    def places_of_bars(self) -> list[QRect]:
        browser = self.the(PlantBrowser)
        main_pane = QRect(browser.mapTo(self.workspace, QPoint()), browser.size())
        return [*(bar.geometry() for bar in self.bars), main_pane, self.message.geometry()]


def test_the_first_frame_has_the_last_layout(
    qtbot: QtBot, theme: Theme, bridge: Bridge, store: SqliteStore, add: Adder, tmp_path: Path
) -> None:
    add("Aloe", tag="kitchen")
    store.add(new_plant({"id": 12_345_678_901, "name": "Basil", "tag": "bed 4"}), COMMAND).result()
    before = Frame(qtbot, theme, bridge, tmp_path)
    open_store(before.workspace, store)
    before.until(lambda: before.columns[Column.SOURCE] > 0 and "kitchen" in before.entries)
    before.until(lambda: before.field("ID").placeholderText().endswith("902"))  # for which the field has grown
    before.field("Search by name, tag or ID").setText("-dill")
    before.until(lambda: before.the(PlantTableView).model().rowCount() == 2)
    QCoreApplication.processEvents()  # the layout moves Name when the field has grown
    places, columns, entries = before.places, before.columns, before.entries
    before.workspace.release_store()
    before.window.close()

    after = Frame(qtbot, theme, bridge, tmp_path)
    after.workspace.set_up()
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
    qtbot: QtBot, theme: Theme, bridge: Bridge, store: SqliteStore, tmp_path: Path
) -> None:
    texts = ["77", "half a name", "hall"]
    before = Frame(qtbot, theme, bridge, tmp_path)
    open_store(before.workspace, store)
    before.button("Pin").click()
    for field, text in zip((before.id, before.name, before.tag), texts, strict=True):
        field.setText(text)
    before.workspace.release_store()
    after = Frame(qtbot, theme, bridge, tmp_path)
    after.workspace.set_up()
    after.workspace.show_and_focus()
    assert [field.text() for field in (after.id, after.name, after.tag)] == texts
    QTest.keyClicks(after.focused, "d")
    assert after.name.text() == "half a named", "the next key does not replace it"
    after.workspace.set_store(store)
    assert after.action("Keep tag for the next plant").isChecked()
    after.workspace.release_store()


def test_a_bar_at_the_start_moves_nothing_afterwards(
    qtbot: QtBot, theme: Theme, bridge: Bridge, store: SqliteStore, add: Adder, tmp_path: Path
) -> None:
    add("Aloe")
    Preferences(tmp_path / "settings.json").change(seen_version="0.0.9")
    frame = Frame(qtbot, theme, bridge, tmp_path)
    frame.workspace.set_up()
    frame.workspace.show_and_focus()
    places = frame.places_of_bars
    frame.workspace.set_store(store)
    frame.until(lambda: frame.the(PlantTableView).model().rowCount() == 1)
    assert f"This is PlantDesk {__version__}" in [bar.title for bar in frame.bars]
    QCoreApplication.processEvents()
    assert frame.places_of_bars == places
    frame.workspace.release_store()
