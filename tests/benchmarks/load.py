"""Plants per second: PlantDesk beside the tutorial's service and beside a server that stores nothing.

    python tests/benchmarks/load.py [--rounds 3] [--seconds 2] [--connections 1 8 32 64] [--only NAME …]

Needs Linux and `pip install .[bench]`. The services run side by side and are loaded in turn, so that what else the
machine does meets all of them. Every answer is checked and the stored rows are counted; a 500 counts as no answer.
Prints medians and ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]
_ENVIRONMENT = {**os.environ, "PYTHONPATH": str(_ROOT)}
_START_SECONDS = 30.0


@dataclass
class Service:
    """A server process and its results."""

    name: str
    script: str
    options: tuple[str, ...] = ()
    stores: bool = True
    port: int = 0
    token: str = ""
    database: Path = Path()
    next_id: int = 1
    process: subprocess.Popen[str] | None = None
    answered: int = 0
    failed: int = 0
    rates: dict[int, list[float]] = field(default_factory=dict)
    latencies: dict[int, list[tuple[float, float]]] = field(default_factory=dict)

    def start(self, folder: Path) -> Self:
        """Start the process and wait until it accepts connections."""
        self.port = _free_port()
        self.database = folder / f"{self.name}.db"
        arguments = [str(self.port), *([str(self.database), *self.options] if self.stores else [])]
        self.process = subprocess.Popen(
            [sys.executable, _HERE / self.script, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a traceback of pages for each 500
            text=True,
            env=_ENVIRONMENT,
        )
        if self.name == "plantdesk":
            assert self.process.stdout is not None
            _, self.token = self.process.stdout.readline().split()
        _wait_for(self.port)
        return self

    def load(self, connections: int, seconds: float) -> None:
        """Post for some seconds and record the results. Raises if an answer is wrong."""
        arguments = [self.port, connections, seconds, self.next_id]
        command = [sys.executable, str(_HERE / "generator.py"), *map(str, arguments)]
        done = subprocess.run(command, input=self.token, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{self.name}: {done.stderr}")
        outcome = json.loads(done.stdout)
        self.next_id = outcome["next_id"]
        self.answered += outcome["answers"]
        self.failed += outcome["failures"]
        self.rates.setdefault(connections, []).append(outcome["answers"] / outcome["seconds"])
        self.latencies.setdefault(connections, []).append((outcome["median_ms"], outcome["p99_ms"]))

    def check_rows(self) -> None:
        """Compare the stored plants with the answers."""
        if not self.stores:
            return
        with closing(sqlite3.connect(self.database)) as connection:
            (count,) = connection.execute("SELECT count(*) FROM plant").fetchone()
        if not self.answered <= count <= self.answered + self.failed:
            raise SystemExit(f"{self.name}: {self.answered} plants were answered with 200, but {count} are stored")

    def stop(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.terminate()
            self.process.communicate(timeout=20)


def main() -> None:
    """Run the benchmark that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 8, 32, 64])
    parser.add_argument("--only", nargs="+", metavar="NAME", help="tutorial, tutorial-wal, bare, plantdesk")
    options = parser.parse_args()
    services = [
        Service("tutorial", "service_tutorial.py"),
        Service("tutorial-wal", "service_tutorial.py", ("wal",)),
        Service("bare", "service_bare.py", stores=False),
        Service("plantdesk", "service_plantdesk.py"),
    ]
    chosen = [service for service in services if not options.only or service.name in options.only]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        for service in chosen:
            stack.callback(service.stop)
            service.start(Path(folder)).load(1, 0.5)  # warms up
            service.rates.clear()
        for _ in range(options.rounds):
            for connections in options.connections:
                for service in chosen:
                    service.load(connections, options.seconds)
        for service in chosen:
            service.check_rows()
    _report(chosen, options.connections)


def _report(services: list[Service], connections: list[int]) -> None:
    lines = [f"{'connections':>14}" + "".join(f"{count:>32}" for count in connections)]
    rates = {service.name: [statistics.median(service.rates[count]) for count in connections] for service in services}
    for service in services:
        cells = []
        for count, rate in zip(connections, rates[service.name], strict=True):
            median, slowest = (statistics.median(column) for column in zip(*service.latencies[count], strict=True))
            cells.append(f"{rate:,.0f}/s {median:.2f} / {slowest:.2f} ms")
        failed = f"  ({service.failed} answers of 500)" if service.failed else ""
        lines.append(f"{service.name:>14}" + "".join(f"{cell:>32}" for cell in cells) + failed)
    for other in ("tutorial", "tutorial-wal", "bare"):
        if other in rates and "plantdesk" in rates:
            ratios = [ours / theirs for ours, theirs in zip(rates["plantdesk"], rates[other], strict=True)]
            lines.append(f"{'x ' + other:>14}" + "".join(f"{ratio:>32.2f}" for ratio in ratios))
    sys.stdout.write("\n".join(lines) + "\n")


def _free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port: int = listener.getsockname()[1]
        return port


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit(f"nothing listens on port {port}")


if __name__ == "__main__":
    main()
