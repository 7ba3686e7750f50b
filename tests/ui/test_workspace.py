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
def user(qtbot: QtBot, bare: Workspace, bridge: Bridge, store: SqliteStore, add: Adder) -> WorkspaceDriver:
    add("Aloe", "Basil", "Cactus")
    open_store(bare, store)
    user = WorkspaceDriver(qtbot, bridge, bare)
    user.until_rows(3)
    user.set_server_state(On("http://127.0.0.1:8721", 8721))
    return user


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
    user: WorkspaceDriver, store: SqliteStore, start: str, keys: list[Qt.Key | str], end: str
) -> None:
    store.tokens.create("greenhouse").result(SECONDS)
    user.set_server_state(Failed(PortInUseError(8721, 8722), 8721))
    user.field(start).setFocus()
    user.hit(*keys)
    user.until(lambda: "Use port 8722" in user.buttons())
    use = user.button("Use port 8722")
    for _ in range(30):
        if not use.hasFocus():
            user.press(Qt.Key.Key_Tab)
    user.press(Qt.Key.Key_Space)
    user.set_server_state(On("http://127.0.0.1:8722", 8722))
    assert not user.bars
    assert user.focused is user.field(end)


def test_the_cursor_is_in_name_also_when_the_window_was_active_before(qtbot: QtBot, bare: Workspace) -> None:
    bare.set_up()
    bare.show_and_focus()
    qtbot.waitUntil(WindowDriver(qtbot, bare).name.hasFocus)


# --- Tab --------------------------------------------------------------------------------------------------------------


def test_tab_goes_through_the_window_as_one_reads_it(user: WorkspaceDriver) -> None:
    expected = [*FORM_STOPS, *TABLE_STOPS, *STATUS_STOPS]
    user.until(lambda: user.tab_stops() == expected)
    assert user.tab_stops(Qt.Key.Key_Backtab) == [expected[0], *reversed(expected[1:])]
    user.search.setText("zebra")
    tags, search, _ = TABLE_STOPS
    expected = [*FORM_STOPS, tags, search, "Clear search", "Save this search", "Show all plants", *STATUS_STOPS]
    user.until(lambda: user.tab_stops() == expected)


def test_the_buttons_of_a_message_follow_the_form(user: WorkspaceDriver) -> None:
    user.type(user.id, "2")
    user.add("Dill")
    unsaved = ["Plants that are not saved", "Use the next free ID", "Edit", "Discard"]
    expected = [*FORM_STOPS, *unsaved, *TABLE_STOPS, *STATUS_STOPS]
    user.until(lambda: user.tab_stops() == expected)
    user.button("Edit").click()
    actions = ["Use the next free ID", "Show that plant"]
    user.until(lambda: user.tab_stops() == [*FORM_STOPS, *actions, *TABLE_STOPS, *STATUS_STOPS])


def test_closing_counts_plants_and_notes_that_failed_and_that_are_being_saved(
    user: WorkspaceDriver, other_program: sqlite3.Connection
) -> None:
    user.id.setText("2")
    user.add("Dill")
    user.until(lambda: "Use the next free ID" in user.buttons())
    user.table.setFocus()
    user.hit(Qt.Key.Key_Home, Qt.Key.Key_Space)
    user.until(lambda: user.the(QPlainTextEdit, "Note").isVisible())
    other_program.execute("BEGIN IMMEDIATE")
    user.the(QPlainTextEdit, "Note").setFocus()
    user.hit(*"dry")
    user.until(lambda: any(text.startswith("Another program or computer is changing") for text in user.texts()))
    user.add("Mint")
    assert not user.window.close()
    assert "2 plants are not saved. 1 note is not saved." in WindowDriver(user.qtbot, user.the(MessageBox)).texts()
    other_program.rollback()


@pytest.mark.parametrize("is_kept", [True, False])
def test_closing_asks_while_a_plant_is_not_saved(user: WorkspaceDriver, tmp_path: Path, *, is_kept: bool) -> None:
    if not is_kept:
        (tmp_path / unsaved_file.FILE_NAME).mkdir()  # nothing can be remembered
    user.id.setText("2")
    user.add("Dill")
    user.until(lambda: "Discard" in user.buttons())
    assert not user.window.close()
    question = WindowDriver(user.qtbot, user.the(MessageBox))
    assert "1 plant is not saved." in question.texts()
    assert ("Close and keep" if is_kept else "Close and discard") in question.buttons()
    question.button("Show").click()
    user.until(lambda: user.the(UnsavedPlants).isAncestorOf(QApplication.focusWidget() or user.window))
    user.button("Discard").click()
    assert user.window.close()


