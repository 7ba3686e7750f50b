"""A store beside a dict that does the same: whatever is done in whatever order, both hold the same plants.

A further way to change a store is one more rule. A kind of store is a subclass, which opens it.
"""

import contextlib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from typing_extensions import override

from plantdesk.domain.duplicates import KeepRule
from plantdesk.domain.edits import (
    UNCHANGED,
    Applied,
    Delete,
    DeleteAll,
    Edit,
    Insert,
    MergePlants,
    MergeTags,
    RenameTag,
    Rewrite,
    SetTag,
    Unchanged,
    Undone,
    assign_ids,
    edited,
)
from plantdesk.domain.errors import (
    EditConflictError,
    IdTakenError,
    InvalidTokenNameError,
    NothingToUndoError,
    PlantDeskError,
    TokenRefusedError,
    UndoConflictError,
    UnknownTokenError,
)
from plantdesk.domain.events import EventKind, OutdatedPositionError, PlantEvent
from plantdesk.domain.imports import ImportRow, OnConflict
from plantdesk.domain.models import NewPlant
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import COMMAND, FORM, LARGEST_ID, SMALLEST_ID, PlantContent, PlantRow, Source, SourceKind
from plantdesk.domain.rewriting import PlantTexts, RewriteRule
from plantdesk.domain.selections import Contains, HasTag, Order, Selection, Term, View
from plantdesk.domain.validation import new_plant, plant_fields
from plantdesk.store.rows import FIRST_UNCOUNTED_ID
from tests.support.adding import add_each
from tests.support.waiting import SECONDS

ids_ = st.integers(-3, 12) | st.sampled_from([SMALLEST_ID, LARGEST_ID - 1, 2**53 + 1])
LETTERS = st.sampled_from("aAbxX×zZ éÉßﬃǅ\u0301\u0327´’%_\\\x1f-'\"1٣🌱½가ﷺ")
texts = st.text(LETTERS, max_size=6) | st.text(max_size=3).filter(lambda text: text.isprintable())
tags = st.none() | texts
token_names = st.sampled_from(["garden-sync", "phone", "Ä"])


class Entry(NamedTuple):
    """A plant as the dict has it: `seq` is its sequence number, `change` the last that touched it."""

    name: str
    tag: str | None
    source: Source
    note: str | None = None
    seq: int = 0
    change: int = 0

    @property
    def version(self) -> int:
        return self.change or -self.seq

    @property
    def fields(self) -> tuple[str, str | None, str | None]:
        return self.name, self.tag, self.note

    @property
    def texts(self) -> tuple[str, str, str]:
        """What an undo compares with the plant that has the id now."""
        return self.name, self.tag or "", self.note or ""


@dataclass
class Made:
    """A change: what each plant was before and is after it."""

    images: dict[int, tuple[Entry | None, Entry | None]]
    undoes: int | None = None
    is_undone: bool = False
    is_stored: bool = True


