"""The first thing a frozen PlantDesk runs."""

from __future__ import annotations

import os
import sys

if sys.platform.startswith("linux"):
    # The bootloader made the loader look into the bundle first. Our own libraries are found by now; a program that we
    # start, as xdg-open, must not get them.
    before = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    os.environ.pop("LD_LIBRARY_PATH", None)
    if before is not None:
        os.environ["LD_LIBRARY_PATH"] = before

from plantdesk.cli import main

sys.exit(main())
