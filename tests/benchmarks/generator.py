"""The load generator, in a process of its own: keeps a number of connections busy and checks every answer.

    python generator.py PORT CONNECTIONS SECONDS FIRST_ID < TOKEN

Prints one JSON object: answers, failures (500), seconds, and the median, the 99th and the 99.9th percentile of the
latencies in milliseconds. Plain epoll and requests made beforehand: it leaves the processor to the server.
"""

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
_PATIENCE = 60.0


@dataclass(slots=True)
class _Connection:
    """A socket and the expected answer."""

    socket: socket.socket
    expected: bytes = b""
    sent_at: float = 0.0
    received: bytes = b""


@dataclass(slots=True)
class Load:
    """Plants to post, and the results."""

    port: int
    token: str
    next_id: int
    latencies: list[float] = field(default_factory=list)
    failures: int = 0
    ready: list[tuple[bytes, bytes]] = field(default_factory=list)
    _poll: select.epoll = field(default_factory=select.epoll)
    _open: dict[int, _Connection] = field(default_factory=dict)

    def prepare(self, count: int) -> None:
        """Prepare requests, each with the body of its answer."""
        made = []
        for plant_id in range(self.next_id, self.next_id + count):
            answer = f'{{"name":"Monstera deliciosa {plant_id}","tag":"house plant"}}'
            body = f'{{"id":{plant_id},{answer[1:]}'
            head = _HEAD.format(port=self.port, token=self.token, length=len(body))
            made.append(((head + body).encode(), answer.encode()))
        self.next_id += count
        self.ready[:0] = reversed(made)

    def run(self, connections: int, seconds: float) -> float:
        """Post for some seconds on a number of connections; return how long it really took."""
        for _ in range(connections):
            self._connect()
        started = time.perf_counter()
        until = started + seconds
        for connection in self._open.values():
            self._post(connection)
        while self._open:
            events = self._poll.poll(_PATIENCE)
            if not events:
                raise TimeoutError(f"no answer for {_PATIENCE} seconds")
            now = time.perf_counter()
            for descriptor, _ in events:
                self._take(self._open[descriptor], now, until)
        return time.perf_counter() - started

    def _connect(self) -> _Connection:
        opened = _Connection(socket.create_connection(("127.0.0.1", self.port), timeout=_PATIENCE))
        opened.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._open[opened.socket.fileno()] = opened
        self._poll.register(opened.socket, select.EPOLLIN)
        return opened

    def _close(self, connection: _Connection) -> None:
        self._poll.unregister(connection.socket)
        del self._open[connection.socket.fileno()]
        connection.socket.close()

    def _post(self, connection: _Connection) -> None:
        if not self.ready:
            self.prepare(_BATCH)
        request, connection.expected = self.ready.pop()
        connection.sent_at = time.perf_counter()
        connection.socket.sendall(request)

    def _take(self, connection: _Connection, now: float, until: float) -> None:
        """Read; after a complete answer, send the next request or close."""
        came = connection.socket.recv(65536)
        if connection.received:
            came = connection.received + came
        if came.endswith(connection.expected) and came.startswith(b"HTTP/1.1 200 "):
            connection.received = b""
            self.latencies.append(now - connection.sent_at)
            if now >= until:
                self._close(connection)
            else:
                self._post(connection)
        elif came.startswith(b"HTTP/1.1 500 "):
            self._failed(connection, until)
        elif came and came.startswith(b"HTTP/1.1 200 "[: len(came)]):
            connection.received = came
        else:
            raise ValueError(f"wrong answer: {came!r}, expected {connection.expected!r}")

    def _failed(self, connection: _Connection, until: float) -> None:
        self.failures += 1
        self._close(connection)
        if time.perf_counter() < until:
            self._post(self._connect())


def main() -> None:
    """Read the arguments, post, and print the outcome."""
    port, connections, seconds, first_id = sys.argv[1:]
    load = Load(int(port), sys.stdin.read().strip(), int(first_id))
    load.prepare(40_000)
    took = load.run(int(connections), float(seconds))
    latencies = sorted(load.latencies)
    outcome = {
        "answers": len(latencies),
        "failures": load.failures,
        "next_id": load.next_id - len(load.ready),
        "seconds": took,
        "median_ms": statistics.median(latencies) * 1000,
        "p99_ms": latencies[len(latencies) * 99 // 100] * 1000,
        "p999_ms": latencies[len(latencies) * 999 // 1000] * 1000,
    }
    print(json.dumps(outcome))


if __name__ == "__main__":
    main()
