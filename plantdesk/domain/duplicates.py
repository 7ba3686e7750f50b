"""Duplicates: plants that are alike in name and tag, and which of them a merge keeps."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import islice, pairwise
from typing import NamedTuple
from unicodedata import combining, normalize

from plantdesk.domain.folding import without_confusables
from plantdesk.domain.records import MAX_NOTE_BYTES, PlantContent, PlantRow
from plantdesk.domain.texts import Text

#: Plants that are read, or changed, together.
_PAGE = 5_000
#: Characters of a text that are compared: it is about what a user sees.
_MAX_COMPARED = 1000
#: Milliseconds between the plants of one change at most: each is a statement, also on a server that is far away.
_MAX_PAUSE = 1000


class KeepRule(StrEnum):
    """Which plant of a group a merge keeps. Among equals, the one with the lowest id; for the newest, the highest."""

    LOWEST_ID = "lowest"
    NEWEST = "newest"
    LONGEST_NOTE = "longest-note"

    def of(self, rows: Iterable[PlantRow], chosen: Collection[int] = ()) -> PlantRow:
        """Return the plant of a group that is kept: the chosen one, else the one that this rule selects."""

        def rank(row: PlantRow) -> tuple[bool, int, int]:
            ranks = {KeepRule.NEWEST: row.added_at, KeepRule.LONGEST_NOTE: len(row.note or "")}
            return row.id in chosen, ranks.get(self, 0), row.id if self is KeepRule.NEWEST else -row.id

        return max(rows, key=rank)


class PlantGroups(NamedTuple):
    """Groups of plants: their ids one group after the other, the version of each plant, and the sizes of the groups."""

    ids: array[int]
    versions: array[int]
    sizes: array[int]

    @classmethod
    def of(cls, groups: Iterable[Sequence[PlantRow]]) -> PlantGroups:
        """Return groups of these plants."""
        found = cls(array("q"), array("q"), array("q"))
        for rows in groups:
            found.ids.extend(row.id for row in rows)
            found.versions.extend(row.version for row in rows)
            found.sizes.append(len(rows))
        return found

    def with_last(self, groups: Collection[int]) -> PlantGroups:
        """Return the groups with those of these numbers at the end."""
        first, last = self.without(groups), self.without({*range(len(self.sizes))}.difference(groups))
        return PlantGroups(first.ids + last.ids, first.versions + last.versions, first.sizes + last.sizes)

    def without(self, groups: Collection[int]) -> PlantGroups:
        """Return the groups but those of these numbers."""
        found = PlantGroups(array("q"), array("q"), array("q"))
        start = 0
        for group, size in enumerate(self.sizes):
            if group not in groups:
                found.ids.extend(self.ids[start : start + size])
                found.versions.extend(self.versions[start : start + size])
                found.sizes.append(size)
            start += size
        return found


def intended(groups: PlantGroups, read: Callable[[Sequence[int]], Mapping[int, PlantRow]]) -> set[int]:
    """Return the numbers of the groups that are no mistake: one name, added together or the same in tag and note."""
    rows = _present(groups, read)
    found = set()
    for group, size in enumerate(groups.sizes):
        plants = {row and (row.name, added_of(row), (row.tag, row.note)) for row in islice(rows, size)}
        if None not in plants:
            names, added, others = map(set, zip(*filter(None, plants), strict=True))
            if len(names) == 1 and (are_together(added) or len(others) == 1):
                found.add(group)
    return found


def added_of(row: PlantRow) -> tuple[int, bool]:
    """Return when a plant was added, and whether a change has added or changed it, for `are_together`."""
    return row.added_at, row.version > 0


def are_together(added: Collection[tuple[int, bool]]) -> bool:
    """Return whether plants were added at one time, or one after the other by what may be one change."""
    times = sorted({time for time, _ in added})
    pauses = (later - earlier for earlier, later in pairwise(times))
    return len(times) == 1 or (all(is_changed for _, is_changed in added) and max(pauses) <= _MAX_PAUSE)


class MergedPage(NamedTuple):
    """What a merge does with some groups: the ids of plants that go, and those that get other texts."""

    deleted: array[int]
    changed: list[PlantContent]


def merged(
    groups: PlantGroups,
    keep: KeepRule,
    chosen: Collection[int],
    read: Callable[[Sequence[int]], Mapping[int, PlantRow]],
) -> Iterator[MergedPage]:
    """Yield what the merge of `edits.MergePlants` does with the plants that `read` returns by id, in pages."""
    rows = _present(groups, read)
    deleted: array[int] = array("q")
    changed: list[PlantContent] = []
    start = 0
    for size in groups.sizes:
        if (outcome := _Merge(keep, chosen).merge(islice(rows, size))) is not None:
            kept, note = outcome
            deleted.extend(each for each in groups.ids[start : start + size] if each != kept.id)
            if note != kept.note:
                changed.append(PlantContent(kept.id, kept.name, kept.tag, note))
        start += size
        if len(deleted) + len(changed) >= _PAGE:
            yield MergedPage(deleted, changed)
            deleted, changed = array("q"), []
    yield MergedPage(deleted, changed)


class _Merge:
    """The plants of one group, which are seen one by one: there may be a million of them."""

    def __init__(self, keep: KeepRule, chosen: Collection[int]) -> None:
        self._keep, self._chosen = keep, chosen
        self._notes: dict[str, None] = {}
        self._size = 0

    def merge(self, rows: Iterable[PlantRow | None]) -> tuple[PlantRow, str | None] | None:
        """Return the plant that is kept and its note; None if the group stays as it is. Uses up `rows`."""
        kept, is_whole = None, True
        for row in rows:
            if row is None:
                is_whole = False
            elif is_whole:
                kept = row if kept is None else self._keep.of((kept, row), self._chosen)
                self._add_note(row.note)
        if kept is None or not is_whole or self._size > MAX_NOTE_BYTES + 1:
            return None
        return kept, "\n".join(self._notes) or None

    def _add_note(self, note: str | None) -> None:
        if note is not None and note not in self._notes and self._size <= MAX_NOTE_BYTES + 1:
            self._notes[note] = None
            self._size += len(note.encode()) + 1


def _present(groups: PlantGroups, read: Callable[[Sequence[int]], Mapping[int, PlantRow]]) -> Iterator[PlantRow | None]:
    """Yield the plants of all groups; None for one that has changed or is gone."""
    for start in range(0, len(groups.ids), _PAGE):
        ids, versions = (each[start : start + _PAGE] for each in (groups.ids, groups.versions))
        found = read(ids)
        for plant_id, version in zip(ids, versions, strict=True):
            row = found.get(plant_id)
            yield row if row is not None and row.version == version else None


def differences_of(texts: list[str], without_blanks: Callable[[str], str]) -> list[Text]:
    """Return in which respects similar texts differ: case, blanks, quotes, accents."""
    steps: tuple[tuple[Text, Callable[[str], str]], ...] = (
        (Text("case"), str.casefold),
        (Text("blanks"), without_blanks),
        (Text("quotes"), without_confusables),
        (Text("accents"), _without_accents),
    )
    found = []
    for left_out, _ in steps:
        seen = {text[:_MAX_COMPARED] for text in texts}
        for name, step in steps:
            seen = {step(text) for text in seen} if name is not left_out else seen
        if len(seen) > 1:
            found.append(left_out)
    return found


def _without_accents(text: str) -> str:
    return "".join(each for each in normalize("NFKD", text) if not combining(each))
