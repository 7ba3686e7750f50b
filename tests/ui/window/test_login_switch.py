from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from plantdesk.platform import login
from plantdesk.ui.window.commands import LoginSwitch
from tests.support.desk import Desk

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtGui import QAction
    from pytestqt.qtbot import QtBot

    from plantdesk.ui.feature import WindowContext

pytestmark = pytest.mark.skipif(os.name != "posix", reason="would change the registry of the user")


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder that the system's login items are kept in."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    return tmp_path


def switch_of(context: WindowContext) -> QAction:
    LoginSwitch(context)
    return context.menus.actions[-1]


@pytest.mark.usefixtures("user")
def test_it_shows_and_changes_the_setting_of_the_system(qtbot: QtBot, context: WindowContext) -> None:
    action = switch_of(context)
    desk = Desk(qtbot, context.page)
    desk.choose("Tools", "Start at login")
    assert login.login_item().is_on()
    login.switch_login(on=False)  # elsewhere, as in the desktop's settings
    assert desk.enabled("Tools") == ["Start at login"]
    assert not action.isChecked()


def test_what_cannot_be_changed_is_reported(context: WindowContext, user: Path) -> None:
    for name in ("settings", "Library"):
        (user / name).write_text("no folder", encoding="utf-8")
    action = switch_of(context)
    action.trigger()
    assert context.page.toast.text.startswith("The start at login could not be changed")
    assert not action.isChecked()
