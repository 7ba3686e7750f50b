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

import bundle
import checks
import deb
import debian
import dev
import gates
import project
import proofs
import reproduce
import rpm
import start_time
import sums
import tarball
import workflows

if TYPE_CHECKING:
    from collections.abc import Callable

    Step = tuple[str, Callable[[], object]]


def smoke_bundle() -> None:
    """Use the frozen program where it lies."""
    proofs.smoke(str(project.executable()), "source", screenshot="bundle")


def wine() -> None:
    """Freeze, install, use, upgrade and uninstall the Windows program, on Debian 13 with wine."""
    subprocess.run([sys.executable, str(project.HERE / "ci" / "wine_chain.py")], check=True)


CI: list[Step] = [
    ("recipes checked", lambda: checks.main([])),
    ("workflows linted", lambda: workflows.main(["--if-possible"])),
    ("frozen", bundle.make),
    ("within the limits", lambda: gates.check(bundle.ready())),
    ("smoke test of the bundle", smoke_bundle),
    (".deb made, lintian content", lambda: deb.make(quick=True)),
    (".deb used in a clean Debian 12", proofs.prove_deb),
]
PROVE: list[Step] = [
    CI[0],
    ("workflows linted", lambda: workflows.main([])),
    *CI[2:5],
    ("built twice, the same bytes", lambda: reproduce.main([])),
    ("upgraded while it runs", proofs.prove_upgrade),
    (".deb made", deb.make),
    (".rpm made", rpm.make),
    (".tar.gz made", tarball.make),
    (".deb used in a clean Debian 12", proofs.prove_deb),
    (".deb used in a clean Debian 13", lambda: proofs.prove_deb("trixie")),
    (".tar.gz used in an empty environment", proofs.prove_tar),
    (".rpm installed, upgraded, verified, used, erased", proofs.prove_rpm),
    ("start measured", lambda: start_time.main([])),
    ("Windows' installers used under wine", wine),
    ("sums written", lambda: sums.main([])),
]


def ci(arguments: list[str]) -> None:
    """What every change goes through."""
    argparse.ArgumentParser(prog="build.py ci", description=__doc__).parse_args(arguments)
    debian.need(["xvfb", "fonts-dejavu-core"])
    walk(CI)


def prove(arguments: list[str]) -> None:
    """What a release goes through; with --no-wine without the part that makes 4 GB."""
    parser = argparse.ArgumentParser(prog="build.py prove", description=__doc__)
    parser.add_argument("--no-wine", action="store_true", help="leave Windows out")
    leave = wine if parser.parse_args(arguments).no_wine else None
    debian.need(["xvfb", "fonts-dejavu-core"])
    walk([(name, step) for name, step in PROVE if step is not leave])


def walk(steps: list[Step]) -> None:
    """Take each step and tell how long it took."""
    began = time.monotonic()
    for name, step in steps:
        started = time.monotonic()
        step()
        dev.say(f"* {name} ({time.monotonic() - started:.0f} s)")
    dev.say(f"All of it holds ({time.monotonic() - began:.0f} s).")
