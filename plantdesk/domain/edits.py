"""The edits that `Store.apply` makes. One call is one change, in one transaction."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.domain.errors import shortened
from plantdesk.domain.records import ChangeKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plantdesk.domain.records import Change, PlantRow
    from plantdesk.domain.selections import Selection
    from plantdesk.domain.validation import NewPlant

_MAX_NAME = 40


class Keep(Enum):
    """Marks a field that an edit does not change."""

    KEEP = auto()


KEEP = Keep.KEEP


class Insert(NamedTuple):
    """Add a plant. The id must be free."""

    plant: NewPlant
    note: str | None = None


class Update(NamedTuple):
    """Give one plant other values. It must still have the version that the user `saw`. Made by `edited`."""

    saw: PlantRow
    name: str
    tag: str | None
    note: str | None

    @property
    def kind(self) -> ChangeKind:
        """What it changes: name, tag or note, or several of them."""
        fields = {"name": ChangeKind.RENAME, "tag": ChangeKind.TAG, "note": ChangeKind.NOTE}
        changed = [kind for name, kind in fields.items() if getattr(self, name) != getattr(self.saw, name)]
        return changed[0] if len(changed) == 1 else ChangeKind.EDIT


class Delete(NamedTuple):
    """Delete one plant. It must still have the `version` that the user saw."""

    id: int
    version: int
    name: str


class SetTag(NamedTuple):
    """Give a set of plants another tag, or None for no tag. Plants that have it already are left out."""

    plants: Selection
    tag: str | None


class DeleteAll(NamedTuple):
    """Delete a set of plants; it must still have the `size` that the user saw, if that is given."""

    plants: Selection
    size: int | None = None


Edit = Insert | Update | Delete | SetTag | DeleteAll


class Applied(NamedTuple):
    """The change that was made; None where the edits changed nothing."""

    change: Change | None

    @property
    def plants(self) -> int:
        """The number of plants that were changed."""
        return 0 if self.change is None else self.change.plants


class Undone(NamedTuple):
    """The change that took another one back. `skipped` plants had been changed since, and were left as they are."""

    change: Change
    skipped: int
    #: The ids of the first of them.
    skipped_ids: tuple[int, ...] = ()
    #: The plants that are there again or are as before; none where they are more than a hundred.
    ids: tuple[int, ...] = ()


def edited(
    row: PlantRow, *, name: str | Keep = KEEP, tag: str | Keep | None = KEEP, note: str | Keep | None = KEEP
) -> Update:
    """Return the edit that gives the plant that the user saw other values. Raises InvalidPlantError."""
    new_tag = row.tag if isinstance(tag, Keep) else tag
    values: dict[str, object] = {"name": row.name if isinstance(name, Keep) else name}
    from plantdesk.domain.validation import plant_fields, plant_note

    fields = plant_fields(values if new_tag is None else {**values, "tag": new_tag})
    new_note = row.note if isinstance(note, Keep) else plant_note(note or "")
    return Update(row, fields.name, fields.tag, new_note)


def kind_of(edits: Sequence[Edit]) -> ChangeKind:
    """Return the kind of a change that consists of `edits`."""
    types = {type(edit) for edit in edits}
    if len(edits) == 1 and isinstance(edits[0], Update):
        return edits[0].kind
    if types <= {Delete, DeleteAll}:
        return ChangeKind.DELETE
    if types == {SetTag}:
        return ChangeKind.TAG
    return ChangeKind.INSERT if types == {Insert} else ChangeKind.EDIT


def title_of(edits: Sequence[Edit], plants: int, name: str) -> str:
    """Return the title of a change that consists of `edits` and has changed `plants` plants; `name` is that of one."""
    first, kind = edits[0], kind_of(edits)
    if len(edits) == 1 and isinstance(first, Update) and first.name != first.saw.name:
        return f"Rename {_quoted(first.saw.name)} to {_quoted(first.name)}"
    if isinstance(first, (Update, SetTag)) and kind is ChangeKind.TAG and len(edits) == 1:
        tag = "Remove the tag of" if first.tag is None else f"Set the tag {_quoted(first.tag)} for"
        return f"{tag} {_plants(plants, name)}"
    verbs = {ChangeKind.INSERT: "Add", ChangeKind.DELETE: "Delete", ChangeKind.NOTE: "Change the note of"}
    return f"{verbs.get(kind, 'Edit')} {_plants(plants, name)}"


def _quoted(name: str) -> str:
    return f"“{shortened(name, _MAX_NAME)}”"


def _plants(count: int, name: str) -> str:
    return _quoted(name) if count == 1 else f"{count:,} plants"
