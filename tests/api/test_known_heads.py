"""Requests whose head was sent before are answered like any other, without being parsed and routed again."""

from __future__ import annotations

import itertools
import json
import socket
import struct
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from plantdesk.api.app import Application
from plantdesk.api.limits import ConnectionLimits
from plantdesk.domain.errors import ErrorNumber
from tests.api.client import answer_in, answers, one_answer
from tests.support.waiting import SECONDS

if TYPE_CHECKING:
    import pytest

    from tests.api.client import Answer, Api
    from tests.api.conftest import Serve

_ids = itertools.count(700_000)
_OPEN = "Connection: keep-alive"


def body(name: str = "Fern", **members: object) -> bytes:
    """Return the JSON of a new plant."""
    return json.dumps({"id": next(_ids), "name": name, **members}).encode()


def sent(connection: socket.socket, request: bytes) -> Answer:
    connection.sendall(request)
    return one_answer(connection)


def know(api: Api, connection: socket.socket) -> None:
    """Add a plant; the next request of `body()` has the same head."""
    assert sent(connection, api.whole(body(), _OPEN)).status == 200


def test_a_second_plant_does_not_reach_the_application(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    api = serve()  # to one that tests share, another one may have sent the head
    calls = []
    call = Application.__call__

    async def counted(self: Application, *arguments: object) -> None:
        calls.append(arguments)
        await call(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Application, "__call__", counted)
    with api.opened() as connection:
        plants = [body("Silver fir") for _ in range(5)]
        first, *others = [sent(connection, api.whole(plant, _OPEN)) for plant in plants]
    with api.opened() as connection:  # another connection of the same program
        others.append(sent(connection, api.whole(body("Silver fir"), _OPEN)))
    assert len(calls) == 1
    for answer in others:
        assert (answer.status, answer.body) == (200, first.body)
        assert answer.headers.keys() == first.headers.keys()
        assert {**answer.headers, "date": ""} == {**first.headers, "date": ""}
    assert {json.loads(plant)["id"] for plant in plants} <= api.stored().keys()


_members = st.fixed_dictionaries(
    {},
    optional={
        "id": st.one_of(st.integers(900_000, 900_003), st.floats(), st.booleans(), st.text(max_size=3)),
        "name": st.one_of(st.text(max_size=5), st.none(), st.integers(0, 9)),
        "tag": st.one_of(st.text(max_size=5), st.none()),
        "more": st.lists(st.integers(0, 9), max_size=2),
    },
)
_bodies = st.one_of(
    _members.map(json.dumps),
    _members.map(json.dumps).map(lambda text: text[:-1]),
    st.sampled_from(['{"id": 900001, "name": "a", "name": "b"}', "[]", "", "\ufeff{}", '{"id": 1e400, "name": ""}']),
)


@given(texts=st.lists(_bodies, min_size=2, max_size=6))
def test_answers_are_those_of_the_application(api: Api, texts: list[str]) -> None:
    bodies = [text.encode("utf-8", "surrogatepass") for text in texts]
    with api.opened() as known, api.opened() as parsed:
        for number, each in enumerate(bodies):
            # Plants of the length of the next body make its head known.
            sent(known, api.whole(b'{"id":900009,"name":"%b"}' % (b"x" * max(0, len(each) - 25)), _OPEN))
            one, other = (
                sent(known, api.whole(each, _OPEN)),
                sent(parsed, api.whole(each, _OPEN, f"X-{number}: {next(_ids)}")),
            )
            assert (one.status, one.body) == (other.status, other.body)


def test_a_revoked_token_is_refused_at_once(serve: Serve) -> None:
    api = serve()
    with api.opened() as connection:
        know(api, connection)
        know(api, connection)
        api.store.tokens.revoke("tests").result()
        answer = sent(connection, api.whole(body(), _OPEN))
    assert answer.number is ErrorNumber.TOKEN_REFUSED
    assert len(api.stored()) == 2


def test_a_used_up_token_and_a_taken_id_are_refused_and_recorded(serve: Serve) -> None:
    api = serve()
    api.token = api.store.tokens.create("limited", max_plants=2).result().token
    plants = [body() for _ in range(3)]
    with api.opened() as connection:
        added = [sent(connection, api.whole(plant, _OPEN)) for plant in (*plants[:2], plants[0])]
        taken = sent(connection, api.whole(plants[1].replace(b"Fern", b"Moss"), _OPEN))
        used_up = sent(connection, api.whole(plants[2], _OPEN))
    assert [answer.status for answer in added] == [200, 200, 200]
    assert taken.number is ErrorNumber.ID_TAKEN
    assert used_up.number is ErrorNumber.TOKEN_USED_UP
    last, before, *_ = api.server.activity.answers()
    assert (last.number, before.number, before.name) == (ErrorNumber.TOKEN_USED_UP, ErrorNumber.ID_TAKEN, "Moss")
    assert [token.plants_added for token in api.store.tokens.list() if token.name == "limited"] == [2]


def test_of_several_requests_in_a_segment_the_first_is_answered(api: Api) -> None:
    with api.opened() as connection:
        know(api, connection)
        many = [api.whole(body(), _OPEN) for _ in range(4)]
        assert sent(connection, many[0]).status == 200
        connection.sendall(many[1][:90])
        assert sent(connection, many[1][90:]).status == 200
        connection.sendall(many[2] + many[3])
        (answer,) = answers(connection)
    assert (answer.status, answer.headers["Connection"]) == (200, "close")


def test_a_request_behind_a_known_head_is_not_read(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    api = serve()
    held: SimpleQueue[Any] = SimpleQueue()
    with api.opened() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        know(api, connection)
        with monkeypatch.context() as patch:
            patch.setattr(api.store, "add_each", lambda *batch: held.put(batch))
            connection.sendall(api.whole(body(), _OPEN))
            batch = held.get(timeout=SECONDS)
        connection.sendall(api.whole(body(), _OPEN))
        assert api.post({"id": 1, "name": "Elm"}).status == 200  # by now, the second request is received
        api.store.add_each(*batch)
        (answer,) = answers(connection)
    assert (answer.status, answer.headers["Connection"]) == (200, "close")
    assert len(api.stored()) == 3


def test_a_body_that_is_not_complete_or_not_all_is_parsed(api: Api) -> None:
    plant = body() + b"  "  # all but the last bytes are JSON as well
    with api.opened() as connection:
        know(api, connection)
        head = api.head(f"Content-Length: {len(plant)}", _OPEN)
        assert sent(connection, head + plant).status == 200
        connection.sendall(head + plant[:-1])
        connection.sendall(plant[-1:])
        assert one_answer(connection).status == 200
        assert sent(connection, head + plant).status == 200
    (answer,) = api.exchange(head + plant + b" x")
    assert (answer.status, answer.headers["Connection"]) == (200, "close")


def test_only_what_follows_the_head_is_a_body(api: Api) -> None:
    request = api.whole(body(), _OPEN)
    with api.opened() as connection:
        for _ in range(3):  # blank lines before a request are ignored
            assert sent(connection, b"\r\n\r\n" + request).status == 200
        plant = body("No token")
        answer = sent(connection, b"\r\n\r\n" + plant + b" " * (len(request) - len(plant)))
    assert answer.number is ErrorNumber.MALFORMED_HTTP
    plant = body("Fern\r\n\r\n").replace(b"\\r\\n", b"\r\n")
    with api.opened() as connection:
        for _ in range(2):
            assert sent(connection, api.whole(plant, _OPEN)).number is ErrorNumber.NOT_JSON


def test_100_continue_is_sent_each_time(api: Api) -> None:
    with api.opened() as connection, connection.makefile("rb", buffering=0) as stream:
        for _ in range(3):
            connection.sendall(api.whole(body(), _OPEN, "Expect: 100-continue"))
            assert (stream.readline(), stream.readline()) == (b"HTTP/1.1 100 Continue\r\n", b"\r\n")
            assert answer_in(stream).status == 200


def test_a_connection_that_is_to_be_closed_is_closed(api: Api) -> None:
    for _ in range(3):
        (answer,) = api.exchange(api.whole(body("Elm")))
        assert (answer.status, answer.headers["Connection"]) == (200, "close")


def test_a_client_that_closes_its_side_gets_its_answer(api: Api) -> None:
    with api.opened() as connection:
        know(api, connection)
        connection.sendall(api.whole(body(), _OPEN))
        connection.shutdown(socket.SHUT_WR)
        assert [answer.status for answer in answers(connection)] == [200]


def test_a_client_that_does_not_read_its_answer_disturbs_nobody(serve: Serve) -> None:
    api = serve()
    with api.opened() as connection:
        know(api, connection)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.sendall(api.whole(body("Gone"), _OPEN))
        while len(api.stored()) < 2:
            pass
    with api.opened() as connection:
        know(api, connection)
        know(api, connection)
    assert len(api.stored()) == 4


def test_an_idle_connection_is_closed_after_a_known_head(serve: Serve) -> None:
    api = serve(limits=ConnectionLimits(keep_alive_timeout=0.2))
    with api.opened() as connection:
        know(api, connection)
        know(api, connection)
        assert answers(connection) == []


def test_stopping_answers_what_was_accepted(serve: Serve) -> None:
    api = serve()
    with api.opened() as connection:
        know(api, connection)
        connection.sendall(api.whole(body(), _OPEN))
        while len(api.stored()) < 2:  # it was accepted
            pass
        api.server.stop()
        assert [answer.status for answer in answers(connection)] == [200]


def test_a_store_that_is_closed_is_reported(serve: Serve) -> None:
    api = serve()
    with api.opened() as connection:
        know(api, connection)
        api.store.close()
        answer = sent(connection, api.whole(body(), _OPEN))
    assert answer.status == 503
