"""Duplicates: groups of plants that are alike in name and tag, the intentional ones among them, and their merging."""

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

#: The number of plants that are read or changed together.
_PAGE_SIZE = 5_000
#: The most characters of a text that are compared: users see no more.
_MAX_COMPARED_LENGTH = 1000
#: The most milliseconds between two plants of one change: each is a statement, perhaps to a distant server.
_MAX_PAUSE_MS = 1000


class KeepRule(StrEnum):
    """Which plant of a group a merge keeps. Among equal plants it is the one with the lowest id (NEWEST: highest)."""

    LOWEST_ID = "lowest"
    NEWEST = "newest"
    LONGEST_NOTE = "longest-note"

    def select(self, rows: Iterable[PlantRow], chosen: Collection[int] = ()) -> PlantRow:
        """Return the plant of a group to keep: one with an id in `chosen`, otherwise the one that the rule selects."""

        def rank(row: PlantRow) -> tuple[bool, int, int]:
            ranks = {KeepRule.NEWEST: row.added_at, KeepRule.LONGEST_NOTE: len(row.note or "")}
            id_rank = row.id if self is KeepRule.NEWEST else -row.id
            return row.id in chosen, ranks.get(self, 0), id_rank

        return max(rows, key=rank)


class PlantGroups(NamedTuple):
    """Groups of plants as flat arrays: all ids, group by group, the version of each plant, and the sizes of the groups.

    A group is identified by its number, from 0.
    """

    ids: array[int]
    versions: array[int]
    sizes: array[int]

    @classmethod
    def of(cls, groups: Iterable[Sequence[PlantRow]]) -> PlantGroups:
        """Return the ids and versions of groups that are given as rows."""
        result = cls(array("q"), array("q"), array("q"))
        for rows in groups:
            result.ids.extend(row.id for row in rows)
            result.versions.extend(row.version for row in rows)
            result.sizes.append(len(rows))
        return result

    def with_last(self, groups: Collection[int]) -> PlantGroups:
        """Return all groups, those with the numbers `groups` moved to the end."""
        first = self.without(groups)
        last = self.without({*range(len(self.sizes))}.difference(groups))
        return PlantGroups(first.ids + last.ids, first.versions + last.versions, first.sizes + last.sizes)

    def without(self, groups: Collection[int]) -> PlantGroups:
        """Return the groups except those with the numbers `groups`; the remaining groups are numbered anew."""
        result = PlantGroups(array("q"), array("q"), array("q"))
        start = 0
        for group, size in enumerate(self.sizes):
            if group not in groups:
                result.ids.extend(self.ids[start : start + size])
                result.versions.extend(self.versions[start : start + size])
                result.sizes.append(size)
            start += size
        return result


def intentional_groups(groups: PlantGroups, read: Callable[[Sequence[int]], Mapping[int, PlantRow]]) -> set[int]:
    """Return the numbers of the intentional groups: plants of one name, added together or equal in tag and note.

    Groups with a changed or deleted plant are left out.
    """
    rows = _read_unchanged_rows(groups, read)
    numbers = set()
    for group, size in enumerate(groups.sizes):
        names = set()
        additions = set()
        tags_and_notes = set()
        is_complete = True
        for row in islice(rows, size):
            if row is None:
                is_complete = False
            else:
                names.add(row.name)
                additions.add(addition_of(row))
                tags_and_notes.add((row.tag, row.note))
        if is_complete and len(names) == 1 and (were_added_together(additions) or len(tags_and_notes) == 1):
            numbers.add(group)
    return numbers


def addition_of(row: PlantRow) -> tuple[int, bool]:
    """Return what `were_added_together` needs of a plant: when it was added, and whether a change has written it."""
    return row.added_at, row.version > 0


def were_added_together(added: Collection[tuple[int, bool]]) -> bool:
    """Return whether plants were added at the same time or, if changes wrote all, with pauses of at most a second."""
    times = sorted({time for time, _ in added})
    pauses = (later - earlier for earlier, later in pairwise(times))
    return len(times) == 1 or (all(is_changed for _, is_changed in added) and max(pauses) <= _MAX_PAUSE_MS)


