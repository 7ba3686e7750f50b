import contextlib
import socket
import sys
import threading
from pathlib import Path

import pytest

from plantdesk.api.limits import ConnectionLimits
from plantdesk.domain.errors import ErrorNumber
from tests.api.client import Api, answers, one_answer
from tests.api.conftest import Serve
from tests.support.waiting import SECONDS, until

HASTY = ConnectionLimits(request_timeout=0.3, keep_alive_timeout=0.3, linger_timeout=0.3, shutdown_timeout=0.3)


def send_for_ever(connection: socket.socket, data: bytes) -> None:
    while True:
        connection.sendall(data)


@pytest.fixture
def hasty(serve: Serve) -> Api:
    return serve(limits=HASTY)


@pytest.mark.parametrize("cut", [1, 40, -1])
def test_an_incomplete_request_gets_a_timeout(hasty: Api, cut: int) -> None:
    (answer,) = hasty.exchange(hasty.whole({"id": 1, "name": "Fern"})[:cut])
    assert answer.number is ErrorNumber.REQUEST_TIMEOUT
    assert answer.headers["Connection"] == "close"
    assert hasty.stored() == {}


def test_no_byte_resets_the_deadline(hasty: Api) -> None:
    with hasty.opened() as connection:
        connection.sendall(hasty.head("Content-Length: 1000000"))
        connection.settimeout(0.02)
        received = b""
        for _ in range(1000):
            connection.sendall(b" ")
            with contextlib.suppress(TimeoutError):
                received = connection.recv(1000)
                break
    assert received.startswith(b"HTTP/1.1 408 ")


def test_each_request_has_its_own_deadline(hasty: Api) -> None:
    with hasty.opened() as connection:
        for plant_id in range(1, 5):
            request = hasty.whole({"id": plant_id, "name": "Fern"}, "Connection: keep-alive")
            connection.sendall(request[:-1])
            connection.settimeout(0.12)
            with pytest.raises(TimeoutError):
                connection.recv(1)
            connection.settimeout(10)
            connection.sendall(request[-1:])
            assert one_answer(connection).status == 200


def test_a_slow_request_gets_a_timeout_after_earlier_responses(hasty: Api) -> None:
    with hasty.opened() as connection:
        connection.sendall(hasty.whole({"id": 1, "name": "Fern"}, "Connection: keep-alive"))
        assert one_answer(connection).status == 200
        connection.sendall(hasty.whole({"id": 2, "name": "Moss"})[:-1])
        assert [answer.status for answer in answers(connection)] == [408]


def test_an_idle_connection_is_closed_without_a_response(hasty: Api) -> None:
    assert hasty.exchange() == []
    with hasty.opened() as connection:
        connection.sendall(hasty.whole({"id": 1, "name": "Fern"}, "Connection: keep-alive"))
        assert [answer.status for answer in answers(connection)] == [200]


def test_a_client_that_does_not_close_is_disconnected(hasty: Api) -> None:
    with hasty.opened() as connection:
        connection.sendall(hasty.whole({"id": 1, "name": "Fern"}))
        assert [answer.status for answer in answers(connection)] == [200]
        with pytest.raises(ConnectionError):
            send_for_ever(connection, b"x" * 65536)


@pytest.mark.parametrize("last", ["close", "keep-alive"])
def test_a_client_that_does_not_read_is_disconnected(hasty: Api, last: str) -> None:
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(SECONDS)
        connection.connect(("127.0.0.1", hasty.port))
        for plant_id in range(10):
            with contextlib.suppress(ConnectionError):
                connection.sendall(hasty.whole({"id": plant_id, "name": "x" * 1_000_000}, f"Connection: {last}"))
        with pytest.raises(ConnectionError):
            send_for_ever(connection, b" ")


def test_stopping_waits_for_no_client(serve: Serve) -> None:
    an_hour = 3600.0
    api = serve(limits=ConnectionLimits(request_timeout=an_hour, keep_alive_timeout=an_hour, shutdown_timeout=an_hour))
    with api.opened() as idle, api.opened() as half, api.opened() as kept:
        half.sendall(api.whole({"id": 1, "name": "Fern"})[:-5])
        kept.sendall(api.whole({"id": 2, "name": "Fern"}, "Connection: keep-alive"))
        assert one_answer(kept).status == 200
        api.server.stop()
        assert idle.recv(1) == b""
        assert kept.recv(1) == b""
    assert api.stored() == {2: ("Fern", None)}


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_an_idle_server_sleeps_until_the_next_connection(serve: Serve) -> None:
    before = threading.enumerate()
    api = serve(limits=HASTY, check_interval=3600.0)
    (thread,) = [each for each in threading.enumerate() if each.name == "api" and each not in before]

    def wakes() -> str:
        status = Path(f"/proc/self/task/{thread.native_id}/status").read_text(encoding="ascii")
        return status[status.index("voluntary_ctxt_switches") :]

    def is_asleep() -> bool:
        woken = wakes()
        threading.Event().wait(0.2)
        return wakes() == woken

    incomplete = api.whole({"id": 1, "name": "Fern"})[:-1]
    for _ in range(2):
        with api.opened() as connection:
            connection.sendall(incomplete)
            assert [answer.status for answer in answers(connection)] == [408]
        until(is_asleep)
