"""A bounded diff of two id lists, as row removals and insertions, so that selection and scroll position stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from array import array

#: How far a row is searched for after a difference, and the largest number of edits.
_MAX_DISTANCE = 2048
_MAX_EDITS = 128


class Edit(NamedTuple):
    """At `row` of the old list, `removed` rows are removed and the ids `inserted` are inserted."""

    row: int
    removed: int
    inserted: array[int]


def id_list_diff(old: array[int], new: array[int]) -> list[Edit] | None:
    """Return the edits in ascending order of rows.

    None when the lists differ in too many places, or when a row moved: the selection loses a row that is removed and
    inserted again.
    """
    edits: list[Edit] = []
    row = at = 0
    while len(edits) <= _MAX_EDITS:
        same = _same(old, row, new, at)
        row, at = row + same, at + same
        if row == len(old) or at == len(new):
            edits += _rest(old, row, new, at)
            return None if _moves(old, edits) else edits
        removed, inserted = _difference(old, row, new, at)
        edits.append(Edit(row, removed, new[at : at + inserted]))
        row, at = row + removed, at + inserted
    return None


def _moves(old: array[int], edits: list[Edit]) -> bool:
    removed = {plant_id for edit in edits for plant_id in old[edit.row : edit.row + edit.removed]}
    return not removed.isdisjoint(plant_id for edit in edits for plant_id in edit.inserted)


def _same(old: array[int], row: int, new: array[int], at: int) -> int:
    """Return the number of equal ids from here on; whole blocks are compared at once."""
    most = min(len(old) - row, len(new) - at)
    equal, step = 0, 1024
    while equal < most:
        step = min(step, most - equal)
        if old[row + equal : row + equal + step] == new[at + equal : at + equal + step]:
            equal += step
            step *= 2
        elif step == 1:
            break
        else:
            step = max(1, step // 2)
    return equal


def _difference(old: array[int], row: int, new: array[int], at: int) -> tuple[int, int]:
    """Return how many rows are removed and inserted here, by the nearer common id."""
    inserted = _distance(new, at, old[row])
    removed = _distance(old, row, new[at])
    if inserted is None and removed is None:
        return 1, 1
    if removed is None or (inserted is not None and inserted <= removed):
        return 0, inserted or 0
    return removed, 0


def _distance(ids: array[int], start: int, wanted: int) -> int | None:
    try:
        return ids.index(wanted, start, start + _MAX_DISTANCE) - start
    except ValueError:
        return None


def _rest(old: array[int], row: int, new: array[int], at: int) -> list[Edit]:
    if row == len(old) and at == len(new):
        return []
    return [Edit(row, len(old) - row, new[at:])]
