"""The store beside a dict that does the same: whatever is done in whatever order, both hold the same plants.

A further way to change the store is one more rule.
"""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
import unicodedata
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from typing_extensions import override

from plantdesk.errors import IdTakenError, InvalidTokenNameError, PlantDeskError, TokenRefusedError, UnknownTokenError
from plantdesk.records import (
    COMMAND,
    FORM,
    LARGEST_ID,
    SMALLEST_ID,
    NewPlant,
    PlantRow,
    Source,
    new_plant,
    plant_fields,
)
from plantdesk.store import Order, Store, View, back_up, restore
from tests.support.cases import cases

SECONDS = 30

_ids = st.integers(-3, 12) | st.sampled_from([SMALLEST_ID, LARGEST_ID - 1, 2**53 + 1])
_letters = st.sampled_from("aAbxX×zZ éÉßﬃǅ\u0301\u0327´’%_\\\0\x1f-'\"1٣🌱½가ﷺ")
_texts = st.text(_letters, max_size=6) | st.text(max_size=3).filter(lambda text: text.isprintable())
_tags = st.none() | _texts
_token_names = st.sampled_from(["garden-sync", "phone", "Ä"])


class Entry(NamedTuple):
    """A plant as the dict has it; its place in the dict is its order of arrival."""

    name: str
    tag: str | None
    source: Source

    @property
    def plain(self) -> bool:
        """Whether ASCII's rules do for it, as the store decides."""
        return (self.name + (self.tag or "")).isascii() and "\0" not in self.name + (self.tag or "")


