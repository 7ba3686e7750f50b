"""Passes plants from the event loop to the store's writer thread in batches.

All plants that arrive in one turn of the loop are one batch, and one wake-up of the loop resolves all of its futures.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from plantdesk.domain.errors import PlantDeskError

if TYPE_CHECKING:
    import asyncio

    from plantdesk.domain.protocols import PlantStore
    from plantdesk.domain.records import PlantRow, Source
    from plantdesk.domain.validation import NewPlant

    Outcome = PlantRow | PlantDeskError
    Waiting = list[asyncio.Future[Outcome]]


class BatchInserter:
    """Adds plants for one event loop; all methods are for its thread."""

    def __init__(self, store: PlantStore, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self._loop = loop
        self._batch: list[tuple[NewPlant, Source]] = []
        self._waiting: Waiting = []

    async def add(self, plant: NewPlant, source: Source) -> PlantRow:
        """Return the plant's row when it is durable. Raises IdTakenError, TokenRefusedError, StoreError."""
        if not self._batch:
            self._loop.call_soon(self._submit)
        future: asyncio.Future[Outcome] = self._loop.create_future()
        self._batch.append((plant, source))
        self._waiting.append(future)
        outcome = await future
        if isinstance(outcome, PlantDeskError):
            raise outcome
        return outcome

    def _submit(self) -> None:
        batch, waiting = self._batch, self._waiting
        self._batch, self._waiting = [], []

        def on_added(outcomes: list[Outcome]) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: no client is left
                self._loop.call_soon_threadsafe(_resolve, waiting, outcomes)

        self._store.add_each(batch, on_added)


def _resolve(waiting: Waiting, outcomes: list[Outcome]) -> None:
    for future, outcome in zip(waiting, outcomes, strict=True):
        if not future.done():
            future.set_result(outcome)
