"""A second kind of store: plants in the memory of this process, as plainly as the protocols allow.

It proves that window, server, commands and the contract tests need nothing of SQLite. Stores opened from one
`MemoryLocation` share their plants, as processes share a file.
"""

from __future__ import annotations

import secrets
import threading
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from typing_extensions import override

from plantdesk.domain.duplicates import PlantGroups, merged
from plantdesk.domain.edits import (
    Applied,
    Delete,
    DeleteAll,
    Insert,
    MergePlants,
    MergeTags,
    RenameTag,
    Rewrite,
    SetTag,
    Undone,
    Update,
    kind_of,
    parameters_of,
)
from plantdesk.domain.errors import (
    EditConflictError,
    IdTakenError,
    InvalidTokenNameError,
    NothingToUndoError,
    PlantDeskError,
    SamePlantError,
    SelectionChangedError,
    StoreUnreachableError,
    Text,
    TokenRefusedError,
    TokenUsedUpError,
    UndoConflictError,
    UnknownTokenError,
    id_taken,
)
from plantdesk.domain.events import EventKind, EventPage, PlantContent, PlantEvent, UnknownPositionError
from plantdesk.domain.folding import alike_key, fold, natural_key, searched
from plantdesk.domain.history import Change, ChangeKind, HistoryEntry, PlantChange, parameter, texts_of
from plantdesk.domain.import_batches import ImportConflict, ImportConflictError, ImportCounts, ImportRow, OnConflict
from plantdesk.domain.listeners import Listeners
from plantdesk.domain.locations import ReadOnlyPlants, StoreLocation
from plantdesk.domain.protocols import (
    HistorySummary,
    NewToken,
    PlantImport,
    PlantReader,
    PlantStore,
    TokenEndedError,
    TokenLookup,
    TokenStore,
)
from plantdesk.domain.records import (
    COMMAND,
    FORM,
    Changes,
    PlantRow,
    Source,
    SourceKind,
    TokenRow,
    now_ms,
)
from plantdesk.domain.rewriting import rewritten
from plantdesk.domain.selections import AddedBy, AddedOn, Contains, HasTag, Not, Selection
from plantdesk.domain.spelling import nearest
from plantdesk.domain.tags import is_in_branch
from plantdesk.domain.views import Counts, KnownName, Order, View
from plantdesk.store.sql import NO_ROOM

if TYPE_CHECKING:
    import builtins
    from contextlib import AbstractContextManager

    from plantdesk.domain.copies import Copied, Progress, StoreRows
    from plantdesk.domain.desks import Desk, TablesUpdate
    from plantdesk.domain.edits import Edit
    from plantdesk.domain.errors import StoreError
    from plantdesk.domain.import_batches import ImportBatch
    from plantdesk.domain.selections import Term
    from plantdesk.domain.validation import NewPlant, PlantFields

_Result = TypeVar("_Result")

_MAX_LISTED = 1000
_MAX_NAMED = 100
_LONG = 100


class _Plant(NamedTuple):
    seq: int
    row: PlantRow


def _content(row: PlantRow) -> tuple[str, str, str]:
    """Return what an undo compares: plants that are there again do not come back under another id."""
    return row.name, row.tag or "", row.note or ""


class _Image(NamedTuple):
    """A plant before a change, and its version after it; None: there was none."""

    before: _Plant | None
    after: int | None


