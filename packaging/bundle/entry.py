"""The first thing a frozen PlantDesk runs."""

from __future__ import annotations

import os
import sys


def _leave_the_loader_alone() -> None:
    """Take the bundle out of the loader's path again, where the bootloader put it.

    Our own libraries are found by now. A program that we start, as xdg-open, must not get them.
    """
    before = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    os.environ.pop("LD_LIBRARY_PATH", None)
    if before is not None:
        os.environ["LD_LIBRARY_PATH"] = before


def _hold_own_modules() -> None:
    """Keep the file open that our modules are in, and read them from there.

    An upgrade puts another file under its name while we run; a module read from that one, where ours had it, is none.
    """
    archive = sys.modules["pyimod02_importers"].pyz_archive
    held = os.open(archive._filename, os.O_RDONLY)  # noqa: SLF001 - PyInstaller has no other way
    name = f"/proc/self/fd/{held}"
    if os.path.exists(name):  # noqa: PTH110 - pathlib would take a tenth of the start
        archive._filename = name  # noqa: SLF001


if sys.platform.startswith("linux"):
    _leave_the_loader_alone()
    _hold_own_modules()

from plantdesk.cli import main  # noqa: E402 - the loader and our modules first

sys.exit(main())