class StoreBesideDict(RuleBasedStateMachine):
    """Does everything twice, and compares."""

    def __init__(self) -> None:
        super().__init__()
        self.plants: dict[int, Entry] = {}
        self.tokens: dict[str, Source] = {}
        self.revoked: list[Source] = []
        self.added_by: Counter[str] = Counter()
        self.changes: dict[int, Made] = {}
        self.seen: list[PlantRow] = []
        self.last_seq = 0
        self.happened: list[PlantEvent] = []
        self.last_id = 0
        self.followed: list[str] = []

    def open_store(self) -> PlantStore:
        """Open the store, also once more."""
        raise NotImplementedError

    @initialize()
    def open(self) -> None:
        self.store = self.open_store()
        self.reader = self.store.reader()
        self.begin_following()

    def begin_following(self) -> None:
        """Take the present position, before anything happens."""
        if not self.followed:
            self.followed = [self.reader.events(None).position]

    def sources(self) -> list[Source]:
        return [FORM, COMMAND, *self.tokens.values()]

    # --- writing ---

    def expect_added(self, plant_id: int, entry: Entry, outcome: PlantRow | PlantDeskError) -> None:
        """Do to the dict what was done to the store, and see that the outcome fits."""
        known = self.plants.get(plant_id)
        if entry.source in self.revoked:
            assert isinstance(outcome, TokenRefusedError)
        elif known is None:
            assert isinstance(outcome, PlantRow)
            assert (outcome.id, outcome.name, outcome.tag) == (plant_id, entry.name, entry.tag)
            self.put(plant_id, entry)
            self.added_by[entry.source.label] += 1
        elif (known.name, known.tag) == (entry.name, entry.tag) and entry.source is not FORM:
            assert isinstance(outcome, PlantRow)
            assert (outcome.name, outcome.tag, outcome.source.label) == (known.name, known.tag, known.source.label)
        else:
            assert isinstance(outcome, IdTakenError)
            assert outcome.owner.name == known.name

    def put(self, plant_id: int, entry: Entry) -> None:
        self.last_seq += 1
        self.plants[plant_id] = entry._replace(note=None, seq=self.last_seq, change=0)
        self.record_event(EventKind.ADDED, plant_id, None)

    def record_event(self, kind: EventKind, plant_id: int, change: int | None) -> None:
        entry = self.plants.get(plant_id)
        self.last_id = max(self.last_id, plant_id if plant_id < FIRST_UNCOUNTED_ID else 0)
        content = None if entry is None else PlantContent(plant_id, entry.name, entry.tag, entry.note)
        self.happened.append(PlantEvent("", kind, plant_id, content, change))

    def add_to(self, store: PlantStore, plant_id: int, entry: Entry) -> None:
        future = store.add(_new(plant_id, entry), entry.source)
        self.expect_added(plant_id, entry, future.exception(SECONDS) or future.result())  # type: ignore[arg-type]

    @rule(data=st.data(), plant_id=ids_, name=texts, tag=tags)
    def add(self, data: st.DataObject, plant_id: int, name: str, tag: str | None) -> None:
        source = data.draw(st.sampled_from([*self.sources(), *self.revoked]))
        self.add_to(self.store, plant_id, Entry(name, tag, source))

    @rule(data=st.data())
    def add_again(self, data: st.DataObject) -> None:
        if self.plants:
            plant_id = data.draw(st.sampled_from(list(self.plants)))
            source = data.draw(st.sampled_from(self.sources()))
            self.add_to(self.store, plant_id, self.plants[plant_id]._replace(source=source))

    @rule(data=st.data(), entries=st.lists(st.tuples(ids_, texts, tags), max_size=8))
    def add_each(self, data: st.DataObject, entries: list[tuple[int, str, str | None]]) -> None:
        sources = st.sampled_from([*self.sources(), *self.revoked])
        requested = [(plant_id, Entry(name, tag, data.draw(sources))) for plant_id, name, tag in entries]
        plants = [(_new(plant_id, entry), entry.source) for plant_id, entry in requested]
        outcomes = add_each(self.store, plants)
        for place in self.list_order(plants):
            self.expect_added(*requested[place], outcomes[place])

    def list_order(self, plants: Sequence[tuple[NewPlant, Source]]) -> Iterable[int]:
        """Return the places of plants of one group in the order in which they are added."""
        return range(len(plants))

    @rule(name=texts, tag=tags)
    def add_as_next(self, name: str, tag: str | None) -> None:
        expected = self.last_id + 1
        assert self.reader.next_free_id() == expected
        values = {"name": name} | ({} if tag is None else {"tag": tag})
        row = self.store.add_as_next(plant_fields(values), COMMAND).result(SECONDS)
        assert row.id == expected
        self.put(row.id, Entry(name, tag, COMMAND))

    @rule(plant_id=ids_, name=texts)
    def add_from_elsewhere(self, plant_id: int, name: str) -> None:
        with closing(self.open_store()) as other:
            self.add_to(other, plant_id, Entry(name, None, COMMAND))

    @rule(name=token_names)
    def create_token(self, name: str) -> None:
        future = self.store.tokens.create(name)
        if name in self.tokens:
            assert isinstance(future.exception(SECONDS), InvalidTokenNameError)
        else:
            made = future.result(SECONDS)
            self.tokens[name] = made.row.source
            self.added_by[name] = 0
            with closing(self.store.tokens.open_lookup()) as lookup:
                assert lookup.source(made.token) == made.row.source

    @rule(name=token_names)
    def revoke_token(self, name: str) -> None:
        failure = self.store.tokens.revoke(name).exception(SECONDS)
        if name in self.tokens:
            assert failure is None
            self.revoked.append(self.tokens.pop(name))
        else:
            assert isinstance(failure, UnknownTokenError)

    # --- changing ---

    def record_change(self, number: int, plants: dict[int, Entry], undoes: int | None = None) -> None:
        """Make `plants` those of the dict, as a change."""
        ids = self.plants.keys() | plants.keys()
        images = {key: (self.plants.get(key), plants.get(key)) for key in ids}
        images = {key: (before, after) for key, (before, after) in images.items() if before != after}
        assert number not in self.changes
        self.changes[number] = Made(images, undoes)
        self.plants = plants
        for plant_id, (before, after) in sorted(images.items()):
            kind = EventKind.DELETED if after is None else EventKind.ADDED if before is None else EventKind.CHANGED
            self.record_event(kind, plant_id, number)

    @rule(data=st.data(), limit=st.integers(1, 5))
    def follow(self, data: st.DataObject, limit: int) -> None:
        """Follow the events from any position behind one of them, in pages of any size."""
        start = data.draw(st.integers(0, len(self.followed) - 1))
        oldest = min((number for number, made in self.changes.items() if not made.is_stored), default=None)
        position, found = self.followed[start], list[PlantEvent]()
        expected = self.happened[start:]
        try:
            while (page := self.reader.events(position, limit)).events or page.position != position:
                position = page.position
                found += page.events
        except OutdatedPositionError:
            assert oldest is not None
            assert any((event.change or 0) >= oldest for event in self.happened[max(0, start - 1) :])
            self.happened, self.followed = [], [self.reader.events(None).position]
            return
        assert [event._replace(position="") for event in found] == expected
        self.followed[start + 1 :] = [event.position for event in found]

    def apply_and_expect(self, edits: list[Edit], plants: dict[int, Entry]) -> None:
        """Apply edits of which `plants` is the result, with 0 as the number of the change."""
        self.expect_applied(self.store.apply(edits, COMMAND).result(SECONDS), plants)

    def expect_applied(self, result: Applied, plants: dict[int, Entry]) -> None:
        """See that a change has this outcome, with 0 as its number, and do it to the dict."""
        if result.change is None:
            assert plants == self.plants
            return
        number = result.change.number
        marked = {
            key: entry if entry == self.plants.get(key) else entry._replace(change=number)
            for key, entry in plants.items()
        }
        self.record_change(number, marked)
        assert result.plants == len(self.changes[number].images)

    @rule(data=st.data(), name=texts, tag=tags, note=tags)
    def edit(self, data: st.DataObject, name: str, tag: str | None, note: str | None) -> None:
        if self.plants:
            plant_id = data.draw(st.sampled_from(sorted(self.plants)))
            row = self.reader.plant(plant_id)
            assert row is not None
            self.seen.append(row)
            entry = self.plants[plant_id]._replace(name=name, tag=tag, note=note or None)
            self.apply_and_expect([edited(row, name=name, tag=tag, note=note)], {**self.plants, plant_id: entry})

    @rule(data=st.data(), delete=st.booleans())
    def edit_what_was_seen(self, data: st.DataObject, delete: bool) -> None:  # noqa: FBT001
        if self.seen:
            row = data.draw(st.sampled_from(self.seen))
            edit = Delete(row.id, row.version, row.name) if delete else edited(row, name=row.name + "!")
            current = self.plants.get(row.id)
            if current is None or current.version != row.version:
                assert isinstance(self.store.apply([edit], FORM).exception(SECONDS), EditConflictError)
            elif delete:
                self.apply_and_expect([edit], {key: entry for key, entry in self.plants.items() if key != row.id})
            else:
                self.apply_and_expect([edit], {**self.plants, row.id: current._replace(name=row.name + "!")})

    @rule(plants=st.dictionaries(ids_, texts, max_size=4), others=st.lists(texts, max_size=2))
    def insert(self, plants: dict[int, str], others: list[str]) -> None:
        edits: list[Edit] = [Insert(new_plant({"id": key, "name": name}), "new") for key, name in plants.items()]
        first = self.reader.next_free_id()
        if first + 6 < FIRST_UNCOUNTED_ID:
            edits += [Insert(plant_fields({"name": name}), "new") for name in others]
            free = assign_ids([*plants, *([None] * len(others))], first)[len(plants) :]
            taken = plants.keys() & self.plants.keys()
            plants = {**plants, **dict(zip(free, others, strict=True))}
            assert plants.keys() & self.plants.keys() == taken
        if not edits:
            return
        if plants.keys() & self.plants.keys():
            assert isinstance(self.store.apply(edits, COMMAND).exception(SECONDS), IdTakenError)
            return
        added = {
            key: Entry(name, None, COMMAND, "new", self.last_seq + place)
            for place, (key, name) in enumerate(plants.items(), 1)
        }
        self.last_seq += len(added)
        self.apply_and_expect(edits, {**self.plants, **added})

    @rule(text=texts, tag=tags | st.just(UNCHANGED), ids=st.none() | st.lists(ids_), new=tags, delete=st.booleans())
    def change_a_set(
        self,
        text: str,
        tag: str | Unchanged | None,
        ids: list[int] | None,
        new: str | None,
        delete: bool,  # noqa: FBT001
    ) -> None:
        chosen = {
            key
            for key, entry in self.plants.items()
            if self.match(key, text) and (tag is UNCHANGED or tag == entry.tag) and (ids is None or key in ids)
        }
        terms: list[Term] = [] if isinstance(tag, Unchanged) else [HasTag(tag, is_exact=True)]
        selection = _words(text, *terms)._replace(ids=ids)
        if delete:
            left = {key: entry for key, entry in self.plants.items() if key not in chosen}
            self.apply_and_expect([DeleteAll(selection)], left)
        else:
            tagged = {key: entry._replace(tag=new) if key in chosen else entry for key, entry in self.plants.items()}
            self.apply_and_expect([SetTag(selection, new)], tagged)

    @rule(ids=st.none() | st.lists(ids_))
    def rewrite(self, ids: list[int] | None) -> None:
        by, plants = RewriteRule(find="a", replacement="á", note_line="dry"), dict(self.plants)
        for key, entry in self.plants.items():
            if ids is None or key in ids:
                plants[key] = entry._replace(**by.apply(PlantTexts(entry.name, entry.tag, entry.note))._asdict())
        self.apply_and_expect([Rewrite(Selection(ids=ids), by)], plants)

    @rule(data=st.data(), new=texts)
    def change_tags(self, data: st.DataObject, new: str) -> None:
        if known := sorted({entry.tag for entry in self.plants.values() if entry.tag is not None}):
            old = data.draw(st.lists(st.sampled_from(known), min_size=1, max_size=2, unique=True))
            edit: Edit = RenameTag(old[0], new) if len(old) == 1 else MergeTags(tuple(old), new)
            changed = {key: entry._replace(tag=new) for key, entry in self.plants.items() if entry.tag in old}
            self.apply_and_expect([edit], {**self.plants, **changed})

    @rule()
    def merge_plants(self) -> None:
        alike, plants = defaultdict[str, list[int]](list), dict(self.plants)
        for key in sorted(plants):
            alike[" ".join(_searched(plants[key].name).split(" ")).strip()].append(key)
        for ids in [ids for name, ids in alike.items() if name and len(ids) > 1]:
            notes = dict.fromkeys(note for key in ids if (note := plants[key].note) is not None)
            plants[ids[0]] = plants[ids[0]]._replace(note="\n".join(notes) or None)
            for key in ids[1:]:
                del plants[key]
        self.apply_and_expect([MergePlants(self.reader.duplicates(by_tag=False), KeepRule.LOWEST_ID)], plants)

    @rule(
        rows=st.dictionaries(ids_, st.tuples(texts, tags, tags), max_size=4),
        on_conflict=st.sampled_from([OnConflict.SKIP, OnConflict.REPLACE]),
    )
    def import_rows(self, rows: dict[int, tuple[str, str | None, str | None]], on_conflict: OnConflict) -> None:
        plants, source = dict(self.plants), Source(0, SourceKind.IMPORT, "list.csv")
        for key, (name, tag, note) in rows.items():
            if key not in plants:
                self.last_seq += 1
                plants[key] = Entry(name, tag, source, note or None, self.last_seq)
            elif on_conflict is OnConflict.REPLACE:
                plants[key] = plants[key]._replace(name=name, tag=tag, note=note or None)
        lines = enumerate(rows.items(), 1)
        with closing(self.store.new_import()) as imported:
            imported.add([ImportRow(1, line, key, name, tag, note or None) for line, (key, (name, tag, note)) in lines])
            imported.compare(on_conflict, ("id", "name", "tag", "note"))
            self.expect_applied(imported.apply("list.csv"), plants)

    @rule(data=st.data(), elsewhere=st.booleans())
    def undo(self, data: st.DataObject, elsewhere: bool) -> None:  # noqa: FBT001
        requested = data.draw(st.none() | st.sampled_from([99_999, *self.changes]))
        number = self.find_undo_target() if requested is None else requested
        with closing(self.open_store()) if elsewhere else contextlib.nullcontext(self.store) as store:
            self.expect_undone(store.undo(requested, FORM), number)

    def find_undo_target(self) -> int | None:
        """The latest change that is not undone, or its latest redo where only the before-images of that are stored."""
        targets = [number for number, made in self.changes.items() if made.undoes is None and not made.is_undone]
        number = max(targets, default=None)
        if number is None or self.changes[number].is_stored:
            return number
        possible = [candidate for candidate, made in self.changes.items() if made.is_stored and not made.is_undone]
        return max((candidate for candidate in possible if self.is_redo_of(candidate, number)), default=number)

    def is_redo_of(self, number: int, first: int) -> bool:
        steps = 0
        while number != first and (undoes := self.changes[number].undoes) is not None:
            number, steps = undoes, steps + 1
        return number == first and steps > 0 and steps % 2 == 0

    @rule()
    def redo(self) -> None:
        undos = [number for number, made in self.changes.items() if self.is_undo(made) and not made.is_undone]
        latest = max(undos, default=0)
        is_last = not any(number > latest for number, made in self.changes.items() if made.undoes is None)
        self.expect_undone(self.store.redo(FORM), latest if is_last else None)

    def is_undo(self, made: Made) -> bool:
        """Whether it takes back a change, or the redo of one."""
        return made.undoes is not None and not self.is_undo(self.changes[made.undoes])

    def expect_undone(self, future: Future[Undone], number: int | None) -> None:
        made = None if number is None else self.changes.get(number)
        if made is None or number is None or made.is_undone or not made.is_stored:
            assert isinstance(future.exception(SECONDS), NothingToUndoError)
            return
        possible = {
            key: before
            for key, (before, after) in made.images.items()
            if (now := self.plants.get(key)) is after or (now and after and now.version == after.version)
        }
        plants = {key: entry for key, entry in self.plants.items() if key not in possible}
        plants |= {key: before for key, before in possible.items() if before is not None}
        moved = [
            key
            for key, (before, after) in sorted(made.images.items())
            if before and after is None and key not in possible and before.texts != plants[key].texts
        ]
        if not possible and not moved:
            assert isinstance(future.exception(SECONDS), UndoConflictError)
            return
        undone = future.result(SECONDS)
        assert undone.change.plants == len(possible) + len(moved)
        assert set(undone.skipped_ids) == made.images.keys() - possible.keys() - {*moved}
        assert undone.skipped == len(undone.skipped_ids)
        first = self.last_id + 1
        assert undone.moved_ids == tuple((key, first + place) for place, key in enumerate(moved))
        for key, new in undone.moved_ids:
            self.last_seq += 1
            before, _ = made.images[key]
            assert before is not None
            plants[new] = before._replace(seq=self.last_seq, change=undone.change.number)
        self.record_change(undone.change.number, plants, number)
        self.mark(number, is_undone=True)

    def mark(self, number: int, *, is_undone: bool) -> None:
        made = self.changes[number]
        made.is_undone = is_undone
        if made.undoes is not None:
            self.mark(made.undoes, is_undone=not is_undone)

    def record_pruning(self) -> None:
        """Note that all before-images were removed except those of the newest change."""
        newest = max((number for number, made in self.changes.items() if made.is_stored), default=0)
        for number, made in self.changes.items():
            made.is_stored = number == newest

    @rule()
    def reopen(self) -> None:
        self.reader.close()
        self.store.close()
        self.open()

    # --- reading ---

    @rule(text=texts, order=st.sampled_from(Order), descending=st.booleans())
    def view(self, text: str, order: Order, descending: bool) -> None:  # noqa: FBT001
        self.expect_view(text, View(order=order, descending=descending))

    def expect_view(self, text: str, view: View) -> None:
        """See that the store shows what the dict has, in the same order."""
        view = view._replace(plants=_words(text))
        found = [plant_id for chunk in self.reader.ids(view) for plant_id in chunk]
        assert found == [
            plant_id for plant_id in self.sort_ids(view.order, descending=view.descending) if self.match(plant_id, text)
        ]

    def sort_ids(self, order: Order, *, descending: bool) -> list[int]:
        arrival = {plant_id: entry.seq for plant_id, entry in self.plants.items()}

        def name_key(plant_id: int) -> bytes:
            return _searched(self.plants[plant_id].name).encode()

        def tag_key(plant_id: int) -> bytes:
            return _searched(self.plants[plant_id].tag or "").encode()

        def source_key(plant_id: int) -> bytes:
            source = self.plants[plant_id].source
            return f"{source.kind}\x1f{source.label}".encode()

        keys = {
            Order.ADDED: lambda plant_id: (arrival[plant_id],),
            Order.ID: lambda plant_id: (plant_id,),
            Order.NAME: lambda plant_id: (name_key(plant_id), plant_id),
            Order.TAG: lambda plant_id: (tag_key(plant_id), name_key(plant_id), plant_id),
            Order.SOURCE: lambda plant_id: (source_key(plant_id), arrival[plant_id]),
        }
        found = sorted(self.plants, key=keys[order], reverse=descending)
        if order is Order.TAG:
            found.sort(key=lambda plant_id: self.plants[plant_id].tag is None)
        return found

    def match(self, plant_id: int, text: str) -> bool:
        entry = self.plants[plant_id]
        texts = [entry.name, entry.tag or ""]
        return all(
            any(word in _searched(field) for field in texts)
            or (word.lstrip("-").isdecimal() and str(plant_id).startswith(word))
            for word in _searched(text).split()
        ) and all(any(piece in field for field in texts) for piece in text.split() if not _searched(piece).split())

    @invariant()
    def check_plants(self) -> None:
        assert self.reader.count() == len(self.plants)
        rows = self.reader.rows([*self.plants])
        assert {
            row.id: (row.name, row.tag, row.note, row.version, row.source.kind, row.source.label)
            for row in rows.values()
        } == {
            plant_id: (entry.name, entry.tag, entry.note, entry.version, entry.source.kind, entry.source.label)
            for plant_id, entry in self.plants.items()
        }
        assert {row.name for row in self.store.tokens.list()} == set(self.tokens)
        added = {row.name: row.plants_added for row in self.store.tokens.list()}
        assert added == {name: self.added_by[name] for name in self.tokens}

    @invariant()
    def check_counts(self) -> None:
        counts = self.reader.counts()
        assert counts.tags == Counter(entry.tag for entry in self.plants.values())
        found: Counter[tuple[str, str]] = Counter()
        for source, count in counts.sources.items():
            found[source.kind, source.label] += count
        assert found == Counter((entry.source.kind, entry.source.label) for entry in self.plants.values())
        assert counts.total == counts.today == len(self.plants)

    @invariant()
    def check_history(self) -> None:
        found = {change.number: change for change in self.reader.history(10_000)}
        assert found.keys() == self.changes.keys()
        for number, made in self.changes.items():
            change = found[number]
            assert (change.undoes, change.is_undone, change.plants) == (made.undoes, made.is_undone, len(made.images))
            assert change.can_undo is (made.is_stored and not made.is_undone)

    @override
    def teardown(self) -> None:
        with contextlib.suppress(AttributeError):  # it never opened
            self.reader.close()
            self.store.close()


def _words(text: str, *terms: Term) -> Selection:
    return Selection.of(*map(Contains, text.split()), *terms)


def _new(plant_id: int, entry: Entry) -> NewPlant:
    values: dict[str, object] = {"id": plant_id, "name": entry.name}
    return new_plant(values if entry.tag is None else {**values, "tag": entry.tag})


def _folded(text: str) -> str:
    """What folding means, in the words of Unicode: the store comes to the same one character at a time."""
    decomposed = unicodedata.normalize("NFKD", text.replace("\0", " ").replace("\x1f", " "))
    return "".join(character for character in decomposed if not unicodedata.combining(character)).casefold()


def _searched(text: str) -> str:
    """Fold, and take a times sign for an x and every quotation mark for an apostrophe."""
    return _folded(text).translate(str.maketrans('×"`‘’“”', "x''''''"))
