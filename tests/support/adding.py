"""Adds several plants and waits for them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plantdesk.domain.errors import PlantDeskError
    from plantdesk.domain.protocols import PlantStore
    from plantdesk.domain.records import PlantRow, Source
    from plantdesk.domain.validation import NewPlant

_SECONDS = 60


def add_each(store: PlantStore, entries: Sequence[tuple[NewPlant, Source]]) -> list[PlantRow | PlantDeskError]:
    """Add plants and return their outcomes."""
    added: Future[list[PlantRow | PlantDeskError]] = Future()
    store.add_each(entries, added.set_result)
    return added.result(_SECONDS)
