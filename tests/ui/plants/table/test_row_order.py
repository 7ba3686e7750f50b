"""The rows beside a store whose commits are reported late, and whose queries see it and answer at any time or fail."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from plantdesk.domain.search import parse_search
from plantdesk.domain.views import Order, View
from plantdesk.ui.plants.table import row_order
from plantdesk.ui.plants.table.row_order import (
    Answer,
    Edit,
    Insertion,
    Removal,
    Replacement,
    RowOrder,
    State,
    id_list_diff,
)
from tests.support.cases import cases, number

VIEWS = [
    View(),
    View(descending=False),
    View(order=Order.ID),
    View(order=Order.NAME),
    View(parse_search("a")),
]


class Plant(NamedTuple):
    """What a view needs of a plant."""

    seq: int
    name: str


class Report(NamedTuple):
    """What a commit has changed."""

    added: Sequence[int] = ()
    updated: Sequence[int] = ()
    removed: Sequence[int] = ()
    needs_reload: bool = False


def play(rows: RowOrder, edits: list[Edit]) -> None:
    """Apply edits as a model does, which Qt would not allow to be empty or outside of the rows."""
    for edit in edits:
        if isinstance(edit, Insertion):
            assert edit.ids
            assert 0 <= edit.row <= len(rows.ids)
        elif isinstance(edit, Removal):
            assert 0 <= edit.row < edit.row + edit.size <= len(rows.ids)
        rows.apply(edit)
        assert len(rows.ids) == len(set(rows.ids))


class Desk:
    """A store, its commits that are not reported yet, and the rows with at most one query."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.rows, self.view = RowOrder(), View()
        self.plants: dict[int, Plant] = {}
        self.deleted: dict[int, Plant] = {}
        self.reports: list[Report] = []
        self.seq = 0
        self.is_asked = False
        self.before: array[int] | None = None
        self.answer: Answer | None = None
        self.show()

    def listed(self) -> list[int]:
        keys = {
            Order.ADDED: lambda each: self.plants[each].seq,
            Order.ID: lambda each: each,
            Order.NAME: lambda each: (self.plants[each].name, self.plants[each].seq),
        }
        found = [each for each in self.plants if self.view.plants.is_everything or self.plants[each].name == "a"]
        return sorted(found, key=keys[self.view.order], reverse=self.view.descending)

    # --- commits ---

    def add(self) -> None:
        new = [each for each in self._ids() if each not in self.plants]
        for each in new:
            self.seq += 1
            self.plants[each] = Plant(self.seq, self.chance.choice("abc"))
        is_elsewhere = self.chance.random() < 0.1
        self.reports.append(Report(needs_reload=True) if is_elsewhere else Report(added=new))

    def delete(self) -> None:
        gone = {each: self.plants.pop(each) for each in self._ids() if each in self.plants}
        self.deleted |= gone
        self.reports.append(Report(removed=[*gone]))

    def bring_back(self) -> None:
        back = {each: plant for each, plant in self.deleted.items() if each not in self.plants}
        self.plants |= back
        self.deleted.clear()
        self.reports.append(Report(updated=[*back]))

    def rename(self) -> None:
        edited = [each for each in self._ids() if each in self.plants]
        self.plants |= {each: self.plants[each]._replace(name=self.chance.choice("abc")) for each in edited}
        self.reports.append(Report(updated=edited))

    def report(self) -> None:
        report = self.reports.pop(0) if self.reports else Report()
        self.rows.outdated |= report.needs_reload
        self.rows.update(report.updated)
        play(self.rows, self.rows.add(report.added))
        play(self.rows, self.rows.remove(report.removed))

    # --- queries ---

    def show(self) -> None:
        self.view = self.chance.choice(VIEWS)
        self._load()

    def query(self) -> None:
        """Let the query begin, see the store as it is now, show its first rows, answer or fail: what comes next."""
        if not self.is_asked:
            self._ask()
        elif self.answer is None:
            found = array("q", self.listed())
            if self.before is None and found:
                self.before = found[: self.chance.choice([1, 5, 40])]
                play(self.rows, self.rows.begin(self.before))
            empty = [Replacement(found, same_query=False)]
            edits = empty if self.before is None else id_list_diff(self.before, found)
            self.answer = Answer(edits, found, len(self.plants))
        else:
            self.is_asked = False
            play(self.rows, self.rows.finish(self.answer))

    def fail(self) -> None:
        if self.is_asked:
            self.is_asked = False
            self.rows.fail()

    def settle(self) -> None:
        """Report all commits, and let queries answer as long as there are any."""
        while self.reports:
            self.report()
        for _ in range(9):
            self.query()
        assert self.rows.is_current
        assert self.rows.ids.tolist() == self.listed()
        assert self.rows.total == len(self.plants)

    def _ids(self) -> list[int]:
        return self.chance.sample(range(1, 31), self.chance.choice([1, 1, 2, 6, 15]))

    def _load(self) -> None:
        self.is_asked, self.before, self.answer = True, None, None
        self.rows.load(self.view)

    def _ask(self) -> None:
        if self.rows.state is State.FAILED:
            self._load()
        elif self.rows.outdated:
            self.rows.refresh()
            self.is_asked, self.before, self.answer = True, self.rows.ids, None


