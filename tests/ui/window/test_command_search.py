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
def user(qtbot: QtBot, context: WindowContext) -> SearchDriver:
    return SearchDriver(qtbot, context)


def test_all_commands_are_listed_with_their_keys_whatever_menu_has_them(user: SearchDriver) -> None:
    QTest.keyClick(user.window, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    assert user.chosen == ["&Larger text"], "its key works"
    found = user.find("")
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
def test_a_command_that_begins_with_the_text_comes_first(user: SearchDriver, text: str, found: list[str]) -> None:
    for each in ("Redo Delete Fern", "Copy store…", "&Copy", "&Delete plant", "Back up now"):
        user.menus.add(Section.VIEW_PLANTS, each, user.chosen.clear)
    assert [name for name, _ in user.find(text)][: len(found)] == found


def test_enter_down_and_a_click_choose_among_the_commands_with_all_words(
    user: SearchDriver,
) -> None:
    assert user.find("LIGHT the") == [["Theme: Light", ""]]
    user.press(Qt.Key.Key_Return)
    user.until(lambda: user.chosen == ["light"])
    assert user.find("theme") == [["Theme: Dark", ""], ["Theme: Light ✓", ""]]
    user.hit(Qt.Key.Key_Down, Qt.Key.Key_Return)
    user.until(lambda: user.chosen == ["light", "light"])
    user.find("water")
    table = user.the(CommandSearch).findChildren(PlainTable)[0]
    place = table.visualRect(table.currentIndex()).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    user.until(lambda: user.chosen == ["light", "light", "&Water all…"])


def test_where_nothing_is_found_or_can_be_chosen_enter_does_nothing(user: SearchDriver) -> None:
    assert user.find("prune") == [["Prune", ""]]
    user.press(Qt.Key.Key_Return)
    assert (user.the(CommandSearch).isVisible(), user.chosen) == (True, [])
    field = user.the(CommandSearch).findChildren(SearchEdit)[0]
    user.type(field, "wataer")
    assert rows_of(user.the(CommandSearch).findChildren(PlainTable)[0]) == []
    nothing = "No command has these words."
    assert nothing in [label.text() for label in user.the(CommandSearch).findChildren(QLabel) if label.isVisible()]
    user.press(Qt.Key.Key_Return)
    user.type(field, "water")
    assert nothing not in [label.text() for label in user.the(CommandSearch).findChildren(QLabel) if label.isVisible()]


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
    user = WindowDriver(qtbot, bare.window())
    for _ in range(2):
        user.choose("Help", "Find a command…")
        dialog = user.the(CommandSearch)
        user.until(dialog.isActiveWindow)
        user.type(dialog.findChildren(SearchEdit)[0], words)
        assert [text for text, _ in rows_of(dialog.findChildren(PlainTable)[0])] == [found]
        user.press(Qt.Key.Key_Return)
        user.until(lambda: any(each.isVisible() for each in user.window.findChildren(SettingsDialog)))
        settings = user.the(SettingsDialog)
        user.until(settings.isActiveWindow)
        label = found.rpartition(": ")[2]
        assert any(row.label == label and row.isAncestorOf(user.focused) for row in settings.findChildren(SettingRow))
        user.press(Qt.Key.Key_Escape)
        user.until(lambda: not any(each.isVisible() for each in user.window.findChildren(SettingsDialog)))
