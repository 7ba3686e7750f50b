"""The history: changes of plants, each stored as a kind and parameters, from which its title is made.

A store never keeps a title, so that the window can translate it.
"""

from __future__ import annotations

from enum import StrEnum
from operator import attrgetter
from typing import Any, NamedTuple

from typing_extensions import override

from plantdesk.domain.errors import NothingToUndoError
from plantdesk.domain.records import PlantRow, Source
from plantdesk.domain.texts import LISTED, Text, joined, plants_text, shortened

#: The most characters of a name in a title.
_MAX_NAME_LENGTH = 40
#: The most tags that a title lists.
_MAX_LISTED_TAGS = 10
#: The most characters of a text in parameters; before-images have the whole text.
_MAX_PARAMETER_LENGTH = 100
#: The fields that identify a change beside its number.
_CONTENT = attrgetter("made_at", "source", "kind", "parameters")


class ChangeKind(StrEnum):
    """What a change did; the store keeps the value."""

    EDIT = "edit"
    RENAME = "rename"
    TAG = "tag"
    MERGE = "merge"
    NOTE = "note"
    DELETE = "delete"
    INSERT = "insert"
    IMPORT = "import"
    RESTORE = "restore"
    UNDO = "undo"
    REDO = "redo"
    #: A kind that a newer PlantDesk has written.
    OTHER = "other"

    @classmethod
    @override
    def _missing_(cls, _value: object) -> ChangeKind:
        return cls.OTHER


class Change(NamedTuple):
    """An entry of the history: one transaction that changed plants. `made_at` is in milliseconds since 1970, UTC.

    `parameters` is a JSON object; `parameters_of` in `domain.edits` and the callers of `ChangeWriter.record` make it. A
    member may be missing or of another type, since other programs may write to the store:

    - `name`: the name of the plant, if there is only one. `new_name`: its name after a rename.
    - `tag`: the tag that plants have afterwards, null for none. `tags`: the renamed, merged or removed tags.
    - `merged`: the number of plants that others took in, with their notes.
    - `find`, `replacement`: the replaced text and its replacement.
    - `file`, `backup`, `token`: the imported file, the restored backup, the token whose plants were deleted.
    - `of`: for an undo or redo, `kind`, `parameters` and `plants` of the original change.
    - `title`: a text of an earlier PlantDesk that cannot be parsed.

    `desk` is the desk of a shared store that made it; empty if it is not known. `undoes` is the number of the
    undone change; None for the undo of an addition, which has no number. `can_undo`: the state before is still
    stored, and the change is not undone.
    """

    number: int
    made_at: int
    source: Source
    kind: ChangeKind
    parameters: dict[str, Any]
    plants: int
    undoes: int | None = None
    is_undone: bool = False
    can_undo: bool = True
    desk: str = ""

    @property
    def title(self) -> Text:
        """The title in the list of changes; for an undo or redo, “Undo:” or “Redo:” and that of the original change."""
        kind, parameters, plants = self.subject
        if kind is ChangeKind.INSERT:
            return make_title(self.kind, parameters, plants)
        undo = Text("Undo: {change}")
        redo = Text("Redo: {change}")
        inverse = {ChangeKind.UNDO: undo, ChangeKind.REDO: redo}.get(self.kind)
        return self.plain_title if inverse is None else inverse.filled(change=self.plain_title)

    @property
    def plain_title(self) -> Text:
        """The title without “Undo:” or “Redo:”: for an undo or redo, just the title of the original change."""
        return make_title(*self.subject)

    @property
    def subject(self) -> tuple[ChangeKind, dict[str, Any], int]:
        """Kind, parameters and number of plants of the change; for an undo or redo, of the original change."""
        if self.kind not in {ChangeKind.UNDO, ChangeKind.REDO}:
            return self.kind, self.parameters, self.plants
        original = self.parameters.get("of")
        if not isinstance(original, dict):
            original = {}
        parameters = original.get("parameters")
        plants = original.get("plants")
        return (
            ChangeKind(str(original.get("kind"))),
            parameters if isinstance(parameters, dict) else {},
            plants if isinstance(plants, int) else self.plants,
        )

    def inverse(self) -> tuple[ChangeKind, dict[str, Any]]:
        """Return kind and parameters of the change that undoes or redoes this one. Raises NothingToUndoError."""
        is_redo = self.kind is ChangeKind.UNDO
        if self.is_undone:
            done = Text("This is redone already: {title}.") if is_redo else Text("This is undone already: {title}.")
            raise NothingToUndoError(done, title=self.plain_title)
        if not self.can_undo:
            redo = Text("This is too old to be redone: {title}. The state before it is no longer stored.")
            undo = Text("This is too old to be undone: {title}. The state before it is no longer stored.")
            raise NothingToUndoError(redo if is_redo else undo, title=self.plain_title)
        kind, parameters, plants = self.subject
        original = {"kind": str(kind), "parameters": parameters, "plants": plants}
        inverse_kind = ChangeKind.REDO if is_redo else ChangeKind.UNDO
        return inverse_kind, {"of": original}

    def check_same(self, stored: Change) -> None:
        """Raise NothingToUndoError if the store has another change under the number: it was replaced since."""
        if _CONTENT(stored) != _CONTENT(self):
            raise NothingToUndoError(Text("This is not in the history of these plants: {title}."), title=self.title)


