"""Responses to invalid tokens are delayed increasingly; valid ones are not."""

from __future__ import annotations

import asyncio
import select
import time
from typing import TYPE_CHECKING

import pytest

from plantdesk.api import access_control
from plantdesk.api.access_control import InvalidTokenThrottle
from plantdesk.domain.errors import ErrorNumber
from tests.api.client import answer_in

if TYPE_CHECKING:
    from tests.api.conftest import Serve

FERN = {"id": 1, "name": "Fern"}


def delays_of(wrong: int, *, pause: float, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the delay of each of `wrong` invalid tokens; the clock advances by `pause` before each."""
    now, waited = [0.0], []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(asyncio, "sleep", sleep)
    counting = InvalidTokenThrottle()
    delays = []
    for _ in range(wrong):
        waited.clear()
        now[0] += pause
        with pytest.raises(StopIteration):
            counting.delay().send(None)
        delays.append(sum(waited))
    return delays


def test_a_script_with_an_old_token_is_not_delayed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert delays_of(1_000, pause=0.25, monkeypatch=monkeypatch) == [0] * 1_000


def test_a_flood_is_delayed_increasingly_up_to_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    delays = delays_of(500, pause=0.001, monkeypatch=monkeypatch)
    assert delays[:40] == [0] * 40
    assert delays == sorted(delays)
    assert 0.9 < delays[-1] <= 1.0


def test_a_flood_is_soon_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    delays = delays_of(300, pause=0.0001, monkeypatch=monkeypatch)
    assert delays[-1] > 0.9
    monkeypatch.undo()
    counting = InvalidTokenThrottle()

    async def flood() -> None:
        await asyncio.gather(*(counting.delay() for _ in range(300)))

    asyncio.run(flood())


def test_the_number_of_delayed_responses_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_control, "_MAX_DELAYED", 3)
    counting = InvalidTokenThrottle()

    async def flood() -> int:
        tasks = [asyncio.ensure_future(counting.delay()) for _ in range(200)]
        await asyncio.sleep(0)
        waiting = sum(not task.done() for task in tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return waiting

    assert asyncio.run(flood()) <= 3 + 1  # those done take a turn to report


def test_a_valid_token_is_not_delayed_by_invalid_ones(serve: Serve) -> None:
    api = serve()
    wrong = api.whole(FERN, "Connection: keep-alive").replace(api.token.encode(), b"plantdesk_wrong")
    with api.opened() as flooding, flooding.makefile("rb", buffering=0) as stream:
        for _ in range(52):
            flooding.sendall(wrong)
            assert answer_in(stream).status == 401
        began = time.monotonic()
        for _ in range(10):  # the wait has begun
            flooding.sendall(wrong)
            assert api.post(FERN).status == 200
            assert select.select([flooding], [], [], 0) == ([], [], [])
            assert answer_in(stream).status == 401
        assert time.monotonic() - began > 0.5
    assert api.post(FERN, authorization="Bearer wrong").number is ErrorNumber.TOKEN_REFUSED
