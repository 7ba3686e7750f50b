from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QAction

from plantdesk.integration import login
from plantdesk.ui.platform.login_switch import LoginSwitch
from plantdesk.ui.widgets.info_bar import InfoBar

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from plantdesk.ui.theme.theme import Theme

pytestmark = pytest.mark.skipif(os.name != "posix", reason="would change the registry of the person")


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder that the system's login items are kept in."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    return tmp_path


@pytest.fixture
def action() -> QAction:
    action = QAction()
    action.setCheckable(True)
    return action


@pytest.mark.usefixtures("person")
def test_it_shows_and_changes_how_the_system_has_it(qtbot: QtBot, theme: Theme, action: QAction) -> None:
    bar = InfoBar(theme)
    qtbot.addWidget(bar)
    switch = LoginSwitch(action, bar)
    action.trigger()
    assert login.item().is_on()
    assert action.isChecked()
    login.switch(on=False)  # elsewhere, as in the desktop's settings
    switch.look()
    assert not action.isChecked()


def test_what_cannot_be_changed_is_told(qtbot: QtBot, theme: Theme, action: QAction, person: Path) -> None:
    for name in ("settings", "Library"):
        (person / name).write_text("no folder", encoding="utf-8")
    bar = InfoBar(theme)
    qtbot.addWidget(bar)
    switch = LoginSwitch(action, bar)
    action.trigger()
    assert bar.title == "The start at login could not be changed"
    assert not action.isChecked()
    switch.deleteLater()
