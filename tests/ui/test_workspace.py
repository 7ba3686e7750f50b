from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLineEdit

from plantdesk.server_state import Off
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.main_window import MainWindow
from plantdesk.ui.plant_form import PlantForm
from plantdesk.ui.preferences import Preferences
from plantdesk.ui.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from plantdesk.ui.theme import Theme


class NoServer:
    """A server control that has none."""

    state = Off()
    port = 8721

    def turn_on(self) -> None:
        """Do nothing."""

    def set_port(self, port: int) -> None:
        """Do nothing."""

    def turn_off(self) -> None:
        """Do nothing."""


def test_the_cursor_is_in_name_also_when_the_window_was_active_before(
    qtbot: QtBot, theme: Theme, tmp_path: Path
) -> None:
    window = MainWindow(Preferences(tmp_path / "settings.json"))
    qtbot.addWidget(window)
    with qtbot.waitActive(window):
        window.show()
    bridge = Bridge()
    workspace = Workspace(
        theme, bridge, Preferences(tmp_path / "settings.json"), NoServer(), tmp_path / "plants.db", window
    )
    qtbot.waitUntil(workspace.isVisible)
    workspace.complete()
    _, name, _ = workspace.findChildren(PlantForm)[0].findChildren(QLineEdit)
    qtbot.waitUntil(name.hasFocus)
    bridge.close()
