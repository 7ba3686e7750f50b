"""HTTP clients for tests: valid requests (`post`), and any bytes on a socket (`exchange`, `opened`)."""

import http.client
import io
import itertools
import json
import socket
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plantdesk.api.discovery import Runtime, find_server
from plantdesk.api.server import Server
from plantdesk.domain.errors import ErrorNumber
from plantdesk.domain.server_state import On
from plantdesk.store import location_of
from plantdesk.store.sqlite.store import SqliteStore
from tests.support.waiting import SECONDS

_ids = itertools.count(100_000)


def plant() -> dict[str, object]:
    """Return the fields of a plant that no other test has."""
    return {"id": next(_ids), "name": "Fern"}


@dataclass(frozen=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:  # noqa: ANN401
        assert self.headers.get_content_type() == "application/json"
        return json.loads(self.body)

    @property
    def number(self) -> ErrorNumber:
        """The error number, after checking that this is a valid Error body."""
        error = self.json
        assert set(error) == {"error", "message"}
        assert error["message"].strip()
        assert "Traceback" not in error["message"]
        number = {int(number): number for number in ErrorNumber}[error["error"]]
        assert number.status == self.status
        return number

    @property
    def message(self) -> str:
        assert self.number
        text: str = self.json["message"]
        return text


@dataclass
class Api:
    """A server, its store and a token."""

    store: SqliteStore
    server: Server
    port: int = 0
    token: str = ""
    bearer: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        state = self.server.wait_until_settled(SECONDS)
        assert isinstance(state, On)
        self.port = state.port
        self.token = self.new_token(f"tests {self.port}")
        self.bearer = {"Authorization": f"Bearer {self.token}"}

    @property
    def path(self) -> Path:
        return self.store.path

    def new_token(self, name: str) -> str:
        return self.store.tokens.create(name).result().token

    def post(self, plant: object, **headers: str | None) -> Answer:
        """Post bytes, or a value as JSON; `content_type=None` omits the header."""
        body = plant if isinstance(plant, bytes) else json.dumps(plant).encode()
        requested: dict[str, str | None] = {**self.bearer, "Content-Type": "application/json"}
        requested |= {name.replace("_", "-").title(): value for name, value in headers.items()}
        return self.request(
            "POST", "/plants", body, {name: value for name, value in requested.items() if value is not None}
        )

    def request(self, method: str, target: str, body: bytes = b"", headers: dict[str, str] | None = None) -> Answer:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)) as connection:
            connection.request(method, target, body, headers or {})
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())

    def opened(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)

    def exchange(self, *pieces: bytes, half_close: bool = False) -> list[Answer]:
        """Send bytes on one connection; return all responses until the server closes it."""
        with self.opened() as connection:
            for piece in pieces:
                connection.sendall(piece)
            if half_close:
                connection.shutdown(socket.SHUT_WR)
            return answers(connection)

    def head(self, *lines: str, target: str = "/plants", method: str = "POST", host: str | None = "localhost") -> bytes:
        """Return the head of a valid request with additional `lines`."""
        fields = [f"Authorization: Bearer {self.token}", "Content-Type: application/json", *lines]
        if host is not None:
            fields.insert(0, f"Host: {host}")
        return "\r\n".join([f"{method} {target} HTTP/1.1", *fields, "", ""]).encode("latin-1")

    def whole(self, plant: object, *lines: str, target: str = "/plants", host: str | None = "localhost") -> bytes:
        """Return a complete request with Connection: close, unless `lines` say otherwise."""
        body = plant if isinstance(plant, bytes) else json.dumps(plant).encode()
        return (
            self.head(f"Content-Length: {len(body)}", *(lines or ["Connection: close"]), target=target, host=host)
            + body
        )

    def stored(self) -> dict[int, tuple[str, str | None]]:
        """Return the rows in the file, read by SQLite directly."""
        import sqlite3

        with closing(sqlite3.connect(self.path)) as connection:
            return {row[0]: (row[1], row[2]) for row in connection.execute("SELECT id, name, tag FROM plant")}


def runtime_of(api: Api, folder: Path) -> Runtime:
    """Return what the runtime file of a server says."""
    runtime = find_server(folder, location_of(api.path))
    assert runtime is not None
    return runtime


def answers(connection: socket.socket) -> list[Answer]:
    """Read responses until the server closes; raise at an incomplete one."""
    received = io.BytesIO()
    while piece := connection.recv(65536):
        received.write(piece)
    received.seek(0)
    found = []
    while received.tell() < len(received.getbuffer()):
        found.append(answer_in(received))
    return found


def one_answer(connection: socket.socket) -> Answer:
    """Read one response and leave the connection open."""
    with connection.makefile("rb", buffering=0) as stream:
        return answer_in(stream)


def answer_in(stream: Any) -> Answer:  # noqa: ANN401
    status_line = stream.readline()
    protocol, status, _ = status_line.split(b" ", 2)
    assert protocol == b"HTTP/1.1"
    headers = http.client.parse_headers(stream)
    body = b""
    while len(body) < int(headers.get("Content-Length", "0")):
        piece = stream.read(int(headers["Content-Length"]) - len(body))
        assert piece
        body += piece
    return Answer(int(status), headers, body)
