"""Time limits of single operations: `python -m tests.benchmarks.limits` measures each; exit code 1 if one is exceeded.

The suite has no such limits, since it also runs on busy machines. Run this on a quiet one before a release.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from plantdesk.api.server import Server
from plantdesk.domain.server_state import On
from plantdesk.domain.strict_json import parse_object
from plantdesk.store.sqlite.store import Store
from tests.support.attackers import Target
from tests.support.clients import Clients, rude_clients
from tests.support.costs import cpu_seconds
from tests.support.programs import SERVE, WINDOW, Home, running

_BODIES = 5_000


def parse_body(_folder: Path) -> float:
    """Parse the body of a request."""
    body = b'{"id": 123456, "name": "Monstera deliciosa", "tag": "house plant"}'
    return cpu_seconds(lambda: [parse_object(body) for _ in range(_BODIES)]) / _BODIES


def stop_server(folder: Path) -> float:
    """Stop a server that has clients which send and read nothing."""
    with closing(Store(folder / "plants.db")) as store:
        server = Server(store)
        server.start(0)
        state = server.settled(60)
        assert isinstance(state, On)
        clients = rude_clients(Target(state.port, store.tokens.create("limits").result().token))
        began = time.monotonic()
        server.stop()
        for client in clients:
            client.close()
        return time.monotonic() - began


def end(how: tuple[str, ...]) -> Callable[[Path], float]:
    """Return the end of the program by a signal, under load."""

    def measure(folder: Path) -> float:
        home = Home(folder)
        token = home.new_token()
        with running(home, how) as process:
            port = home.port(process)
            clients = Clients(port, token, 1)
            rude = rude_clients(Target(port, token))
            clients.wait_for_enough()
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            process.wait(30)
            taken = time.monotonic() - began
            clients.join()
            for client in rude:
                client.close()
        return taken

    return measure


#: What is measured, how, and the limit in seconds.
LIMITS: list[tuple[str, Callable[[Path], float], float]] = [
    ("parse a body", parse_body, 50e-6),
    ("stop the server beside rude clients", stop_server, 2.0),
    ("end `serve` under load", end(SERVE), 3.0),
    ("end the window under load", end(WINDOW), 3.0),
]


def main() -> int:
    """Measure, print, and return the exit code."""
    exceeded = 0
    for name, measure, limit in LIMITS:
        with tempfile.TemporaryDirectory() as folder:
            taken = measure(Path(folder))
        exceeded += taken > limit
        print(f"{name:38}{taken * 1e3:10.3f} ms  (limit {limit * 1e3:g} ms)")
    return int(exceeded > 0)


if __name__ == "__main__":
    sys.exit(main())
