"""Start at login on macOS: a launch agent of the user."""

from __future__ import annotations

import plistlib
from typing import TYPE_CHECKING

from plantdesk import APP_ID
from plantdesk.platform import paths

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class LaunchAgent:
    """The property list in ~/Library/LaunchAgents."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @classmethod
    def of_user(cls) -> LaunchAgent:
        """Return the file that the system reads. Raises NoHomeFolderError."""
        return cls(paths.home_folder() / "Library" / "LaunchAgents" / f"{APP_ID}.plist")

    def is_on(self) -> bool:
        """Whether the file starts PlantDesk at login; the switch in System Settings cannot be read."""
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
            "AssociatedBundleIdentifiers": [APP_ID],  # System Settings shows the program, not its developer
        }
        self._file.write_bytes(plistlib.dumps(agent))

    def turn_off(self) -> None:
        """Remove the property list."""
        self._file.unlink(missing_ok=True)
