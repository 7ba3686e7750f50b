"""The mark by which the Windows installer and uninstaller know that PlantDesk runs: they must not touch its files then.

A named mutex, gone with the last process that holds it, however that ended.
"""

from __future__ import annotations

import sys

from plantdesk import resources

#: In plantdesk.nsi, too. “Local”: of this person's session, for the program is installed for one person.
NAME = r"Local\PlantDesk-running"


def show(name: str = NAME) -> int | None:
    """Hold the mark until this process ends; return its handle, None where there is nothing to mark.

    Only the installed files need it: a portable folder or a checkout is in no installer's way.
    """
    handle: int | None = None
    if sys.platform == "win32" and resources.channel() == "nsis":
        import ctypes

        create = ctypes.windll.kernel32.CreateMutexW
        create.restype = ctypes.c_void_p
        create.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_wchar_p]
        handle = create(None, 0, name)  # fails only without memory, which is no reason not to run
    return handle
