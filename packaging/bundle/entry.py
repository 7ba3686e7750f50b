"""The entry point of the frozen program."""

from __future__ import annotations

import os
import sys


def _restore_library_path() -> None:
    """Undo the bootloader's change of LD_LIBRARY_PATH.

    Our own libraries are loaded by now. A program that we start, such as xdg-open, must not get them.
    """
    before = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    os.environ.pop("LD_LIBRARY_PATH", None)
    if before is not None:
        os.environ["LD_LIBRARY_PATH"] = before


def _keep_archive_open() -> None:
    """Read modules from an open file instead of by name.

    An upgrade replaces the file under that name while we run, and our offsets do not fit the new one.
    """
    archive = sys.modules["pyimod02_importers"].pyz_archive
    descriptor = os.open(archive._filename, os.O_RDONLY)  # noqa: SLF001 - PyInstaller has no other way
    name = f"/proc/self/fd/{descriptor}"
    if os.path.exists(name):  # noqa: PTH110 - importing pathlib takes a tenth of the start
        archive._filename = name  # noqa: SLF001


if sys.platform.startswith("linux"):
    _restore_library_path()
    _keep_archive_open()

from plantdesk.cli.main import main  # noqa: E402 - after the loader and the archive are set

sys.exit(main())
