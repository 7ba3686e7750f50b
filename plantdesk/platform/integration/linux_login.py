"""Start at login on Linux and BSD: an entry in the desktop's autostart folder.

As in freedesktop.org's Desktop Application Autostart and Desktop Entry specifications.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from plantdesk import APP_ID
from plantdesk.platform import paths

if TYPE_CHECKING:
    from collections.abc import Sequence

_ENTRY = """\
[Desktop Entry]
Type=Application
Name=PlantDesk
Exec={command}
TryExec={program}
Icon={icon}
Terminal=false
"""
_SWITCHED_OFF = re.compile(r"^(Hidden\s*=\s*true|X-GNOME-Autostart-enabled\s*=\s*false)\s*$", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")


class AutostartEntry:
    """The user's entry; desktops with their own switch write to the same file."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @classmethod
    def of_user(cls) -> AutostartEntry:
        """Return the entry that the desktop reads. Raises NoHomeFolderError."""
        settings = os.environ.get("XDG_CONFIG_HOME", "")
        folder = Path(settings) if Path(settings).is_absolute() else paths.home_folder() / ".config"
        return cls(folder / "autostart" / f"{APP_ID}.desktop")

    def is_on(self) -> bool:
        """Whether the desktop starts PlantDesk at login."""
        try:
            entry = self._file.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return False
        return _SWITCHED_OFF.search(entry) is None

    def turn_on(self, command: Sequence[str]) -> None:
        """Write the entry."""
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        line = " ".join(_quoted(word) for word in command)
        program = command[0].replace("\\", "\\\\")  # without that program the desktop ignores the entry
        self._file.write_text(_ENTRY.format(command=line, program=program, icon=APP_ID), encoding="utf-8")

    def turn_off(self) -> None:
        """Remove the entry."""
        self._file.unlink(missing_ok=True)


def _quoted(word: str) -> str:
    """Return one argument of Exec: quoted, then escaped as a string value of the file."""
    word = word.replace("%", "%%")
    if _PLAIN.fullmatch(word):
        return word
    quoted = re.sub(r'(["`$\\])', r"\\\1", word)
    return f'"{quoted}"'.replace("\\", "\\\\")
