import json
import socket
import struct
from queue import SimpleQueue
from typing import Any

import pytest

from plantdesk.domain.errors import ErrorNumber
from tests.api.client import Api, answers, one_answer, plant
from tests.api.conftest import Serve
from tests.support.waiting import SECONDS

# --- what the parser refuses -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"hello\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # a client that wants TLS
        b"GET\r\n\r\n",
        b"GET / HTTP/1.2\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n",
        b"POST /plants HTTP/2.0\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\nanything",
        b"BREW /plants HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\nHost: localhost\n\n",
        b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n folded\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: local\x00host\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET http://[::1/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /plants HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
        b"POST /plants HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /plants HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
        b"POST /plants HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        b"POST /plants HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n{}",
        b"POST /plants HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    ],
)
def test_malformed_http_gets_an_error_body(api: Api, request_bytes: bytes) -> None:
    (answer,) = api.exchange(request_bytes)
    assert answer.number is ErrorNumber.MALFORMED_HTTP
    assert answer.headers["Connection"] == "close"
    assert "Date" in answer.headers


def test_a_broken_chunk_is_refused_while_the_application_waits(api: Api) -> None:
    with api.opened() as connection:
        connection.sendall(api.head("Transfer-Encoding: chunked", "Expect: 100-continue"))
        assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"zz\r\n")
        (answer,) = answers(connection)
    assert answer.number is ErrorNumber.MALFORMED_HTTP


def test_an_endless_head_is_refused(api: Api) -> None:
    (answer,) = api.exchange(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000)
    assert answer.number is ErrorNumber.MALFORMED_HTTP
    assert "too long" in answer.message


def test_a_head_of_60_kb_is_read(api: Api) -> None:
    (answer,) = api.exchange(api.whole(plant(), "X: " + "x" * 60_000, "Connection: close"))
    assert answer.status == 200


def test_endless_trailers_are_refused(api: Api) -> None:
    body = json.dumps(plant()).encode()
    head = api.head("Transfer-Encoding: chunked")
    (answer,) = api.exchange(head, b"%x\r\n%b\r\n0\r\nX: " % (len(body), body), b"x" * 4_000_000)
    assert answer.number is ErrorNumber.MALFORMED_HTTP
    assert "too long" in answer.message


def test_trailers_are_not_headers(api: Api) -> None:
    body = json.dumps(plant()).encode()
    head = b"POST /plants HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    trailers = f"Authorization: Bearer {api.token}\r\nContent-Type: application/json\r\n\r\n".encode()
    (answer,) = api.exchange(head + b"%x\r\n%b\r\n0\r\n" % (len(body), body) + trailers)
    assert answer.number is ErrorNumber.TOKEN_MISSING


# --- connections -------------------------------------------------------------------------------------------------


def test_a_connection_is_kept_for_many_requests(api: Api) -> None:
    with api.opened() as connection:
        for _ in range(5):
            connection.sendall(api.whole(plant(), "Connection: keep-alive"))
            assert one_answer(connection).status == 200
        connection.sendall(api.whole(b"{", "Connection: keep-alive"))
        assert one_answer(connection).number is ErrorNumber.NOT_JSON
        connection.sendall(api.whole(plant()))
        assert [answer.status for answer in answers(connection)] == [200]


OFFER = ("Connection: upgrade", "Upgrade: h2c")


@pytest.mark.parametrize("lines", [("Connection: keep-alive",), ("Expect: 100-continue",), OFFER], ids=str)
def test_http_1_0_is_answered_and_closed(api: Api, lines: tuple[str, ...]) -> None:
    request = api.whole(plant(), *lines).replace(b"HTTP/1.1", b"HTTP/1.0")
    (answer,) = api.exchange(request, api.whole(plant()))
    assert (answer.status, answer.headers["Connection"]) == (200, "close")


def test_empty_lines_before_a_request_are_ignored(api: Api) -> None:
    (answer,) = api.exchange(b"\r\n\r\n", api.whole(plant()))
    assert answer.status == 200


def test_a_request_before_the_response_to_another_is_not_read(api: Api) -> None:
    first, second = plant(), plant()
    (answer,) = api.exchange(api.whole(first, "Connection: keep-alive") + api.whole(second))
    assert answer.status == 200
    assert answer.headers["Connection"] == "close"
    assert first["id"] in api.stored()
    assert second["id"] not in api.stored()


@pytest.mark.parametrize("rest", [b"rubbish\r\n\r\n", b"\x16\x03\x01", b"POST /plants HT"])
def test_a_request_before_garbage_is_answered(api: Api, rest: bytes) -> None:
    (answer,) = api.exchange(api.whole(plant(), "Connection: keep-alive") + rest)
    assert (answer.status, answer.headers["Connection"]) == (200, "close")


