import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QMenu, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from plantdesk.domain.errors import StoreReadOnlyError
from plantdesk.domain.server_state import Failed, On, PortInUseError, PortOfPlantDeskError, ServerState
from plantdesk.platform import manual, unsaved_file
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.api_access.dialog import ApiDialog
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.page import Page
from plantdesk.ui.plants.unsaved_plants import UnsavedPlants
from plantdesk.ui.settings.layout import SettingRow, SettingsSection
from plantdesk.ui.transfer.import_dialog import ImportDialog
from plantdesk.ui.widgets.dialog import MessageBox
from plantdesk.ui.widgets.messages import Tone
from plantdesk.ui.workspace import Workspace
from tests.support.waiting import SECONDS
from tests.support.window_driver import WindowDriver, menus_of, plain
from tests.ui.conftest import Adder, PlantsDriver, open_store

CONTROL = Qt.KeyboardModifier.ControlModifier
FORM_STOPS = [
    "ID of the new plant; empty for the next free one",
    "Name of the new plant",
    "Tag of the new plant",
    "Pin",
    "&Add",
]
#: The commands of each menu, and - between its sections.
MENUS = {
    "&File": (
        "&Import… | &Export… | Print &labels… | - | &API access… | - | &Other plants | - | &Back up now | "
        "&Restore… | - | &Close window | &Quit | -"
    ),
    "&Edit": (
        "&Undo | &Redo | - | Cu&t | &Copy | &Paste | Select &all | - | Edit na&me | Edit ta&g | "
        "Dup&licate plant | &Delete plant | Add dated &note line | - | &Find | Sa&ve this search | "
        "Find and replac&e… | - | &History… | - | Sett&ings… | -"
    ),
    "&View": "Ta&gs | Ca&rd | - | New &plants (top of the list) | Col&umns | - | &Theme | -",
    "&Tools": "&Clean up… | &Known names… | - | &API on | -",
    "&Help": "&Find a command… | &Manual | What is &new | &Keyboard shortcuts | &About PlantDesk | -",
}
#: What the Edit menu always has.
ALWAYS = ["Find", "Find and replace…", "History…", "Settings…"]
TABLE_STOPS = ["Tags", "Search by name, tag or ID", "Plants"]
STATUS_STOPS = ["API on"]


class WorkspaceDriver(PlantsDriver):
    """The window with an open store, driven by keys and menus."""

    def __init__(self, qtbot: QtBot, bridge: Bridge, workspace: Workspace) -> None:
        super().__init__(qtbot, workspace.window())
        self.bridge = bridge

    def expect_message(self, text: str) -> None:
        self.until(lambda: text in self.message.text)

    def set_server_state(self, state: ServerState) -> None:
        with self.qtbot.waitSignal(self.bridge.server_changed):
            self.bridge.notify_server_state(state)

    def tab_stops(self, key: Qt.Key = Qt.Key.Key_Tab) -> list[str]:
        """Press Tab from ID until it is there again."""
        self.id.setFocus()
        stops = [_spoken(self.focused)]
        for _ in range(30):
            self.press(key)
            if self.focused is self.id:
                break
            stops.append(_spoken(self.focused))
        return stops


def _spoken(widget: QWidget) -> str:
    text = widget.text() if isinstance(widget, QAbstractButton) else ""
    return widget.accessibleName() or text or widget.accessibleDescription()


@pytest.fixture
def desk(qtbot: QtBot, bare: Workspace, bridge: Bridge, store: SqliteStore, add: Adder) -> WorkspaceDriver:
    add("Aloe", "Basil", "Cactus")
    open_store(bare, store)
    desk = WorkspaceDriver(qtbot, bridge, bare)
    desk.until_rows(3)
    desk.set_server_state(On("http://127.0.0.1:8721", 8721))
    return desk


