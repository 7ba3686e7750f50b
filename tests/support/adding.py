"""Adds several plants and waits for them, or adds plants all the time."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Self

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.models import NewPlant
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import PlantRow, Source
from plantdesk.domain.validation import new_plant
from tests.support.waiting import SECONDS


def plant(plant_id: int, name: str = "Aloe vera", tag: str | None = None) -> NewPlant:
    """Return a plant to be added."""
    return new_plant({"id": plant_id, "name": name} | ({} if tag is None else {"tag": tag}))


def add_each(store: PlantStore, entries: Sequence[tuple[NewPlant, Source]]) -> list[PlantRow | PlantDeskError]:
    """Add plants and return their outcomes."""
    added: Future[list[PlantRow | PlantDeskError]] = Future()
    store.add_each(entries, added.set_result)
    return added.result(SECONDS)


class Adding(ABC):
    """Adds plants, on a thread of its own, until the end of a block."""

    #: Seconds between two plants.
    pause = 0.0

    def __init__(self, store: PlantStore) -> None:
        self._store = store
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(self.pause):
            self._add()

    @abstractmethod
    def _add(self) -> None:
        """Add a plant."""