@pytest.mark.parametrize("seed", range(number(20)))
def test_the_rows_are_those_of_the_store_in_the_end(seed: int) -> None:
    desk = Desk(seed)
    commits = [desk.add, desk.add, desk.add, desk.delete, desk.bring_back, desk.rename]
    for _ in range(200):
        for _ in range(desk.chance.choice([2, 4, 8, 16])):
            desk.chance.choice(commits)()
            for _ in range(desk.chance.choice([0, 1, 1, 2])):
                desk.report()
            for _ in range(desk.chance.choice([0, 1, 1, 2])):
                desk.query()
            if desk.chance.random() < 0.1:
                desk.fail()
        if desk.chance.random() < 0.5:
            desk.settle()
        if desk.chance.random() < 0.2:
            desk.show()
    desk.settle()


def test_a_plant_that_may_still_have_a_row_further_down_gets_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_order, "_OVERLAP", 5)
    rows = RowOrder()
    rows.load(View())
    ids = array("q", range(100))
    play(rows, rows.finish(Answer([Replacement(ids, same_query=False)], ids, 100)))
    play(rows, rows.remove(range(50, 80)))  # so many that they are not looked for
    play(rows, rows.add([60]))
    assert rows.ids.tolist() == [*range(100)]
    assert rows.outdated


@given(st.lists(st.integers(-(2**63), 2**63 - 1), unique=True), st.frozensets(st.integers(0, 20)))
@cases(200)
def test_rows_are_found_where_they_are(ids: list[int], others: frozenset[int]) -> None:
    rows = RowOrder()
    rows.ids = array("q", ids)
    requested = others | frozenset(ids[::3])
    found = {each: ids.index(each) for each in requested if each in ids}
    assert rows.rows_of(requested) == found
    assert {each: row for each in requested if (row := rows.row_of(each)) is not None} == found


# --- costs --------------------------------------------------------------------------------------------------------


class Counted(array):  # type: ignore[type-arg]
    """Ids that count how many of them are read."""

    reads = 0

    @override
    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(at)
        self.reads += len(found) if isinstance(at, slice) else 1
        return found

    @override
    def index(self, value: int, start: int = 0, stop: int = 2**62) -> int:
        self.reads += min(stop, len(self)) - start
        return super().index(value, start, stop)


def reads_of_a_diff(size: int) -> int:
    """Return how many ids are read to find a hundred differences, of which half are insertions."""
    old, new = Counted("q", range(size)), Counted("q", range(size))
    for row in range(size - size // 100, 0, -size // 50):
        del new[row]
        new.insert(row - size // 100, size + row)
    assert len(id_list_diff(old, new)) == 100
    return old.reads + new.reads


def reads_of_additions(size: int, *, descending: bool) -> int:
    """Return how many ids are read to show a hundred plants that are added one after the other."""
    rows = RowOrder()
    rows.load(View(descending=descending))
    ids = Counted("q", range(size))
    play(rows, rows.finish(Answer([Replacement(ids, same_query=False)], ids, size)))
    for plant_id in range(size, size + 100):
        for edit in rows.add([plant_id]):
            rows.apply(edit)
    assert len(rows.ids) == size + 100
    return ids.reads


def test_the_orders_of_a_million_plants_are_compared_in_ten_times_the_steps_of_a_hundred_thousand() -> None:
    assert reads_of_a_diff(1_000_000) <= 10 * reads_of_a_diff(100_000)


@pytest.mark.parametrize("descending", [False, True])
def test_a_new_plant_is_compared_with_as_many_of_a_million_as_of_a_hundred_thousand(*, descending: bool) -> None:
    few = reads_of_additions(100_000, descending=descending)
    assert reads_of_additions(1_000_000, descending=descending) == few
