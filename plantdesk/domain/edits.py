"""The edits that `PlantStore.apply` makes. One call is one change, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from itertools import count
from typing import Any, NamedTuple

from plantdesk.domain.duplicates import KeepRule, PlantGroups
from plantdesk.domain.history import Change, ChangeKind, shorten_parameter
from plantdesk.domain.models import NewPlant, Plant
from plantdesk.domain.records import PlantRow
from plantdesk.domain.rewriting import RewriteRule
from plantdesk.domain.selections import Selection
from plantdesk.domain.tags import is_in_branch, renamed_with_branch
from plantdesk.domain.texts import Text, comma_list
from plantdesk.domain.validation import plant_fields, plant_note

#: The most ids in a list of skipped plants.
_MAX_SKIPPED_IDS = 100
#: The most ids in a message.
_MAX_SHOWN_IDS = 10


class Unchanged(Enum):
    """The default of a field that an edit does not change."""

    UNCHANGED = auto()


UNCHANGED = Unchanged.UNCHANGED


class Insert(NamedTuple):
    """Add a plant. Its id must be free; without one it gets the next free id."""

    plant: NewPlant | Plant
    note: str | None = None

    @property
    def id(self) -> int | None:
        """The requested id; None if the plant gets the next free id."""
        return getattr(self.plant, "id", None)


class Update(NamedTuple):
    """Give one plant other values. It must still have the version of `seen`, the row that the user saw."""

    seen: PlantRow
    name: str
    tag: str | None
    note: str | None

    @property
    def kind(self) -> ChangeKind:
        """The kind of the change: of name, tag or note, or of several of them."""
        fields = {"name": ChangeKind.RENAME, "tag": ChangeKind.TAG, "note": ChangeKind.NOTE}
        changed = [kind for name, kind in fields.items() if getattr(self, name) != getattr(self.seen, name)]
        return changed[0] if len(changed) == 1 else ChangeKind.EDIT


class Delete(NamedTuple):
    """Delete one plant. It must still have the `version` that the user saw.

    With `undoes_addition`, the history records it as the undo of the addition, which has no entry of its own.
    """

    id: int
    version: int
    name: str
    undoes_addition: bool = False


class SetTag(NamedTuple):
    """Give a set of plants another tag, or None for no tag. Plants that have it already are left out."""

    plants: Selection
    tag: str | None


class DeleteAll(NamedTuple):
    """Delete a set of plants. With `expected_size`, it must still have the size that the user has seen."""

    plants: Selection
    expected_size: int | None = None


class RenameTag(NamedTuple):
    """Give the plants of a tag another one, or None for no tag.

    `includes_branch` also renames the tags below it: with “garden” to “yard”, “garden/bed 3” becomes “yard/bed 3”.
    """

    tag: str
    new: str | None
    includes_branch: bool = False

    def new_tags_by_old(self, list_tags: Callable[[], Iterable[str]]) -> dict[str, str | None]:
        """Return the new tag of each tag that changes. `list_tags` returns all tags of the store; called if needed."""
        tags = list_tags() if self.includes_branch else [self.tag]
        new_tags = {tag: renamed_with_branch(tag, self.tag, self.new) for tag in tags if is_in_branch(tag, self.tag)}
        return {tag: new for tag, new in new_tags.items() if tag != new}


class MergeTags(NamedTuple):
    """Give the plants of several tags the tag `into`."""

    tags: tuple[str, ...]
    into: str

    def new_tags_by_old(self, _list_tags: Callable[[], Iterable[str]]) -> dict[str, str | None]:
        """Return `into` as the new tag of each other tag. The parameter is only for the same signature as RenameTag."""
        return dict.fromkeys((tag for tag in self.tags if tag != self.into), self.into)


class MergePlants(NamedTuple):
    """Merge the plants of each group into one. It gets the notes of all, in the order of their ids.

    Equal notes are taken once. The plant that stays has an id in `chosen`, otherwise the rule `keep` selects it. A
    group is left as it is if one of its plants has changed or is gone, or if its notes are too long together.
    """

    groups: PlantGroups
    keep: KeepRule
    chosen: frozenset[int] = frozenset()


class Rewrite(NamedTuple):
    """Rewrite the texts of a set of plants by a rule.

    `leave` are ids and fields that stay as they are. `since` is a position of the events: plants that were added or
    changed after it stay, too.
    """

    plants: Selection
    rule: RewriteRule
    leave: frozenset[tuple[int, str]] = frozenset()
    since: str | None = None


Edit = Insert | Update | Delete | SetTag | DeleteAll | RenameTag | MergeTags | MergePlants | Rewrite


class Applied(NamedTuple):
    """The result of edits: the change that was made, None if they changed nothing.

    `skipped` is the number of plants of a Rewrite that were changed since its position, `skipped_ids` has the first of
    them. `added_ids` are the ids of the inserted plants, in the order of the Inserts.
    """

    change: Change | None
    skipped: int = 0
    skipped_ids: tuple[int, ...] = ()
    added_ids: tuple[int, ...] = ()

    @classmethod
    def of(cls, change: Change | None, skipped: set[int], added_ids: Sequence[int] = ()) -> Applied:
        """Return the result of a change, given all skipped and added ids; only the smallest skipped ids are kept."""
        return cls(change, len(skipped), tuple(sorted(skipped)[:_MAX_SKIPPED_IDS]), tuple(added_ids))

    @property
    def plants(self) -> int:
        """The number of plants that were changed."""
        return 0 if self.change is None else self.change.plants


class Undone(NamedTuple):
    """The result of an undo or redo: the change that it made.

    `skipped` plants stay as they are, since they were changed meanwhile; `skipped_ids` has the first of them. `ids` are
    the restored plants; empty for more than a hundred. `moved` plants got other ids, since theirs are in use;
    `moved_ids` has the old and new ids of the first of them.
    """

    change: Change
    skipped: int
    skipped_ids: tuple[int, ...] = ()
    ids: tuple[int, ...] = ()
    moved: int = 0
    moved_ids: tuple[tuple[int, int], ...] = ()

    @property
    def moved_text(self) -> Text | None:
        """The message about plants that got other ids; None if there are none."""
        if not self.moved_ids:
            return None
        ids = [Text("{text}", text=f"{old} → {new}") for old, new in self.moved_ids]
        return Text(
            "{count:,} plants came back under other IDs, since theirs are in use: {ids}.",
            one="1 plant came back under another ID, since its own is in use: {ids}.",
            count=self.moved,
            ids=comma_list(ids, _MAX_SHOWN_IDS, self.moved),
        )


def edited(
    row: PlantRow,
    *,
    name: str | Unchanged = UNCHANGED,
    tag: str | Unchanged | None = UNCHANGED,
    note: str | Unchanged | None = UNCHANGED,
) -> Update:
    """Return the edit that gives a plant, as seen by the user, other values. Raises InvalidPlantError."""
    new_tag = row.tag if isinstance(tag, Unchanged) else tag
    values: dict[str, object] = {"name": row.name if isinstance(name, Unchanged) else name}
    fields = plant_fields(values if new_tag is None else {**values, "tag": new_tag})
    new_note = row.note if isinstance(note, Unchanged) else plant_note(note or "")
    return Update(row, fields.name, fields.tag, new_note)


def assign_ids(ids: Sequence[int | None], first: int) -> list[int]:
    """Return the ids of plants that are added together; None becomes the next free id, from `first` on."""
    requested = {*ids}
    free = (plant_id for plant_id in count(first) if plant_id not in requested)
    return [next(free) if plant_id is None else plant_id for plant_id in ids]


def kind_of(edits: Sequence[Edit]) -> ChangeKind:
    """Return the kind under which the history records a change that consists of `edits`."""
    match edits:
        case [Update() as edit]:
            return edit.kind
        case [Delete(undoes_addition=True)]:
            return ChangeKind.UNDO
    types = {type(edit) for edit in edits}
    if types <= {Delete, DeleteAll}:
        return ChangeKind.DELETE
    if types in ({MergeTags}, {MergePlants}):
        return ChangeKind.MERGE
    if types <= {SetTag, RenameTag}:
        return ChangeKind.TAG
    return ChangeKind.INSERT if types == {Insert} else ChangeKind.EDIT


def parameters_of(edits: Sequence[Edit], name: str | None, deleted: int) -> dict[str, Any]:
    """Return the parameters of a change that consists of `edits`; `deleted` is the number of deleted plants.

    `name` is the name of its only plant, None if there are several.
    """
    named: dict[str, Any] = {} if name is None else {"name": shorten_parameter(name)}
    match edits:
        case [Update() as edit] if edit.name != edit.seen.name:
            return {"name": shorten_parameter(edit.seen.name), "new_name": shorten_parameter(edit.name)}
        case [SetTag(tag=tag)] | [Update(tag=tag)] if kind_of(edits) is ChangeKind.TAG:
            return {"tag": _shorten_tag(tag), **named}
        case [Delete(undoes_addition=True)]:
            named = {"of": {"kind": str(ChangeKind.INSERT), "parameters": named, "plants": 1}}
        case [RenameTag(tag, new)]:
            return {"tags": [shorten_parameter(tag)], "tag": _shorten_tag(new)}
        case [MergePlants()]:
            return {"merged": deleted}
        case [MergeTags(_, into), *later_edits] if kind_of(edits) is ChangeKind.MERGE:
            tags = [shorten_parameter(tag) for edit in edits if isinstance(edit, MergeTags) for tag in edit.tags]
            return {"tags": tags} if later_edits else {"tags": tags, "tag": shorten_parameter(into)}
        case [Rewrite(rule=rule)] if rule.find:
            named |= {"find": shorten_parameter(rule.find), "replacement": shorten_parameter(rule.replacement)}
    return named


def _shorten_tag(tag: str | None) -> str | None:
    return None if tag is None else shorten_parameter(tag)
