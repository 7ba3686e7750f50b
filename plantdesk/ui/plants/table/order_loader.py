"""Queries the store for the order of the rows, on a thread of its own: the newest view replaces those before it."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, Signal

from plantdesk.ui.plants.table.id_list_diff import Edit, id_list_diff
from plantdesk.ui.reader_thread import ReaderThread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plantdesk.errors import PlantDeskError
    from plantdesk.store import Reader, Store, View
    from plantdesk.ui.reader_thread import Run


class Request(NamedTuple):
    """A view that is to be shown; `kept` are the ids whose places in it are asked for."""

    number: int
    view: View
    kept: frozenset[int]


class Chunk(NamedTuple):
    """A piece of the order of a request: its ids from row `start` on, and where the kept ones among them are."""

    number: int
    start: int
    ids: array[int]
    places: dict[int, int]


class End(NamedTuple):
    """The order of a request is complete; `total` is the number of plants in the store."""

    number: int
    total: int


class Refreshed(NamedTuple):
    """The order of a request as it is now: as edits of the one that was given, or whole when there are too many."""

    number: int
    edits: list[Edit] | None
    ids: array[int]
    places: dict[int, int]
    total: int


class Matched(NamedTuple):
    """Which of the ids that were asked about a request's view holds, in the order in which they were given."""

    number: int
    ids: list[int]


class Failure(NamedTuple):
    """A query of a request failed."""

    number: int
    error: PlantDeskError


class OrderLoader(QObject):
    """The order of the rows, from the store to signals."""

    chunk_loaded = Signal(object)
    ended = Signal(object)
    refreshed = Signal(object)
    matched = Signal(object)
    failed = Signal(object)

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread = ReaderThread("plant order", store)

    def load(self, request: Request) -> None:
        """Load the order of a view chunk by chunk; every other query is dropped."""

        def job(reader: Reader, run: Run) -> None:
            start = 0
            for ids in reader.ids(request.view):
                if run.cancelled:
                    return
                self.chunk_loaded.emit(Chunk(request.number, start, ids, _places(ids, start, request.kept)))
                start += len(ids)
            self.ended.emit(End(request.number, reader.count() if request.view.text else start))

        self._thread.submit_alone(job, self._failed(request))

    def refresh(self, request: Request, old: array[int]) -> None:
        """Load the order of a view as a whole and compare it with `old`, which nobody may change meanwhile."""

        def job(reader: Reader, run: Run) -> None:
            ids = array("q")
            for chunk in reader.ids(request.view):
                if run.cancelled:
                    return
                ids.extend(chunk)
            edits = id_list_diff(old, ids)
            places = _places(ids, 0, request.kept) if edits is None else {}
            total = reader.count() if request.view.text else len(ids)
            self.refreshed.emit(Refreshed(request.number, edits, ids, places, total))

        self._thread.submit(job, self._failed(request))

    def match(self, request: Request, ids: Sequence[int]) -> None:
        """Ask which of `ids` a view holds."""

        def job(reader: Reader, _run: Run) -> None:
            found = reader.matching(ids, request.view)
            self.matched.emit(Matched(request.number, [plant_id for plant_id in ids if plant_id in found]))

        self._thread.submit(job, self._failed(request))

    def close(self) -> None:
        """End the thread; no signal follows."""
        self._thread.close()

    def _failed(self, request: Request) -> Callable[[PlantDeskError], None]:
        def report(error: PlantDeskError) -> None:
            self.failed.emit(Failure(request.number, error))

        return report


def _places(ids: array[int], start: int, kept: frozenset[int]) -> dict[int, int]:
    if not kept:
        return {}
    return {plant_id: row for row, plant_id in enumerate(ids, start) if plant_id in kept}
