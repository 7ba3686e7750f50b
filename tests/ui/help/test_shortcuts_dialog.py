from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLabel, QMenuBar

from plantdesk.ui.help.shortcuts_dialog import ShortcutsDialog
from plantdesk.ui.menus import Menus
from plantdesk.ui.theme.theme import ThemeMode

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


def test_every_command_with_a_key_is_listed_once(qtbot: QtBot) -> None:
    bar = QMenuBar()
    qtbot.addWidget(bar)
    menus = Menus(bar, ThemeMode.LIGHT)
    dialog = ShortcutsDialog(menus.actions)
    qtbot.addWidget(dialog)
    listed = [label.text() for label in dialog.findChildren(QLabel)]
    keyed = [each for each in menus.actions if not each.shortcut().isEmpty()]
    meanings = [each.text().replace("&", "").rstrip("…") for each in keyed]
    assert [listed.count(meaning) for meaning in meanings] == [1] * len(keyed)
    assert {"Enter", "Esc", "Home, End"} <= set(listed)


def test_no_two_commands_share_a_key_or_a_letter_of_their_menu(qtbot: QtBot) -> None:
    bar = QMenuBar()
    qtbot.addWidget(bar)
    menus = Menus(bar, ThemeMode.LIGHT)
    keys = [key.toString() for each in menus.actions for key in each.shortcuts()]
    assert len(keys) == len(set(keys))
    for title in bar.actions():
        menu = title.menu()
        assert menu is not None
        letters = [each.text().partition("&")[2][:1].lower() for each in menu.actions() if "&" in each.text()]  # type: ignore[attr-defined]
        assert len(letters) == len(set(letters)), title.text()
    titles = [title.text().partition("&")[2][:1].lower() for title in bar.actions()]
    assert not set(titles) & set("inga")  # the form's fields and its button