@pytest.mark.parametrize(
    ("start", "keys", "end"),
    [
        ("Name", [], "Name"),
        ("Name", [Qt.Key.Key_F6, Qt.Key.Key_F6], "Name"),
        ("Name", [Qt.Key.Key_Tab, "h"], "Tag"),
        ("Search by name, tag or ID", [], "Search by name, tag or ID"),
    ],
)
def test_after_a_button_of_a_bar_the_focus_is_where_the_user_was_typing(
    desk: WorkspaceDriver, store: SqliteStore, start: str, keys: list[Qt.Key | str], end: str
) -> None:
    store.tokens.create("greenhouse").result(SECONDS)
    desk.set_server_state(Failed(PortInUseError(8721, 8722), 8721))
    desk.field(start).setFocus()
    desk.hit(*keys)
    desk.until(lambda: "Use port 8722" in desk.buttons())
    use = desk.button("Use port 8722")
    for _ in range(30):
        if not use.hasFocus():
            desk.press(Qt.Key.Key_Tab)
    desk.press(Qt.Key.Key_Space)
    desk.set_server_state(On("http://127.0.0.1:8722", 8722))
    assert not desk.bars
    assert desk.focused is desk.field(end)


def test_the_cursor_is_in_name_also_when_the_window_was_active_before(qtbot: QtBot, bare: Workspace) -> None:
    bare.set_up()
    bare.show_and_focus()
    qtbot.waitUntil(WindowDriver(qtbot, bare).name.hasFocus)


# --- Tab --------------------------------------------------------------------------------------------------------------


def test_tab_goes_through_the_window_as_one_reads_it(desk: WorkspaceDriver) -> None:
    expected = [*FORM_STOPS, *TABLE_STOPS, *STATUS_STOPS]
    desk.until(lambda: desk.tab_stops() == expected)
    assert desk.tab_stops(Qt.Key.Key_Backtab) == [expected[0], *reversed(expected[1:])]
    desk.search.setText("zebra")
    tags, search, _ = TABLE_STOPS
    expected = [*FORM_STOPS, tags, search, "Clear search", "Save this search", "Show all plants", *STATUS_STOPS]
    desk.until(lambda: desk.tab_stops() == expected)


def test_the_buttons_of_a_message_follow_the_form(desk: WorkspaceDriver) -> None:
    desk.type(desk.id, "2")
    desk.add("Dill")
    unsaved = ["Plants that are not saved", "Use the next free ID", "Edit", "Discard"]
    expected = [*FORM_STOPS, *unsaved, *TABLE_STOPS, *STATUS_STOPS]
    desk.until(lambda: desk.tab_stops() == expected)
    desk.button("Edit").click()
    actions = ["Use the next free ID", "Show that plant"]
    desk.until(lambda: desk.tab_stops() == [*FORM_STOPS, *actions, *TABLE_STOPS, *STATUS_STOPS])


def test_closing_counts_plants_and_notes_that_failed_and_that_are_being_saved(
    desk: WorkspaceDriver, other_program: sqlite3.Connection
) -> None:
    desk.id.setText("2")
    desk.add("Dill")
    desk.until(lambda: "Use the next free ID" in desk.buttons())
    desk.table.setFocus()
    desk.hit(Qt.Key.Key_Home, Qt.Key.Key_Space)
    desk.until(lambda: desk.the(QPlainTextEdit, "Note").isVisible())
    other_program.execute("BEGIN IMMEDIATE")
    desk.the(QPlainTextEdit, "Note").setFocus()
    desk.hit(*"dry")
    desk.until(lambda: any(text.startswith("Another program or computer is changing") for text in desk.texts()))
    desk.add("Mint")
    assert not desk.window.close()
    assert "2 plants are not saved. 1 note is not saved." in WindowDriver(desk.qtbot, desk.the(MessageBox)).texts()
    other_program.rollback()


@pytest.mark.parametrize("is_kept", [True, False])
def test_closing_asks_while_a_plant_is_not_saved(desk: WorkspaceDriver, tmp_path: Path, *, is_kept: bool) -> None:
    if not is_kept:
        (tmp_path / unsaved_file.FILE_NAME).mkdir()  # nothing can be remembered
    desk.id.setText("2")
    desk.add("Dill")
    desk.until(lambda: "Discard" in desk.buttons())
    assert not desk.window.close()
    question = WindowDriver(desk.qtbot, desk.the(MessageBox))
    assert "1 plant is not saved." in question.texts()
    assert ("Close and keep" if is_kept else "Close and discard") in question.buttons()
    question.button("Show").click()
    desk.until(lambda: desk.the(UnsavedPlants).isAncestorOf(QApplication.focusWidget() or desk.window))
    desk.button("Discard").click()
    assert desk.window.close()


