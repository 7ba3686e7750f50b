"""The server on the event loop of Windows, on any system."""

import asyncio
import socket
import struct

import pytest

from tests.api.client import Api, plant
from tests.api.conftest import Serve


@pytest.fixture
def api(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> Api:
    monkeypatch.setattr("plantdesk.api.api_thread._create_loop", asyncio.SelectorEventLoop)
    return serve()


def test_aborted_connections_do_not_stop_it(api: Api) -> None:
    for _ in range(5):
        for _ in range(20):
            with api.opened() as gone:
                gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        assert api.post(plant()).status == 200


def test_it_answers_as_the_other_loop_does(api: Api) -> None:
    (refused,) = api.exchange(b"rubbish\r\n\r\n" + b"x" * 1_000_000)
    assert refused.status == 400
    assert [answer.status for answer in api.exchange(api.whole(plant()), half_close=True)] == [200]
    large = {**plant(), "name": "x" * 1_000_000}
    assert api.post(large).json == {"name": large["name"]}
