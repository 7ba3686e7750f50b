"""Start at login on macOS: a launch agent of the person, which the system reads at each login."""

from __future__ import annotations

import plistlib
from typing import TYPE_CHECKING

from plantdesk import APP_ID, paths

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class LaunchAgent:
    """The property list in ~/Library/LaunchAgents."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @classmethod
    def of_person(cls) -> LaunchAgent:
        """Return the one that the system reads. Raises NoHomeFolderError."""
        return cls(paths.home_folder() / "Library" / "LaunchAgents" / f"{APP_ID}.plist")

    def is_on(self) -> bool:
        """Whether the system will start it, as far as the file tells; System Settings keeps a switch to itself."""
        try:
            return bool(plistlib.loads(self._file.read_bytes()).get("RunAtLoad"))
        except (FileNotFoundError, plistlib.InvalidFileException, ValueError, AttributeError):
            return False

    def turn_on(self, command: Sequence[str]) -> None:
        """Write the property list."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        agent = {
            "Label": APP_ID,
            "ProgramArguments": list(command),
            "RunAtLoad": True,
            "LimitLoadToSessionType": "Aqua",  # not at a login by ssh
            "ProcessType": "Interactive",
            "AssociatedBundleIdentifiers": [APP_ID],  # System Settings names the program, not its maker
        }
        self._file.write_bytes(plistlib.dumps(agent))

    def turn_off(self) -> None:
        """Remove the property list."""
        self._file.unlink(missing_ok=True)
