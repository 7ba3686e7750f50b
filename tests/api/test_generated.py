"""Fuzzing: valid requests with randomly changed bytes, sent on a socket."""

import itertools
import json
import socket
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plantdesk.api.limits import ConnectionLimits
from plantdesk.domain.records import LARGEST_ID, SMALLEST_ID
from tests.api.client import Answer, Api, answers
from tests.api.conftest import Serve
from tests.support.cases import cases

_ids = itertools.count(1)

#: What is put into a request, or takes the place of something in it.
_PIECES = st.sampled_from(
    [
        *(bytes([byte]) for byte in range(256)),
        b"\r\n",
        b"\r\n\r\n",
        b"0\r\n\r\n",
        b"5\r\nhello\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Content-Length: 5\r\n",
        b"Content-Length: 0\r\n",
        b"Expect: 100-continue\r\n",
        b"Connection: upgrade\r\nUpgrade: h2c\r\n",
        b"Connection: keep-alive\r\n",
        b"Host: evil.example\r\n",
        b"Origin: null\r\n",
        b"HTTP/1.0",
        b"HTTP/2.0",
        b"POST /plants HTTP/1.1\r\n",
        b"http://localhost/plants",
        b"CONNECT",
        b"x" * 5_000,
        b"\xff\xfe",
    ]
) | st.binary(max_size=20)
_CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["insert", "delete", "replace", "repeat", "cut"]), st.floats(0, 1), st.integers(1, 40), _PIECES
    ),
    min_size=1,
    max_size=4,
)


def apply_changes(request: bytes, changes: list[tuple[str, float, int, bytes]]) -> bytes:
    for what, where, size, piece in changes:
        at = int(where * len(request))
        before, there, after = request[:at], request[at : at + size], request[at + size :]
        new = {"insert": piece + there, "delete": b"", "replace": piece, "repeat": there * 2, "cut": b""}[what]
        request = before + new + (b"" if what == "cut" else after)
    return request


def test_any_bytes_get_valid_responses_and_only_acknowledged_plants_are_stored(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    api = serve(limits=ConnectionLimits(linger_timeout=0.2))
    known: dict[int, tuple[str, str | None]] = {}

    @cases(250)
    @given(_CHANGES, st.booleans(), st.lists(st.integers(1, 300), max_size=3))
    def check(changes: list[tuple[str, float, int, bytes]], twice: bool, cuts: list[int]) -> None:  # noqa: FBT001
        plant_id = next(_ids)
        whole = api.whole({"id": plant_id, "name": "Fern", "tag": "kitchen"})
        sent = apply_changes(whole * 2 if twice else whole, changes)
        found = exchanged(api, sent, cuts)
        acknowledged = 0
        for answer in found:
            acknowledged += looked_at(answer)
        stored = api.stored()
        new = {key: stored[key] for key in stored.keys() - known.keys()}
        assert len(new) <= acknowledged
        for (name, tag), key in zip(new.values(), new, strict=True):
            assert name.encode() in sent or "\\" in sent.decode("latin-1")
            assert tag is None or tag.encode() in sent or "\\" in sent.decode("latin-1")
            assert SMALLEST_ID <= key <= LARGEST_ID
        known.update(new)
        good = next(_ids) + 10**15
        assert api.post({"id": good, "name": "Good"}).status == 200
        known[good] = ("Good", None)

    check()
    assert [record for record in caplog.records if record.levelname in {"WARNING", "ERROR", "CRITICAL"}] == []


def exchanged(api: Api, sent: bytes, cuts: list[int]) -> list[Answer]:
    """Send the bytes in pieces, shut down writing, and return everything received."""
    with api.opened() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(ConnectionError):  # it may have had enough
            for start, end in itertools.pairwise([0, *sorted(set(cuts)), len(sent)]):
                connection.sendall(sent[start:end] if start < end else b"")
            connection.shutdown(socket.SHUT_WR)
        return [answer for answer in answers(connection) if answer.status != 100]


def looked_at(answer: Answer) -> int:
    """Check that it is a response of the API; return whether it acknowledges a plant."""
    assert answer.headers["Date"]
    if answer.status == 200:
        return int("name" in json.loads(answer.body or "{}"))
    if answer.body:  # there is none for HEAD
        assert answer.number
    return 0
