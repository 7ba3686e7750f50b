"""Commands on a store of two plants beside a Python that imports SQLModel, as the store does, run in turn.

    python -m tests.benchmarks.commands [--rounds 11]

Prints the median time and processor time of each, in milliseconds and as multiples of that Python's; the goal is 1.3.
The first `add` also makes the store.
"""

import argparse
import os
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.figures import Figure, report

_ROOT = Path(__file__).parents[2]
_PROGRAM = str(Path(sys.executable).with_name("plantdesk"))
_PYTHON = [sys.executable, "-c", "import sqlmodel"]
#: In the order of a round: each finds what those before it have left.
_COMMANDS = (
    *("add --name Fern --id 1", "add --name Ivy", "list", "get 1", "edit 1 --name Moss", "tag list", "duplicates"),
    *("history", "undo", "token list", "backup"),
    *(f"export plants.{suffix}" for suffix in ("csv", "tsv", "json", "jsonl", "xlsx")),
    *("__complete tags", "delete 1", "info", "--version", "--help"),
)
#: `info` without a server.
_CODES = {"info": 3}


class Cost(NamedTuple):
    """Seconds of a process: as the user waits, and of processors."""

    wall: float
    cpu: float


def cost(command: list[str], folder: str, code: int = 0) -> Cost:
    """Run a command and return its cost."""
    environment = {**os.environ, "PLANTDESK_HOME": folder, "PYTHONPATH": str(_ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # modules would be compiled at each start
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != code:
        sys.exit(f"{shlex.join(command)}: exit code {done.returncode}, {done.stderr.decode()}")
    return Cost(seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def measure(rounds: int) -> dict[str, list[Cost]]:
    """Run Python ("") and the commands in turn; the first round only warms the disk cache."""
    costs: dict[str, list[Cost]] = {command: [] for command in ("", *_COMMANDS)}
    for _ in range(rounds + 1):
        with tempfile.TemporaryDirectory() as folder:
            for command, found in costs.items():
                arguments = [_PROGRAM, *shlex.split(command)] if command else _PYTHON
                found.append(cost(arguments, folder, _CODES.get(command, 0)))
    return {command: found[1:] for command, found in costs.items()}


def main() -> None:
    """Measure, and print a line for each command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    costs = measure(options.rounds)
    bare = _medians(costs.pop(""))
    print(f"{'import sqlmodel':22} {bare.wall * 1000:6.0f} ms {bare.cpu * 1000:11.0f} ms of CPU")
    figures = []
    for command, found in costs.items():
        wall, cpu = _medians(found)
        figures.append(Figure(f"{command} / import sqlmodel", cpu / bare.cpu))
        ratios = f"{wall / bare.wall:4.2f} {cpu * 1000:6.0f} ms of CPU {cpu / bare.cpu:4.2f}"
        print(f"{command:22} {wall * 1000:6.0f} ms {ratios}")
    report(figures)


def _medians(costs: list[Cost]) -> Cost:
    return Cost(*map(statistics.median, zip(*costs, strict=True)))


if __name__ == "__main__":
    main()
