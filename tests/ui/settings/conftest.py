"""The settings of a window."""

from collections.abc import Iterator
from typing import cast

import pytest
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from plantdesk.platform.settings import ThemeMode
from plantdesk.ui.api_control import ApiControl
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.feature import WindowContext
from plantdesk.ui.plants.feature import PlantsFeature
from plantdesk.ui.settings.feature import SettingsFeature
from plantdesk.ui.settings.layout import SettingCommands
from tests.support.api_switch import ApiSwitch
from tests.support.window_driver import WindowDriver


class SettingsDriver(WindowDriver):
    """The dialog, as its user sees it."""

    def __init__(
        self, qtbot: QtBot, dialog: QWidget, page: SettingsFeature, server: ApiSwitch, plants: PlantsFeature
    ) -> None:
        super().__init__(qtbot, dialog)
        self.page, self.server, self.plants = page, server, plants
        #: What the buttons have asked of other features.
        self.pressed: list[str] = []

    @property
    def port(self) -> QLineEdit:
        return self.field("Port")

    def visible(self, *texts: str) -> list[str]:
        """Return those of the texts that labels on the screen have."""
        return [text for text in texts if any(each == text for each in self.seen())]

    def seen(self) -> list[str]:
        """Return the texts of the visible labels and buttons."""
        found: list[QLabel | QAbstractButton] = [
            *self.widget.findChildren(QLabel),
            *self.widget.findChildren(QAbstractButton),
        ]
        return [each.text().replace("&", "") for each in found if each.isVisible()]


@pytest.fixture
def user(qtbot: QtBot, context: WindowContext, bridge: Bridge) -> Iterator[SettingsDriver]:
    server, plants = ApiSwitch(bridge), PlantsFeature(context)
    pressed: list[str] = []
    commands = SettingCommands(
        plants.view_commands.compact_command,
        plants.view_commands.keep_tag_command,
        lambda: pressed.append("API access"),
        lambda: pressed.append("back up"),
        lambda page, heading: pressed.extend((page, heading)),
    )
    page = SettingsFeature(context, cast("ApiControl", server), commands)
    dialog = page.open_dialog()
    with qtbot.waitExposed(dialog):
        dialog.show()
    user = SettingsDriver(qtbot, dialog, page, server, plants)
    user.pressed = pressed
    yield user
    page.release_store()
    context.theme.set_mode(ThemeMode.LIGHT)  # font and palette are the application's
    context.theme.set_text_scale(1.0)
