import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.feature import WindowContext
from plantdesk.ui.menus import Section
from plantdesk.ui.settings.feature import SettingsDialog
from plantdesk.ui.settings.layout import SettingRow
from plantdesk.ui.widgets.fields import SearchEdit
from plantdesk.ui.widgets.plain_table import PlainTable
from plantdesk.ui.window.command_dialogs import CommandSearch
from plantdesk.ui.window.commands import HelpCommands
from plantdesk.ui.workspace import Workspace
from tests.support.window_driver import WindowDriver, rows_of
from tests.ui.conftest import open_store


class SearchDriver(WindowDriver):
    """The dialog over a window with a few commands; `chosen` are those that ran."""

    def __init__(self, qtbot: QtBot, context: WindowContext) -> None:
        super().__init__(qtbot, context.page)
        HelpCommands(context)
        self.chosen: list[str] = []
        self.menus = context.menus
        self._add("&Water all…", "Ctrl+W")
        self._add("&Larger text", "Ctrl+L", in_menu=False)
        themes = [("&Dark", "dark"), ("&Light", "light")]
        self.menus.add(Section.VIEW_PLANTS, "&Mow", self.chosen.clear, words="lawn")
        self.menus.add_choices(Section.VIEW_APPEARANCE, "&Theme", themes, self.chosen.append)
        self._add("&Prune")
        self.action("Prune").setEnabled(False)

    def _add(self, text: str, *keys: str, in_menu: bool = True) -> None:
        self.menus.add(Section.VIEW_PLANTS, text, lambda: self.chosen.append(text), *keys, in_menu=in_menu)

    def find(self, text: str) -> list[list[str]]:
        """Open the dialog, type a text, and return text and key of each command that is listed."""
        self.activate()
        QTest.keyClick(
            self.window, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        )
        dialog = self.the(CommandSearch)
        self.until(dialog.isActiveWindow)
        self.type(dialog.findChildren(SearchEdit)[0], text)
        table = dialog.findChildren(PlainTable)[0]
        return rows_of(table)


@pytest.fixture
def desk(qtbot: QtBot, context: WindowContext) -> SearchDriver:
    return SearchDriver(qtbot, context)


def test_all_commands_are_listed_with_their_keys_also_those_of_submenus_and_of_no_menu(desk: SearchDriver) -> None:
    QTest.keyClick(desk.window, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    assert desk.chosen == ["&Larger text"], "its key works"
    found = desk.find("")
    assert ["Water all", "Ctrl+W"] in found
    assert ["Larger text", "Ctrl+L"] in found
    assert ["Theme: Dark", ""] in found
    assert ["Manual", "F1"] in found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("copy", ["Copy", "Copy store"]),
        ("delete", ["Delete plant", "Redo Delete Fern"]),
        ("backup", ["Back up now"]),
        ("LAWN", ["Mow"]),
    ],
)
def test_a_command_that_begins_with_the_text_comes_first(desk: SearchDriver, text: str, found: list[str]) -> None:
    for each in ("Redo Delete Fern", "Copy store…", "&Copy", "&Delete plant", "Back up now"):
        desk.menus.add(Section.VIEW_PLANTS, each, desk.chosen.clear)
    assert [name for name, _ in desk.find(text)][: len(found)] == found


def test_enter_runs_the_first_command_that_has_all_words_down_the_next_one_and_a_click_another(
    desk: SearchDriver,
) -> None:
    assert desk.find("LIGHT the") == [["Theme: Light", ""]]
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: desk.chosen == ["light"])
    assert desk.find("theme") == [["Theme: Dark", ""], ["Theme: Light ✓", ""]]
    desk.hit(Qt.Key.Key_Down, Qt.Key.Key_Return)
    desk.until(lambda: desk.chosen == ["light", "light"])
    desk.find("water")
    table = desk.the(CommandSearch).findChildren(PlainTable)[0]
    place = table.visualRect(table.currentIndex()).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    desk.until(lambda: desk.chosen == ["light", "light", "&Water all…"])


def test_where_nothing_is_found_or_can_be_chosen_enter_does_nothing(desk: SearchDriver) -> None:
    assert desk.find("prune") == [["Prune", ""]]
    desk.press(Qt.Key.Key_Return)
    assert (desk.the(CommandSearch).isVisible(), desk.chosen) == (True, [])
    field = desk.the(CommandSearch).findChildren(SearchEdit)[0]
    desk.type(field, "wataer")
    assert rows_of(desk.the(CommandSearch).findChildren(PlainTable)[0]) == []
    nothing = "No command has these words."
    assert nothing in [each.text() for each in desk.the(CommandSearch).findChildren(QLabel) if each.isVisible()]
    desk.press(Qt.Key.Key_Return)
    desk.type(field, "water")
    assert nothing not in [each.text() for each in desk.the(CommandSearch).findChildren(QLabel) if each.isVisible()]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("night", "Settings: Appearance: Theme"),
        ("autostart", "Settings: Start: At login"),
        ("settings port", "Settings: API: Port"),
    ],
)
def test_a_setting_is_found_by_its_words_and_shown(
    qtbot: QtBot, bare: Workspace, store: SqliteStore, words: str, found: str
) -> None:
    open_store(bare, store)
    desk = WindowDriver(qtbot, bare.window())
    for _ in range(2):
        desk.choose("Help", "Find a command…")
        dialog = desk.the(CommandSearch)
        desk.until(dialog.isActiveWindow)
        desk.type(dialog.findChildren(SearchEdit)[0], words)
        assert [text for text, _ in rows_of(dialog.findChildren(PlainTable)[0])] == [found]
        desk.press(Qt.Key.Key_Return)
        desk.until(lambda: any(each.isVisible() for each in desk.window.findChildren(SettingsDialog)))
        settings = desk.the(SettingsDialog)
        desk.until(settings.isActiveWindow)
        label = found.rpartition(": ")[2]
        assert any(row.label == label and row.isAncestorOf(desk.focused) for row in settings.findChildren(SettingRow))
        desk.press(Qt.Key.Key_Escape)
        desk.until(lambda: not any(each.isVisible() for each in desk.window.findChildren(SettingsDialog)))