class PlantLabel(NamedTuple):
    """The texts by which a user knows a plant."""

    id: int
    name: str
    tag: str | None


class HistoryEntry(NamedTuple):
    """A change other than undos and redos, as the history lists it. `change.is_undone` is its present state.

    `last` is its latest undo or redo, or the change itself if it was never undone: an undo of `last` changes the state.
    `example` is one of its plants, as it was before the change, or as it is if the change added it; None if unknown.
    """

    change: Change
    last: Change
    example: PlantLabel | None


class PlantChange(NamedTuple):
    """A change of one plant: `before` is the plant before the change, None if it did not exist."""

    change: Change
    before: PlantRow | None


#: The titles: the kinds they are for, the parameters they need, and the text. The first that fits is used.
_TITLES: tuple[tuple[set[ChangeKind], set[str], Text], ...] = (
    ({ChangeKind.RENAME}, {"name", "new_name"}, Text("Rename {name} to {new_name}")),
    ({ChangeKind.EDIT}, {"name", "new_name"}, Text("Edit {name}, now {new_name}")),
    ({ChangeKind.EDIT}, {"find", "replacement"}, Text("Replace {find} with {replacement} in {plants}")),
    ({ChangeKind.MERGE}, {"one_tag", "tag"}, Text("Merge tag {one_tag} into {tag}")),
    ({ChangeKind.MERGE}, {"tags", "tag"}, Text("Merge tags {tags} into {tag}")),
    ({ChangeKind.MERGE}, {"tag"}, Text("Merge tags into {tag}")),
    ({ChangeKind.MERGE}, {"merged"}, Text("Merge {merged}")),
    ({ChangeKind.MERGE}, {"tags"}, Text("Merge tags {tags}")),
    ({ChangeKind.MERGE}, set(), Text("Merge tags")),
    ({ChangeKind.TAG}, {"one_tag", "tag"}, Text("Rename tag {one_tag} to {tag}")),
    ({ChangeKind.TAG}, {"one_tag"}, Text("Remove tag {one_tag}")),
    ({ChangeKind.TAG}, {"tag"}, Text("Set the tag {tag} for {plants}")),
    ({ChangeKind.TAG}, set(), Text("Remove the tag of {plants}")),
    ({ChangeKind.DELETE}, {"token"}, Text("Delete the plants of token {token}")),
    ({ChangeKind.DELETE}, set(), Text("Delete {plants}")),
    ({ChangeKind.IMPORT}, {"file"}, Text("Import {plants} from {file}")),
    ({ChangeKind.RESTORE}, {"backup"}, Text("Restore {backup}")),
    ({ChangeKind.INSERT}, set(), Text("Add {plants}")),
    ({ChangeKind.UNDO}, set(), Text("Took back {plants}")),  # undo of an addition; its redo follows
    ({ChangeKind.REDO}, set(), Text("Added {plants} again")),
    ({ChangeKind.NOTE}, set(), Text("Change the note of {plants}")),
)


def make_title(kind: ChangeKind, parameters: dict[str, Any], plants: int) -> Text:
    """Return the title of a change; it never fails, whatever is in `parameters`."""
    stored_title = parameters.get("title")
    if isinstance(stored_title, str):
        return Text("{text}", text=stored_title)
    values: dict[str, Text] = {key: _quote(value) for key, value in parameters.items() if isinstance(value, str)}
    match parameters.get("tags"):
        case [tag]:
            values["one_tag"] = _quote(str(tag))
        case [_, _, *_] as tags if len(tags) <= _MAX_LISTED_TAGS:
            values["tags"] = joined(map(_quote, tags), LISTED)
    merged = parameters.get("merged")
    if isinstance(merged, int):
        values["merged"] = plants_text(merged)
    number = plants_text(plants)
    values["plants"] = values.get("name", number) if plants == 1 else number
    fitting = (text for kinds, needed, text in _TITLES if kind in kinds and needed <= values.keys())
    return next(fitting, Text("Edit {plants}")).filled(**values)


def shorten_parameter(text: str) -> str:
    """Return a text shortened for the parameters of a change; before-images keep it whole."""
    return shortened(text, _MAX_PARAMETER_LENGTH)


def texts_of(parameters: dict[str, Any]) -> list[str]:
    """Return the strings in the parameters of a change, its `tags` among them, for a search in the history."""
    tags = parameters.get("tags")
    values = [*parameters.values(), *(tags if isinstance(tags, list) else [])]
    return [value for value in values if isinstance(value, str)]


def _quote(text: object) -> Text:
    return Text("“{text}”", text=shortened(str(text), _MAX_NAME_LENGTH))


class HistorySummary(NamedTuple):
    """The number of changes, the time of the oldest one (milliseconds since 1970, UTC), and who made them.

    `desks` are the names of desks of a shared store.
    """

    changes: int
    since: int | None
    sources: tuple[Source, ...]
    desks: tuple[str, ...] = ()
