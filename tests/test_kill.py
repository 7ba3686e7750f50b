from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.api.client import one_answer

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOT = Path(__file__).parents[1]
_SERVICE = _ROOT / "tests" / "benchmarks" / "service_plantdesk.py"
_CONNECTIONS = 16
_ENOUGH = 400


class Clients:
    """Threads that post plants one after the other until the server is gone, and what was acknowledged."""

    def __init__(self, port: int, token: str) -> None:
        self.acknowledged: set[int] = set()
        self._port = port
        self._token = token
        self._enough = threading.Event()
        self._threads = [threading.Thread(target=self._post, args=(start,)) for start in range(_CONNECTIONS)]
        for thread in self._threads:
            thread.start()

    def wait_for_enough(self) -> None:
        assert self._enough.wait(30)

    def join(self) -> None:
        for thread in self._threads:
            thread.join(30)

    def _post(self, start: int) -> None:
        with socket.create_connection(("127.0.0.1", self._port), timeout=30) as connection:
            plant_id = start
            while self._acknowledged(connection, plant_id):
                self.acknowledged.add(plant_id)
                plant_id += _CONNECTIONS
                if len(self.acknowledged) > _ENOUGH:
                    self._enough.set()

    def _acknowledged(self, connection: socket.socket, plant_id: int) -> bool:
        body = json.dumps({"id": plant_id, "name": f"Fern {plant_id}"})
        head = f"POST /plants HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self._token}\r\n"
        request = f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        try:
            connection.sendall(request.encode())
            return one_answer(connection).status == 200
        except (OSError, ValueError):  # the server is gone
            return False


@pytest.fixture
def process(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, str(_SERVICE), "0", str(tmp_path / "plants.db")]
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as started:
        yield started
        started.kill()


def posting_to(process: subprocess.Popen[str]) -> Clients:
    assert process.stdout is not None
    port, token = process.stdout.readline().split()
    return Clients(int(port), token)


def stored(folder: Path) -> set[int]:
    with closing(sqlite3.connect(folder / "plants.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return {plant_id for (plant_id,) in connection.execute("SELECT id FROM plant")}


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 on Windows")
def test_every_plant_that_got_its_200_outlives_a_kill(process: subprocess.Popen[str], tmp_path: Path) -> None:
    clients = posting_to(process)
    clients.wait_for_enough()
    process.kill()
    clients.join()
    found = stored(tmp_path)
    assert clients.acknowledged <= found
    assert len(found - clients.acknowledged) <= _CONNECTIONS  # those whose answer was on its way


def test_every_plant_that_was_stored_by_an_orderly_end_got_its_200(
    process: subprocess.Popen[str], tmp_path: Path
) -> None:
    clients = posting_to(process)
    clients.wait_for_enough()
    assert process.stdin is not None
    process.stdin.close()  # asks it to end
    assert process.wait(20) == 0
    clients.join()
    assert stored(tmp_path) == clients.acknowledged
