"""`build.py ci` and `build.py prove`: all that must hold of the packages, on every change and before a release.

ci      in some two minutes: checks, freeze, smoke test, limits, a .deb in a clean Debian 12
prove   in some fifteen: all packages as people get them, in clean systems, built twice, and Windows' under wine
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import dev
import project
from bundle import freeze, gates
from ci import checks, sums, workflows
from linux import apt, deb, rpm, tarball
from proofs import installed, reproduce, start_time

if TYPE_CHECKING:
    from collections.abc import Callable

    Step = tuple[str, Callable[[], object]]


def smoke_bundle() -> None:
    """Use the frozen program where it lies."""
    installed.smoke(str(project.executable()), "source", screenshot="bundle")


def wine() -> None:
    """Freeze, install, use, upgrade and uninstall the Windows program, on Debian 13 with wine."""
    subprocess.run([sys.executable, str(project.HERE / "proofs" / "wine.py")], check=True)


CI: list[Step] = [
    ("recipes checked", lambda: checks.main([])),
    ("workflows linted", lambda: workflows.main(["--if-possible"])),
    ("frozen", freeze.make),
    ("within the limits", lambda: gates.check(freeze.ready())),
    ("smoke test of the bundle", smoke_bundle),
    (".deb made, lintian content", lambda: deb.make(quick=True)),
    (".deb used in a clean Debian 12", installed.prove_deb),
]
PROVE: list[Step] = [
    CI[0],
    ("workflows linted", lambda: workflows.main([])),
    *CI[2:5],
    ("built twice, the same bytes", lambda: reproduce.main([])),
    ("upgraded while it runs", installed.prove_upgrade),
    (".deb made", deb.make),
    (".rpm made", rpm.make),
    (".tar.gz made", tarball.make),
    (".deb used in a clean Debian 12", installed.prove_deb),
    (".deb used in a clean Debian 13", lambda: installed.prove_deb("trixie")),
    (".tar.gz used in an empty environment", installed.prove_tar),
    (".rpm installed, upgraded, verified, used, erased", installed.prove_rpm),
    ("start measured", lambda: start_time.main([])),
    ("Windows' installers used under wine", wine),
    ("sums written", lambda: sums.main([])),
]


def ci(arguments: list[str]) -> None:
    """What every change goes through."""
    argparse.ArgumentParser(prog="build.py ci", description=__doc__).parse_args(arguments)
    apt.need(["xvfb", "fonts-dejavu-core"])
    walk(CI)


def prove(arguments: list[str]) -> None:
    """What a release goes through; with --no-wine without the part that makes 4 GB."""
    parser = argparse.ArgumentParser(prog="build.py prove", description=__doc__)
    parser.add_argument("--no-wine", action="store_true", help="leave Windows out")
    leave = wine if parser.parse_args(arguments).no_wine else None
    apt.need(["xvfb", "fonts-dejavu-core"])
    walk([(name, step) for name, step in PROVE if step is not leave])


def walk(steps: list[Step]) -> None:
    """Take each step and tell how long it took."""
    began = time.monotonic()
    for name, step in steps:
        started = time.monotonic()
        step()
        dev.say(f"* {name} ({time.monotonic() - started:.0f} s)")
    dev.say(f"All of it holds ({time.monotonic() - began:.0f} s).")