def test_a_plant_for_a_read_only_store_waits_until_it_can_be_written_to(desk: WorkspaceDriver, bridge: Bridge) -> None:
    bridge.notify_health(StoreReadOnlyError())
    desk.until(lambda: any("Plants that you add wait" in text for text in desk.texts()))
    assert ["read-only" in bar.text for bar in desk.bars] == [True]
    assert desk.name.hasFocus()
    desk.add("Dill")
    assert desk.name.text() == ""
    bridge.notify_health(None)
    desk.until(lambda: desk.message.text == "Added “Dill”." and not desk.bars)


@pytest.mark.parametrize(
    ("database", "is_same", "said"),
    [
        (
            "/home/ada/plants.db",
            False,
            "Another PlantDesk, with “/home/ada/plants.db”, uses this port: what programs send",
        ),
        (f"/{'x' * 60}/plants.db", False, "with “…xxxxx"),
        ("/home/ada/plants.db", True, "Another PlantDesk with these plants uses this port"),
    ],
)
def test_the_bar_names_another_plantdesk_that_has_the_port(
    desk: WorkspaceDriver, store: SqliteStore, database: str, said: str, *, is_same: bool
) -> None:
    store.tokens.create("greenhouse").result(SECONDS)
    desk.set_server_state(Failed(PortOfPlantDeskError(8721, 8722, database, is_same=is_same), 8721))
    desk.until(lambda: any(said in each for each in desk.texts()))


def test_a_bar_comes_after_the_list_with_its_action_before_its_cross(desk: WorkspaceDriver, store: SqliteStore) -> None:
    desk.set_server_state(Failed(PortInUseError(8721, 8722), 8721))
    assert "Use port 8722" not in desk.buttons(), "no program has a token, which would be refused"
    store.tokens.create("greenhouse").result(SECONDS)
    bar = ["Use port 8722", "Choose…", "Close this message"]
    stops = [*FORM_STOPS, *TABLE_STOPS, *bar, "API off: port 8721 is in use", "Try again"]
    desk.until(lambda: desk.tab_stops() == stops)


def test_a_plant_that_the_search_does_not_find_is_shown_on_demand(desk: WorkspaceDriver) -> None:
    desk.search.setText("basil")
    desk.until_rows(1)
    desk.add("Dill")
    desk.expect_message("Added “Dill”. It does not match the search.")
    assert desk.search.text() == "basil"
    desk.button("Show it").setFocus()
    desk.press(Qt.Key.Key_Space)
    desk.until(lambda: list(desk.table.selected_ids()) == [4])
    assert desk.table.hasFocus()
    assert "does not match" not in desk.message.text


# --- other keys -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["id", "name", "search", "table"])
def test_ctrl_home_shows_the_first_row_from_everywhere(desk: WorkspaceDriver, add: Adder, place: str) -> None:
    add(*(f"Fern {number}" for number in range(100)))
    desk.until_rows(103)
    desk.table.setCurrentIndex(desk.table.model().index(102, 0))
    desk.name.setText("half a name")
    getattr(desk, place).setFocus()
    desk.press(Qt.Key.Key_Home, CONTROL)
    assert desk.table.rowAt(0) == 0
    assert desk.table.currentIndex().row() == 0


def test_a_plant_that_is_saved_leaves_the_focus_where_the_user_has_gone_on(desk: WorkspaceDriver) -> None:
    desk.add("Dahlia")
    desk.press(Qt.Key.Key_F, CONTROL)
    QTest.keyClicks(desk.focused, "bas")
    desk.expect_message("Added “Dahlia”")
    assert desk.search.hasFocus()
    assert desk.search.text() == "bas"
    desk.type(desk.name, "Elder")
    desk.button("Add").setFocus()
    desk.press(Qt.Key.Key_Return)
    desk.expect_message("Added “Elder”")
    assert desk.name.hasFocus()


