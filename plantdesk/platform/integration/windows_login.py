"""Start at login on Windows: a value under the user's Run key."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

if sys.platform == "win32":
    import winreg

    _RUN = r"Software\Microsoft\Windows\CurrentVersion\Run"
    # The Task Manager's switches: an odd first byte means disabled.
    _APPROVED = r"Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"

    class RunValue:
        """The value `name`, which the uninstaller removes as well."""

        def __init__(self, name: str = "PlantDesk") -> None:
            self._name = name

        def is_on(self) -> bool:
            """Whether Windows starts PlantDesk at login."""
            approved = _read(_APPROVED, self._name)
            off = isinstance(approved, bytes) and approved[:1] != b"" and approved[0] % 2 == 1
            return _read(_RUN, self._name) is not None and not off

        def turn_on(self, command: Sequence[str]) -> None:
            """Write the value, and remove the Task Manager's switch."""
            with winreg.CreateKey(winreg.HKEY_CURRENT_USER, _RUN) as key:
                winreg.SetValueEx(key, self._name, 0, winreg.REG_SZ, subprocess.list2cmdline(command))
            _remove(_APPROVED, self._name)

        def turn_off(self) -> None:
            """Remove the value."""
            _remove(_RUN, self._name)
            _remove(_APPROVED, self._name)

    def _read(path: str, name: str) -> object:
        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, path) as key:
                return winreg.QueryValueEx(key, name)[0]
        except FileNotFoundError:
            return None

    def _remove(path: str, name: str) -> None:
        with (
            contextlib.suppress(FileNotFoundError),
            winreg.OpenKey(winreg.HKEY_CURRENT_USER, path, access=winreg.KEY_SET_VALUE) as key,
        ):
            winreg.DeleteValue(key, name)
