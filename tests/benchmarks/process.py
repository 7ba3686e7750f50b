"""Memory and idle CPU of the program with a million plants, from outside.

    python -m tests.benchmarks.process [--program COMMAND …] [--plants N] [--seconds 20]

Starts `serve` and the window (without a display) of this checkout and of each other program, such as the frozen one.
Prints its resident memory after a rest and after a load from 64 connections, and its CPU while nothing happens, in
percent of a core. Needs Linux.
"""

import argparse
import tempfile
import time
from pathlib import Path

from tests.benchmarks.load import PLANTDESK, Service
from tests.benchmarks.views import fill, memory

#: Seconds of the load, and after each step until the program has come to rest.
_LOAD, _REST = 5.0, 3.0


def _measure(service: Service, folder: Path, seconds: float) -> tuple[float, float, float]:
    """Start a program; return its memory after a rest and after a load, and its idle CPU in percent."""
    service.next_id = time.time_ns() // 1000  # of no plant of an earlier load
    try:
        service.start(folder)
        time.sleep(_REST)
        rested, before = memory(service.pid), service.cpu_seconds()
        time.sleep(seconds)
        idle = (service.cpu_seconds() - before) / seconds * 100
        service.load("64", _LOAD)
        time.sleep(_REST)
        return rested, memory(service.pid), idle
    finally:
        service.stop()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", nargs="*", default=[], metavar="COMMAND")
    parser.add_argument("--plants", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    print(f"{'':46}{'rested':>8}{'loaded':>8} MiB{'idle':>8} %")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fill(folder / "plants.db", options.plants)
        for command in [PLANTDESK, *options.program]:
            for mode in ((), ("serve",)):
                rested, loaded, idle = _measure(Service("plants", command, mode), folder, options.seconds)
                text = f"{' '.join(mode) or 'window':8}{command[-36:]:38}"
                print(f"{text}{rested:8.0f}{loaded:8.0f}    {idle:8.2f}", flush=True)


if __name__ == "__main__":
    main()
