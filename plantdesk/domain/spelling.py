"""The edit distance of words: how many letters to insert, remove or replace."""

from __future__ import annotations


def distance(one: str, other: str, limit: int) -> int | None:
    """Return the edit distance of two texts; None where it is above `limit`."""
    if abs(len(one) - len(other)) > limit or len({*one} ^ {*other}) > 2 * limit:
        return None
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    start = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    one, other = one[start:], other[start:]
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, start=1):
        before, row = row, [number]
        for at, each in enumerate(other):
            row.append(min(before[at] + (letter != each), before[at + 1] + 1, row[at] + 1))
        if min(row) > limit:
            return None
    return row[-1] if row[-1] <= limit else None
