"""Response times of the API and the window during attacks by 200 connections (Linux).

    python -m tests.benchmarks.hostile [SECONDS] [ATTACK …]

The window program runs in this process, the attackers (tests/support/attackers.py) and a good client in others. The
good client posts plants, in turn over a kept connection and over a new one. Prints for each attack, and for all at
once: the good answers' median, 99th percentile and longest in milliseconds, the growth of the process's memory, and
the same three values of how late a 10 ms timer of the window fired; below, the answers to the attackers.
The last two clients have a token, and add the largest plants and the most expensive JSON: from then on SQLite's caches,
32 MiB for each connection to the file, are full, and the window shows plants of 1 MB.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import multiprocessing
import os
import socket
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from plantdesk.desktop import Desktop
from plantdesk.domain.server_state import On
from plantdesk.store import location_of
from plantdesk.store.sqlite.store import Store
from tests.api.client import one_answer
from tests.benchmarks.views import memory
from tests.support.attackers import ATTACKS, Target, attack

_CONNECTIONS = 200
_RIGHTFUL = ("large_plant", "costly_json")
_INTERVAL_MS = 10
_PACE = 0.005
_SETTLED = 3.0


class Heartbeat:
    """Records how late a timer of the event loop fires."""

    def __init__(self) -> None:
        self.late: list[float] = []
        self._last = time.perf_counter()
        self._timer = QTimer(interval=_INTERVAL_MS)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def _beat(self) -> None:
        now = time.perf_counter()
        self.late.append(max(0.0, (now - self._last) * 1000 - _INTERVAL_MS))
        self._last = now


class Bench:
    """The window program, and the processes that attack and use it."""

    def __init__(self, app: QApplication, port: int, token: str, seconds: float) -> None:
        self._app, self._clients = app, (port, token, seconds)
        # Not forked, as this process has threads; and its memory is measured.
        self._processes = ProcessPoolExecutor(2, multiprocessing.get_context("spawn"))

    def line(self, names: list[str]) -> dict[str, dict[str, int]]:
        """Measure one line of the table, print it, and return what the attackers were answered."""
        self._run(time.sleep, _SETTLED)  # until the server has finished the requests of the line before
        before, heart = memory(), Heartbeat()
        attackers = self._processes.submit(_attack, *self._clients, names) if names else None
        took, highest = self._run(_good, *self._clients)
        title = names[0] if len(names) == 1 else "all at once" if names else "none"
        print(f"{title:22}{_figures(took)}  {highest - before:+7.1f} MiB  {_figures(heart.late)}", flush=True)
        return attackers.result() if attackers else {}

    def _run(self, client: Callable[..., Any], *arguments: object) -> tuple[Any, float]:
        """Run a client to its end; return what it has found, and the most memory that this process took meanwhile."""
        running, highest = self._processes.submit(client, *arguments), 0.0
        while not running.done():
            self._app.processEvents()
            time.sleep(0.001)  # as in Qt's own loop, which would not poll the processes
            highest = max(highest, memory())
        return running.result(), highest


def _attack(port: int, token: str, seconds: float, names: list[str]) -> dict[str, dict[str, int]]:
    """Attack for some seconds; return the responses by attack."""
    with contextlib.redirect_stdout(None):
        return asyncio.run(attack(Target(port, token), _CONNECTIONS, seconds, names))


def _figures(values: list[float]) -> str:
    ranked = sorted(values)
    return f"{ranked[len(ranked) // 2]:8.1f} {ranked[len(ranked) * 99 // 100]:8.1f} {ranked[-1]:8.1f}"


def _good(port: int, token: str, seconds: float) -> list[float]:
    """Post plants at a constant rate; return the time of each in milliseconds."""
    target, took = Target(port, token), []
    kept = socket.create_connection(("127.0.0.1", port))
    until = time.monotonic() + seconds
    for plant_id in itertools.count(time.time_ns()):
        began = time.perf_counter()
        fresh = plant_id % 2 == 0
        connection = socket.create_connection(("127.0.0.1", port)) if fresh else kept
        body = json.dumps({"id": plant_id, "name": "Good"})
        request = target.head(f"Content-Length: {len(body)}") + body.encode()
        try:
            status = _status(connection, request)
        except (ConnectionError, ValueError):  # of too many connections the most idle one is closed: clients try again
            connection = kept = socket.create_connection(("127.0.0.1", port))
            status = _status(connection, request)
        if status != 200:
            raise RuntimeError(status)
        took.append((time.perf_counter() - began) * 1000)
        if fresh:
            connection.close()
        if time.monotonic() > until:
            break
        time.sleep(_PACE)
    return took


def _status(connection: socket.socket, request: bytes) -> int:
    connection.sendall(request)
    return one_answer(connection).status


def main() -> None:
    """Run the window and all clients."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", nargs="?", type=float, default=5.0)
    parser.add_argument("attacks", nargs="*", metavar="attack", help=", ".join(ATTACKS))
    options = parser.parse_args()
    seconds, attacks = options.seconds, options.attacks or list(ATTACKS)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as home:
        os.environ["PLANTDESK_HOME"] = home
        database = Path(home) / "plants.db"
        with contextlib.closing(Store(database)) as store:
            token = store.tokens.create("benchmark").result().token
        app = QApplication([])
        desktop = Desktop(app, location_of(database), 0)
        desktop.start()
        while desktop.session is None or not isinstance(state := desktop.session.api.state, On):
            app.processEvents()
        bench = Bench(app, state.port, token, seconds)
        print(f"{'attack':22}{'good answers, ms: median, 99 %, longest':28}   memory       window late, ms: the same")
        bench.line([])  # fills the caches
        bench.line([])
        counts: dict[str, dict[str, int]] = {}
        hostile = [name for name in attacks if name not in _RIGHTFUL]
        for name in hostile:
            counts |= bench.line([name])
        bench.line(hostile)
        for name in attacks:
            if name in _RIGHTFUL:
                counts |= bench.line([name])
        desktop.close()
    print()
    for name, answers in counts.items():
        print(f"{name:22}{', '.join(f'{count} x {answer}' for answer, count in answers.items()) or 'held open'}")


if __name__ == "__main__":
    main()
