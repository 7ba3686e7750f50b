"""`build.py verify` (fifteen minutes): what packages must hold before a release."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import dev
import project
from bundle import archives, contents, freeze
from ci import checks, release
from linux import apt, deb, rpm
from package_tests import comparisons, packages, wine

if TYPE_CHECKING:
    Step = tuple[str, Callable[[], object]]

_STEPS: list[Step] = [
    ("files checked", checks.check),
    ("workflows linted", checks.lint),
    ("frozen", freeze.make),
    ("within the limits", contents.check_bundle),
    ("smoke test of the bundle", lambda: packages.smoke(str(project.executable()), "source", screenshot="bundle")),
    ("built twice, the same bytes", comparisons.reproduce),
    ("upgraded while it runs", packages.verify_upgrade),
    (".deb made", deb.make),
    (".rpm made", rpm.make),
    (".tar.gz made", archives.make_tar),
    (".deb used in a clean Debian 12", packages.verify_deb),
    (".deb used in a clean Debian 13", partial(packages.verify_deb, "trixie")),
    (".tar.gz used in an empty environment", packages.verify_tar),
    (".rpm installed, upgraded, verified, used, erased", packages.verify_rpm),
    ("start measured", comparisons.start),
    ("Windows' installers used under wine", wine.main),
    ("sums written", release.write_sums),
]


def verify(*, no_wine: bool = False) -> None:
    """Run each step and print its time."""
    apt.need(["xvfb", "fonts-dejavu-core"])
    began = time.monotonic()
    for name, step in _STEPS:
        if no_wine and "wine" in name:
            continue
        started = time.monotonic()
        step()
        dev.say(f"* {name} ({time.monotonic() - started:.0f} s)")
    dev.say(f"All steps passed ({time.monotonic() - began:.0f} s).")
