"""Make what people install, from this checkout, on the system it is for.

python3 packaging/build.py bundle     the frozen program, a folder that all others are made of
python3 packaging/build.py nsis       the installer for Windows
python3 packaging/build.py zip        the archive for Windows

What is made goes into .dev/dist; `--help` after a name tells its options.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import dev

#: What can be made, and the module whose `make` makes it.
RECIPES = {
    "bundle": "bundle",
    "deb": "deb",
    "gates": "gates",
    "reproduce": "reproduce",
    "rpm": "rpm",
    "start": "start_time",
    "sums": "sums",
    "tar": "tarball",
    "try": "proofs",
    "dmg": "macos_packages",
    "nsis": "windows_packages",
    "workflows": "workflows",
    "zip": "windows_zip",
}


def main() -> int:
    """Make what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", choices=RECIPES, help="what to make")
    options, rest = parser.parse_known_args()
    try:
        return int(importlib.import_module(RECIPES[options.recipe]).main(rest) or 0)
    except (dev.RefusedError, OSError) as reason:
        dev.say(str(reason))
        return 1


if __name__ == "__main__":
    sys.exit(main())
