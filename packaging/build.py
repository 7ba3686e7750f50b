"""Make the packages of PlantDesk from this checkout, on the system that they are for, and verify them.

Results are put into .dev/dist. packaging/README.md explains the steps; `build.py NAME --help` lists the options of one.
"""

from __future__ import annotations

import argparse
import importlib
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

import dev


class Recipe(NamedTuple):
    """What can be made: `module:function`, its help, and its options."""

    function: str
    help: str
    options: tuple[str, ...] = ()


RECIPES = {
    "bundle": Recipe("bundle.freeze:make", "freeze the program into the folder that packages are made of"),
    "deb": Recipe("linux.deb:make", "the package for Debian and Ubuntu", ("--quick",)),
    "rpm": Recipe("linux.rpm:make", "the package for Fedora and openSUSE", ("--quick",)),
    "tar": Recipe("linux.tar:make", "the archive for any Linux", ("--quick",)),
    "nsis": Recipe("windows.installer:make", "the installer for Windows", ("--of",)),
    "zip": Recipe("windows.installer:make_zip", "the archive for Windows", ("--of",)),
    "dmg": Recipe("macos.dmg:make", "the disk image for macOS", ("--of",)),
    "manifests": Recipe("windows.installer:write_manifests", "the manifests for winget and Scoop", ("folder",)),
    "limits": Recipe("bundle.contents:check_bundle", "check size and glibc of the bundle"),
    "smoke": Recipe(
        "package_tests.smoke:verify",
        "use an installed program, and check every result",
        ("executable", "--channel", "--within", "--root", "--blind", "--screenshot"),
    ),
    "installer": Recipe(
        "package_tests.windows_installer:verify",
        "use the Windows installer, on Windows",
        ("installer", "--screenshot"),
    ),
    "try": Recipe(
        "package_tests.packages:verify", "verify packages in clean systems: deb deb13 upgrade tar rpm", ("packages",)
    ),
    "reproduce": Recipe("package_tests.packages:reproduce", "build everything for Linux twice and compare"),
    "manual": Recipe("linux.manual:main", "write manual page and completions; run with the build environment", ("to",)),
    "notices": Recipe("bundle.notices:write", "write the notices; run with the build environment", ("to",)),
    "sbom": Recipe(
        "bundle.notices:write_sbom", "write a bundle's SBOM; run with the build environment", ("--of", "to")
    ),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "--blind": {"action": "store_true", "help": "do not look at the screen, as on macOS"},
    "--channel": {"help": "the package that it must come from: deb, rpm, tar, nsis, zip, dmg"},
    "--of": {"type": Path, "metavar": "FOLDER", "help": "a frozen program (default: freeze it now)"},
    "--quick": {"action": "store_true", "help": "compress little, for tests"},
    "--root": {"metavar": "FOLDER", "help": "use the account's folders below it instead of temporary ones"},
    "--screenshot": {"type": Path, "metavar": "FILE", "help": "save a picture of the new row (PPM)"},
    "--within": {"default": "", "metavar": "COMMAND", "help": "starts it elsewhere, in one argument"},
    "executable": {"help": "the command, as it is typed"},
    "folder": {"type": Path, "metavar": "FOLDER", "help": "the downloads, beside which they are written"},
    "installer": {"type": Path},
    "packages": {"nargs": "+", "choices": ["deb", "deb13", "upgrade", "tar", "rpm"]},
    "to": {"type": Path, "metavar": "FILE"},
}


def main() -> int:
    """Run the recipe that the command line names; return 1 if it fails, with the reason on standard error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="recipe", metavar="NAME", required=True)
    for name, recipe in RECIPES.items():
        command = commands.add_parser(name, help=recipe.help, description=recipe.help, allow_abbrev=False)
        for option in recipe.options:
            command.add_argument(option, **OPTIONS[option])
    options = vars(parser.parse_args())
    module, _, function = RECIPES[options.pop("recipe")].function.partition(":")
    try:
        getattr(importlib.import_module(module), function)(**options)
    except (dev.RefusedError, OSError, sqlite3.Error, subprocess.SubprocessError) as reason:
        dev.say(str(reason))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
