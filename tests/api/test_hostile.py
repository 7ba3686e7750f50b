"""Hostile and defective clients. The attacks are in tests/support/attackers.py."""

import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from plantdesk.api.limits import ConnectionLimits
from plantdesk.domain.errors import ErrorNumber
from tests.api.client import Answer, Api, answers, one_answer
from tests.api.conftest import Serve
from tests.support.attackers import ATTACKS, SMUGGLING
from tests.support.clients import new_token
from tests.support.programs import post
from tests.support.waiting import SECONDS, until
from tests.test_headless import serving

ROOT = Path(__file__).parents[2]
CONNECTIONS = 200
MIB = 1 << 20


def only_answer(api: Api, request: bytes) -> Answer:
    """Send a request that is made to be costly; return the response."""
    (answer,) = api.exchange(request, half_close=True)
    return answer


# --- what takes long ---------------------------------------------------------------------------------------------


def test_a_repeated_field_among_thousands_is_cheap(serve: Serve) -> None:
    api = serve(limits=ConnectionLimits(headers=20_000))
    lines = [f"{number:x}:" for number in range(9_000)]
    assert (
        only_answer(api, api.head(*lines, lines[0], method="GET", target="/nowhere")).number
        is ErrorNumber.PATH_NOT_FOUND
    )


def test_too_many_fields_are_refused(api: Api) -> None:
    assert api.exchange(api.whole({"id": 1}, *["A:"] * 150, "Connection: close"))[0].status == 400
    answer = only_answer(api, api.head(*["A:"] * 250))
    assert answer.number is ErrorNumber.MALFORMED_HTTP
    assert "200 header fields" in answer.message


def test_a_body_in_tiny_chunks_is_refused(api: Api) -> None:
    whole = b"".join(b"1\r\n%c\r\n" % byte for byte in b'{"id": -77, "name": "In chunks of one byte"}') + b"0\r\n\r\n"
    (answer,) = api.exchange(api.head("Transfer-Encoding: chunked", "Connection: close") + whole)
    assert answer.status == 200
    answer = only_answer(api, api.head("Transfer-Encoding: chunked") + b"1\r\n \r\n" * 100_000)
    assert answer.number is ErrorNumber.MALFORMED_HTTP
    assert "chunks are too small" in answer.message


@pytest.mark.parametrize(
    "name", ["a" + "\u0327\u0301" * 250_000, "a" + "\u0327" * 250_000 + "\u0301" * 250_000, "ﷺ" * 340_000]
)
def test_a_name_of_1_mb_is_cheap_in_any_script(serve: Serve, name: str) -> None:
    api = serve()
    request = api.whole(json.dumps({"id": 1, "name": name}, ensure_ascii=False).encode())
    assert only_answer(api, request).status == 200
    assert api.stored() == {1: (name, None)}