def test_a_plant_for_a_read_only_store_waits_until_it_can_be_written_to(user: WorkspaceDriver, bridge: Bridge) -> None:
    bridge.notify_health(StoreReadOnlyError())
    user.until(lambda: any("Plants that you add wait" in text for text in user.texts()))
    assert ["read-only" in bar.text for bar in user.bars] == [True]
    assert user.name.hasFocus()
    user.add("Dill")
    assert user.name.text() == ""
    bridge.notify_health(None)
    user.until(lambda: user.message.text == "Added “Dill”." and not user.bars)


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
    user: WorkspaceDriver, store: SqliteStore, database: str, said: str, *, is_same: bool
) -> None:
    store.tokens.create("greenhouse").result(SECONDS)
    user.set_server_state(Failed(PortOfPlantDeskError(8721, 8722, database, is_same=is_same), 8721))
    user.until(lambda: any(said in text for text in user.texts()))


def test_a_bar_comes_after_the_list_with_its_action_before_its_cross(user: WorkspaceDriver, store: SqliteStore) -> None:
    user.set_server_state(Failed(PortInUseError(8721, 8722), 8721))
    assert "Use port 8722" not in user.buttons(), "no program has a token, which would be refused"
    store.tokens.create("greenhouse").result(SECONDS)
    bar = ["Use port 8722", "Choose…", "Close this message"]
    stops = [*FORM_STOPS, *TABLE_STOPS, *bar, "API off: port 8721 is in use", "Try again"]
    user.until(lambda: user.tab_stops() == stops)


def test_a_plant_that_the_search_does_not_find_is_shown_on_demand(user: WorkspaceDriver) -> None:
    user.search.setText("basil")
    user.until_rows(1)
    user.add("Dill")
    user.expect_message("Added “Dill”. It does not match the search.")
    assert user.search.text() == "basil"
    user.button("Show it").setFocus()
    user.press(Qt.Key.Key_Space)
    user.until(lambda: list(user.table.selected_ids()) == [4])
    assert user.table.hasFocus()
    assert "does not match" not in user.message.text


# --- other keys -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["id", "name", "search", "table"])
def test_ctrl_home_shows_the_first_row_from_everywhere(user: WorkspaceDriver, add: Adder, place: str) -> None:
    add(*(f"Fern {number}" for number in range(100)))
    user.until_rows(103)
    user.table.setCurrentIndex(user.table.model().index(102, 0))
    user.name.setText("half a name")
    getattr(user, place).setFocus()
    user.press(Qt.Key.Key_Home, CONTROL)
    assert user.table.rowAt(0) == 0
    assert user.table.currentIndex().row() == 0


def test_a_plant_that_is_saved_leaves_the_focus_where_the_user_has_gone_on(user: WorkspaceDriver) -> None:
    user.add("Dahlia")
    user.press(Qt.Key.Key_F, CONTROL)
    QTest.keyClicks(user.focused, "bas")
    user.expect_message("Added “Dahlia”")
    assert user.search.hasFocus()
    assert user.search.text() == "bas"
    user.type(user.name, "Elder")
    user.button("Add").setFocus()
    user.press(Qt.Key.Key_Return)
    user.expect_message("Added “Elder”")
    assert user.name.hasFocus()


def test_after_the_last_row_is_deleted_the_search_has_the_focus(user: WorkspaceDriver) -> None:
    user.table.setFocus()
    user.press(Qt.Key.Key_A, CONTROL)
    user.press(Qt.Key.Key_Delete)
    user.until(user.search.hasFocus)
    user.button("Undo").click()
    user.until_rows(3)


def test_f6_moves_the_focus_through_the_parts_of_the_window(user: WorkspaceDriver) -> None:
    parts = [user.name, user.search, user.table, user.button("API on")]
    user.name.setFocus()
    for part in (*parts[1:], parts[0]):
        user.press(Qt.Key.Key_F6)
        assert user.focused is part
    for part in reversed(parts):
        user.press(Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier)
        assert user.focused is part


def test_enter_presses_a_button_of_the_status_bar_and_escape_leaves_it(user: WorkspaceDriver) -> None:
    user.button("API on").setFocus()
    user.press(Qt.Key.Key_Return)
    user.until(user.the(ApiDialog).isVisible)
    user.the(ApiDialog).close()
    user.button("API on").setFocus()
    user.press(Qt.Key.Key_Escape)
    assert user.name.hasFocus()


def test_escape_closes_the_notice_then_clears_the_search_then_goes_to_name(
    user: WorkspaceDriver, store: SqliteStore
) -> None:
    store.tokens.create("greenhouse").result(SECONDS)
    user.set_server_state(Failed(PortInUseError(8721, 8722), 8721))
    user.until(lambda: "Use port 8722" in user.buttons())
    user.type(user.search, "basil")
    user.table.setFocus()
    user.press(Qt.Key.Key_Escape)
    assert (user.bars, user.search.text()) == ([], "basil")
    user.press(Qt.Key.Key_Escape)
    assert (user.search.text(), user.table.hasFocus()) == ("", True)
    user.press(Qt.Key.Key_Escape)
    assert user.name.hasFocus()


def test_escape_closes_a_message_that_stays_and_nothing_else(user: WorkspaceDriver) -> None:
    user.type(user.search, "basil")
    user.table.setFocus()
    user.toast.show_message("Copied 2 plants.")
    user.toast.show_problem("Nothing was copied.")
    user.press(Qt.Key.Key_Escape)
    assert (user.toast.isHidden(), user.search.text()) == (True, "basil")
    user.toast.show_message("Copied 2 plants.")
    user.press(Qt.Key.Key_Escape)
    assert (user.toast.isVisible(), user.search.text()) == (True, ""), "it disappears by itself"


