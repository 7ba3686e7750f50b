"""Start at login, on each operating system. The state is read from the system; there is no setting for it.

Linux and BSD: freedesktop.org's Desktop Application Autostart and Desktop Entry specifications; macOS: a launch agent;
Windows: a value under the user's Run key.
"""

from __future__ import annotations

import contextlib
import os
import plistlib
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from plantdesk import APP_ID
from plantdesk.platform import paths

#: The option that opens the window minimised, or hidden in the tray if there is one and the settings request it.
BACKGROUND_OPTION = "--background"
_DESKTOP_ENTRY = """\
[Desktop Entry]
Type=Application
Name=PlantDesk
Exec={command}
TryExec={program}
Icon={icon}
Terminal=false
"""
_DISABLED = re.compile(r"^(Hidden\s*=\s*true|X-GNOME-Autostart-enabled\s*=\s*false)\s*$", re.MULTILINE)
_UNQUOTED_WORD = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")


def background_command() -> list[str]:
    """Return the program and its arguments for a start in the background."""
    return window_command(BACKGROUND_OPTION)


def window_command(*options: str) -> list[str]:
    """Return the program and its arguments for a window with `options`."""
    program = Path(sys.executable)
    if sys.platform == "win32":  # python.exe would open a console beside the window
        windowed = program.with_name(f"{program.stem.removesuffix('w')}w.exe")
        program = windowed if windowed.exists() else program
    start = [str(program)] if getattr(sys, "frozen", False) else [str(program), "-m", "plantdesk"]
    return [*start, *options]


def quick_command() -> str:
    """Return the command for the small window, as a user binds it to a key."""
    if sys.platform != "win32" and shutil.which("plantdesk"):
        return "plantdesk quick"
    join = subprocess.list2cmdline if sys.platform == "win32" else shlex.join
    return join(window_command("quick"))


class AutostartEntry:
    """The desktop entry for autostart. Desktops with a switch of their own write to it, too."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @classmethod
    def of_user(cls) -> AutostartEntry:
        """Return the entry in the user's autostart folder, which need not exist. Raises NoHomeFolderError."""
        config_home = os.environ.get("XDG_CONFIG_HOME", "")
        folder = Path(config_home) if Path(config_home).is_absolute() else paths.home_folder() / ".config"
        return cls(folder / "autostart" / f"{APP_ID}.desktop")

    def is_on(self) -> bool:
        """Return whether the desktop starts PlantDesk at login."""
        try:
            entry = self._file.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return False
        return _DISABLED.search(entry) is None

    def turn_on(self, command: Sequence[str]) -> None:
        """Write an entry that starts `command`, also if the desktop has disabled the previous one."""
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        line = " ".join(_quote_word(word) for word in command)
        program = command[0].replace("\\", "\\\\")  # without that program the desktop ignores the entry
        self._file.write_text(_DESKTOP_ENTRY.format(command=line, program=program, icon=APP_ID), encoding="utf-8")

    def turn_off(self) -> None:
        """Delete the file of the entry, if there is one."""
        self._file.unlink(missing_ok=True)


def _quote_word(word: str) -> str:
    """Return an argument of Exec, quoted, and escaped as a string value of the file."""
    word = word.replace("%", "%%")
    if _UNQUOTED_WORD.fullmatch(word):
        return word
    quoted = re.sub(r'(["`$\\])', r"\\\1", word)
    return f'"{quoted}"'.replace("\\", "\\\\")


class LaunchAgent:
    """The launch agent of macOS, a property list in ~/Library/LaunchAgents."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @classmethod
    def of_user(cls) -> LaunchAgent:
        """Return the agent that macOS reads at login; its file need not exist. Raises NoHomeFolderError."""
        return cls(paths.home_folder() / "Library" / "LaunchAgents" / f"{APP_ID}.plist")

    def is_on(self) -> bool:
        """Return whether the file starts PlantDesk at login; the switch in System Settings cannot be read."""
        try:
            return bool(plistlib.loads(self._file.read_bytes()).get("RunAtLoad"))
        except (FileNotFoundError, plistlib.InvalidFileException, ValueError, AttributeError):
            return False

    def turn_on(self, command: Sequence[str]) -> None:
        """Write a property list that starts `command` at a login to the desktop."""
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
        """Delete the property list, if there is one."""
        self._file.unlink(missing_ok=True)


if sys.platform == "win32":
    import winreg

    _RUN_KEY = r"Software\Microsoft\Windows\CurrentVersion\Run"
    # The Task Manager's switches: an odd first byte means disabled.
    _APPROVED_KEY = r"Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"

    class RunValue:
        """The value `name` under the user's Run key in the registry. The uninstaller removes it as well."""

        def __init__(self, name: str = "PlantDesk") -> None:
            self._name = name

        def is_on(self) -> bool:
            """Return whether Windows starts PlantDesk at login."""
            approved = _read_value(_APPROVED_KEY, self._name)
            is_disabled = isinstance(approved, bytes) and approved[:1] != b"" and approved[0] % 2 == 1
            return _read_value(_RUN_KEY, self._name) is not None and not is_disabled

        def turn_on(self, command: Sequence[str]) -> None:
            """Write the value, and remove the Task Manager's switch."""
            with winreg.CreateKey(winreg.HKEY_CURRENT_USER, _RUN_KEY) as key:
                winreg.SetValueEx(key, self._name, 0, winreg.REG_SZ, subprocess.list2cmdline(command))
            _remove_value(_APPROVED_KEY, self._name)

        def turn_off(self) -> None:
            """Remove the value, and the Task Manager's switch."""
            _remove_value(_RUN_KEY, self._name)
            _remove_value(_APPROVED_KEY, self._name)

    def _read_value(path: str, name: str) -> object:
        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, path) as key:
                return winreg.QueryValueEx(key, name)[0]
        except FileNotFoundError:
            return None

    def _remove_value(path: str, name: str) -> None:
        with (
            contextlib.suppress(FileNotFoundError),
            winreg.OpenKey(winreg.HKEY_CURRENT_USER, path, access=winreg.KEY_SET_VALUE) as key,
        ):
            winreg.DeleteValue(key, name)


class LoginItem(Protocol):
    """The entry by which the system starts PlantDesk at login."""

    def is_on(self) -> bool:
        """Return whether the system starts PlantDesk at login. Raises OSError."""

    def turn_on(self, command: Sequence[str]) -> None:
        """Make the system start `command`, instead of any earlier one. Raises OSError."""

    def turn_off(self) -> None:
        """Remove the entry. Raises OSError."""


def login_item() -> LoginItem:
    """Return the user's entry on this system. Raises NoHomeFolderError."""
    item: LoginItem
    if sys.platform == "win32":
        item = RunValue()
    elif sys.platform == "darwin":
        item = LaunchAgent.of_user()
    else:
        item = AutostartEntry.of_user()
    return item


def set_start_at_login(*, on: bool) -> None:
    """Turn start at login, with the window in the background, on or off. Raises OSError, NoHomeFolderError."""
    if on:
        login_item().turn_on(background_command())
    else:
        login_item().turn_off()