@pytest.mark.parametrize("value", [b"1.1", b"{}", b"[]", b"1", b'{"":{}}'])
def test_a_body_full_of_values_is_cheap(api: Api, value: bytes) -> None:
    body = b'{"x":[%b]}' % b",".join([value] * (MIB // (len(value) + 2)))
    assert only_answer(api, api.whole(body)).number is ErrorNumber.INVALID_PLANT


def test_a_hundred_thousand_repeated_members_are_not_all_named(api: Api) -> None:
    body = b"{%b}" % b",".join(b'"%d":0,"%d":0' % (number, number) for number in range(40_000))
    answer = only_answer(api, api.whole(body))
    assert answer.number is ErrorNumber.REPEATED_MEMBER
    assert "39,995 more" in answer.message
    assert len(answer.message) < 200


# --- wrong answers -----------------------------------------------------------------------------------------------


def test_leading_zeros_of_a_content_length_are_ignored(api: Api) -> None:
    body = b'{"id": -79, "name": "Fern"}'
    (answer,) = api.exchange(api.head("Content-Length: " + "0" * 5_000 + str(len(body)), "Connection: close") + body)
    assert answer.status == 200


@pytest.mark.parametrize("lines", SMUGGLING, ids=" + ".join)
def test_an_ambiguously_framed_body_is_refused_with_what_follows(api: Api, lines: tuple[str, ...]) -> None:
    hidden = api.whole({"id": -80, "name": "smuggled"})
    (answer,) = api.exchange(api.head(*lines) + b"0\r\n\r\n" + hidden, half_close=True)
    assert answer.number is ErrorNumber.MALFORMED_HTTP
    assert answer.headers["Connection"] == "close"
    assert -80 not in api.stored()


def test_a_message_masks_a_token_in_the_wrong_field(api: Api) -> None:
    for request in (
        api.whole({"id": api.token, "name": "Fern"}),
        api.whole({"id": 1, "name": "Fern"}).replace(b"application/json", api.token.encode()),
        api.whole(b'{"%b": 1, "%b": 2}' % (api.token.encode(), api.token.encode())),
    ):
        (answer,) = api.exchange(request)
        assert answer.status == 400
        assert api.token[10:20] not in answer.message


# --- what takes memory -------------------------------------------------------------------------------------------


def test_of_thousands_of_pipelined_requests_the_first_is_answered(api: Api) -> None:
    asking = api.head(method="GET", target="/nowhere")
    with api.opened() as connection:
        sending = threading.Thread(target=connection.sendall, args=(asking * 3_000,))
        sending.start()
        found = answers(connection)
        sending.join()
    assert [answer.status for answer in found] == [404]
    found = api.exchange(asking * 300, half_close=True)
    assert [answer.status for answer in found] == [404]


def test_large_bodies_take_turns_and_small_ones_do_not(serve: Serve) -> None:
    api = serve()
    large = api.whole({"id": 1, "name": "x" * 200_000})
    with api.opened() as holding, api.opened() as waiting:
        holding.sendall(large[:-1])
        assert api.post({"id": 2, "name": "y" * 60_000}).status == 200  # and by now, the place is taken
        waiting.sendall(large.replace(b'"id": 1', b'"id": 3'))
        assert api.post({"id": 4, "name": "y" * 60_000}).status == 200
        assert api.stored().keys() == {2, 4}
        holding.sendall(large[-1:])
        assert one_answer(holding).status == 200
        assert one_answer(waiting).status == 200


@pytest.mark.parametrize("announced", [True, False])
def test_a_large_body_that_is_not_sent_loses_its_turn(serve: Serve, announced: bool) -> None:  # noqa: FBT001
    api = serve(limits=ConnectionLimits(large_body_timeout=0.2))
    with api.opened() as slow:
        head = api.head("Content-Length: 200000" if announced else "Transfer-Encoding: chunked")
        slow.sendall(head + b"20000\r\n" + b" " * 120_000)
        assert one_answer(slow).number is ErrorNumber.REQUEST_TIMEOUT
    assert api.post({"id": 3, "name": "y" * 200_000}).status == 200


def test_a_large_response_may_be_read_slowly(serve: Serve) -> None:
    api = serve(limits=ConnectionLimits(linger_timeout=0.1))
    name = "x" * 1_000_000
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(SECONDS)
        connection.connect(("127.0.0.1", api.port))
        connection.sendall(api.whole({"id": 1, "name": name}))
        began = connection.recv(1)
        deadline = time.monotonic() + 0.5
        while time.monotonic() < deadline:  # longer than the server would wait for the end of a connection
            began += connection.recv(1)
        (rest,) = [b"".join(iter(lambda: connection.recv(65_536), b""))]
    assert json.loads((began + rest).partition(b"\r\n\r\n")[2])["name"] == name


# --- many connections --------------------------------------------------------------------------------------------


def test_one_connection_too_many_closes_the_most_idle_one(serve: Serve) -> None:
    api = serve(limits=ConnectionLimits(connections=3))
    with contextlib.ExitStack() as stack:
        first, second, third, fourth = (stack.enter_context(api.opened()) for _ in range(4))
        assert first.recv(1) == b""
        for connection in (second, third, fourth):
            connection.sendall(api.whole({"id": 1, "name": "Fern"}, "Connection: keep-alive"))
            assert one_answer(connection).status == 200
        fifth = stack.enter_context(api.opened())
        assert second.recv(1) == b""
        fifth.sendall(api.whole({"id": 1, "name": "Fern"}, "Connection: keep-alive"))
        assert one_answer(fifth).status == 200


def test_slow_bodies_on_all_connections_leave_a_place_for_others(serve: Serve) -> None:
    api = serve(limits=ConnectionLimits(connections=8))
    request = api.whole({"id": 1, "name": "Fern"}, "Connection: keep-alive")
    with contextlib.ExitStack() as stack:
        for _ in range(3):  # the attacker opens others for those that are closed
            for _ in range(10):
                stack.enter_context(api.opened()).sendall(request[:-1])
            patient = stack.enter_context(api.opened())
            patient.sendall(request)
            assert one_answer(patient).status == 200
            stack.enter_context(api.opened()).sendall(request[:-1])
            patient.sendall(request)
            assert one_answer(patient).status == 200


# --- all at once -------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_valid_requests_are_answered_during_attacks(tmp_path: Path) -> None:
    database = tmp_path / "plants.db"
    with serving("--database", str(database)) as (process, port):
        token = new_token(database)
        attacking(port, token).communicate()  # fills the caches
        before, memory = descriptors(process), resident(process)
        attackers, highest, waits = attacking(port, token), 0, []
        for number in range(50):
            began = time.monotonic()
            assert post(port, token, {"id": number, "name": "Good"}).status == 200
            waits.append(1000 * (time.monotonic() - began))
            highest = max(highest, resident(process))
        responses = json.loads(attackers.communicate()[0])
        until(lambda: descriptors(process) <= before)
        assert post(port, token, {"id": 50, "name": "Good"}).status == 200
    figures = f"a post takes {statistics.median(waits):.0f} ms (median), {max(waits):.0f} ms at most"
    print(f"{figures}; {(highest - memory) / MIB:+.1f} MiB")  # noqa: T201 - pytest -s shows the figures
    assert highest - memory < 100 * MIB
    assert [answer for answers in responses.values() for answer in answers if answer.startswith("WRONG")] == []
    assert set(responses) == set(ATTACKS)
    assert responses["smuggled"].keys() <= {"40001", "closed"}
    assert responses["wrong_token"].keys() <= {"40102", "closed"}


def attacking(port: int, token: str) -> subprocess.Popen[str]:
    """Start to attack, until `communicate` closes the input; return when each attack was made."""
    command = [sys.executable, "-m", "tests.support.attackers", str(port), str(CONNECTIONS)]
    pipe = subprocess.PIPE
    attackers = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)
    assert attackers.stdin is not None
    assert attackers.stdout is not None
    print(token, file=attackers.stdin, flush=True)
    assert attackers.stdout.readline()
    return attackers


def descriptors(process: subprocess.Popen[str]) -> int:
    return len(list(Path(f"/proc/{process.pid}/fd").iterdir()))


def resident(process: subprocess.Popen[str]) -> int:
    pages = Path(f"/proc/{process.pid}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
