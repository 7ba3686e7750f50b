"""Adds several plants and waits for them, or adds plants all the time."""

import sqlite3
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import Self

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.models import NewPlant
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import COMMAND, PlantRow, Source
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.store import SqliteStore
from tests.support.waiting import SECONDS


def write_connection(store: SqliteStore) -> sqlite3.Connection:
    """Return the connection that the writer of a store uses, to limit its waiting and its file."""
    return store._writer._transactions.open_connection().sqlite  # noqa: SLF001


def plant(plant_id: int, name: str = "Aloe vera", tag: str | None = None) -> NewPlant:
    """Return a plant to be added."""
    return new_plant({"id": plant_id, "name": name} | ({} if tag is None else {"tag": tag}))


def add_each(store: PlantStore, entries: Sequence[tuple[NewPlant, Source]]) -> list[PlantRow | PlantDeskError]:
    """Add plants and return their outcomes."""
    added: Future[list[PlantRow | PlantDeskError]] = Future()
    store.add_each(entries, added.set_result)
    return added.result(SECONDS)


def store_at(file: Path, *names: str) -> Path:
    """Make a store with plants of these names, with ids from 1; return its file."""
    with closing(SqliteStore(file)) as store:
        for number, name in enumerate(names, 1):
            store.add(plant(number, name), COMMAND).result(SECONDS)
    return file


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
