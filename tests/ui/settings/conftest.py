"""The settings of a window."""

from collections.abc import Callable, Iterator
from typing import cast

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from plantdesk.domain.server_state import Off, On, PortInUseError, ServerState, Starting
from plantdesk.platform.settings import ThemeMode
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.feature import WindowContext
from plantdesk.ui.plants.feature import Plants
from plantdesk.ui.server_control import ApiControl
from plantdesk.ui.settings.feature import SettingsPage
from plantdesk.ui.settings.rows import SettingCommands
from tests.support.desk import Desk


class Server:
    """Notes what is asked of the API."""

    port = 8721

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self.state: ServerState = On("http://127.0.0.1:8721", 8721)
        self.asked: list[int] = []
        #: What the buttons have asked of other features.
        self.pressed: list[str] = []
        #: Ports of other programs.
        self.taken: set[int] = set()

    def turn_on(self) -> None:
        self.asked.append(self.port)
        self.show(Starting(self.port))

    def turn_off(self) -> None:
        self.show(Off())

    def set_port(self, port: int, refused: Callable[[Exception], object] | None = None) -> None:
        if port in self.taken and refused is not None:
            refused(PortInUseError(port, port + 1))
        else:
            self.port = port
            self.turn_on()

    def show(self, state: ServerState) -> None:
        self.state = state
        self._bridge.server_changed.emit(state)


class SettingsDesk(Desk):
    """The dialog, as its user sees it."""

    def __init__(self, qtbot: QtBot, dialog: QWidget, page: SettingsPage, server: Server, plants: Plants) -> None:
        super().__init__(qtbot, dialog)
        self.page, self.server, self.plants = page, server, plants

    @property
    def port(self) -> QLineEdit:
        return self.field("Port")

    def pick(self, name: str, text: str) -> None:
        """Choose an item of a list by the arrow keys."""
        box = self.the(QComboBox, name)
        box.setFocus()
        self.qtbot.keyClick(box, Qt.Key.Key_Home)
        for _ in range(box.findText(text, Qt.MatchFlag.MatchStartsWith)):
            self.qtbot.keyClick(box, Qt.Key.Key_Down)
        assert box.currentText().startswith(text)

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
def desk(qtbot: QtBot, context: WindowContext, bridge: Bridge) -> Iterator[SettingsDesk]:
    server, plants = Server(bridge), Plants(context)
    pressed = server.pressed
    commands = SettingCommands(
        plants.view.compact_command,
        plants.view.keep_tag_command,
        lambda: pressed.append("API access"),
        lambda: pressed.append("back up"),
        lambda page, heading: pressed.extend((page, heading)),
    )
    page = SettingsPage(context, cast("ApiControl", server), commands)
    dialog = page.open_dialog()
    with qtbot.waitExposed(dialog):
        dialog.show()
    yield SettingsDesk(qtbot, dialog, page, server, plants)
    page.release_store()
    context.theme.set_mode(ThemeMode.LIGHT)  # font and palette are the application's
    context.theme.set_text_scale(1.0)