class StoreBesideDict(RuleBasedStateMachine):
    """Does everything twice, and compares."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "plants.db"
        self.plants: dict[int, Entry] = {}
        self.tokens: dict[str, Source] = {}
        self.revoked: list[Source] = []
        self.added_by: Counter[str] = Counter()
        self.backups: list[tuple[Path, dict[int, Entry]]] = []

    @initialize()
    def open(self) -> None:
        self.store = Store(self.path)
        self.reader = self.store.reader()

    def sources(self) -> list[Source]:
        return [FORM, COMMAND, *self.tokens.values()]

    # --- writing ---

    def expect(self, plant_id: int, entry: Entry, outcome: PlantRow | PlantDeskError) -> None:
        """Do to the dict what was done to the store, and see that the outcome fits."""
        known = self.plants.get(plant_id)
        if entry.source in self.revoked:
            assert isinstance(outcome, TokenRefusedError)
        elif known is None:
            assert isinstance(outcome, PlantRow)
            assert (outcome.id, outcome.name, outcome.tag) == (plant_id, entry.name, entry.tag)
            self.plants[plant_id] = entry
            self.added_by[entry.source.label] += 1
        elif (known.name, known.tag) == (entry.name, entry.tag) and entry.source is not FORM:
            assert isinstance(outcome, PlantRow)
            assert (outcome.name, outcome.tag, outcome.source.label) == (known.name, known.tag, known.source.label)
        else:
            assert isinstance(outcome, IdTakenError)
            assert outcome.owner.name == known.name

    def add_to(self, store: Store, plant_id: int, entry: Entry) -> None:
        future = store.add(_new(plant_id, entry), entry.source)
        self.expect(plant_id, entry, future.exception(SECONDS) or future.result())  # type: ignore[arg-type]

    @rule(data=st.data(), plant_id=_ids, name=_texts, tag=_tags)
    def add(self, data: st.DataObject, plant_id: int, name: str, tag: str | None) -> None:
        source = data.draw(st.sampled_from([*self.sources(), *self.revoked]))
        self.add_to(self.store, plant_id, Entry(name, tag, source))

    @rule(data=st.data())
    def add_again(self, data: st.DataObject) -> None:
        if self.plants:
            plant_id = data.draw(st.sampled_from(list(self.plants)))
            source = data.draw(st.sampled_from(self.sources()))
            self.add_to(self.store, plant_id, self.plants[plant_id]._replace(source=source))

    @rule(data=st.data(), entries=st.lists(st.tuples(_ids, _texts, _tags), max_size=8))
    def add_each(self, data: st.DataObject, entries: list[tuple[int, str, str | None]]) -> None:
        sources = st.sampled_from([*self.sources(), *self.revoked])
        wanted = [(plant_id, Entry(name, tag, data.draw(sources))) for plant_id, name, tag in entries]
        outcomes = self.store.add_each([(_new(plant_id, entry), entry.source) for plant_id, entry in wanted])
        for (plant_id, entry), outcome in zip(wanted, outcomes.result(SECONDS), strict=True):
            self.expect(plant_id, entry, outcome)

    @rule(name=_texts, tag=_tags)
    def add_as_next(self, name: str, tag: str | None) -> None:
        if max(self.plants, default=0) < LARGEST_ID:
            expected = max(max(self.plants, default=0), 0) + 1
            assert self.reader.next_free_id() == expected
            values = {"name": name} | ({} if tag is None else {"tag": tag})
            row = self.store.add_as_next(plant_fields(values), COMMAND).result(SECONDS)
            assert row.id == expected
            self.plants[row.id] = Entry(name, tag, COMMAND)

    @rule(plant_id=_ids, name=_texts)
    def add_from_elsewhere(self, plant_id: int, name: str) -> None:
        with closing(Store(self.path)) as other:
            self.add_to(other, plant_id, Entry(name, None, COMMAND))

    @rule(name=_token_names)
    def create_token(self, name: str) -> None:
        future = self.store.tokens.create(name)
        if name in self.tokens:
            assert isinstance(future.exception(SECONDS), InvalidTokenNameError)
        else:
            made = future.result(SECONDS)
            self.tokens[name] = made.row.source
            self.added_by[name] = 0
            with closing(self.store.tokens.checker()) as checker:
                assert checker.source(made.token) == made.row.source

    @rule(name=_token_names)
    def revoke_token(self, name: str) -> None:
        failure = self.store.tokens.revoke(name).exception(SECONDS)
        if name in self.tokens:
            assert failure is None
            self.revoked.append(self.tokens.pop(name))
        else:
            assert isinstance(failure, UnknownTokenError)

    @rule()
    def back_up(self) -> None:
        self.backups.append((back_up(self.path).path, dict(self.plants)))

    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        if self.backups:
            backup, plants = data.draw(st.sampled_from(self.backups))
            gone, back = self.plants.keys() - plants.keys(), plants.keys() - self.plants.keys()
            restored = restore(self.path, backup)
            difference = restored.preview.difference
            assert difference is not None
            assert (difference.leaving.size, difference.returning.size) == (len(gone), len(back))
            assert (restored.saved is None) is (plants == self.plants)
            if restored.saved is not None:
                self.backups.append((restored.saved, self.plants))
            self.plants = dict(plants)

    @rule()
    def reopen(self) -> None:
        self.reader.close()
        self.store.close()
        self.open()

    # --- reading ---

    @rule(text=_texts, order=st.sampled_from(Order), descending=st.booleans())
    def view(self, text: str, order: Order, descending: bool) -> None:  # noqa: FBT001
        view = View(text, order, descending)
        found = [plant_id for chunk in self.reader.ids(view) for plant_id in chunk]
        assert found == [
            plant_id for plant_id in self.ordered(order, descending=descending) if self.has(plant_id, text)
        ]
        assert self.reader.matching([*self.plants, 99], view) == set(found)

    def ordered(self, order: Order, *, descending: bool) -> list[int]:
        arrival = {plant_id: place for place, plant_id in enumerate(self.plants)}

        def name_key(plant_id: int) -> bytes:
            entry = self.plants[plant_id]
            text = entry.name if entry.plain else f"{_folded(entry.name)}\x1f{_folded(entry.tag or '')}"
            return text.encode().lower()

        def tag_key(plant_id: int) -> bytes:
            entry = self.plants[plant_id]
            return (entry.tag or "" if entry.plain else _folded(entry.tag or "")).encode().lower()

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

    def has(self, plant_id: int, text: str) -> bool:
        entry = self.plants[plant_id]
        texts = [entry.name, entry.tag or ""]
        return all(
            any(word in _searched(each) for each in texts)
            or (word.lstrip("-").isdecimal() and str(plant_id).startswith(word))
            for word in _searched(text).split()
        ) and all(any(piece in each for each in texts) for piece in text.split() if not _searched(piece).split())

    @invariant()
    def same_plants(self) -> None:
        assert self.reader.count() == len(self.plants)
        rows = self.reader.rows([*self.plants])
        assert {row.id: (row.name, row.tag, row.source.kind, row.source.label) for row in rows.values()} == {
            plant_id: (entry.name, entry.tag, entry.source.kind, entry.source.label)
            for plant_id, entry in self.plants.items()
        }
        assert {row.name for row in self.store.tokens.list()} == set(self.tokens)
        added = {row.name: row.plants_added for row in self.store.tokens.list()}
        assert added == {name: self.added_by[name] for name in self.tokens}

    @override
    def teardown(self) -> None:
        with contextlib.suppress(AttributeError):  # it never opened
            self.reader.close()
            self.store.close()
            with closing(sqlite3.connect(self.path)) as database:
                assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        self.folder.cleanup()


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


TestStoreBesideDict = StoreBesideDict.TestCase
TestStoreBesideDict.settings = cases(15)
