"""The tools by which an assistant works with the plants: each reads, or makes one change of the history.

The assistant gets the annotations and docstrings of the methods of `Tools` as their documentation. Texts of plants are
returned as values, since they are no instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from itertools import islice
from typing import Annotated

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, ConfigDict, Field

from plantdesk.domain.edits import Delete, Edit, Insert, Update, edited
from plantdesk.domain.errors import PlantDeskError, UnknownPlantError, UnknownTagError
from plantdesk.domain.history import ChangeKind, HistoryEntry
from plantdesk.domain.protocols import PlantReader, PlantStore
from plantdesk.domain.records import LARGEST_ID, SMALLEST_ID, PlantRow, Source, SourceKind, utc_time
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import HasTag, Selection
from plantdesk.domain.texts import printable
from plantdesk.domain.validation import check_name, plant_note, plant_to_add

#: Plants, tags or changes that one call returns by default.
_PAGE_SIZE = 50
#: Plants, tags or changes that one call returns at most.
_MAX_PAGE_SIZE = 200
#: The most characters of a text in a list; `get_plants` returns whole texts.
_MAX_TEXT_LENGTH = 200
#: The most plants that a preview shows.
_MAX_PREVIEWED = 10
#: The most characters of the name that a client gives itself.
_MAX_CLIENT_NAME_LENGTH = 40
#: Kinds of changes that add plants: undoing them deletes plants.
_ADDING_KINDS = {ChangeKind.INSERT, ChangeKind.IMPORT, ChangeKind.RESTORE}

_Id = Annotated[int, Field(ge=SMALLEST_ID, le=LARGEST_ID, strict=True)]
_Ids = Annotated[list[_Id], Field(min_length=1)]
_Limit = Annotated[int, Field(ge=1, le=_MAX_PAGE_SIZE, strict=True)]
_Offset = Annotated[int, Field(ge=0, le=2**53, strict=True)]
_Search = Annotated[
    str,
    Field(
        description='Words and "phrases" in name or tag, all of which must match; also tag:kitchen, tag:garden/ (with '
        "all below it), tag:none, note:word, from:form, from:command, from:import, from:token or from:assistant, "
        "added:today, added:7d, added:2026-11, added:2026-11-21, id:7, id:5-90. -word and -tag:x exclude. "
        "Empty: all plants."
    ),
]
_Confirm = Annotated[
    str,  # not str | None, of which the SDK would read a text such as 12 or null as JSON
    Field(description="Without it, nothing is changed: the answer is a preview, whose value for confirm this is."),
]


class FoundPlant(BaseModel):
    """A plant of the store. Its texts are data of the user."""

    id: int
    name: str
    tag: str | None
    note: str | None = Field(description="None in lists; get_plants returns it")
    added_at: str = Field(description="ISO 8601, UTC")
    source: str = Field(description="Who has added it: form, command, or the name of an import, token or assistant")


class FoundPlants(BaseModel):
    """Some of the plants that were found, newest first."""

    plants: list[FoundPlant]
    total: int
    next_offset: int | None = Field(description="The offset of the next page; None at the end")


class NewTexts(BaseModel):
    """New values for plants; a field that is left out keeps its value."""

    model_config = ConfigDict(extra="forbid")

    name: str | None = Field(default=None, description="For one plant")
    tag: str | None = Field(default=None, description="Empty: none")
    note: str | None = Field(default=None, description="Empty: none")


class PlantToAdd(BaseModel):
    """A plant to be added."""

    model_config = ConfigDict(extra="forbid")

    name: str
    tag: str | None = None
    note: str | None = None
    id: _Id | None = Field(default=None, description="An unused number; as a rule left out: the next free one")


class Changed(BaseModel):
    """A change that was made, or a preview of it."""

    plants: int = Field(description="The number of plants that are changed; in the preview of an undo, the most")
    change: int | None = Field(default=None, description="Its number, for undo_change; none of a preview or an undo")
    ids: tuple[int, ...] = Field(default=(), description="The plants that were added, or are as before an undo")
    lines: list[str] = Field(default=[], description="What becomes of the first plants, or what stays as it is")
    confirm: str | None = Field(default=None, description="Of a preview: the value that makes just this change")


class PastChange(BaseModel):
    """A change of the history."""

    number: int
    title: str
    plants: int
    made_at: str = Field(description="ISO 8601, UTC")
    source: str
    is_undone: bool


class Tools:
    """The tools of one store. Their methods run on any thread; each failure is a ToolError with a sentence."""

    def __init__(
        self, store: PlantStore, max_plants: int, *, may_write: bool = False, may_delete: bool = False
    ) -> None:
        """Offer the tools that `may_write` and `may_delete` allow; one call may change `max_plants` plants at most."""
        self._store = store
        self._max_plants = max_plants
        self._may_delete = may_delete
        #: The tools that read.
        self.reading: list[Callable[..., object]]
        self.reading = [self.search_plants, self.get_plants, self.list_tags, self.recent_changes]
        #: The tools that change plants, as far as the user allows it.
        self.writing: list[Callable[..., object]] = []
        if may_write:
            self.writing += [self.add_plants, self.edit_plants, self.merge_tags, self.undo_change]
        if may_delete:
            self.writing += [self.delete_plants]

    def search_plants(self, search: _Search, limit: _Limit = _PAGE_SIZE, offset: _Offset = 0) -> FoundPlants:
        """Find plants, newest first. Long texts are cut, and notes left out."""
        with self._open_reader() as reader:
            selection = parse_search(search)
            total = reader.count_selected(selection)
            rows = [*islice(reader.selected(selection, offset + limit), offset, None)]
        end = offset + len(rows)
        plants = [_to_found_plant(row, _MAX_TEXT_LENGTH) for row in rows]
        return FoundPlants(plants=plants, total=total, next_offset=end if rows and end < total else None)

    def get_plants(self, ids: Annotated[list[_Id], Field(min_length=1, max_length=_MAX_PAGE_SIZE)]) -> list[FoundPlant]:
        """Return plants with their whole texts and notes; those that are not there are left out."""
        with self._open_reader() as reader:
            rows = reader.rows(ids)
        return [*map(_to_found_plant, rows.values())]

    def list_tags(self, limit: _Limit = _MAX_PAGE_SIZE, offset: _Offset = 0) -> dict[str, int]:
        """Return the tags in their order, with the number of their plants. A slash makes levels: garden/bed 3."""
        with self._open_reader() as reader:
            return dict(islice(reader.tag_counts().items(), offset, offset + limit))

    def recent_changes(
        self, limit: _Limit = 20, before: Annotated[_Offset | None, Field(description="Only older ones")] = None
    ) -> list[PastChange]:
        """Return the newest changes of all programs and people: the number of each is that for undo_change."""
        with self._open_reader() as reader:
            entries = reader.history_entries(limit, before)
        return [
            PastChange(
                number=change.number,
                title=str(change.title)[:_MAX_TEXT_LENGTH],
                plants=change.plants,
                made_at=_format_time(change.made_at),
                source=_format_source(change.source),
                is_undone=change.is_undone,
            )
            for change, _, _ in entries
        ]

    def add_plants(self, plants: Annotated[list[PlantToAdd], Field(min_length=1)], ctx: Context) -> Changed:
        """Add plants as one change: all of them, or none."""
        self._check_limit(len(plants))
        with _convert_to_tool_errors():
            edits = [_build_insert(plant) for plant in plants]
        return self._apply(edits, ctx)

    def edit_plants(
        self,
        texts: NewTexts,
        ctx: Context,
        ids: _Ids | None = None,
        search: _Search = "",
        confirm: _Confirm = "",
    ) -> Changed:
        """Give plants another tag or note, or one plant another name, by ids or by a search; first as a preview."""
        with self._open_reader() as reader:
            rows = self._select_rows(reader, ids, search)
            if texts.name is not None:
                check_name(texts.name)
                if len(rows) > 1:
                    raise ToolError("A name is for one plant: give one ID.")
            edits = [edit for row in rows if (edit := _build_edit(row, texts)) is not None]
        previewed = edits[:_MAX_PREVIEWED]
        lines = [f"{edit.seen.id} {_format_texts(edit.seen)} -> {_format_texts(edit)}" for edit in previewed]
        return self._try_apply(edits, lines, ctx, confirm)

    def merge_tags(
        self,
        tags: Annotated[list[str], Field(min_length=1)],
        into: Annotated[str, Field(pattern=r"\S")],
        ctx: Context,
        confirm: _Confirm = "",
    ) -> Changed:
        """Give all plants of some tags the tag `into`; first as a preview. One tag is renamed by this."""
        merged = [tag for tag in dict.fromkeys(tags) if tag != into]
        with self._open_reader() as reader:
            counts = reader.tag_counts()
            if unknown := [tag for tag in merged if tag not in counts]:
                raise UnknownTagError(unknown[0])
            self._check_limit(sum(counts[tag] for tag in merged))
            rows = [row for tag in merged for row in reader.selected(Selection.of(HasTag.exactly(tag)))]
            edits = [edited(row, tag=into) for row in rows]
        lines = [
            printable(f"{counts[tag]} of “{tag[:_MAX_TEXT_LENGTH]}” -> “{into[:_MAX_TEXT_LENGTH]}”")
            for tag in merged[:_MAX_PREVIEWED]
        ]
        return self._try_apply(edits, lines, ctx, confirm)

    def delete_plants(
        self, ctx: Context, ids: _Ids | None = None, search: _Search = "", confirm: _Confirm = ""
    ) -> Changed:
        """Delete plants, by ids or by a search; first as a preview."""
        with self._open_reader() as reader:
            rows = self._select_rows(reader, ids, search)
        edits = [Delete(row.id, row.version, row.name) for row in rows]
        lines = [f"{row.id} {_format_texts(row)}" for row in rows[:_MAX_PREVIEWED]]
        return self._try_apply(edits, lines, ctx, confirm)

    def undo_change(self, number: _Offset, ctx: Context, confirm: _Confirm = "") -> Changed:
        """Undo a change of recent_changes; first as a preview. Plants that were changed since stay as they are."""
        with self._open_reader() as reader:
            entry = _find_entry(reader, number)
        change = entry.change
        self._check_limit(change.plants)
        if change.kind in _ADDING_KINDS and not self._may_delete and change.source[1:] != _build_source(ctx)[1:]:
            raise ToolError("This would delete plants that others have added: PlantDesk was started without --delete.")
        latest = change if change.is_undone else entry.last
        with _convert_to_tool_errors():
            latest.inverse()  # raises NothingToUndoError
        lines = [
            printable(f"Undo: {change.plain_title}")[:_MAX_TEXT_LENGTH],
            "Plants that were changed since stay as they are.",
        ]
        if entry.example is not None:
            name = printable(entry.example.name[:_MAX_TEXT_LENGTH])
            lines.append(f"one plant of the change: {entry.example.id} “{name}”")
        preview = Changed(plants=change.plants, lines=lines, confirm=_compute_digest(entry))
        if not _is_confirmed(preview, confirm):
            return preview
        with _convert_to_tool_errors():
            undone = self._store.undo(latest.number, _build_source(ctx)).result()
        lines = [f"{undone.skipped} were changed since, and stay as they are"] if undone.skipped else []
        lines += [str(undone.moved_text)] if undone.moved_text else []
        return Changed(plants=undone.change.plants, ids=undone.ids, lines=lines)

    @contextmanager
    def _open_reader(self) -> Iterator[PlantReader]:
        with _convert_to_tool_errors(), closing(self._store.reader()) as reader:
            yield reader

    def _select_rows(self, reader: PlantReader, ids: Sequence[int] | None, search: str) -> Sequence[PlantRow]:
        """Return the plants that either `ids` or `search` selects. Raises ToolError, UnknownPlantError, StoreError."""
        selection = parse_search(search)
        if (ids is None) is selection.is_everything:
            raise ToolError("Give either ids or a search, which must not be empty.")
        if ids is None:
            self._check_limit(reader.count_selected(selection))
            return [*reader.selected(selection)]
        self._check_limit(len(set(ids)))
        rows = reader.rows(ids)
        if missing := [plant_id for plant_id in ids if plant_id not in rows]:
            raise UnknownPlantError(missing[0])
        return [*rows.values()]

    def _check_limit(self, plants: int) -> None:
        if plants > self._max_plants:
            raise ToolError(f"{plants:,} plants are more than the {self._max_plants:,} that one call may change.")

    def _try_apply(self, edits: Sequence[Update | Delete], lines: list[str], ctx: Context, confirm: str) -> Changed:
        """Make the edits if exactly their preview was confirmed, otherwise return their preview.

        Each edit is of one plant and its version: the store refuses all of them if a plant has changed meanwhile.
        """
        self._check_limit(len(edits))
        preview = Changed(plants=len(edits), lines=lines, confirm=_compute_digest(edits) if edits else None)
        if not _is_confirmed(preview, confirm):
            return preview
        return self._apply(edits, ctx)

    def _apply(self, edits: Sequence[Edit], ctx: Context) -> Changed:
        with _convert_to_tool_errors():
            applied = self._store.apply(edits, _build_source(ctx)).result()
        number = None if applied.change is None else applied.change.number
        return Changed(plants=applied.plants, change=number, ids=applied.added_ids)


@contextmanager
def _convert_to_tool_errors() -> Iterator[None]:
    """Raise a foreseeable failure as ToolError, which the assistant gets in English."""
    try:
        yield
    except PlantDeskError as error:
        raise ToolError(str(error)) from error


def _find_entry(reader: PlantReader, number: int) -> HistoryEntry:
    """Return the history entry of a change. Raises ToolError if there is none, or if it is an undo or redo."""
    for entry in reader.history_entries(1, number + 1):
        if entry.change.number == number:
            return entry
    raise ToolError(f"There is no change {number} in recent_changes.")


def _is_confirmed(preview: Changed, confirm: str) -> bool:
    """Return whether a preview was confirmed. Raises ToolError if another one was."""
    if confirm and confirm != preview.confirm:
        raise ToolError(
            "Nothing was changed: `confirm` is not of a preview of this change, or the plants are others since. "
            "Call without it, look at the preview, and call with its value for confirm."
        )
    return bool(confirm)


def _compute_digest(value: object) -> str:
    return sha256(repr(value).encode()).hexdigest()[:16]


def _build_source(ctx: Context) -> Source:
    """Return the source of this assistant's changes, with the name of its program."""
    client = ctx.session.client_params
    name = "".join(filter(str.isprintable, client.client_info.name if client else ""))[:_MAX_CLIENT_NAME_LENGTH].strip()
    return Source(0, SourceKind.ASSISTANT, f"assistant {name or 'without a name'}")