def test_when_the_last_row_is_deleted_the_focus_goes_to_the_search_and_not_to_a_button(desk: WorkspaceDriver) -> None:
    desk.table.setFocus()
    desk.press(Qt.Key.Key_A, CONTROL)
    desk.press(Qt.Key.Key_Delete)
    desk.until(desk.search.hasFocus)
    desk.button("Undo").click()
    desk.until_rows(3)


def test_f6_moves_the_focus_through_the_parts_of_the_window(desk: WorkspaceDriver) -> None:
    parts = [desk.name, desk.search, desk.table, desk.button("API on")]
    desk.name.setFocus()
    for part in (*parts[1:], parts[0]):
        desk.press(Qt.Key.Key_F6)
        assert desk.focused is part
    for part in reversed(parts):
        desk.press(Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier)
        assert desk.focused is part


def test_enter_presses_a_button_of_the_status_bar_and_escape_leaves_it(desk: WorkspaceDriver) -> None:
    desk.button("API on").setFocus()
    desk.press(Qt.Key.Key_Return)
    desk.until(desk.the(ApiDialog).isVisible)
    desk.the(ApiDialog).close()
    desk.button("API on").setFocus()
    desk.press(Qt.Key.Key_Escape)
    assert desk.name.hasFocus()


def test_escape_closes_the_notice_of_the_server_then_clears_the_search_then_goes_back_to_name(
    desk: WorkspaceDriver, store: SqliteStore
) -> None:
    store.tokens.create("greenhouse").result(SECONDS)
    desk.set_server_state(Failed(PortInUseError(8721, 8722), 8721))
    desk.until(lambda: "Use port 8722" in desk.buttons())
    desk.type(desk.search, "basil")
    desk.table.setFocus()
    desk.press(Qt.Key.Key_Escape)
    assert (desk.bars, desk.search.text()) == ([], "basil")
    desk.press(Qt.Key.Key_Escape)
    assert (desk.search.text(), desk.table.hasFocus()) == ("", True)
    desk.press(Qt.Key.Key_Escape)
    assert desk.name.hasFocus()


def test_escape_closes_a_message_that_stays_and_nothing_else(desk: WorkspaceDriver) -> None:
    desk.type(desk.search, "basil")
    desk.table.setFocus()
    desk.toast.show_message("Copied 2 plants.")
    desk.toast.show_problem("Nothing was copied.")
    desk.press(Qt.Key.Key_Escape)
    assert (desk.toast.isHidden(), desk.search.text()) == (True, "basil")
    desk.toast.show_message("Copied 2 plants.")
    desk.press(Qt.Key.Key_Escape)
    assert (desk.toast.isVisible(), desk.search.text()) == (True, ""), "it disappears by itself"


def test_bars_keep_their_height_in_a_low_window(desk: WorkspaceDriver) -> None:
    page = desk.window.centralWidget()
    assert isinstance(page, Page)
    desk.window.resize(640, 480)
    bars = [page.add_bar() for _ in range(2)]
    for bar in bars:
        action = "Use port 8722", desk.window.update
        bar.show_state(Tone.WARNING, "API is off", "Another program is using this port. " * 2, action)
    desk.until(lambda: desk.window.height() == 480 and all(bar.isVisible() and bar.height() > 50 for bar in bars))
    assert all(bar.height() >= bar.heightForWidth(bar.width()) for bar in bars)


# --- Edit -------------------------------------------------------------------------------------------------------------


def test_copy_in_the_menu_copies_the_selected_rows(desk: WorkspaceDriver) -> None:
    QGuiApplication.clipboard().clear()
    desk.table.setFocus()
    assert desk.enabled("Edit") == ["Select all", *ALWAYS]
    desk.choose("Edit", "Select all")
    assert desk.table.selected_count() == 3
    several = ["Edit name of the current plant", "Change tag of 3 plants…", "Duplicate 3 plants", "Delete 3 plants"]
    copies = ["Copy", "Select all"]
    assert desk.enabled("Edit") == [*copies, *several, *ALWAYS]
    desk.choose("Edit", "Copy")
    desk.until(lambda: desk.toast.text == "Copied 3 plants.")
    assert "Basil" in QGuiApplication.clipboard().text()


