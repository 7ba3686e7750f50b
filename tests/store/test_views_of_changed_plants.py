"""A view lists each of its plants once, in its first rows or in the others, whatever was changed before."""

from __future__ import annotations

from contextlib import closing
from random import Random
from shutil import copyfile
from typing import TYPE_CHECKING

import pytest

from plantdesk.domain.edits import DeleteAll, SetTag, edited
from plantdesk.domain.imports import ImportRow, OnConflict
from plantdesk.domain.records import COMMAND, FORM
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import Selection
from plantdesk.domain.views import Order, View
from plantdesk.store.sqlite.queries import _FIRST_CHUNK, Reader
from plantdesk.store.sqlite.store import Store
from tests.support.adding import add_each, plant
from tests.support.cases import number
from tests.support.waiting import SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from plantdesk.domain.models import NewPlant

_PLANTS = 2 * _FIRST_CHUNK
_NAMES = ("Aloe", "basil", "Érable", "x", "Straße", "4×4")
_SEARCHES = ("a", "aloe", "-aloe", "changed", "id:100-900", "nothing at all")
_VIEWS = [
    *(View(Selection(), order, descending) for order in Order for descending in (False, True)),
    *(View(parse_search(text), descending=descending) for text in _SEARCHES for descending in (False, True)),
    *(View(parse_search(text), Order.NAME) for text in _SEARCHES),
]
_LIMITS = (0, _FIRST_CHUNK, _PLANTS)
_SIZES = [limit + by for limit in _LIMITS for by in (-1, 0, 1) if 0 <= limit + by <= _PLANTS]


def _import(store: Store, plants: list[NewPlant]) -> None:
    rows = [ImportRow(1, line, each.id, each.name, each.tag, None) for line, each in enumerate(plants, 2)]
    with closing(store.new_import()) as new:
        new.add(rows)
        new.compare(OnConflict.REPLACE, ("id", "name", "tag"))
        new.apply("plants.csv")


def _ids(reader: Reader, view: View) -> list[int]:
    return [plant_id for chunk in reader.ids(view) for plant_id in chunk]


def _tag(store: Store, ids: list[int]) -> None:
    store.apply([SetTag(Selection(ids=ids), "changed")], COMMAND).result(SECONDS)


def _rename(store: Store, ids: list[int]) -> None:
    with closing(store.reader()) as reader:
        rows = reader.rows(ids).values()
    store.apply([edited(row, name=f"{row.name} changed") for row in rows], COMMAND).result(SECONDS)


def _delete(store: Store, ids: list[int]) -> None:
    store.apply([DeleteAll(Selection(ids=ids))], COMMAND).result(SECONDS)


def _delete_and_undo(store: Store, ids: list[int]) -> None:
    _delete(store, ids)
    store.undo(None, COMMAND).result(SECONDS)


def _delete_and_add(store: Store, ids: list[int]) -> None:
    _delete(store, ids)
    add_each(store, [(plant(each, f"Aloe {each}", "changed"), FORM) for each in ids])


def _replace(store: Store, ids: list[int]) -> None:
    _import(store, [plant(each, f"Changed {each}") for each in ids])


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of plants that stand in another sequence in each order."""
    chance = Random(1)
    path = tmp_path_factory.mktemp("store") / "plants.db"
    with closing(Store(path)) as store:
        ids = chance.sample(range(-300, _PLANTS), _PLANTS)
        names = [f"{chance.choice(_NAMES)} {chance.randrange(99)}" for _ in ids]
        tags = [chance.choice([None, "changed", "aloe", "office"]) for _ in ids]
        _import(store, [plant(*each) for each in zip(ids, names, tags, strict=True)])
    return path


@pytest.mark.parametrize("change", [_tag, _rename, _delete, _delete_and_undo, _delete_and_add, _replace])
def test_a_view_has_each_plant_once_after_changes_of_neighbours(
    many: Path, tmp_path: Path, change: Callable[[Store, list[int]], None]
) -> None:
    chance = Random(2)
    for size in [*chance.choices(_SIZES, k=number(4)), *chance.choices(range(_PLANTS), k=number(1))]:
        path = copyfile(many, tmp_path / f"{chance.random()}.db")
        with closing(Store(path)) as store, closing(store.reader()) as reader:
            in_order = _ids(reader, View(order=chance.choice([*Order])))
            start = chance.choice([0, _FIRST_CHUNK, len(in_order) - size, chance.randrange(len(in_order))])
            if neighbours := in_order[start : start + size]:
                change(store, neighbours)
            for view in _VIEWS:
                found = _ids(reader, view)
                every = [row.id for page in reader.pages(view.plants) for row in page]
                assert sorted(found) == sorted(every), (size, start, view)
                if view == View(view.plants):
                    assert found == [row.id for row in reader.selected(view.plants)]
