"""A place on the person's PATH on Windows, so that a new terminal finds `plantdesk`.

Here and not in the installer, whose strings end at 1024 characters and would cut a long PATH off.
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import ctypes
    import os
    import winreg

    _VARIABLE = "Path"
    _BROADCAST, _SETTING_CHANGE, _ABORT_IF_HUNG, _PATIENCE = 0xFFFF, 0x001A, 0x0002, 2000

    class UserPath:
        """The folder list that Windows keeps for the person; `key` is below HKEY_CURRENT_USER."""

        def __init__(self, key: str = "Environment") -> None:
            self._key = key

        def has(self, folder: str) -> bool:
            """Whether `folder` is in it. Raises OSError."""
            return any(_same(each, folder) for each in self._read()[0])

        def add(self, folder: str) -> None:
            """Put `folder` at its end, once. Raises OSError."""
            folders, kind = self._read()
            if not self.has(folder):
                self._write([*folders, folder], kind)

        def remove(self, folder: str) -> None:
            """Take `folder` out and leave all else as it is. Raises OSError."""
            folders, kind = self._read()
            if self.has(folder):
                self._write([each for each in folders if not _same(each, folder)], kind)

        def _read(self) -> tuple[list[str], int]:
            """Return its parts as they are written, and whether variables in them are expanded."""
            try:
                with winreg.OpenKey(winreg.HKEY_CURRENT_USER, self._key) as key:
                    value, kind = winreg.QueryValueEx(key, _VARIABLE)
            except FileNotFoundError:
                return [], winreg.REG_EXPAND_SZ
            return str(value).split(";") if value else [], kind

        def _write(self, folders: list[str], kind: int) -> None:
            with winreg.CreateKey(winreg.HKEY_CURRENT_USER, self._key) as key:
                if folders:
                    winreg.SetValueEx(key, _VARIABLE, 0, kind, ";".join(folders))
                else:
                    winreg.DeleteValue(key, _VARIABLE)
            # So that a terminal opened from now on knows it; without, only the next login would.
            ctypes.windll.user32.SendMessageTimeoutW(
                _BROADCAST, _SETTING_CHANGE, None, "Environment", _ABORT_IF_HUNG, _PATIENCE, None
            )

    def _same(one: str, other: str) -> bool:
        return _plain(one) == _plain(other)

    def _plain(folder: str) -> str:
        return os.path.normcase(os.path.expandvars(folder.strip().strip('"'))).rstrip("\\")
