import os
from pathlib import Path

import pytest

from plantdesk.platform import login
from tests.ui.settings.conftest import SettingsDriver

pytestmark = pytest.mark.skipif(os.name != "posix", reason="would change the registry of the user")

LOGIN = "Start PlantDesk without its window"


@pytest.fixture(autouse=True)
def user_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder that the system's login items are kept in."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    return tmp_path


def test_it_shows_and_changes_the_setting_of_the_system(user: SettingsDriver) -> None:
    box = user.button(LOGIN)
    assert not box.isChecked()
    box.click()
    assert login.login_item().is_on()
    assert box.isChecked()
    user.widget.close()
    login.set_start_at_login(on=False)  # elsewhere, as in the desktop's settings
    again = type(user)(user.qtbot, user.page.open_dialog(), user.page, user.server, user.plants)
    assert not again.button(LOGIN).isChecked()


def test_what_cannot_be_changed_is_reported(user: SettingsDriver, user_home: Path) -> None:
    for name in ("settings", "Library"):
        (user_home / name).write_text("no folder", encoding="utf-8")
    box = user.button(LOGIN)
    box.click()
    assert any(text.startswith("The start at login could not be changed") for text in user.seen())
    assert not box.isChecked()
