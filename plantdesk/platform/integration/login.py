"""Start at login, on each operating system. The state is read from the system; there is no setting for it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class LoginItem(Protocol):
    """The entry by which the system starts PlantDesk at login."""

    def is_on(self) -> bool:
        """Whether the system starts PlantDesk at login. Raises OSError."""

    def turn_on(self, command: Sequence[str]) -> None:
        """Make the system start `command`, instead of any earlier one. Raises OSError."""

    def turn_off(self) -> None:
        """Remove the entry. Raises OSError."""


def item() -> LoginItem:
    """Return the user's entry on this system. Raises NoHomeFolderError."""
    found: LoginItem
    if sys.platform == "win32":
        from plantdesk.platform.integration.windows_login import RunValue

        found = RunValue()
    elif sys.platform == "darwin":
        from plantdesk.platform.integration.macos_login import LaunchAgent

        found = LaunchAgent.of_user()
    else:
        from plantdesk.platform.integration.linux_login import AutostartEntry

        found = AutostartEntry.of_user()
    return found


def switch(*, on: bool) -> None:
    """Turn start at login on or off. Raises OSError, NoHomeFolderError."""
    if on:
        from plantdesk.platform.integration import launch

        item().turn_on(launch.in_background())
    else:
        item().turn_off()