def test_bars_keep_their_height_in_a_low_window(user: WorkspaceDriver) -> None:
    page = user.window.centralWidget()
    assert isinstance(page, Page)
    user.window.resize(640, 480)
    bars = [page.add_bar() for _ in range(2)]
    for bar in bars:
        action = "Use port 8722", user.window.update
        bar.show_state(Tone.WARNING, "API is off", "Another program is using this port. " * 2, action)
    user.until(lambda: user.window.height() == 480 and all(bar.isVisible() and bar.height() > 50 for bar in bars))
    assert all(bar.height() >= bar.heightForWidth(bar.width()) for bar in bars)


# --- Edit -------------------------------------------------------------------------------------------------------------


def test_copy_in_the_menu_copies_the_selected_rows(user: WorkspaceDriver) -> None:
    QGuiApplication.clipboard().clear()
    user.table.setFocus()
    assert user.enabled("Edit") == ["Select all", *ALWAYS]
    user.choose("Edit", "Select all")
    assert user.table.selected_count() == 3
    several = ["Edit name of the current plant", "Change tag of 3 plants…", "Duplicate 3 plants", "Delete 3 plants"]
    copies = ["Copy", "Select all"]
    assert user.enabled("Edit") == [*copies, *several, *ALWAYS]
    user.choose("Edit", "Copy")
    user.until(lambda: user.toast.text == "Copied 3 plants.")
    assert "Basil" in QGuiApplication.clipboard().text()


def test_keys_of_commands_disabled_in_an_open_menu_work_when_it_is_closed(user: WorkspaceDriver) -> None:
    QGuiApplication.clipboard().clear()
    user.table.setFocus()
    assert "Paste" not in user.enabled("Edit")
    QGuiApplication.clipboard().setText("Dill")
    user.press(Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    user.until(lambda: user.widget.findChildren(ImportDialog) != [])


def test_the_edit_menu_acts_on_the_field_with_the_focus_as_far_as_it_can(user: WorkspaceDriver) -> None:
    QGuiApplication.clipboard().clear()
    user.button("Add").setFocus()
    assert user.enabled("Edit") == ALWAYS
    user.name.setFocus()
    assert user.enabled("Edit") == ALWAYS
    user.name.setText("Dill")
    user.name.selectAll()
    assert user.enabled("Edit") == ["Cut", "Copy", "Select all", *ALWAYS]
    user.choose("Edit", "Cut")
    assert (user.name.text(), QGuiApplication.clipboard().text()) == ("", "Dill")
    assert user.enabled("Edit") == ["Undo", "Paste", *ALWAYS]
    user.choose("Edit", "Paste")
    assert user.name.text() == "Dill"
    user.choose("Edit", "Undo")
    assert user.name.text() == ""
    user.choose("Edit", "Redo")
    assert user.name.text() == "Dill"


# --- all menus --------------------------------------------------------------------------------------------------------


def test_the_menus_have_their_commands_in_order(user: WorkspaceDriver) -> None:
    found = {
        menu.title(): " | ".join(action.text() or "-" for action in menu.actions() if action.isVisible())
        for menu in menus_of(user.menu_bar)
    }
    assert found == MENUS


def test_what_is_new_names_only_commands_and_settings_that_are_there(user: WorkspaceDriver) -> None:
    paths: dict[str, str] = {}
    for menu in menus_of(user.menu_bar):
        for action in menu.actions():
            path, inner = f"{plain(menu.title())} > {plain(action.text())}", action.menu()
            paths[path] = action.shortcut().toString()
            if isinstance(inner, QMenu):
                paths |= {f"{path} > {plain(one.text())}": one.shortcut().toString() for one in inner.actions()}
    user.choose("Edit", "Settings…")
    titles = {section.title for section in user.window.findChildren(SettingsSection)}
    titles |= {label.text() for row in user.window.findChildren(SettingRow) for label in row.findChildren(QLabel)}
    paths |= {f"Settings > {title}": "" for title in titles}
    text = manual.page_text("news")
    named = re.findall(r"\*\*([^*]+)\*\*(?: \(([^)]+)\))?", text)
    assert sum(path.count(" > ") for path, _ in named) == text.count(" > ") > 10
    assert [(path, keys) for path, keys in named if path not in paths or keys not in {"", paths[path]}] == []


def test_no_two_commands_share_a_key_or_a_letter_of_their_menu(user: WorkspaceDriver) -> None:
    keys = [key.toString() for action in user.window.findChildren(QAction) for key in action.shortcuts()]
    assert len(keys) == len(set(keys))
    for menu in menus_of(user.menu_bar):
        letters = [letter_of(action.text()) for action in menu.actions() if "&" in action.text()]
        assert len(letters) == len(set(letters)), menu.title()
    titles = {letter_of(menu.title()) for menu in menus_of(user.menu_bar)}
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