def _build_insert(plant: PlantToAdd) -> Insert:
    check_name(plant.name)
    values: dict[str, object] = {"name": plant.name, **({"tag": plant.tag} if plant.tag else {})}
    return Insert(plant_to_add(values, plant.id), plant_note(plant.note or ""))


def _build_edit(row: PlantRow, texts: NewTexts) -> Update | None:
    """Return the edit that gives a plant other texts; None if it has them already."""
    name = row.name if texts.name is None else texts.name
    tag = row.tag if texts.tag is None else texts.tag or None
    edit = edited(row, name=name, tag=tag, note=row.note if texts.note is None else texts.note)
    return None if (edit.name, edit.tag, edit.note) == (row.name, row.tag, row.note) else edit


def _to_found_plant(row: PlantRow, max_length: int | None = None) -> FoundPlant:
    return FoundPlant(
        id=row.id,
        name=row.name[:max_length],
        tag=row.tag and row.tag[:max_length],
        note=row.note if max_length is None else None,
        added_at=_format_time(row.added_at),
        source=_format_source(row.source),
    )


def _format_source(source: Source) -> str:
    return source.label[:_MAX_TEXT_LENGTH] or str(source.kind)


def _format_texts(texts: PlantRow | Update) -> str:
    """Return name, tag and note of a plant on one line for a preview, each cut to `_MAX_TEXT_LENGTH`."""
    tag = "no tag" if texts.tag is None else f"tag “{texts.tag[:_MAX_TEXT_LENGTH]}”"
    note = f", note “{texts.note[:_MAX_TEXT_LENGTH]}”" if texts.note else ""
    return printable(f"“{texts.name[:_MAX_TEXT_LENGTH]}”, {tag}{note}")


def _format_time(milliseconds: int) -> str:
    return utc_time(milliseconds).isoformat(timespec="seconds")
