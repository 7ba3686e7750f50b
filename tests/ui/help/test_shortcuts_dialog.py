from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk.ui.help.commands import HelpCommands
from plantdesk.ui.help.shortcuts_dialog import ShortcutsDialog
from plantdesk.ui.menus import Section
from tests.support.desk import Desk

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from plantdesk.ui.feature import WindowContext


def test_every_command_with_a_key_is_listed_once(qtbot: QtBot, context: WindowContext) -> None:
    HelpCommands(context)
    context.menus.add(Section.FILE_BACKUPS, "&Water…", print, "Ctrl+W")
    desk = Desk(qtbot, context.page)
    desk.choose("Help", "Keyboard shortcuts")
    listed = Desk(qtbot, desk.the(ShortcutsDialog)).texts()
    assert [listed.count(text) for text in ("Water", "Ctrl+W", "Keyboard shortcuts", "Ctrl+/")] == [1, 1, 1, 1]
    assert "About PlantDesk" not in listed
    assert {"Enter", "Esc", "Home, End"} <= set(listed)
