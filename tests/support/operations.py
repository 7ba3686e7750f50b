"""Operations of several desks on one store, recorded with their times, and a check that they happened one by one.

In the way of Jepsen: a desk records when it asked, when it was answered, and what it was told. Afterwards the log of
the store, its before-images, must explain each answer: what was acknowledged is there once, what failed never happened,
what is unknown happened once or never, and nothing happened before what was answered before it was asked for.
"""

import itertools
import random
import threading
import time
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

import psycopg

from plantdesk.domain.edits import edited
from plantdesk.domain.errors import PlantDeskError, StoreError
from plantdesk.domain.history import Change
from plantdesk.domain.models import NewPlant
from plantdesk.domain.protocols import PlantReader, PlantStore
from plantdesk.domain.records import FORM, PlantRow
from plantdesk.store.postgres.transactions import OutcomeUnknownError
from tests.support.waiting import SECONDS

#: The plants that all desks edit. Added plants have larger ids.
REGISTERS = range(1, 9)


class Kind(Enum):
    """What a desk did."""

    ADD = auto()
    EDIT = auto()
    UNDO = auto()
    READ = auto()


class Outcome(Enum):
    """What it was told."""

    OK = auto()
    FAILED = auto()
    UNKNOWN = auto()


@dataclass
class Operation:
    """One operation; times are those of `time.monotonic`. `value` is the name that was written or read."""

    kind: Kind
    plant: int
    value: str
    #: The version of the plant that an edit rests on, or that was read.
    version: int = 0
    began: float = field(default_factory=time.monotonic)
    ended: float = float("inf")
    outcome: Outcome = Outcome.UNKNOWN
    #: The number of its change.
    number: int | None = None

    def end(self, outcome: Outcome, number: int | None = None) -> None:
        """Record the answer."""
        self.outcome, self.number = outcome, number
        if outcome is not Outcome.UNKNOWN:  # it may still happen
            self.ended = time.monotonic()


class User:
    """Somebody at a desk, who does one thing after the other. Belongs to one thread."""

    _ids = itertools.count(REGISTERS.stop)
    _values = itertools.count(1)

    def __init__(self, store: PlantStore, seed: int) -> None:
        self._store = store
        self._random = random.Random(seed)
        self._own: list[Change] = []
        self.operations: list[Operation] = []
        self.errors: Counter[str] = Counter()

    def work(self, ended: threading.Event) -> None:
        """Do something for as long as it takes."""
        steps: list[Callable[[PlantReader], None]] = [self._add, self._edit, self._edit, self._undo, self._read]
        with closing(self._store.reader()) as reader:
            while not ended.is_set():
                try:
                    self._random.choice(steps)(reader)
                except StoreError as error:  # of a read, before anything was asked for
                    self.errors[type(error).__name__] += 1
                    ended.wait(0.02)

    def _add(self, _reader: PlantReader) -> None:
        plant_id = next(self._ids)
        operation = Operation(Kind.ADD, plant_id, f"added {plant_id}")
        self._perform(
            operation, lambda: self._store.add(NewPlant(id=plant_id, name=operation.value), FORM).result(SECONDS)
        )

    def _edit(self, reader: PlantReader) -> None:
        seen = reader.plant(self._random.choice(REGISTERS))
        if seen is not None:
            operation = Operation(Kind.EDIT, seen.id, f"value {next(self._values)}", seen.version)
            edits = [edited(seen, name=operation.value)]
            self._perform(operation, lambda: self._store.apply(edits, FORM).result(SECONDS).change)

    def _undo(self, _reader: PlantReader) -> None:
        if self._own:
            change = self._own.pop()
            operation = Operation(Kind.UNDO, 0, "", change.number)
            self._perform(operation, lambda: self._store.undo(change, FORM).result(SECONDS).change)

    def _read(self, reader: PlantReader) -> None:
        operation = Operation(Kind.READ, self._random.choice(REGISTERS), "")
        row = reader.plant(operation.plant)
        if row is not None:
            operation.value, operation.version = row.name, row.version
            operation.end(Outcome.OK)
            self.operations.append(operation)

    def _perform(self, operation: Operation, act: Callable[[], Change | PlantRow | None]) -> None:
        self.operations.append(operation)
        try:
            done = act()
        except PlantDeskError as error:
            self.errors[type(error).__name__] += 1
            if not isinstance(error, OutcomeUnknownError):
                operation.end(Outcome.FAILED)
        else:
            change = done if isinstance(done, Change) else None
            operation.end(Outcome.OK, None if change is None else change.number)
            if operation.kind is Kind.EDIT and change is not None:
                self._own.append(change)


class _State(NamedTuple):
    """A state of a plant: the change that brought it about, its version and its name."""

    number: int
    version: int
    name: str


