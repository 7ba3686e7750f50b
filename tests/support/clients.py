"""Connections that post plants continuously and record what was acknowledged."""

import itertools
import json
import socket
import threading
from contextlib import closing, suppress
from pathlib import Path

from plantdesk.store.sqlite.store import SqliteStore
from tests.support.attackers import Target
from tests.support.waiting import SECONDS

CONNECTIONS = 16

_ENOUGH_PLANTS = 400


class Clients:
    """Threads that post plants until the server is gone, and the acknowledged ones."""

    def __init__(self, port: int, token: str, first: int, enough: int = _ENOUGH_PLANTS) -> None:
        self.acknowledged: set[int] = set()
        #: Answers of which only a part came.
        self.cut_short: list[bytes] = []
        self._requested = enough
        self._token = token
        self._enough = threading.Event()
        connections = [socket.create_connection(("127.0.0.1", port), timeout=SECONDS) for _ in range(CONNECTIONS)]
        posts = zip(connections, itertools.count(first))
        self._threads = [threading.Thread(target=self._post, args=post) for post in posts]
        for thread in self._threads:
            thread.start()

    def wait_for_enough(self) -> None:
        assert self._enough.wait(SECONDS)

    def join(self) -> None:
        for thread in self._threads:
            thread.join(SECONDS)

    def _post(self, connected: socket.socket, plant_id: int) -> None:
        with connected as connection:
            while self._is_acknowledged(connection, plant_id):
                self.acknowledged.add(plant_id)
                plant_id += CONNECTIONS
                if len(self.acknowledged) > self._requested:
                    self._enough.set()

    def _is_acknowledged(self, connection: socket.socket, plant_id: int) -> bool:
        body = json.dumps({"id": plant_id, "name": f"Fern {plant_id}"})
        head = f"POST /plants HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self._token}\r\n"
        request = f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        received = b""
        try:
            connection.sendall(request.encode())
            while not (response := _parse_response(received)):
                if not (chunk := connection.recv(65_536)):
                    break
                received += chunk
        except OSError:  # the server is gone
            response = _parse_response(received)
        if received and not response:
            self.cut_short.append(received)
        return response.startswith(b"HTTP/1.1 200 ")


def _parse_response(received: bytes) -> bytes:
    """Return a complete response; nothing while it is incomplete."""
    head, end, body = received.partition(b"\r\n\r\n")
    length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
    return received if end and len(body) == int(length) else b""


def new_token(database: Path) -> str:
    with closing(SqliteStore(database)) as store:
        return store.tokens.create("clients").result(SECONDS).token


def open_rude_connections(target: Target) -> list[socket.socket]:
    """Return connections that the server must not wait for: idle, in the middle of a request, not reading."""
    connections = [socket.create_connection(("127.0.0.1", target.port), timeout=1) for _ in range(3)]
    _idle, halfway, deaf = connections
    halfway.sendall(target.plant()[:-1])
    deaf.setblocking(False)
    with suppress(BlockingIOError, ConnectionError):
        while True:
            deaf.send(target.head(method="GET", target="/openapi.json") * 100)
    return connections
