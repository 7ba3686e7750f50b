"""Make what people install, from this checkout, on the system it is for; and prove it.

    bundle       the frozen program, a folder that all others are made of
    deb rpm tar  the packages for Linux; --quick compresses little
    nsis zip     the installer and the archive for Windows
    dmg          the disk image for macOS
    sums         SHA256SUMS over all of them

    check        desktop entry, metainfo, manual page, completions
    gates        size, GLIBC, the list of bundled files
    try NAME …   one package in a clean system: deb deb13 upgrade tar rpm
    reproduce    build everything twice and compare
    start        time to the first sight of the window, beside the unpackaged program
    workflows    linters for .github/workflows
    ci           what every change goes through
    prove        what a release goes through

What is made goes into .dev/dist; `--help` after a name tells its options. packaging/README.md tells more.
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import dev

#: What can be asked for: the module, and its function.
RECIPES = {
    "bundle": "bundle.freeze:main",
    "check": "ci.checks:main",
    "ci": "ci.chain:ci",
    "deb": "linux.deb:main",
    "dmg": "macos.dmg:main",
    "gates": "bundle.gates:main",
    "nsis": "windows.installer:main",
    "prove": "ci.chain:prove",
    "reproduce": "proofs.reproduce:main",
    "rpm": "linux.rpm:main",
    "start": "proofs.start_time:main",
    "sums": "ci.sums:main",
    "tar": "linux.tarball:main",
    "try": "proofs.installed:main",
    "workflows": "ci.workflows:main",
    "zip": "windows.windows_zip:main",
}


def main() -> int:
    """Make what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", choices=RECIPES, metavar="NAME", help="one of the names above")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the recipe's own")
    options = parser.parse_args()
    module, _, function = RECIPES[options.recipe].partition(":")
    try:
        return int(getattr(importlib.import_module(module), function)(options.arguments) or 0)
    except (dev.RefusedError, OSError, subprocess.CalledProcessError) as reason:
        dev.say(str(reason))
        return 1


if __name__ == "__main__":
    sys.exit(main())
