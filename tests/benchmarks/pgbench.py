"""Inserts a second of `pgbench` into PostgreSQL, durable: C on both sides and no HTTP, for `load` to compare with."""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.postgres_server import PostgresServer, program

if TYPE_CHECKING:
    from tests.benchmarks.load import Result

_TABLES = "CREATE TABLE plant (id bigint PRIMARY KEY, name text NOT NULL, tag text); CREATE SEQUENCE ids"
_SCRIPT = "INSERT INTO plant (id, name, tag) VALUES (nextval('ids'), 'Monstera deliciosa', 'office');\n"
_TICKS = os.sysconf("SC_CLK_TCK")


class Pgbench:
    """A server of PostgreSQL that flushes each commit, and `pgbench` with prepared statements as its clients."""

    name = "pgbench"
    failed = 0

    def __init__(self) -> None:
        self.results: dict[str, list[Result]] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="plantdesk-pgbench-", ignore_cleanup_errors=True)
        self._server: PostgresServer | None = None

    def start(self) -> None:
        """Start the server. Raises OSError, CalledProcessError, and skips where it is not installed."""
        folder = Path(self._folder.name)
        folder.chmod(0o755)
        (folder / "insert.sql").write_text(_SCRIPT)
        self._server = PostgresServer(folder / "server", {"fsync": "on", "full_page_writes": "on"})
        self._server.start()
        self._server.execute(_TABLES)

    def load(self, case: str, seconds: float) -> None:
        """Insert for some seconds, at least one, and record the results. Raises CalledProcessError."""
        from tests.benchmarks.load import Result

        assert self._server is not None
        before = self._cpu_seconds()
        with tempfile.TemporaryDirectory() as folder:
            script = Path(self._folder.name, "insert.sql")
            options = ["-n", "-M", "prepared", "-c", case, "-j", "2", "-T", str(max(1, round(seconds)))]
            options += ["-l", "--log-prefix", f"{folder}/log", "-f", str(script)]
            command = [program("pgbench"), *options, self._server.url("postgres")]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            lines = [line for log in Path(folder).iterdir() for line in log.read_text().splitlines()]
        (rate,) = [float(line.split()[2]) for line in done.stdout.splitlines() if line.startswith("tps")]
        latencies = sorted(int(line.split()[2]) / 1000 for line in lines)
        p99, p999 = (latencies[len(latencies) * part // 1000] for part in (990, 999))
        cpu = (self._cpu_seconds() - before) / len(latencies) * 1e6
        self.results.setdefault(case, []).append(Result(rate, statistics.median(latencies), p99, p999, cpu))

    def check_rows(self) -> None:
        """Do nothing: pgbench ends with an error where an insert fails."""

    def stop(self) -> None:
        """End the server and remove its files."""
        if self._server is not None:
            self._server.stop()
        self._folder.cleanup()

    def _cpu_seconds(self) -> float:
        """Return the CPU time of the server and of its connections that have ended, which are those of pgbench."""
        assert self._server is not None
        fields = Path(f"/proc/{self._server.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / _TICKS
