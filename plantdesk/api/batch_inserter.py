"""The way of plants from the event loop to the store's writer thread and back, many at a time.

All that arrive in one turn of the loop go to the store as one batch, and one wake-up of the loop resolves all of them.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from plantdesk.errors import PlantDeskError

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future

    from plantdesk.records import NewPlant, PlantRow, Source
    from plantdesk.store import Store

    Outcome = PlantRow | PlantDeskError
    Waiting = list[asyncio.Future[Outcome]]


class Intake:
    """Adds plants for one event loop; all methods are for its thread."""

    def __init__(self, store: Store, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self._loop = loop
        self._entries: list[tuple[NewPlant, Source]] = []
        self._waiting: Waiting = []

    async def add(self, plant: NewPlant, source: Source) -> PlantRow:
        """Return the plant's row once it is durable; raises IdTakenError, TokenRefusedError and StoreError."""
        if not self._entries:
            self._loop.call_soon(self._hand_over)
        future: asyncio.Future[Outcome] = self._loop.create_future()
        self._entries.append((plant, source))
        self._waiting.append(future)
        outcome = await future
        if isinstance(outcome, PlantDeskError):
            raise outcome
        return outcome

    def _hand_over(self) -> None:
        entries, waiting = self._entries, self._waiting
        self._entries, self._waiting = [], []

        def on_written(outcomes: Future[list[Outcome]]) -> None:
            # A closed loop has nobody left to tell: its clients were let go before.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(_resolve, waiting, outcomes)

        self._store.add_each(entries).add_done_callback(on_written)


def _resolve(waiting: Waiting, outcomes: Future[list[Outcome]]) -> None:
    failure = outcomes.exception()
    if failure is not None:
        for future in waiting:
            _fail(future, failure)
        return
    for future, outcome in zip(waiting, outcomes.result(), strict=True):
        if not future.done():
            future.set_result(outcome)


def _fail(future: asyncio.Future[Outcome], failure: BaseException) -> None:
    if not future.done():
        future.set_exception(failure)
