"""Finds names that are spelt alike, by their edit (Levenshtein) distance."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations, pairwise
from operator import itemgetter
from typing import TypeVar

from plantdesk.domain.folding import fold
from plantdesk.domain.selections import Contains, Selection

_T = TypeVar("_T")
#: The fewest letters of a name in which one letter may differ.
_MIN_LENGTH_FOR_ONE_EDIT = 4
#: The fewest letters of a name in which two letters may differ.
_MIN_LENGTH_FOR_TWO_EDITS = 9
#: Letters of a piece of a name at least, so that an index of trigrams finds it, and pieces of a name at most.
_MIN_PIECE_LENGTH = 3
_MAX_PIECES = 6
#: Letters of the longest name that is compared.
_MAX_LENGTH = 500
#: Names that a store compares: about 0.1 s.
MAX_COMPARED = 10_000


def max_distance(key: str) -> int | None:
    """Return the largest edit distance of a name near the folded name `key`; None if `key` is too short or too long."""
    if not _MIN_LENGTH_FOR_ONE_EDIT <= len(key) <= _MAX_LENGTH:
        return None
    return 1 if len(key) < _MIN_LENGTH_FOR_TWO_EDITS else 2


def near_candidates(name: str) -> tuple[Selection, range] | None:
    """Return a selection and a range of lengths that every near name matches, and perhaps others; None if none is near.

    Each letter that differs changes at most one piece of the name: of any `max_distance` + 1 pieces, one is unchanged.
    """
    key = fold(name).strip()
    limit = max_distance(key)
    if limit is None:
        return None
    count = max(limit + 1, min(len(key) // _MIN_PIECE_LENGTH, _MAX_PIECES))
    cuts = [len(key) * number // count for number in range(count + 1)]
    pieces = [Contains(key[start:end], is_word=False) for start, end in pairwise(cuts)]
    return Selection(tuple(combinations(pieces, limit + 1))), range(len(key) - limit, len(key) + limit + 1)


def nearest_spellings(name: str, candidates: Iterable[_T], limit: int, text_of: Callable[[_T], str]) -> list[_T]:
    """Return the candidates whose text is near a name, but not equal: the nearest first, then in their order."""
    key = fold(name).strip()
    max_edits = max_distance(key)
    if max_edits is None:
        return []
    compared = ((edit_distance(key, fold(text_of(candidate)), max_edits), candidate) for candidate in candidates)
    near = [(distance, candidate) for distance, candidate in compared if distance]
    return [candidate for _, candidate in sorted(near, key=itemgetter(0))[:limit]]


def edit_distance(left: str, right: str, limit: int) -> int | None:
    """Return the edit distance of two texts; None if it is above `limit`."""
    if abs(len(left) - len(right)) > limit or len({*left} ^ {*right}) > 2 * limit:
        return None
    left, right = _strip_common_ends(left, right)
    row = list(range(len(right) + 1))
    for number, left_letter in enumerate(left, start=1):
        row_above, row = row, [number]
        for column, right_letter in enumerate(right):
            replaced = row_above[column] if left_letter == right_letter else row_above[column] + 1
            row.append(min(replaced, row_above[column + 1] + 1, row[column] + 1))
        if min(row) > limit:
            return None
    return row[-1] if row[-1] <= limit else None


def _strip_common_ends(left: str, right: str) -> tuple[str, str]:
    """Return two texts without their common beginning and end."""
    while left and right and left[-1] == right[-1]:
        left, right = left[:-1], right[:-1]
    pairs = enumerate(zip(left, right, strict=False))
    start = next((index for index, (a, b) in pairs if a != b), min(len(left), len(right)))
    return left[start:], right[start:]
