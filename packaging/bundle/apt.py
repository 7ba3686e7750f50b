"""Installs the Debian packages that recipes need, if root runs them; otherwise, errors name the command to run."""

from __future__ import annotations

import os
import shutil
import sys

import dev


def list_qt_packages() -> list[str]:
    """Return the packages of the libraries that Qt takes from the system, also those that PyInstaller copies."""
    sys.path.insert(0, str(dev.ROOT))
    from plantdesk.platform import display

    libraries = (*display.QT_LIBRARIES, *display.X11_LIBRARIES, *display.WAYLAND_LIBRARIES)
    return [*(library.debian for library in libraries), "libcups2"]


def ensure_installed(packages: list[str]) -> None:
    """Install the missing ones of `packages`. Raises RefusedError with the command if only root may do that.

    Does nothing on a system without dpkg.
    """
    if shutil.which("dpkg-query") is None:
        return
    missing = [package for package in packages if not _is_installed(package)]
    if missing and not os.access("/var/lib/dpkg", os.W_OK):
        raise dev.RefusedError("Run first: sudo apt-get update && sudo apt-get install " + " ".join(missing))
    if missing:
        dev.say(f"Installing Debian packages: {' '.join(missing)} …")
        dev.install(missing)


def _is_installed(package: str) -> bool:
    command = ["dpkg-query", "--show", "--showformat", "${db:Status-Status}\n", package]
    return "installed" in dev.run_captured(command).stdout.split()
