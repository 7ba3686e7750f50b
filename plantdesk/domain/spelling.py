"""Names that are spelt alike, by their edit (Levenshtein) distance."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations, pairwise
from operator import itemgetter
from typing import TypeVar

from plantdesk.domain.folding import searched
from plantdesk.domain.selections import Contains, Selection

_Named = TypeVar("_Named")
#: The least letters of a name in which one letter may differ.
_MIN_FOR_ONE = 4
#: The least letters of a name in which two letters may differ.
_MIN_FOR_TWO = 9
#: Letters of a piece of a name that an index of trigrams finds.
_PIECE = 3
_MAX_PIECES = 6
#: Letters of the longest name that is compared.
_MAX_LETTERS = 500
#: Names that a store compares: about 0.1 s.
MAX_COMPARED = 10_000


def max_distance(key: str) -> int | None:
    """Return the largest edit distance of near names to a folded name; None if no name is near."""
    if not _MIN_FOR_ONE <= len(key) <= _MAX_LETTERS:
        return None
    return 1 if len(key) < _MIN_FOR_TWO else 2


def near_candidates(name: str) -> tuple[Selection, range] | None:
    """Return a selection and lengths that all near names match, and some other names, too; None if no name is near.

    Each letter that differs changes one piece of the name at most: of any `max_distance` + 1 pieces, one is unchanged.
    """
    key = searched(name).strip()
    limit = max_distance(key)
    if limit is None:
        return None
    count = max(limit + 1, min(len(key) // _PIECE, _MAX_PIECES))
    cuts = [len(key) * number // count for number in range(count + 1)]
    pieces = [Contains(key[start:end], is_word=False) for start, end in pairwise(cuts)]
    return Selection(tuple(combinations(pieces, limit + 1))), range(len(key) - limit, len(key) + limit + 1)


def nearest_spellings(name: str, others: Iterable[_Named], limit: int, text: Callable[[_Named], str]) -> list[_Named]:
    """Return the `others` whose text is near a name, but not equal: the nearest first, then in their order."""
    key = searched(name).strip()
    max_edits = max_distance(key)
    if max_edits is None:
        return []
    compared = ((edit_distance(key, searched(text(each)), max_edits), each) for each in others)
    near = [(found, each) for found, each in compared if found]
    return [each for _, each in sorted(near, key=itemgetter(0))[:limit]]


def edit_distance(one: str, other: str, limit: int) -> int | None:
    """Return the edit distance of two texts; None if it is above `limit`."""
    if abs(len(one) - len(other)) > limit or len({*one} ^ {*other}) > 2 * limit:
        return None
    one, other = _without_common_ends(one, other)
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, start=1):
        before, row = row, [number]
        for at, each in enumerate(other):
            replaced = before[at] if letter == each else before[at] + 1
            row.append(min(replaced, before[at + 1] + 1, row[at] + 1))
        if min(row) > limit:
            return None
    return row[-1] if row[-1] <= limit else None


def _without_common_ends(one: str, other: str) -> tuple[str, str]:
    """Return two texts without their common beginning and end."""
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    start = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[start:], other[start:]
