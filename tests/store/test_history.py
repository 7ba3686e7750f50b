"""The history of a SQLite store: what stays of it, and restores as changes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from plantdesk.domain.edits import DeleteAll, SetTag, edited
from plantdesk.domain.errors import NothingToUndoError, UndoConflictError
from plantdesk.domain.imports import ImportRow, OnConflict
from plantdesk.domain.records import FORM, PlantRow
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store import entries
from plantdesk.store.sqlite.backups import FileBackups
from plantdesk.store.sqlite.store import Store
from tests.store.contract.test_changes import add, apply, rows, undo
from tests.store.test_backups import until
from tests.support.waiting import SECONDS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def plants(store: Store) -> list[PlantRow]:
    """A fern and an aloe with a tag, and a rose without one."""
    return [add(store, 3, "Fern", "kitchen"), add(store, 1, "Aloe", "kitchen"), add(store, 2, "Rose")]


@pytest.mark.usefixtures("plants")
def test_old_and_large_before_images_are_removed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = [apply(store, SetTag(Selection(), f"tag {n}")) for n in range(3)]
    monkeypatch.setattr(entries, "_MAX_SIZE", 0)
    monkeypatch.setattr(entries, "_STEP", 2)
    with closing(store.reader()) as reader:
        until(lambda: [change.can_undo for change in reader.history()] == [True, False, False])
    assert isinstance(store.undo(numbers[0], FORM).exception(SECONDS), NothingToUndoError)
    undo(store)
    assert {row.tag for row in rows(store)} == {"tag 1"}
    with closing(sqlite3.connect(store.path)) as database:
        until(lambda: database.execute("SELECT count(DISTINCT change) FROM before_image").fetchone() == (1,))


@pytest.mark.usefixtures("plants")
def test_a_large_change_can_be_undone_and_redone_again_and_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    before = rows(store)
    apply(store, DeleteAll(Selection()))
    monkeypatch.setattr(entries, "_MAX_SIZE", 0)
    with closing(store.reader()) as reader:
        for _ in range(3):
            undo(store)
            assert [row[:6] for row in rows(store)] == [row[:6] for row in before]
            until(lambda: sum(change.can_undo for change in reader.history()) == 1)
            store.redo(FORM).result(SECONDS)
            assert rows(store) == []
            until(lambda: sum(change.can_undo for change in reader.history()) == 1)


def test_undo_goes_back_across_restores(store: Store, path: Path, plants: list[PlantRow]) -> None:
    backup = FileBackups(path).make()
    number = apply(store, edited(plants[0], name="Great fern"), edited(plants[1], note="dry"))
    edited_rows = rows(store)
    FileBackups(path).restore(backup.path, FORM)
    assert isinstance(store.undo(number, FORM).exception(SECONDS), UndoConflictError)
    undo(store)
    assert rows(store) == edited_rows
    undo(store)
    assert rows(store) == plants
    store.redo(FORM).result(SECONDS)
    store.redo(FORM).result(SECONDS)
    assert [row[:6] for row in rows(store)] == [row[:6] for row in plants]


def test_deleted_plants_come_back_after_a_restore_took_their_places(
    store: Store, path: Path, tmp_path: Path, plants: list[PlantRow]
) -> None:
    with closing(Store(tmp_path / "foreign.db")) as foreign:
        for plant_id in (11, 12, 13):
            add(foreign, plant_id, "Foreign")
    number = apply(store, DeleteAll(Selection()))
    FileBackups(path).restore(tmp_path / "foreign.db", FORM)
    undo(store, number)
    assert [row.id for row in rows(store)] == [11, 12, 13, *(row.id for row in plants)]
    store.redo(FORM).result(SECONDS)
    assert [row.id for row in rows(store)] == [11, 12, 13]
    undo(store)
    undo(store)
    assert {row[:6] for row in rows(store)} == {row[:6] for row in plants}


@pytest.mark.parametrize("on_conflict", list(OnConflict))
def test_the_size_of_an_import_is_that_of_its_before_images(store: Store, on_conflict: OnConflict) -> None:
    store.add(new_plant({"id": 1, "name": "Röse", "tag": "hall"}), FORM).result(SECONDS)
    names = [*enumerate(["Moss", "Ivy"], 1)]
    if on_conflict is OnConflict.REFUSE:
        names = names[1:]
    with closing(store.new_import()) as plants:
        plants.add([ImportRow(1, plant_id, plant_id, name, None, "n") for plant_id, name in names])
        plants.compare(on_conflict, ("id", "name", "tag", "note"))
        plants.apply("plants.csv")
    with closing(sqlite3.connect(store.path)) as connection:
        entry = connection.execute("SELECT plants, size FROM change WHERE kind = 'import'").fetchone()
        counted = """SELECT count(*), total(50 + length(CAST(coalesce(name, '') || coalesce(tag, '')
                         || coalesce(note, '') || coalesce(searched_name, '')
                         || coalesce(searched_tag, '') || coalesce(searched_note, '') AS BLOB))) FROM before_image"""
        assert entry == connection.execute(counted).fetchone()
