"""The queries for the order of the rows; each runs on the thread of the order."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.ui.plants.table.id_list_diff import Edit, id_list_diff
from plantdesk.ui.plants.table.id_search import rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plantdesk.domain.protocols import PlantReader
    from plantdesk.domain.views import InsertionPoint, View
    from plantdesk.ui.background import Task


class Chunk(NamedTuple):
    """A part of the order: its ids from row `start` on, and the rows of the kept ids among them."""

    start: int
    ids: array[int]
    kept_rows: dict[int, int]


class Refreshed(NamedTuple):
    """The order as it is now: as edits of the previous one, or whole (None) when there are too many."""

    edits: list[Edit] | None
    ids: array[int]
    kept_rows: dict[int, int]
    total: int


def load_order(reader: PlantReader, task: Task, view: View, kept: frozenset[int]) -> int:
    """Report the order of a view in chunks; return the number of plants in the store."""
    start = 0
    for ids in reader.ids(view):
        if task.cancelled:
            raise InterruptedError
        task.report(Chunk(start, ids, {plant_id: start + row for plant_id, row in rows_of(kept, ids).items()}))
        start += len(ids)
    return start if view.plants.is_everything else reader.count()


def refresh_order(reader: PlantReader, task: Task, view: View, kept: frozenset[int], old: array[int]) -> Refreshed:
    """Compare the order of a view with `old`, which must not change meanwhile."""
    ids = array("q")
    for chunk in reader.ids(view):
        if task.cancelled:
            raise InterruptedError
        ids.extend(chunk)
    edits = id_list_diff(old, ids)
    kept_rows = rows_of(kept, ids) if edits is None else {}
    total = len(ids) if view.plants.is_everything else reader.count()
    return Refreshed(edits, ids, kept_rows, total)


def matching_ids(reader: PlantReader, _task: Task, view: View, ids: Sequence[int]) -> list[int]:
    """Return those of `ids` that are in a view, in the same sequence."""
    found = reader.matching(ids, view)
    return [plant_id for plant_id in ids if plant_id in found]


def insertion_points_of(
    reader: PlantReader, _task: Task, view: View, ids: Sequence[int], known: array[int]
) -> list[InsertionPoint] | None:
    """Return where those of `ids` that are in a view belong among `known`, as `PlantReader.insertion_points` does."""
    return reader.insertion_points(ids, view, known)
