"""`build.py start`: how long the frozen program takes until its window is seen, beside the same program unpackaged.

Both are started in turn, on a screen of our own, and looked at from outside: from the start of the process to the first
change of a pixel in the middle of the screen. Prints medians and their ratio.
"""

from __future__ import annotations

import argparse
import mmap
import os
import statistics
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING

import dev
import project
from bundle import freeze
from linux import apt
from proofs import screens

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What a start may take, as a part of the unpackaged program's: as much, and what medians differ by on a busy machine.
SLOWEST = 1.1
_ROUNDS = 25
_PATIENCE = 60.0
#: A part of the screen's file that a window covers: a few lines, a third of the way down.
_SAMPLE = slice(1_400_000, 1_440_000)


def main(arguments: list[str]) -> None:
    """Measure, and refuse a start that is slower than it may be."""
    parser = argparse.ArgumentParser(prog="build.py start", description=__doc__)
    parser.add_argument("--rounds", type=int, default=_ROUNDS)
    apt.need(["xvfb"])
    unpackaged = [str(freeze.prepare().python), "-P", "-m", "plantdesk"]
    frozen = [str(freeze.ready() / "plantdesk")]
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(parser.parse_args(arguments).rounds + 1):  # the first round only warms the disk's cache
        for taken, command in zip(times, (frozen, unpackaged), strict=True):
            taken.append(first_sight(command))
    mine, theirs = (statistics.median(taken[1:]) for taken in times)
    dev.say(f"frozen {mine * 1000:.0f} ms, unpackaged {theirs * 1000:.0f} ms, ratio {mine / theirs:.2f}")
    if mine > theirs * SLOWEST:
        raise dev.RefusedError(f"The frozen program starts slower than {SLOWEST} times the unpackaged one.")


def first_sight(command: Sequence[str]) -> float:
    """Start a program with the window, on an empty screen, and return after how many seconds it is seen."""
    with tempfile.TemporaryDirectory() as home, screens.virtual_screen() as (_picture, file):
        with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as pixels:
            empty = pixels[_SAMPLE]
            began = time.monotonic()
            environment = {**os.environ, "PLANTDESK_HOME": home}
            process = subprocess.Popen([*command, "--port", "0"], env=environment, cwd=project.ROOT)
            while pixels[_SAMPLE] == empty and time.monotonic() - began < _PATIENCE:
                time.sleep(0.0005)
            taken = time.monotonic() - began
        process.kill()
        process.wait()
        if taken >= _PATIENCE:
            raise dev.RefusedError(f"{command[0]} showed no window")
    return taken
