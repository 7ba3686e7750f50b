"""Windows only: the mutex by which installers detect a running PlantDesk, and the user's PATH.

The installer does not change PATH: its strings are limited to 1024 characters and would truncate a long one.
"""

from __future__ import annotations

import sys

#: As in plantdesk.nsi. “Local”: the namespace of the user's session, since the program is installed per user.
MUTEX_NAME = r"Local\PlantDesk-running"


def hold_running_mutex(name: str = MUTEX_NAME) -> int | None:
    """Hold the mutex until this process ends; return its handle, None if none is needed.

    Only installed files need it: no installer writes to a portable folder or a checkout.
    """
    handle: int | None = None
    if sys.platform == "win32":
        import ctypes

        from plantdesk.platform import paths

        if paths.package_channel() != "nsis":
            return None
        create_mutex = ctypes.windll.kernel32.CreateMutexW
        create_mutex.restype = ctypes.c_void_p
        create_mutex.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_wchar_p]
        handle = create_mutex(None, 0, name)  # fails only when out of memory; PlantDesk runs without it then
    return handle


if sys.platform == "win32":
    import ctypes
    import os
    import winreg

    _VARIABLE = "Path"
    _HWND_BROADCAST = 0xFFFF
    _WM_SETTINGCHANGE = 0x001A
    _SMTO_ABORTIFHUNG = 0x0002
    _TIMEOUT_MS = 2000

    class UserPath:
        """The user's PATH in the registry; `key` is below HKEY_CURRENT_USER."""

        def __init__(self, key: str = "Environment") -> None:
            self._key = key

        def has(self, folder: str) -> bool:
            """Return whether `folder` is in PATH. Raises OSError."""
            return any(_is_same_folder(entry, folder) for entry in self._read()[0])

        def add(self, folder: str) -> None:
            """Append `folder`, unless it is in PATH. Raises OSError."""
            folders, kind = self._read()
            if not self.has(folder):
                self._write([*folders, folder], kind)

        def remove(self, folder: str) -> None:
            """Remove `folder`, however it is written in PATH, if it is there. Raises OSError."""
            folders, kind = self._read()
            if self.has(folder):
                self._write([entry for entry in folders if not _is_same_folder(entry, folder)], kind)

        def _read(self) -> tuple[list[str], int]:
            """Return the folders as written, and the type of the registry value."""
            try:
                with winreg.OpenKey(winreg.HKEY_CURRENT_USER, self._key) as key:
                    value, kind = winreg.QueryValueEx(key, _VARIABLE)
            except FileNotFoundError:
                return [], winreg.REG_EXPAND_SZ
            folders = str(value).split(";") if value else []
            return folders, kind

        def _write(self, folders: list[str], kind: int) -> None:
            with winreg.CreateKey(winreg.HKEY_CURRENT_USER, self._key) as key:
                if folders:
                    winreg.SetValueEx(key, _VARIABLE, 0, kind, ";".join(folders))
                else:
                    winreg.DeleteValue(key, _VARIABLE)
            # New terminals get the new PATH; otherwise it would change at the next login.
            ctypes.windll.user32.SendMessageTimeoutW(
                _HWND_BROADCAST, _WM_SETTINGCHANGE, None, "Environment", _SMTO_ABORTIFHUNG, _TIMEOUT_MS, None
            )

    def _is_same_folder(first: str, other: str) -> bool:
        return _normalize(first) == _normalize(other)

    def _normalize(folder: str) -> str:
        return os.path.normcase(os.path.expandvars(folder.strip().strip('"'))).rstrip("\\")