class MergedPage(NamedTuple):
    """The merge of some groups: the ids of the deleted plants, and the plants whose notes change."""

    deleted: array[int]
    changed: list[PlantContent]


def merge_pages(
    groups: PlantGroups,
    keep: KeepRule,
    chosen: Collection[int],
    read: Callable[[Sequence[int]], Mapping[int, PlantRow]],
) -> Iterator[MergedPage]:
    """Yield the changes that `edits.MergePlants` makes, in pages; `read` returns plants by their ids."""
    rows = _read_unchanged_rows(groups, read)
    deleted: array[int] = array("q")
    changed: list[PlantContent] = []
    start = 0
    for size in groups.sizes:
        merged = _GroupMerge(keep, chosen).merge(islice(rows, size))
        if merged is not None:
            kept, note = merged
            deleted.extend(plant_id for plant_id in groups.ids[start : start + size] if plant_id != kept.id)
            if note != kept.note:
                changed.append(PlantContent(kept.id, kept.name, kept.tag, note))
        start += size
        if len(deleted) + len(changed) >= _PAGE_SIZE:
            yield MergedPage(deleted, changed)
            deleted = array("q")
            changed = []
    yield MergedPage(deleted, changed)


class _GroupMerge:
    """Merges one group. Its plants are read one by one: there may be a million."""

    def __init__(self, keep: KeepRule, chosen: Collection[int]) -> None:
        self._keep = keep
        self._chosen = chosen
        self._notes: dict[str, None] = {}
        self._notes_size = 0

    def merge(self, rows: Iterable[PlantRow | None]) -> tuple[PlantRow, str | None] | None:
        """Return the plant to keep and its merged note; None if the group cannot be merged. Consumes `rows`."""
        kept = None
        is_complete = True
        for row in rows:
            if row is None:
                is_complete = False
            elif is_complete:
                kept = row if kept is None else self._keep.select((kept, row), self._chosen)
                self._add_note(row.note)
        if kept is None or not is_complete or self._notes_size > MAX_NOTE_BYTES + 1:
            return None
        return kept, "\n".join(self._notes) or None

    def _add_note(self, note: str | None) -> None:
        if note is not None and note not in self._notes and self._notes_size <= MAX_NOTE_BYTES + 1:
            self._notes[note] = None
            self._notes_size += len(note.encode()) + 1


def _read_unchanged_rows(
    groups: PlantGroups, read: Callable[[Sequence[int]], Mapping[int, PlantRow]]
) -> Iterator[PlantRow | None]:
    """Yield the plants of all groups in order; None for each plant that has changed or was deleted."""
    for start in range(0, len(groups.ids), _PAGE_SIZE):
        ids = groups.ids[start : start + _PAGE_SIZE]
        versions = groups.versions[start : start + _PAGE_SIZE]
        rows_by_id = read(ids)
        for plant_id, version in zip(ids, versions, strict=True):
            row = rows_by_id.get(plant_id)
            yield row if row is not None and row.version == version else None


def unmerged_text(count: int) -> Text:
    """Return the message that a merge has left out `count` plants, and why."""
    return Text(
        "{count:,} plants stay: they have changed meanwhile, or their notes are too long together.",
        one="1 plant stays: it has changed meanwhile, or the notes are too long together.",
        count=count,
    )


def kinds_of_difference(texts: list[str], without_blanks: Callable[[str], str]) -> list[Text]:
    """Return the kinds of difference of similar texts: case, blanks, quotes, accents.

    A kind is returned if the texts still differ after the differences of all other kinds are removed.
    """
    steps: tuple[tuple[Text, Callable[[str], str]], ...] = (
        (Text("case"), str.casefold),
        (Text("blanks"), without_blanks),
        (Text("quotes"), without_confusables),
        (Text("accents"), _without_accents),
    )
    kinds = []
    for left_out, _ in steps:
        variants = {text[:_MAX_COMPARED_LENGTH] for text in texts}
        for name, step in steps:
            variants = {step(text) for text in variants} if name is not left_out else variants
        if len(variants) > 1:
            kinds.append(left_out)
    return kinds


def _without_accents(text: str) -> str:
    return "".join(character for character in normalize("NFKD", text) if not combining(character))
