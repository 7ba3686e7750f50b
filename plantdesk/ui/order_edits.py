"""What turns one order of rows into another, as few edits: so that selection, scroll and a cell's editor stay put."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from array import array

#: How far a row is looked for after a difference, how many edits are worth making, and how many rows may both go and
#: come: those that moved are forgotten by a selection.
_REACH = 2048
_MOST_EDITS = 128
_MOST_MOVED = 64


class Edit(NamedTuple):
    """At `row` of the old order, `removed` rows go and the ids `inserted` come."""

    row: int
    removed: int
    inserted: array[int]


def order_edits(old: array[int], new: array[int]) -> list[Edit] | None:
    """Return the edits in ascending order of rows, or None when the orders differ in too many places."""
    edits: list[Edit] = []
    row = at = 0
    while len(edits) <= _MOST_EDITS:
        same = _same(old, row, new, at)
        row, at = row + same, at + same
        if row == len(old) or at == len(new):
            edits += _rest(old, row, new, at)
            return edits if _moved(edits) <= _MOST_MOVED else None
        removed, inserted = _difference(old, row, new, at)
        edits.append(Edit(row, removed, new[at : at + inserted]))
        row, at = row + removed, at + inserted
    return None


def _moved(edits: list[Edit]) -> int:
    return min(sum(edit.removed for edit in edits), sum(len(edit.inserted) for edit in edits))


def _same(old: array[int], row: int, new: array[int], at: int) -> int:
    """Return how many ids are the same from here on; whole blocks are compared at once."""
    most = min(len(old) - row, len(new) - at)
    known, step = 0, 1024
    while known < most:
        step = min(step, most - known)
        if old[row + known : row + known + step] == new[at + known : at + known + step]:
            known += step
            step *= 2
        elif step == 1:
            break
        else:
            step = max(1, step // 2)
    return known


def _difference(old: array[int], row: int, new: array[int], at: int) -> tuple[int, int]:
    """Return how many rows go and come here; the nearer reunion wins."""
    inserted = _distance(new, at, old[row])
    removed = _distance(old, row, new[at])
    if inserted is None and removed is None:
        return 1, 1
    if removed is None or (inserted is not None and inserted <= removed):
        return 0, inserted or 0
    return removed, 0


def _distance(ids: array[int], start: int, wanted: int) -> int | None:
    try:
        return ids.index(wanted, start, start + _REACH) - start
    except ValueError:
        return None


def _rest(old: array[int], row: int, new: array[int], at: int) -> list[Edit]:
    if row == len(old) and at == len(new):
        return []
    return [Edit(row, len(old) - row, new[at:])]