def test_a_request_that_waits_for_its_response_is_the_last_one_if_another_follows(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = serve()
    held: SimpleQueue[Any] = SimpleQueue()
    with monkeypatch.context() as patch, api.opened() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        patch.setattr(api.store, "add_each", lambda *batch: held.put(batch))
        connection.sendall(api.whole(plant(), "Connection: keep-alive"))
        batch = held.get(timeout=SECONDS)
        connection.sendall(api.whole(plant(), "Connection: keep-alive"))
        patch.undo()
        assert api.post(plant()).status == 200  # by now, the second request is received
        api.store.add_each(*batch)
        (answer,) = answers(connection)
    assert (answer.status, answer.headers["Connection"]) == (200, "close")
    assert len(api.stored()) == 2


def test_requests_after_connection_close_are_ignored(api: Api) -> None:
    late = plant()
    assert [answer.status for answer in api.exchange(api.whole(plant()) + api.whole(late))] == [200]
    assert late["id"] not in api.stored()


def test_a_half_closed_connection_gets_its_response(api: Api) -> None:
    found = api.exchange(api.whole(plant(), "Connection: keep-alive"), half_close=True)
    assert [answer.status for answer in found] == [200]


@pytest.mark.parametrize("cut", [3, 60, -5])
def test_an_incomplete_request_is_refused_at_the_end_of_input(api: Api, cut: int) -> None:
    half = plant()
    (answer,) = api.exchange(api.whole(half)[:cut], half_close=True)
    assert answer.number is ErrorNumber.MALFORMED_HTTP
    assert half["id"] not in api.stored()


def test_an_incomplete_request_is_refused_after_earlier_responses(api: Api) -> None:
    with api.opened() as connection:
        connection.sendall(api.whole(plant(), "Connection: keep-alive"))
        assert one_answer(connection).status == 200
        connection.sendall(api.whole(plant())[:-5])
        connection.shutdown(socket.SHUT_WR)
        assert [answer.status for answer in answers(connection)] == [400]


def test_a_connection_without_a_request_is_closed_without_a_response(api: Api) -> None:
    assert api.exchange(half_close=True) == []


def test_a_reset_connection_does_not_affect_others(api: Api) -> None:
    reset = struct.pack("ii", 1, 0)
    for request in (b"", api.whole(plant())[:-5], api.whole(plant()), api.whole(plant()) * 50):
        with api.opened() as connection:
            connection.sendall(request)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
    assert api.post(plant()).status == 200


def test_a_client_may_leave_while_its_next_request_waits(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    api = serve()
    held: SimpleQueue[Any] = SimpleQueue()
    for _ in range(10):
        with monkeypatch.context() as patch, api.opened() as connection:
            patch.setattr(api.store, "add_each", lambda *batch: held.put(batch))
            following = api.whole(plant(), "Connection: keep-alive", "Expect: 100-continue")
            connection.sendall(api.whole(plant(), "Connection: keep-alive") + following)
            batch = held.get(timeout=SECONDS)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        api.store.add_each(*batch)
        assert api.post(plant()).status == 200
    assert [record for record in caplog.records if record.levelname in {"WARNING", "ERROR"}] == []


def test_the_response_reaches_a_client_that_keeps_sending(api: Api) -> None:
    with api.opened() as connection:
        connection.sendall(b"POST /plants HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")
        connection.sendall(b"x" * 500_000)
        answer = one_answer(connection)
        connection.sendall(b"x" * 500_000)
    assert answer.number is ErrorNumber.TOKEN_MISSING


def test_expect_100_continue_is_answered(api: Api) -> None:
    body = json.dumps(plant()).encode()
    with api.opened() as connection:
        connection.sendall(api.head(f"Content-Length: {len(body)}", "Expect: 100-continue", "Connection: close"))
        assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body)
        assert [answer.status for answer in answers(connection)] == [200]


def test_expect_100_continue_is_refused_before_the_body(api: Api) -> None:
    (answer,) = api.exchange(api.head("Content-Length: 2000000", "Expect: 100-continue"))
    assert answer.number is ErrorNumber.BODY_TOO_LARGE
    assert answer.headers["Connection"] == "close"


# --- methods and upgrades ----------------------------------------------------------------------------------------


def in_turn(api: Api, *requests: bytes) -> list[int]:
    """Return the status of each request on one connection, after the server has closed it."""
    with api.opened() as connection:
        found = []
        for request in requests:
            connection.sendall(request)
            found.append(one_answer(connection).status)
        assert answers(connection) == []
    return found


def test_an_upgrade_offer_is_ignored_and_the_body_is_read(api: Api) -> None:
    """Java's HttpClient makes this offer with each first request."""
    offer = (
        "Connection: Upgrade, HTTP2-Settings",
        "Upgrade: h2c",
        "HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA",
    )
    first, second = plant(), plant()
    assert in_turn(api, api.whole(first, *offer), api.whole(second)) == [200, 200]
    assert {first["id"], second["id"]} <= api.stored().keys()


@pytest.mark.parametrize("lines", [("Connection: keep-alive",), ("Connection: upgrade", "Upgrade: websocket")], ids=str)
def test_a_request_may_arrive_byte_by_byte(api: Api, lines: tuple[str, ...]) -> None:
    request = api.whole(plant(), *lines)
    with api.opened() as connection:
        for index in range(len(request)):
            connection.sendall(request[index : index + 1])
        assert one_answer(connection).status == 200
        connection.sendall(api.whole(plant()))
        assert [answer.status for answer in answers(connection)] == [200]


def test_many_upgrade_offers_are_ignored(api: Api) -> None:
    requests = [api.head(*OFFER, method="GET", target="/nowhere") for _ in range(50)]
    assert in_turn(api, *requests, api.whole(plant())) == [404] * 50 + [200]
    assert [answer.status for answer in api.exchange(b"".join(requests))] == [404]


def test_there_is_no_websocket(api: Api) -> None:
    lines = ("Connection: Upgrade, close", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAA")
    found = api.exchange(api.head(*lines, method="GET", target="/openapi.json"), half_close=True)
    assert [answer.status for answer in found] == [200]