class _Log:
    """What the store says has happened."""

    def __init__(self, url: str) -> None:
        with psycopg.connect(url) as connection:
            images = connection.execute("""
                SELECT change, plant_id, name, CASE WHEN plant_change > 0 THEN plant_change ELSE -seq END, undoes
                FROM plantdesk.before_image JOIN plantdesk.change ON number = change ORDER BY change""").fetchall()
            plants = connection.execute("""
                SELECT id, name, CASE WHEN change > 0 THEN change ELSE -seq END FROM plantdesk.plant""").fetchall()
        self.names = {plant_id: name for plant_id, name, _ in plants}
        self.undone = {number: undoes for number, _, _, _, undoes in images if undoes is not None}
        self.states: dict[int, list[_State]] = defaultdict(list)
        begun: Counter[int] = Counter()
        for number, plant_id, name, version, _ in images:
            self.states[plant_id].append(_State(begun[plant_id], version, name))
            begun[plant_id] = number
        for plant_id, name, version in plants:
            self.states[plant_id].append(_State(begun[plant_id], version, name))

    def find_replaced(self, plant: int, number: int) -> _State | None:
        """Return the state that a change has replaced."""
        states = self.states[plant]
        index = next((index for index, state in enumerate(states) if state.number == number), 0)
        return states[index - 1] if index else None

    def list_changes(self) -> dict[int, tuple[int, str]]:
        """Return plant and new name of each change of a plant."""
        return {state.number: (plant, state.name) for plant, states in self.states.items() for state in states[1:]}


def find_problems(url: str, operations: Iterable[Operation]) -> list[str]:
    """Return what the store cannot explain."""
    done, log = list(operations), _Log(url)
    return [*_check_adds(done, log), *_check_writes(done, log), *_check_order(done), *_check_reads(done, log)]


def _check_adds(done: list[Operation], log: _Log) -> Iterable[str]:
    for operation in done:
        if operation.kind is Kind.ADD:
            name = log.names.get(operation.plant)
            if operation.outcome is Outcome.OK and name != operation.value:
                yield f"an acknowledged plant is {name}: {operation}"
            if operation.outcome is Outcome.FAILED and name is not None:
                yield f"a plant that failed is there: {operation}"


def _check_writes(done: list[Operation], log: _Log) -> Iterable[str]:
    """Find for each change of the log the one operation that made it, and give that its number."""
    changes = log.list_changes()
    unknown = [operation for operation in done if operation.outcome is Outcome.UNKNOWN]
    edits = {operation.value: operation for operation in unknown if operation.kind is Kind.EDIT}
    undos = {operation.version: operation for operation in unknown if operation.kind is Kind.UNDO}
    for operation in done:
        if operation.outcome is Outcome.OK and operation.number is not None:
            plant, name = changes.pop(operation.number, (None, None))
            if plant is None:
                yield f"an acknowledged change is not in the log: {operation}"
            elif operation.kind is Kind.UNDO:
                operation.plant = plant
                if log.undone.get(operation.number) != operation.version:
                    yield f"an undo took back {log.undone.get(operation.number)}: {operation}"
            elif (plant, name) != (operation.plant, operation.value):
                yield f"a change is {name}: {operation}"
            yield from _check_seen_version(operation, log)
    for number, (plant, name) in changes.items():
        made_by = undos.pop(log.undone[number], None) if number in log.undone else edits.pop(name, None)
        if made_by is None:
            yield f"change {number} of plant {plant} to {name} was made by nobody, or twice, or by what had failed"
        else:
            made_by.plant, made_by.number = plant, number
            yield from _check_seen_version(made_by, log)


def _check_seen_version(operation: Operation, log: _Log) -> Iterable[str]:
    before = log.find_replaced(operation.plant, operation.number or 0)
    if operation.kind is Kind.EDIT and (before is None or before.version != operation.version):
        yield f"an edit has replaced {before}, which nobody saw: {operation}"


def _check_order(done: list[Operation]) -> Iterable[str]:
    """Compare the order of the changes with that of real time."""
    earliest = float("inf")
    numbered = [operation for operation in done if operation.number is not None]
    for operation in sorted(numbered, key=lambda operation: -(operation.number or 0)):
        if earliest < operation.began:
            yield f"a later change was answered before this one was asked for: {operation}"
        earliest = min(earliest, operation.ended)


def _check_reads(done: list[Operation], log: _Log) -> Iterable[str]:
    """Find for each read a state that was there while it ran."""
    writes = defaultdict(list)
    for operation in done:
        if operation.number is not None:
            writes[operation.plant].append(operation)
    for operation in done:
        if operation.kind is Kind.READ:
            numbers = [state.number for state in log.states[operation.plant]]
            of_plant = writes[operation.plant]
            least = max((write.number or 0 for write in of_plant if write.ended < operation.began), default=0)
            after = min((write.number or 0 for write in of_plant if write.began > operation.ended), default=None)
            first = bisect_right(numbers, least) - 1
            last = len(numbers) if after is None else bisect_right(numbers, after - 1)
            seen = log.states[operation.plant][max(first, 0) : last]
            if (operation.version, operation.value) not in {(state.version, state.name) for state in seen}:
                yield f"a read had none of {seen[:3]}: {operation}"


def add_registers(store: PlantStore) -> None:
    """Add the plants that the desks edit."""
    for plant_id in REGISTERS:
        store.add(NewPlant(id=plant_id, name=f"plant {plant_id}"), FORM).result(SECONDS)
