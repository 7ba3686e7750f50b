"""Comparisons of builds: two of the same commit in their bytes, frozen and unpackaged in their start times."""

from __future__ import annotations

import hashlib
import mmap
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence

import dev
import project
from bundle import archives, freeze
from linux import apt, deb, rpm
from package_tests import screens

#: The limit of the frozen program's start time, relative to the unpackaged one's. They are equal on a quiet machine.
MAX_START_RATIO = 2
_START_TIMEOUT = 60.0
#: A part of the screen file that a window covers: a few lines, a third of the way down.
_SAMPLE = slice(1_400_000, 1_440_000)


def reproduce() -> None:
    """Build everything for Linux twice; raise RefusedError where bytes differ."""
    first, second = _build(), _build()
    different = sorted(name for name in {*first, *second} if first.get(name) != second.get(name))
    if different:
        raise dev.RefusedError("different in two builds: " + ", ".join(different))
    dev.say(f"{len(first)} files are equal in two builds.")


def _build() -> dict[str, str]:
    shutil.rmtree(project.WORK / "pyinstaller", ignore_errors=True)
    folder = freeze.make()
    packages = [deb.make(quick=True), rpm.make(quick=True), archives.make_tar(quick=True), project.sbom()]
    files = [file for file in (*folder.rglob("*"), *packages) if file.is_file()]
    return {str(file.relative_to(project.DIST)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def start(*, rounds: int = 25) -> None:
    """Start the frozen and the unpackaged program in turn, and compare the medians."""
    apt.need(["xvfb"])
    unpackaged = [str(freeze.prepare().python), "-P", "-m", "plantdesk"]
    frozen = [str(freeze.ready() / "plantdesk")]
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds + 1):  # the first round only warms the disk cache
        for taken, command in zip(times, (frozen, unpackaged), strict=True):
            taken.append(_seconds_to_window(command))
    first, second = (statistics.median(taken[1:]) for taken in times)
    dev.say(f"frozen {first * 1000:.0f} ms, unpackaged {second * 1000:.0f} ms, ratio {first / second:.2f}")
    if first > second * MAX_START_RATIO:
        raise dev.RefusedError(f"The frozen program takes over {MAX_START_RATIO} times as long to start.")


def _seconds_to_window(command: Sequence[str]) -> float:
    """Return the time from a start to the first changed pixel in the middle of an empty screen."""
    with tempfile.TemporaryDirectory() as home, screens.virtual_screen() as (_picture, file):
        with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as pixels:
            empty = pixels[_SAMPLE]
            began = time.monotonic()
            environment = {**os.environ, "PLANTDESK_HOME": home}
            process = subprocess.Popen([*command, "--port", "0"], env=environment, cwd=project.ROOT)
            while pixels[_SAMPLE] == empty and time.monotonic() - began < _START_TIMEOUT:
                time.sleep(0.0005)
            taken = time.monotonic() - began
        process.kill()
        process.wait()
        if taken >= _START_TIMEOUT:
            raise dev.RefusedError(f"{command[0]} showed no window")
    return taken
