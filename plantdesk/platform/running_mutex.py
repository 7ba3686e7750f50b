"""The mutex by which the Windows installer and uninstaller detect a running PlantDesk, whose files are in use.

A named mutex is released when the last process that holds it ends, also by a crash.
"""

from __future__ import annotations

import sys

from plantdesk.platform import resources

#: Also in plantdesk.nsi. “Local”: the namespace of the user's session, since the program is installed per user.
NAME = r"Local\PlantDesk-running"


def hold(name: str = NAME) -> int | None:
    """Hold the mutex until this process ends; return its handle, None where none is needed.

    Only installed files need it: no installer writes to a portable folder or a checkout.
    """
    handle: int | None = None
    if sys.platform == "win32" and resources.channel() == "nsis":
        import ctypes

        create = ctypes.windll.kernel32.CreateMutexW
        create.restype = ctypes.c_void_p
        create.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_wchar_p]
        handle = create(None, 0, name)  # fails only when out of memory; PlantDesk runs without it then
    return handle
