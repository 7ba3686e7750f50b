"""Quick entry beside the window: real keys, and what the window manager says."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.use.user import until

if TYPE_CHECKING:
    from tests.use.user import User


@pytest.mark.skipif(shutil.which("xprop") is None, reason="xprop is not installed")
def test_quick_entry_takes_keys_at_once_is_in_no_task_bar_and_gives_the_focus_back(user: User) -> None:
    before = user.active_window
    for name in ("Monstera adansonii", "Alocasia zebrina"):  # the window manager forgets what is hidden
        user.command("quick")
        until(lambda: user.active_window != before, "the window for a plant is active")
        user.type(name)
        assert "_NET_WM_STATE_SKIP_TASKBAR" in user.x_property(user.active_window, "_NET_WM_STATE")
        user.press("Return")
        until(lambda: user.active_window == before, "the focus is back")
    user.has([("Monstera adansonii", None), ("Alocasia zebrina", None)])