def test_the_keys_of_commands_that_the_open_menu_could_not_run_work_when_it_is_closed(desk: WorkspaceDriver) -> None:
    QGuiApplication.clipboard().clear()
    desk.table.setFocus()
    assert "Paste" not in desk.enabled("Edit")
    QGuiApplication.clipboard().setText("Dill")
    desk.press(Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    desk.until(lambda: desk.widget.findChildren(ImportDialog) != [])


def test_the_edit_menu_acts_on_the_field_with_the_focus_as_far_as_it_can(desk: WorkspaceDriver) -> None:
    QGuiApplication.clipboard().clear()
    desk.button("Add").setFocus()
    assert desk.enabled("Edit") == ALWAYS
    desk.name.setFocus()
    assert desk.enabled("Edit") == ALWAYS
    desk.name.setText("Dill")
    desk.name.selectAll()
    assert desk.enabled("Edit") == ["Cut", "Copy", "Select all", *ALWAYS]
    desk.choose("Edit", "Cut")
    assert (desk.name.text(), QGuiApplication.clipboard().text()) == ("", "Dill")
    assert desk.enabled("Edit") == ["Undo", "Paste", *ALWAYS]
    desk.choose("Edit", "Paste")
    assert desk.name.text() == "Dill"
    desk.choose("Edit", "Undo")
    assert desk.name.text() == ""
    desk.choose("Edit", "Redo")
    assert desk.name.text() == "Dill"


# --- all menus --------------------------------------------------------------------------------------------------------


def test_the_menus_have_their_commands_in_order(desk: WorkspaceDriver) -> None:
    found = {
        menu.title(): " | ".join(each.text() or "-" for each in menu.actions() if each.isVisible())
        for menu in menus_of(desk.menu_bar)
    }
    assert found == MENUS


def test_what_is_new_names_only_commands_and_settings_that_are_there(desk: WorkspaceDriver) -> None:
    paths: dict[str, str] = {}
    for menu in menus_of(desk.menu_bar):
        for each in menu.actions():
            path, inner = f"{plain(menu.title())} > {plain(each.text())}", each.menu()
            paths[path] = each.shortcut().toString()
            if isinstance(inner, QMenu):
                paths |= {f"{path} > {plain(one.text())}": one.shortcut().toString() for one in inner.actions()}
    desk.choose("Edit", "Settings…")
    titles = {section.title for section in desk.window.findChildren(SettingsSection)}
    titles |= {each.text() for row in desk.window.findChildren(SettingRow) for each in row.findChildren(QLabel)}
    paths |= {f"Settings > {title}": "" for title in titles}
    text = manual.page_text("news")
    named = re.findall(r"\*\*([^*]+)\*\*(?: \(([^)]+)\))?", text)
    assert sum(path.count(" > ") for path, _ in named) == text.count(" > ") > 10
    assert [(path, keys) for path, keys in named if path not in paths or keys not in {"", paths[path]}] == []


def test_no_two_commands_share_a_key_or_a_letter_of_their_menu(desk: WorkspaceDriver) -> None:
    keys = [key.toString() for each in desk.window.findChildren(QAction) for key in each.shortcuts()]
    assert len(keys) == len(set(keys))
    for menu in menus_of(desk.menu_bar):
        letters = [letter_of(each.text()) for each in menu.actions() if "&" in each.text()]
        assert len(letters) == len(set(letters)), menu.title()
    titles = {letter_of(menu.title()) for menu in menus_of(desk.menu_bar)}
    assert not titles & set("inga")  # the form's fields and its button


def letter_of(text: str) -> str:
    """Return the letter after the mark of the mnemonic."""
    return text.partition("&")[2][:1].lower()


#: What is imported when it is used, or after the rows.
NOT_IMPORTED = {"sqlalchemy", "starlette", "subprocess", "uvicorn"}
NOT_IMPORTED |= {f"plantdesk.{each}" for each in ("platform.login", "store.sqlite.backups")}


def test_the_content_does_not_wait_for_what_it_does_not_show() -> None:
    code = "import sys, plantdesk.ui.workspace; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    assert not NOT_IMPORTED & set(done.stdout.split())
