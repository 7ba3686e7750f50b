"""Start at login: one face for the ways of three systems. The system is asked how things are; no setting is kept."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class LoginItem(Protocol):
    """The entry by which the system starts PlantDesk when the person logs in."""

    def is_on(self) -> bool:
        """Whether the system will start it. Raises OSError."""

    def turn_on(self, command: Sequence[str]) -> None:
        """Let the system start `command`, in place of what it started before. Raises OSError."""

    def turn_off(self) -> None:
        """Leave nothing behind. Raises OSError."""


def item() -> LoginItem:
    """Return the entry of the system that this runs on, for this user. Raises NoHomeFolderError."""
    if sys.platform == "win32":
        from plantdesk.integration.windows_login import RunValue

        return RunValue()
    elif sys.platform == "darwin":  # noqa: RET505  mypy takes what follows such a return for unreachable there
        from plantdesk.integration.macos_login import LaunchAgent

        return LaunchAgent.of_person()
    else:
        from plantdesk.integration.linux_login import AutostartEntry

        return AutostartEntry.of_person()


def switch(*, on: bool) -> None:
    """Turn the start of this PlantDesk's window at login on or off. Raises OSError, NoHomeFolderError."""
    if on:
        from plantdesk.integration import launch

        item().turn_on(launch.in_background())
    else:
        item().turn_off()