class _State:
    """What the stores of one location share. `lock` is held for each read and write."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.plants: dict[int, _Plant] = {}
        self.last_seq = 0
        self.sources = [FORM, COMMAND]
        self.tokens: list[_Token] = []
        self.changes: list[Change] = []
        self.images: list[dict[int, _Image]] = []
        self.events: list[PlantEvent] = []
        self.listeners: Listeners[Changes] = Listeners()

    def in_order(self) -> list[PlantRow]:
        return [plant.row for plant in sorted(self.plants.values(), key=lambda each: each.seq)]

    def add(  # noqa: PLR0913  a plant has so many values
        self,
        plant_id: int,
        name: str,
        tag: str | None,
        source: Source,
        *,
        note: str | None = None,
        version: int = 0,
        now: int | None = None,
    ) -> PlantRow:
        self.last_seq += 1
        row = PlantRow(plant_id, name, tag, now or now_ms(), source, note, version or -self.last_seq)
        self.plants[plant_id] = _Plant(self.last_seq, row._replace(source=_plain(source)))
        if not version:
            self.record_event(plant_id, EventKind.ADDED, None)
        return row

    def record_event(self, plant_id: int, kind: EventKind, change: int | None) -> None:
        plant = self.plants.get(plant_id)
        content = None if plant is None else PlantContent(plant_id, plant.row.name, plant.row.tag, plant.row.note)
        self.events.append(PlantEvent(str(len(self.events) + 1), kind, plant_id, content, change))

    def new_source(self, kind: SourceKind, label: str) -> Source:
        self.sources.append(Source(len(self.sources) + 1, kind, label))
        return self.sources[-1]

    def next_free_ids(self, count: int, others: Collection[int] = ()) -> int:
        """Return the first of `count` new ids after the largest one that was used, else in the first gap."""
        used = {0, *others, *(event.id for event in self.events)}
        largest = max(each for each in used if each < NO_ROOM)
        if largest + count < NO_ROOM:
            return largest + 1
        positive = sorted(each for each in used if each >= 0)
        return next(start for start, end in pairwise(positive) if end - start > count) + 1


class _Token:
    def __init__(self, secret: str, row: TokenRow) -> None:
        self.secret, self.row, self.is_revoked = secret, row, False

    @property
    def is_valid(self) -> bool:
        return not self.is_revoked and not self.row.expired(now_ms())


class MemoryLocation(StoreLocation):
    """Where such a store is: nowhere but in this process."""

    url = name = key = "memory:plants"
    names_file = Path("memory:plants-names")  # is not there
    is_own = False
    folder = server = None
    backups = None

    def __init__(self) -> None:
        self.shared = _State()

    @override
    def exists(self) -> bool:
        return True

    @override
    def check(self) -> bool:
        return True

    @override
    def state(self) -> object:
        return None

    @override
    def open(self, *, create: bool = False, progress: Callable[[float], None] | None = None) -> PlantStore:
        return MemoryStore(self.shared)

    @override
    def open_read_only(self, progress: Callable[[float], None] | None = None) -> ReadOnlyPlants:
        return _ReadOnly(self.shared)

    @override
    def quick_names(self) -> tuple[list[str], list[str]]:
        return MemoryReader(self.shared).tags(), [each.row.name for each in self.shared.tokens if not each.is_revoked]

    @override
    def roles_sql(self) -> str | None:
        return None

    @override
    def needed_update(self) -> TablesUpdate | None:
        return None

    @override
    def update(self) -> None:
        pass

    @override
    def all_rows(self) -> AbstractContextManager[StoreRows]:
        raise StoreUnreachableError

    @override
    def fill(self, source: StoreRows, progress: Progress | None = None) -> Copied:
        raise StoreUnreachableError


class MemoryReader(PlantReader):
    """Sees the state of now at each call."""

    def __init__(self, state: _State) -> None:
        self._state = state

    @override
    def ids(self, view: View) -> Iterator[array[int]]:
        found = array("q", [row.id for row in _sorted(self._matching(view.plants), view)])
        if found:
            yield found

    @override
    def matching(self, ids: Sequence[int], view: View) -> set[int]:
        return {row.id for row in self._matching(view.plants)}.intersection(ids)

    @override
    def rows(self, ids: Sequence[int]) -> dict[int, PlantRow]:
        with self._state.lock:
            return {each: self._state.plants[each].row for each in ids if each in self._state.plants}

    @override
    def rows_cut(self, ids: Sequence[int], longest: int) -> dict[int, PlantRow]:
        def cut(row: PlantRow) -> PlantRow:
            name, tag = (text[:longest] if text and len(text) > _LONG else text for text in (row.name, row.tag))
            return row._replace(name=name or "", tag=tag, note=None)

        return {plant_id: cut(row) for plant_id, row in self.rows(ids).items()}

    @override
    def plant(self, plant_id: int) -> PlantRow | None:
        return self.rows([plant_id]).get(plant_id)

    @override
    def count(self) -> int:
        return len(self._state.plants)

    @override
    def next_free_id(self) -> int:
        with self._state.lock:
            return self._state.next_free_ids(1)

    @override
    def tags(self) -> list[str]:
        return [*self.tag_counts()]

    @override
    def tag_counts(self) -> dict[str, int]:
        counts = Counter(row.tag for row in self._matching(Selection()) if row.tag is not None)
        return dict(sorted(counts.items(), key=lambda each: natural_key(each[0])))

    @override
    def known_names(self, start: str, limit: int) -> list[KnownName]:
        rows = [row for row in self._matching(Selection()) if searched(row.name).startswith(searched(start))]
        newest = {row.name: row.tag for row in rows}
        return [
            KnownName(name, newest[name], count) for name, count in Counter(row.name for row in rows).most_common(limit)
        ]

    @override
    def near_names(self, name: str, limit: int) -> list[KnownName]:
        return nearest(name, self.known_names("", len(self._state.plants)), limit, attrgetter("name"))

    @override
    def first_with_name(self, view: View, start: str) -> int | None:
        rows = _sorted(self._matching(view.plants), view)
        return next((row.id for row in rows if searched(row.name).startswith(searched(start))), None)

    @override
    def names_in_use(self, names: Collection[str]) -> set[str]:
        return {row.name for row in self._matching(Selection())}.intersection(names)

    @override
    def duplicates(self, *, by_tag: bool) -> PlantGroups:
        groups: dict[str, list[PlantRow]] = {}
        for row in sorted(self._matching(Selection())):
            groups.setdefault(alike_key(row.name, row.tag, by_tag), []).append(row)
        return PlantGroups.of(groups[key] for key in sorted(groups) if key and len(groups[key]) > 1)

    @override
    def counts(self, before: Counts | None = None) -> Counts:
        rows = self._matching(Selection())
        today = AddedOn(0, 0).milliseconds()
        tags, sources = Counter(row.tag for row in rows), Counter(row.source for row in rows)
        return Counts(dict(tags), dict(sources), sum(row.added_at in today for row in rows))

    @override
    def sources(self) -> list[Source]:
        return [*self._state.sources]

    @override
    def two_sources(self) -> list[int]:
        return [*{row.source.id: None for row in self._matching(Selection())}][:2]

    @override
    def desks_at_work(self) -> list[Desk]:
        return []

    @override
    def count_selected(self, selection: Selection) -> int:
        return len(self._matching(selection))

    @override
    def selected(self, selection: Selection, limit: int | None = None) -> Iterator[PlantRow]:
        yield from self._matching(selection)[::-1][:limit]

    @override
    def pages(self, selection: Selection) -> Iterator[list[PlantRow]]:
        yield from filter(None, [self._matching(selection)])

    @override
    def history(self, limit: int = 100) -> list[Change]:
        return self._state.changes[::-1][:limit]

    @override
    def history_entries(
        self,
        limit: int = 100,
        before: int | None = None,
        text: str = "",
        source: Source | str | None = None,
        shown: Callable[[Change], str] | None = None,
    ) -> list[HistoryEntry]:
        with self._state.lock:
            first: dict[int, int] = {}
            last: dict[int, Change] = {}
            named: set[int] = set()
            for change, images in zip(self._state.changes, self._state.images, strict=True):
                first[change.number] = first.get(change.undoes or 0, change.undoes or change.number)
                last[first[change.number]] = change
                plants = (image.before or self._state.plants.get(each) for each, image in images.items())
                names = (searched(plant.row.name) for plant in plants if plant is not None)
                if text and any(searched(text) in name for name in names):
                    named.add(first[change.number])
            found = [
                HistoryEntry(change, last[change.number], self._first_plant(change))
                for change in self._state.changes[::-1]
                if change.undoes is None
                and (before is None or change.number < before)
                and (source is None or (isinstance(source, Source) and change.source.id == source.id))
                and (change.number in named or _says(change, text, shown or (lambda each: str(each.title))))
            ]
            return found[:limit]

    @override
    def history_summary(self) -> HistorySummary:
        own = [each for each in self._state.changes if each.undoes is None]
        sources = sorted({each.source for each in own}, key=lambda each: each.id)
        return HistorySummary(len(own), min((each.made_at for each in own), default=None), tuple(sources))

    @override
    def plant_history(self, plant_id: int, limit: int = 100) -> list[PlantChange]:
        found: list[PlantChange] = []
        with self._state.lock:
            plant = self._state.plants.get(plant_id)
            while plant is not None and plant.row.version > 0 and len(found) < limit:
                number = plant.row.version
                plant = self._state.images[number - 1][plant_id].before
                found.append(PlantChange(self._state.changes[number - 1], plant and plant.row))
        return found

    @override
    def events(self, since: str | None, limit: int = 5000) -> EventPage:
        with self._state.lock:
            events = self._state.events
            if since is None:
                return EventPage([], str(len(events)))
            if not since.isdecimal() or int(since) > len(events):
                raise UnknownPositionError(position=since)
            page = events[int(since) : int(since) + limit]
        return EventPage(page, page[-1].position if page else since)

    @override
    def interrupt(self) -> None:
        """Every query is short."""

    @override
    def close(self) -> None:
        """Nothing is open."""

    def _matching(self, selection: Selection) -> list[PlantRow]:
        with self._state.lock:
            return [row for row in self._state.in_order() if _is_match(row, selection)]

    def _first_plant(self, change: Change) -> tuple[int, str, str | None] | None:
        images = self._state.images[change.number - 1]
        plant_id = min(images)
        plant = images[plant_id].before or self._state.plants.get(plant_id)
        return None if plant is None else (plant_id, plant.row.name, plant.row.tag)


class _ReadOnly(ReadOnlyPlants):
    def __init__(self, state: _State) -> None:
        self._reader = MemoryReader(state)

    @override
    def reader(self) -> PlantReader:
        return self._reader

    @override
    def pages(self, selection: Selection) -> Iterator[list[PlantRow]]:
        return self._reader.pages(selection)

    @override
    def close(self) -> None:
        """Nothing is open."""


class MemoryStore(PlantStore):
    """Does everything on the thread of its caller."""

    write_error: StoreError | None = None
    change_error: StoreError | None = None

    def __init__(self, state: _State) -> None:
        self._state = state
        self._tokens = MemoryTokens(self, state)

    @property
    @override
    def desk(self) -> str:
        return ""

    @property
    @override
    def tokens(self) -> TokenStore:
        return self._tokens

    @override
    def add(self, plant: NewPlant, source: Source) -> Future[PlantRow]:
        def one() -> tuple[PlantRow, Changes]:
            (outcome,), changes = self._add_each([(plant, source)])
            if isinstance(outcome, PlantDeskError):
                raise outcome
            return outcome, changes

        return self.run(one)

    @override
    def add_each(
        self, entries: Sequence[tuple[NewPlant, Source]], done: Callable[[list[PlantRow | PlantDeskError]], None]
    ) -> None:
        done(self.run(lambda: self._add_each(entries)).result())

    @override
    def add_as_next(self, fields: PlantFields, source: Source) -> Future[PlantRow]:
        def add() -> tuple[PlantRow, Changes]:
            row = self._state.add(self._state.next_free_ids(1), fields.name, fields.tag, source)
            return row, Changes((row,))

        return self.run(add)

    @override
    def apply(self, edits: Sequence[Edit], source: Source) -> Future[Applied]:
        return self.run(lambda: self.changed(edits, source))

    @override
    def undo(self, change: Change | int | None, source: Source) -> Future[Undone]:
        def number() -> int:
            changes = self._state.changes
            if isinstance(change, Change):
                if change.number > len(changes) or changes[change.number - 1].made_at != change.made_at:
                    raise NothingToUndoError(Text("That is not in the history of these plants."))
                return change.number
            if change is not None:
                return change
            return self._latest(lambda each: each.undoes is None and each.kind is not ChangeKind.UNDO)

        return self.run(lambda: self._undo(number(), source))

    @override
    def redo(self, source: Source) -> Future[Undone]:
        return self.run(lambda: self._undo(self._redo_target(), source))

    def _redo_target(self) -> int:
        undo = self._latest(lambda each: each.kind is ChangeKind.UNDO)
        if any(each.undoes is None for each in self._state.changes[undo:]):
            raise NothingToUndoError(Text("There is a later change."))
        return undo

    @override
    def new_import(self) -> PlantImport:
        return MemoryImport(self, self._state)

    @override
    def subscribe(self, listener: Callable[[Changes], None]) -> Callable[[], None]:
        return self._state.listeners.add(listener)

    @override
    def subscribe_health(self, listener: Callable[[StoreError | None], None]) -> Callable[[], None]:
        return lambda: None

    @override
    def reader(self) -> PlantReader:
        return MemoryReader(self._state)

    @override
    def begin_backups(self, on_outcome: Callable[[StoreError | None], object] | None = None) -> Callable[[], None]:
        return lambda: None

    @override
    def close(self) -> None:
        """The plants stay with the location."""

    # --- for the parts of the store ---

    def run(self, write: Callable[[], tuple[_Result, Changes]]) -> Future[_Result]:
        """Run a transaction, notify the listeners, and return its result; after an error nothing has changed."""
        future: Future[_Result] = Future()
        state = self._state
        with state.lock:
            before = state.plants.copy(), [each.row for each in state.tokens], len(state.changes), [*state.sources]
            events = len(state.events)
            try:
                result, changes = write()
            except PlantDeskError as error:
                state.plants, rows, count, state.sources = before
                del state.changes[count:], state.images[count:], state.events[events:]
                for token, row in zip(state.tokens, rows, strict=False):
                    token.row = row
                future.set_exception(error)
                return future
            future.set_result(result)
            if changes != Changes():
                state.listeners.notify(changes)
        return future

    def changed(
        self, edits: Sequence[Edit], source: Source, parameters: dict[str, Any] | None = None
    ) -> tuple[Applied, Changes]:
        """Make one change of edits."""
        images: dict[int, _Image] = {}
        self._skipped: list[int] = []
        for edit in edits:
            self._edit(edit, source, images)
        skipped = len(self._skipped), tuple(sorted(self._skipped))
        if not images:
            return Applied(None, *skipped), Changes()
        plant_id, image = next(iter(images.items()))
        plant = image.before or self._state.plants[plant_id]
        name = plant.row.name if len(images) == 1 else None
        deleted = sum(each.after is None for each in images.values())
        applied, changes = self.recorded(
            images, source, kind_of(edits), parameters or parameters_of(edits, name, deleted)
        )
        return Applied(applied.change, *skipped), changes

    def recorded(
        self, images: dict[int, _Image], source: Source, kind: ChangeKind, parameters: dict[str, Any]
    ) -> tuple[Applied, Changes]:
        """Add the entry of a change that is made."""
        state = self._state
        change = Change(len(state.changes) + 1, now_ms(), source, kind, parameters, len(images))
        state.changes.append(change)
        state.images.append(images)
        for plant_id, image in sorted(images.items()):
            happened = EventKind.CHANGED if image.before else EventKind.ADDED
            happened = happened if plant_id in state.plants else EventKind.DELETED
            state.record_event(plant_id, happened, change.number)
        return Applied(change), self._changes_of(images)

    def put(self, images: dict[int, _Image], row: PlantRow | None, plant_id: int) -> None:
        """Change, add or delete one plant within the next change."""
        number, plants = len(self._state.changes) + 1, self._state.plants
        before = plants.pop(plant_id, None)
        after = None
        if row is not None and before is not None:
            plants[plant_id], after = _Plant(before.seq, row._replace(version=number)), number
        elif row is not None:
            self._state.add(row.id, row.name, row.tag, row.source, note=row.note, version=number)
            after = number
        first = images[plant_id].before if plant_id in images else before
        images[plant_id] = _Image(first, after)

    def _add_each(self, entries: Sequence[tuple[NewPlant, Source]]) -> tuple[list[PlantRow | PlantDeskError], Changes]:
        outcomes: list[PlantRow | PlantDeskError] = []
        added: list[PlantRow] = []
        for plant, source in entries:
            try:
                outcomes.append(self._add(plant, source, added))
            except PlantDeskError as error:
                outcomes.append(error)
        return outcomes, Changes(tuple(added))

    def _add(self, plant: NewPlant, source: Source, added: list[PlantRow]) -> PlantRow:
        now = now_ms()
        token = self._tokens.of(source, now)
        owner = self._state.plants.get(plant.id)
        if owner is not None:
            refusal = id_taken(owner.row, plant.name, plant.tag)
            if isinstance(refusal, SamePlantError) and source.kind is not SourceKind.FORM:
                return owner.row
            raise refusal
        if token is not None:
            if token.row.max_plants is not None and token.row.plants_added >= token.row.max_plants:
                raise TokenUsedUpError(token.row.max_plants)
            token.row = token.row._replace(plants_added=token.row.plants_added + 1, last_used_at=now_ms())
        added.append(self._state.add(plant.id, plant.name, plant.tag, source, now=now))
        return added[-1]

    def _edit(self, edit: Edit, source: Source, images: dict[int, _Image]) -> None:
        plants = self._state.plants
        match edit:
            case Insert(plant, note):
                if plant.id in plants:
                    raise IdTakenError(plants[plant.id].row, plant.name)
                self.put(images, PlantRow(plant.id, plant.name, plant.tag, 0, source, note), plant.id)
            case Update(saw, name, tag, note):
                row = self._current(saw.id, saw.version, saw.name)
                if (row.name, row.tag, row.note) != (name, tag, note):
                    self.put(images, row._replace(name=name, tag=tag, note=note), row.id)
            case Delete(plant_id, version, name):
                self.put(images, None, self._current(plant_id, version, name).id)
            case DeleteAll(selection, size):
                self._delete_all(images, self._matching(selection), size)
            case MergePlants():
                self._merge_plants(images, edit)
            case Rewrite():
                self._rewrite(images, edit)
            case _:
                for selection, tag in _retagged(edit, self._matching(Selection())):
                    self._set_tag(images, selection, tag)

    def _delete_all(self, images: dict[int, _Image], rows: list[PlantRow], size: int | None) -> None:
        if size is not None and len(rows) != size:
            raise SelectionChangedError(size, len(rows))
        for row in rows:
            self.put(images, None, row.id)

    def _rewrite(self, images: dict[int, _Image], edit: Rewrite) -> None:
        events = self._state.events if edit.since is None else self._state.events[: int(edit.since)]
        later = {event.id: event.kind for event in self._state.events[len(events) :]}
        for row in self._matching(edit.plants):
            found = list(rewritten(edit.rule, [(row.id, row.name, row.tag, row.note)], edit.leave))
            if found and row.id in later:
                self._skipped += [row.id] if later[row.id] is not EventKind.ADDED else []
            elif found:
                _, name, tag, note, _ = found[0]
                self.put(images, row._replace(name=name, tag=tag, note=note), row.id)

    def _merge_plants(self, images: dict[int, _Image], edit: MergePlants) -> None:
        for deleted, changed in merged(*edit, MemoryReader(self._state).rows):
            for plant_id in deleted:
                self.put(images, None, plant_id)
            for plant_id, _, _, note, _ in changed:
                self.put(images, self._state.plants[plant_id].row._replace(note=note), plant_id)

    def _set_tag(self, images: dict[int, _Image], selection: Selection, tag: str | None) -> None:
        for row in self._matching(selection):
            if row.tag != tag:
                self.put(images, row._replace(tag=tag), row.id)

    def _matching(self, selection: Selection) -> list[PlantRow]:
        return [row for row in self._state.in_order() if _is_match(row, selection)]

    def _current(self, plant_id: int, version: int, name: str) -> PlantRow:
        plant = self._state.plants.get(plant_id)
        if plant is None or plant.row.version != version:
            raise EditConflictError(name, plant and plant.row)
        return plant.row

    def _undo(self, number: int, source: Source) -> tuple[Undone, Changes]:
        state = self._state
        if not 0 < number <= len(state.changes) or not state.changes[number - 1].can_undo:
            raise NothingToUndoError(Text("There is nothing to undo."))
        undone, images = state.changes[number - 1], dict[int, _Image]()
        for plant_id, (before, after) in state.images[number - 1].items():
            present = state.plants.get(plant_id)
            if (present and present.row.version) == after:
                images[plant_id] = _Image(present, before and before.row.version)
                state.plants.pop(plant_id, None)
                if before is not None:
                    state.plants[plant_id] = before
        moved = self._move(images, state.images[number - 1])
        if not images:
            raise UndoConflictError(undone.plain_title, undone.plants, is_redo=undone.kind is ChangeKind.UNDO)
        _, changes = self.recorded(images, source, *undone.taken_back())
        state.changes[-1] = state.changes[-1]._replace(undoes=number)
        self._mark(number, is_undone=True)
        skipped = tuple(each for each in state.images[number - 1] if each not in images and each not in dict(moved))
        back = tuple(each for each, image in images.items() if image.after is not None)
        listed = back if len(back) <= _MAX_NAMED else ()
        outcome = (len(skipped), skipped[:_MAX_NAMED], listed, len(moved), moved[:_MAX_NAMED])
        return Undone(state.changes[-1], *outcome), changes

    def _move(self, images: dict[int, _Image], undone: dict[int, _Image]) -> tuple[tuple[int, int], ...]:
        """Bring deleted plants whose ids are in use back under the next ones; return the old and new ids."""
        plants = self._state.plants
        gone = {each: before for each, (before, after) in undone.items() if before is not None and after is None}
        taken = sorted(
            each for each in gone.keys() - images.keys() if _content(gone[each].row) != _content(plants[each].row)
        )
        next_id = self._state.next_free_ids(len(taken))
        for new, each in enumerate(taken, next_id):
            self.put(images, gone[each].row._replace(id=new), new)
            plants[new] = _Plant(plants[new].seq, plants[new].row._replace(added_at=gone[each].row.added_at))
        return tuple(zip(taken, range(next_id, next_id + len(taken)), strict=True))

    def _mark(self, number: int | None, *, is_undone: bool) -> None:
        while number is not None:
            change = self._state.changes[number - 1]
            self._state.changes[number - 1] = change._replace(is_undone=is_undone, can_undo=not is_undone)
            number, is_undone = change.undoes, not is_undone

    def _latest(self, wanted: Callable[[Change], bool]) -> int:
        numbers = [each.number for each in self._state.changes if wanted(each) and not each.is_undone]
        if not numbers:
            raise NothingToUndoError(Text("There is nothing to undo."))
        return numbers[-1]

    def _changes_of(self, images: dict[int, _Image]) -> Changes:
        if len(images) > _MAX_LISTED:
            return Changes(needs_reload=True, history=True)
        rows = {each: plant.row for each in images if (plant := self._state.plants.get(each)) is not None}
        number = len(self._state.changes)
        new = {each for each, row in rows.items() if images[each].before is None and row.version == number}
        added, updated = ([rows[each] for each in rows if (each in new) == is_new] for is_new in (True, False))
        return Changes(tuple(added), tuple(updated), tuple(sorted(images.keys() - rows.keys())), history=True)


class MemoryTokens(TokenStore):
    """The tokens, with their secrets."""

    def __init__(self, store: MemoryStore, state: _State) -> None:
        self._store = store
        self._state = state

    def of(self, source: Source, now: int) -> _Token | None:
        """Return the token of a source at a time, None where it has none. Raises TokenRefusedError."""
        if source.token_id is None:
            return None
        token = self._state.tokens[source.token_id - 1]
        if token.is_revoked or token.row.expired(now):
            raise TokenRefusedError
        return token

    @override
    def create(self, name: str, expires_at: int | None = None, max_plants: int | None = None) -> Future[NewToken]:
        def make() -> tuple[NewToken, Changes]:
            label = name.strip()
            if not label or len(label) > 100 or not label.isprintable():
                raise InvalidTokenNameError(Text("A token's name has 1 to 100 characters."))
            if any(each.row.name == label for each in self._valid()):
                raise InvalidTokenNameError(Text("There is a token of this name already."))
            secret = f"plantdesk_{secrets.token_urlsafe(32)}"
            source = self._state.new_source(SourceKind.TOKEN, label)
            source = source._replace(token_id=len(self._state.tokens) + 1)
            row = TokenRow(label, now_ms(), expires_at, None, 0, source, max_plants)
            self._state.tokens.append(_Token(secret, row))
            return NewToken(secret, row), Changes(tokens=True)

        return self._store.run(make)

    @override
    def revoke(self, name: str) -> Future[None]:
        def revoke() -> tuple[None, Changes]:
            self._revoke(name)
            return None, Changes(tokens=True)

        return self._store.run(revoke)

    @override
    def revoke_and_remove_plants(self, name: str, source: Source) -> Future[Applied]:
        def remove() -> tuple[Applied, Changes]:
            label = self._revoke(name).row.name
            plants = DeleteAll(Selection.of(AddedBy(SourceKind.TOKEN, label)))
            applied, changes = self._store.changed([plants], source, {"token": parameter(label)})
            return applied, changes._replace(tokens=True)

        return self._store.run(remove)

    @override
    def used(self, source: Source) -> Future[None]:
        def note() -> tuple[None, Changes]:
            token = self.of(source, now_ms())
            if token is not None:
                token.row = token.row._replace(last_used_at=now_ms())
            return None, Changes(tokens=True)

        return self._store.run(note)

    @override
    def list(self) -> builtins.list[TokenRow]:
        return [each.row for each in self._valid()][::-1]

    @override
    def checker(self) -> TokenLookup:
        return _Checker(self._state)

    def _valid(self) -> builtins.list[_Token]:
        return [each for each in self._state.tokens if not each.is_revoked]

    def _revoke(self, name: str) -> _Token:
        for token in self._valid():
            if token.row.name == name.strip():
                token.is_revoked = True
                return token
        raise UnknownTokenError(Text("There is no token named “{name}”."), name=name)


class _Checker(TokenLookup):
    def __init__(self, state: _State) -> None:
        self._state = state

    @override
    def source(self, token: str) -> Source:
        for each in self._state.tokens:
            if each.secret == token:
                if not each.is_valid:
                    raise TokenEndedError(each.row.source)
                return each.row.source
        raise TokenRefusedError

    @override
    def close(self) -> None:
        """Nothing is open."""


class _Plan(NamedTuple):
    """The rows of an import, each with the id that it gets; `conflicts` of those whose id is taken."""

    rows: list[tuple[int | None, ImportRow]]
    conflicts: list[ImportConflict]
    counts: ImportCounts


class MemoryImport(PlantImport):
    """Collects rows in a list."""

    def __init__(self, store: MemoryStore, state: _State) -> None:
        self._store = store
        self._state = state
        self._rows: list[ImportRow] = []
        self._asked: tuple[OnConflict, Collection[str]] = (OnConflict.REFUSE, ())
        self._conflicts: list[ImportConflict] = []
        self._is_cancelled = False

    @override
    def add(self, batch: ImportBatch) -> None:
        self._check()
        self._rows += batch.rows()

    @override
    def compare(self, on_conflict: OnConflict, fields: Collection[str]) -> ImportCounts:
        self._check()
        self._asked = on_conflict, fields
        plan = self._plan()
        self._conflicts = plan.conflicts
        return plan.counts

    @override
    def conflicts(self) -> Iterator[ImportConflict]:
        yield from self._conflicts

    @override
    def apply(self, label: str, progress: Callable[[int, int], None] | None = None) -> Applied:
        self._check()
        applied = self._store.run(lambda: self._apply(label)).result()
        if progress is not None:
            progress(len(self._rows), len(self._rows))
        return applied

    @override
    def cancel(self) -> None:
        self._is_cancelled = True

    @override
    def close(self) -> None:
        self._rows.clear()

    def _check(self) -> None:
        if self._is_cancelled:
            raise InterruptedError

    def _plan(self) -> _Plan:
        with self._state.lock:
            known = {each: plant.row[1:3] + plant.row[5:6] for each, plant in self._state.plants.items()}
        columns = [at for at, name in enumerate(("name", "tag", "note")) if name in self._asked[1]]
        rows: list[tuple[int | None, ImportRow]] = []
        conflicts: list[ImportConflict] = []
        first: dict[int | None, tuple[int, int]] = {}
        new = unchanged = 0
        for row in self._rows:
            owner = None if row.id is None else known.get(row.id)
            values = (row.name, row.tag, row.note)
            if owner is None:
                new += 1
                rows.append((row.id, row))
                first[row.id] = row.file, row.line
            elif all(owner[at] == values[at] for at in columns):
                unchanged += 1
                continue
            else:
                conflicts.append(ImportConflict(row, str(owner[0]), first.get(row.id)))
                if self._asked[0] is OnConflict.NEW_ID:
                    rows.append((None, row))
                elif self._asked[0] is OnConflict.REPLACE:
                    rows.append((row.id, row))
                if self._asked[0] is not OnConflict.REPLACE:
                    continue
            if row.id is not None:
                known[row.id] = values
        owners = {conflict.row.id for conflict in conflicts if conflict.earlier is None}
        return _Plan(rows, conflicts, ImportCounts(new, unchanged, len(conflicts), len(owners)))

    def _apply(self, label: str) -> tuple[Applied, Changes]:
        plan, (on_conflict, fields) = self._plan(), self._asked
        if plan.conflicts and on_conflict is OnConflict.REFUSE:
            raise ImportConflictError(len(plan.conflicts))
        source = self._state.new_source(SourceKind.IMPORT, label)
        fresh = sum(plant_id is None for plant_id, _ in plan.rows)
        next_id = self._state.next_free_ids(fresh, [each for each, _ in plan.rows if each is not None])
        images: dict[int, _Image] = {}
        for requested, row in plan.rows:
            plant_id = next_id if requested is None else requested
            next_id += requested is None
            self._put(images, plant_id, row, source, fields)
        if not images:
            return Applied(None), Changes()
        return self._store.recorded(images, source, ChangeKind.IMPORT, {"file": parameter(label)})

    def _put(
        self, images: dict[int, _Image], plant_id: int, row: ImportRow, source: Source, fields: Collection[str]
    ) -> None:
        owner = self._state.plants.get(plant_id)
        if owner is None:
            self._store.put(images, PlantRow(plant_id, row.name, row.tag, 0, source, row.note), plant_id)
            return
        given = {name: getattr(row, name) for name in ("name", "tag", "note") if name in fields}
        self._store.put(images, owner.row._replace(**given), plant_id)


def _retagged(edit: SetTag | RenameTag | MergeTags, rows: list[PlantRow]) -> list[tuple[Selection, str | None]]:
    """Return plants and their new tags; those of replaced tags by id, as a tag may take the place of another one."""
    if isinstance(edit, SetTag):
        return [(edit.plants, edit.tag)]
    tags = edit.mapping(lambda: {row.tag for row in rows if row.tag is not None})
    return [(Selection(ids=[row.id for row in rows if row.tag == old]), new) for old, new in tags.items()]


def _plain(source: Source) -> Source:
    return Source(source.id, source.kind, source.label)


def _says(change: Change, text: str, shown: Callable[[Change], str]) -> bool:
    return any(searched(text) in searched(each) for each in (shown(change), *texts_of(change.subject[1])))


def _sorted(rows: list[PlantRow], view: View) -> list[PlantRow]:
    keys: dict[Order, Callable[[PlantRow], Any]] = {
        Order.ADDED: lambda _row: 0,
        Order.ID: lambda row: row.id,
        Order.NAME: lambda row: fold(row.name),
        Order.TAG: lambda row: (fold(row.tag or ""), fold(row.name)),
        Order.SOURCE: lambda row: (row.source.kind, row.source.label),
    }
    ordered = sorted(rows[:: -1 if view.descending else 1], key=keys[view.order], reverse=view.descending)
    if view.order is Order.TAG:
        ordered.sort(key=lambda row: row.tag is None)
    return ordered


def _is_match(row: PlantRow, selection: Selection) -> bool:
    return (
        (selection.ids is None or row.id in selection.ids)
        and (selection.since is None or row.added_at >= selection.since)
        and all(any(_has(row, term) for term in group) for group in selection.groups)
    )


def _has(row: PlantRow, term: Term) -> bool:
    match term:
        case Not():
            return not _has(row, term.term)
        case Contains():
            return _contains(row, term)
        case HasTag():
            return _has_tag(row.tag, term)
        case AddedBy(kind, label):
            same = row.source.label == label if kind else searched(row.source.label) == searched(label or "")
            return kind in {None, row.source.kind} and (label is None or same)
        case AddedOn():
            return row.added_at in term.milliseconds()
    return term.first <= row.id <= term.last


def _has_tag(tag: str | None, term: HasTag) -> bool:
    if tag is None or term.tag is None or term.exact:
        return tag == term.tag or (term.branch is not None and tag is not None and is_in_branch(tag, term.branch))
    return tag == term.tag or _is_alike(tag, term, term.tag)


def _is_alike(tag: str, term: HasTag, other: str) -> bool:
    if term.branch is not None and f"{searched(tag)}/".startswith(f"{term.branch}/"):
        return True
    return searched(tag).strip() != "" and searched(tag) == searched(other)


def _contains(row: PlantRow, term: Contains) -> bool:
    if term.in_note:
        is_blank, note = not searched(term.text).strip(), row.note
        return note is not None and (term.text in note if is_blank else searched(term.text) in searched(note))
    texts, words = [row.name, row.tag or ""], searched(term.text).split()
    if not words:
        return any(term.text in each for each in texts)
    if not term.is_word:
        return any(searched(term.text) in searched(each) for each in texts)
    return all(
        any(word in searched(each) for each in texts) or (word.lstrip("-").isdecimal() and str(row.id).startswith(word))
        for word in words
    )
