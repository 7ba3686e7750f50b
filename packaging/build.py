"""Make the packages of PlantDesk from this checkout, on the system that they are for, and verify them.

Results are put into .dev/dist. packaging/README.md explains the steps; `build.py NAME --help` lists the options of one.
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

import dev


class Recipe(NamedTuple):
    """What can be made: `module:function`, its help, and its options; None where it parses its own arguments."""

    function: str
    help: str
    options: tuple[str, ...] | None = ()


RECIPES = {
    "bundle": Recipe("bundle.freeze:make", "freeze the program into the folder that packages are made of", ("--here",)),
    "deb": Recipe("linux.deb:make", "the package for Debian and Ubuntu", ("--quick",)),
    "rpm": Recipe("linux.rpm:make", "the package for Fedora and openSUSE", ("--quick",)),
    "tar": Recipe("linux.tar:make", "the archive for any Linux", ("--quick",)),
    "nsis": Recipe("windows.installer:make", "the installer for Windows", ("--of", "--target")),
    "zip": Recipe("windows.installer:make_zip", "the archive for Windows", ("--of",)),
    "dmg": Recipe("macos.dmg:make", "the disk image for macOS", ("--of",)),
    "notes": Recipe("release:print_notes", "print what is new, for the page of the release", ("--tag",)),
    "limits": Recipe("bundle.contents:check_bundle", "check size, glibc and file list of the bundle", ("--accept",)),
    "smoke": Recipe("package_tests.smoke:main", "use an installed program, and check every result", None),
    "installer": Recipe("package_tests.windows_installer:main", "use the Windows installer, on Windows", None),
    "wine": Recipe("package_tests.wine:main", "build and verify the Windows installer", ("--keep", "--tests")),
    "try": Recipe(
        "package_tests.packages:verify", "verify packages in clean systems: deb deb13 upgrade tar rpm", ("packages",)
    ),
    "reproduce": Recipe("package_tests.comparisons:reproduce", "build everything for Linux twice and compare"),
    "manual": Recipe("linux.manual:main", "write manual page and completions; run with the build environment", ("to",)),
    "notices": Recipe("bundle.notices:main", "write notices or SBOM; run with the build environment", None),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "--accept": {"action": "store_true", "help": "write the list of files anew; review the difference"},
    "--here": {"action": "store_true", "help": "use the Python that runs this instead of .dev/build-env"},
    "--keep": {"action": "store_true", "help": "only verify the installers of the last run"},
    "--of": {"type": Path, "metavar": "FOLDER", "help": "a frozen program (default: freeze it now)"},
    "--quick": {"action": "store_true", "help": "compress little, for tests"},
    "--tag": {"help": "print nothing; fail unless this is the newest version's tag"},
    "--target": {"help": "another NSIS target, for tests: amd64-unicode"},
    "--tests": {"action": "store_true", "help": "only run the tests of what differs on Windows"},
    "packages": {"nargs": "+", "choices": ["deb", "deb13", "upgrade", "tar", "rpm"]},
    "to": {"type": Path, "metavar": "FOLDER"},
}


def main() -> int:
    """Run the recipe that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="recipe", metavar="NAME", required=True)
    for name, recipe in RECIPES.items():
        command = commands.add_parser(
            name, help=recipe.help, description=recipe.help, add_help=recipe.options is not None, allow_abbrev=False
        )
        for option in recipe.options or ():
            command.add_argument(option, **OPTIONS[option])
    options, rest = parser.parse_known_args()
    recipe = RECIPES[vars(options).pop("recipe")]
    if rest and recipe.options is not None:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    module, _, function = recipe.function.partition(":")
    run = getattr(importlib.import_module(module), function)
    try:
        # The paths that some return are for other recipes.
        result = run(**vars(options)) if recipe.options is not None else run(rest)
    except (dev.RefusedError, OSError, subprocess.SubprocessError) as reason:
        dev.say(str(reason))
        return 1
    return result if isinstance(result, int) else 0


if __name__ == "__main__":
    sys.exit(main())
