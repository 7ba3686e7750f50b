"""The load generator, in a process of its own: keeps a number of connections busy and checks every answer.

    python generator.py PORT CONNECTIONS SECONDS FIRST_ID < TOKEN

Prints one JSON object: answers, seconds, and the latencies' median and 99th percentile in milliseconds. Plain epoll and
requests made beforehand, so that it takes as little as possible of the processor that the server needs.
"""

from __future__ import annotations

import json
import select
import socket
import statistics
import sys
import time
from dataclasses import dataclass, field

_HEAD = (
    "POST /plants HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUser-Agent: load\r\nAccept: */*\r\n"
    "Authorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
)
_BATCH = 2000
_PATIENCE = 10.0


@dataclass(slots=True)
class _Connection:
    """A socket and the answer that is due on it."""

    socket: socket.socket
    expected: bytes = b""
    sent_at: float = 0.0
    received: bytes = b""


@dataclass(slots=True)
class Load:
    """Plants to post, and what came of it."""

    port: int
    token: str
    next_id: int
    latencies: list[float] = field(default_factory=list)
    _ready: list[tuple[bytes, bytes]] = field(default_factory=list)

    def prepare(self, count: int) -> None:
        """Make requests beforehand, each with the body that must come back."""
        made = []
        for plant_id in range(self.next_id, self.next_id + count):
            answer = f'{{"name":"Monstera deliciosa {plant_id}","tag":"house plant"}}'
            body = f'{{"id":{plant_id},{answer[1:]}'
            head = _HEAD.format(port=self.port, token=self.token, length=len(body))
            made.append(((head + body).encode(), answer.encode()))
        self.next_id += count
        self._ready[:0] = reversed(made)

    def run(self, connections: int, seconds: float) -> float:
        """Post for some seconds on a number of connections; return how long it really took."""
        poll = select.epoll()
        by_descriptor = {}
        for _ in range(connections):
            opened = _Connection(socket.create_connection(("127.0.0.1", self.port), timeout=_PATIENCE))
            opened.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            by_descriptor[opened.socket.fileno()] = opened
            poll.register(opened.socket, select.EPOLLIN)
        started = time.perf_counter()
        for connection in by_descriptor.values():
            self._post(connection)
        self._serve(poll, by_descriptor, started + seconds)
        return time.perf_counter() - started

    def _serve(self, poll: select.epoll, by_descriptor: dict[int, _Connection], until: float) -> None:
        busy = len(by_descriptor)
        while busy:
            events = poll.poll(_PATIENCE)
            if not events:
                raise TimeoutError(f"no answer for {_PATIENCE} seconds")
            now = time.perf_counter()
            for descriptor, _ in events:
                connection = by_descriptor[descriptor]
                if not self._answered(connection, now):
                    continue
                if now < until:
                    self._post(connection)
                else:
                    busy -= 1

    def _post(self, connection: _Connection) -> None:
        if not self._ready:
            self.prepare(_BATCH)
        request, connection.expected = self._ready.pop()
        connection.sent_at = time.perf_counter()
        connection.socket.sendall(request)

    def _answered(self, connection: _Connection, now: float) -> bool:
        came = connection.socket.recv(65536)
        if connection.received:
            came = connection.received + came
        if not came.endswith(connection.expected):
            connection.received = came
            if not came or not came.startswith(b"HTTP/1.1 200 "[: len(came)]):
                raise ValueError(f"wrong answer: {came!r}, expected {connection.expected!r}")
            return False
        if not came.startswith(b"HTTP/1.1 200 ") or came.count(b"\r\n\r\n") != 1:
            raise ValueError(f"wrong answer: {came!r}")
        connection.received = b""
        self.latencies.append(now - connection.sent_at)
        return True


def main() -> None:
    """Read the arguments, post, and print the outcome."""
    port, connections, seconds, first_id = sys.argv[1:]
    load = Load(int(port), sys.stdin.read().strip(), int(first_id))
    load.prepare(40_000)
    took = load.run(int(connections), float(seconds))
    latencies = sorted(load.latencies)
    outcome = {
        "answers": len(latencies),
        "seconds": took,
        "median_ms": statistics.median(latencies) * 1000,
        "p99_ms": latencies[len(latencies) * 99 // 100] * 1000,
    }
    print(json.dumps(outcome))  # noqa: T201


if __name__ == "__main__":
    main()
