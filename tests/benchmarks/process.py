"""Memory and idle CPU of the program with a million plants, from outside.

    python -m tests.benchmarks.process [--program COMMAND …] [--plants N] [--seconds 20]

Starts `serve` and the window (without a display) of this checkout and of each other program, such as the frozen one.
Prints its resident memory after a rest and after a load from 64 connections, and its CPU while nothing happens, in
percent of a core. Needs Linux.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.load import cpu_seconds, create_token, wait_for
from tests.benchmarks.views import fill, memory
from tests.support.ports import free_port

_ROOT = Path(__file__).parents[2]
#: Of the load, and after each step until it has come to rest.
_LOAD_SECONDS = "5"
_REST = 3.0


class Row(NamedTuple):
    """The figures of a program: MiB and percent."""

    rested: float
    idle: float
    loaded: float


class Program:
    """A command that runs with a database in a folder."""

    def __init__(self, command: list[str], database: Path, home: Path) -> None:
        self._command = command
        self._database = database
        self._options = ["--database", str(database)]
        self._environment = {**os.environ, "PLANTDESK_HOME": str(home), "QT_QPA_PLATFORM": "offscreen"}
        self._environment["PYTHONPATH"] = str(_ROOT)

    def measure(self, arguments: list[str], seconds: float) -> Row:
        """Start it, and measure it."""
        port, output = free_port(), subprocess.DEVNULL
        command = [*self._command, *arguments, *self._options, "--port", str(port)]
        process = subprocess.Popen(command, env=self._environment, stdout=output, stderr=output)
        try:
            wait_for(shlex.join(command), port)
            return self._measured(process.pid, port, seconds)
        finally:
            process.terminate()
            process.wait(timeout=20)

    def _measured(self, pid: int, port: int, seconds: float) -> Row:
        time.sleep(_REST)
        rested, before = memory(pid), cpu_seconds(pid)
        time.sleep(seconds)
        idle = (cpu_seconds(pid) - before) / seconds * 100
        command = [sys.executable, str(_ROOT / "tests/benchmarks/generator.py"), str(port), "64", _LOAD_SECONDS]
        first_id = str(time.time_ns() // 1000)
        token = create_token(self._command, self._database, self._environment)
        subprocess.run([*command, first_id], input=token, stdout=subprocess.DEVNULL, text=True, check=True)
        time.sleep(_REST)
        return Row(rested, idle, memory(pid))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", nargs="*", default=[], metavar="COMMAND")
    parser.add_argument("--plants", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    print(f"{'':46}{'rested':>8}{'loaded':>8} MiB{'idle':>8} %")
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder, "plants.db")
        fill(database, options.plants)
        for text in [f"{shlex.quote(sys.executable)} -m plantdesk", *options.program]:
            program = Program(shlex.split(text), database, Path(folder, "home"))
            for name, arguments in {"window": [], "serve": ["serve"]}.items():
                row = program.measure(arguments, options.seconds)
                print(f"{name:8}{text[-36:]:38}{row.rested:8.0f}{row.loaded:8.0f}    {row.idle:8.2f}", flush=True)


if __name__ == "__main__":
    main()
