"""Debian packages that the recipes need: installed when they are missing and we are root, else named."""

from __future__ import annotations

import os
import shutil
import subprocess

import dev

#: Libraries that Qt's plugins link to: PyInstaller copies them from here, or leaves the plugin without.
LIBRARIES = [
    *("libcups2", "libdbus-1-3", "libegl1", "libfontconfig1", "libfreetype6", "libgl1", "libglib2.0-0"),
    *("libgssapi-krb5-2", "libwayland-client0", "libwayland-cursor0", "libwayland-egl1", "libx11-xcb1"),
    *("libxcb-cursor0", "libxcb-icccm4", "libxcb-image0", "libxcb-keysyms1", "libxcb-randr0", "libxcb-render-util0"),
    *("libxcb-shape0", "libxcb-sync1", "libxcb-util1", "libxcb-xfixes0", "libxcb-xkb1", "libxkbcommon-x11-0"),
    *("libxkbcommon0", "binutils"),
]

#: Libraries that the frozen program takes from a system, as the .deb's Depends name them.
RUNTIME = [
    *("libdbus-1-3", "libegl1", "libfontconfig1", "libfreetype6", "libgl1", "libglib2.0-0", "libgssapi-krb5-2"),
    *("libstdc++6", "libuuid1", "libx11-xcb1", "libxcb1", "zlib1g"),
]


def need(packages: list[str]) -> None:
    """Install those of the packages that are missing. Raises RefusedError with the line to type where we may not.

    On a system without dpkg, nothing is asked: there, whoever builds has to know.
    """
    if shutil.which("dpkg-query") is None:
        return
    missing = [package for package in packages if not _installed(package)]
    if not missing:
        return
    if not os.access("/var/lib/dpkg", os.W_OK):
        raise dev.RefusedError("This needs: sudo apt-get update && sudo apt-get install " + " ".join(missing))
    dev.say("Installing Debian's packages {} …".format(" ".join(missing)))
    dev.install(missing)


def need_libraries() -> None:
    """Install what Qt's plugins link to."""
    need(LIBRARIES)


def _installed(package: str) -> bool:
    command = ["dpkg-query", "--show", "--showformat", "${db:Status-Status}\n", package]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    return "installed" in shown.stdout.split()
