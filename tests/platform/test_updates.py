"""The check for a newer version, with a real server on this machine."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from typing_extensions import override

from plantdesk import HOME_PAGE
from plantdesk.platform import updates
from plantdesk.platform.updates import CHECK_INTERVAL, Release


@contextmanager
def release_server(
    body: bytes, status: int = 200, location: str | None = None
) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Serve one response to every request; yield the address and the received headers."""
    headers: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            headers.append(dict(self.headers))
            self.send_response(status)
            if location is not None:
                self.send_header("Location", location)
            self.end_headers()
            self.wfile.write(body)

        @override
        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/latest", headers
        finally:
            server.shutdown()
            thread.join()


def release(version: str, page: str = f"{HOME_PAGE}/releases/tag/v9") -> bytes:
    return json.dumps({"tag_name": version, "html_url": page, "body": "much more"}).encode()


@pytest.mark.parametrize(
    ("version", "newer"),
    [
        *((newer, True) for newer in ("v0.1.1", "0.2", "v0.1.10", "v1.0.0")),
        *((older, False) for older in ("v0.1.0", "v0.1", "v0.0.9")),
    ],
)
def test_only_a_newer_version_is_reported(version: str, newer: bool) -> None:  # noqa: FBT001
    with release_server(release(version)) as (address, _):
        found = updates.newer_release(address, "0.1.0")
    assert found == (Release(version.removeprefix("v"), f"{HOME_PAGE}/releases/tag/{version}") if newer else None)


def test_the_request_contains_no_personal_data() -> None:
    with release_server(release("v9.0.0")) as (address, headers):
        updates.newer_release(address)
    assert set(headers[0]) <= {"Accept", "Accept-Encoding", "Connection", "Host", "User-Agent"}
    assert headers[0]["User-Agent"].startswith("PlantDesk/")


@pytest.mark.parametrize("page", ["https://evil.example/", f"{HOME_PAGE}/../../evil/evil/releases", "file:///etc"])
def test_no_address_in_the_response_is_used(page: str) -> None:
    with release_server(release("v9.0.0", page)) as (address, _):
        assert updates.newer_release(address) == Release("9.0.0", f"{HOME_PAGE}/releases/tag/v9.0.0")


@pytest.mark.parametrize("scheme", ["http", "ftp", "file"])
def test_no_redirect_leaves_https(scheme: str, caplog: pytest.LogCaptureFixture) -> None:
    with release_server(release("v9.0.0")) as (there, headers):
        target = there.replace("http", scheme, 1)
        with release_server(b"", 302, target) as (address, _):
            assert updates.newer_release(address) is None
    assert headers == []
    assert "The check for a newer version failed" in caplog.text


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 200),
        (b"no json", 200),
        (b"[]", 200),
        (b"{}", 200),
        (release("nightly"), 200),
        (release("v9.9-beta"), 200),
        (release("9" * 5000), 200),
        (b"x" * 3_000_000, 200),
        (b"", 403),
        (b"", 404),
        (b"", 500),
    ],
)
def test_an_invalid_response_is_ignored(body: bytes, status: int, caplog: pytest.LogCaptureFixture) -> None:
    with release_server(body, status) as (address, _):
        assert updates.newer_release(address) is None
    assert "The check for a newer version failed" in caplog.text
    assert {record.levelname for record in caplog.records} == {"INFO"}


@pytest.mark.parametrize(
    "answer",
    [
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{",
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 200_000,
    ],
    ids=["no HTTP", "breaks off", "many fields", "deep"],
)
def test_an_answer_that_is_no_release_is_ignored(answer: bytes, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    with socket.create_server(("127.0.0.1", 0)) as server:

        def respond() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(answer)

        thread = threading.Thread(target=respond)
        thread.start()
        assert updates.newer_release(f"http://127.0.0.1:{server.getsockname()[1]}/latest") is None
        thread.join()
    assert "failed" in caplog.text


def test_a_failed_connection_is_ignored(caplog: pytest.LogCaptureFixture) -> None:
    with release_server(b"") as (address, _):
        pass
    assert updates.newer_release(address) is None
    assert "The check for a newer version failed" in caplog.text


@pytest.mark.parametrize(
    ("asked_at", "now", "due"),
    [(0, 1e9, True), (1000, 1000 + CHECK_INTERVAL - 1, False), (1000, 1000 + CHECK_INTERVAL, True), (1000, 900, True)],
)
def test_a_check_is_due_once_a_day(asked_at: int, now: float, due: bool) -> None:  # noqa: FBT001
    assert updates.is_due(asked_at, now) == due


def test_the_address_is_that_of_the_project() -> None:
    assert updates.LATEST_RELEASE_URL == "https://api.github.com/repos/plantdesk/plantdesk/releases/latest"
