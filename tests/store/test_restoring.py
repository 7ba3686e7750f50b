"""Restoring a backup into a file, and what stays of its history."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from plantdesk.domain.backups import Backup
from plantdesk.domain.edits import DeleteAll, SetTag, edited
from plantdesk.domain.errors import (
    BackupUnusableError,
    NothingToUndoError,
    StoreBusyError,
    StoreError,
    StoreGoneError,
    TokenRefusedError,
    UndoConflictError,
)
from plantdesk.domain.imports import ImportRow, OnConflict
from plantdesk.domain.models import NewPlant
from plantdesk.domain.records import COMMAND, FORM, PlantRow, Source
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant, plant_fields
from plantdesk.store import history
from plantdesk.store.sqlite.backups import FileBackups
from plantdesk.store.sqlite.connections import connect
from plantdesk.store.sqlite.files.backup_folder import BackupFolder
from plantdesk.store.sqlite.migrations import SCHEMA_VERSION
from plantdesk.store.sqlite.store import SqliteStore
from tests.hostile_stores.generator import store as hostile_store
from tests.support.plant_changes import add, apply, rows, undo
from tests.support.store_files import damage, ids_in, make_older
from tests.support.waiting import SECONDS, until


def put(store: SqliteStore, plant_id: int, name: str = "Fern", source: Source = COMMAND) -> None:
    store.add(NewPlant(id=plant_id, name=name), source).result(SECONDS)


def change(path: Path, *statements: str) -> None:
    """Change plants as a later PlantDesk, or a user of the sqlite3 program, may."""
    with closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()


def rows_in(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        sql = """SELECT plant.id, name, tag, seq, added_at, kind, label
                 FROM plant JOIN source ON source.id = source_id ORDER BY seq"""
        return database.execute(sql).fetchall()


@pytest.fixture
def backup(store: SqliteStore, path: Path) -> Backup:
    """Of a store with plants 1, 2, 3, of which since then 1 is gone, 2 has another name, and 4 has come."""
    put(store, 1, "Aloe")
    put(store, 2, "Basil", FORM)
    put(store, 3, "Cactus", store.tokens.create("greenhouse").result(SECONDS).row.source)
    made = FileBackups(path).make()
    change(path, "DELETE FROM plant WHERE id = 1", "UPDATE plant SET name = 'Mint' WHERE id = 2")
    put(store, 4, "Daisy")
    return made


def test_restoring_neither_brings_tokens_nor_takes_them(store: SqliteStore, path: Path, backup: Backup) -> None:
    later = store.tokens.create("later").result(SECONDS)
    store.tokens.revoke("greenhouse").result(SECONDS)
    FileBackups(path).restore(backup.path)
    assert [row.name for row in store.tokens.list()] == ["later"]
    with closing(store.tokens.open_lookup()) as lookup:
        assert lookup.source(later.token) == later.row.source


def test_a_token_has_added_its_plants_also_after_a_restore(store: SqliteStore, path: Path, backup: Backup) -> None:
    source = store.tokens.create("counting").result(SECONDS).row.source
    for number in (900, 901, 902):
        put(store, number, "Aloe", source)
    FileBackups(path).restore(backup.path)
    put(store, 903, "Aloe", source)
    assert {row.name: row.plants_added for row in store.tokens.list()}["counting"] == 4


@pytest.mark.usefixtures("store")
def test_a_backup_of_an_older_plantdesk_is_restored_and_left_as_it_is(path: Path, tmp_path: Path) -> None:
    older = tmp_path / "older.db"
    make_older(older)
    before = older.read_bytes()
    FileBackups(path).restore(older)
    assert ids_in(path) == [7]
    assert older.read_bytes() == before


@pytest.mark.parametrize("what", ["missing", "foreign", "damaged", "newer", "folder"])
@pytest.mark.usefixtures("store")
def test_what_cannot_be_restored_changes_nothing(path: Path, backup: Backup, what: str) -> None:
    before = rows_in(path)
    file = backup.path
    if what == "missing":
        file.unlink()
    elif what == "foreign":
        file.write_text("my diary")
    elif what == "damaged":
        damage(file)
    elif what == "newer":
        change(file, f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    else:
        file = file.parent
    backups = FileBackups(path)
    for refused in (backups.preview, backups.restore):
        with pytest.raises(BackupUnusableError):
            refused(file)
    assert rows_in(path) == before
    assert len(BackupFolder(path).newest_first()) <= 1


def test_without_a_backup_of_the_present_state_nothing_is_restored(path: Path, backup: Backup) -> None:
    before = rows_in(path)
    aside = backup.path.rename(path.with_name("aside.db"))
    BackupFolder(path).folder.rmdir()
    BackupFolder(path).folder.write_text("in the way")
    with pytest.raises(StoreError, match=r"plants\.db-backups"):
        FileBackups(path).restore(aside)
    assert rows_in(path) == before


def test_a_locked_store_is_reported_and_left(path: Path, backup: Backup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plantdesk.store.sqlite.connections.LOCK_SECONDS", 0.05)
    before = rows_in(path)
    with closing(connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError):
            FileBackups(path).restore(backup.path)
    assert rows_in(path) == before


# --- a damaged store, or none --------------------------------------------------------------------


@pytest.mark.parametrize("where", ["pages", "header", "everything"])
def test_a_damaged_store_is_quarantined_and_replaced(
    path: Path, store: SqliteStore, backup: Backup, where: str
) -> None:
    store.close()
    if where == "pages":
        damage(path)
    elif where == "header":
        with path.open("r+b") as file:
            file.write(b"\x5a" * 100)
    else:
        path.write_bytes(b"\x5a" * 20_000)
    damaged = path.read_bytes()
    preview = FileBackups(path).preview(backup.path)
    assert (preview.plants, preview.difference) == (3, None)
    restored = FileBackups(path).restore(backup.path)
    assert restored.saved is not None
    assert restored.saved.read_bytes() == damaged
    assert rows_in(path) == rows_in(backup.path)
    SqliteStore(path).close()


def test_a_store_that_replaces_a_damaged_one_gives_no_id_twice(path: Path, store: SqliteStore) -> None:
    for plant_id in (7, 8, 9):
        put(store, plant_id)
    store.apply([DeleteAll(Selection(ids=[9]))], COMMAND).result(SECONDS)
    backup = FileBackups(path).make()
    store.close()
    path.write_bytes(b"\x5a" * 20_000)
    FileBackups(path).restore(backup.path)
    with closing(SqliteStore(path)) as restored:
        assert restored.add_as_next(plant_fields({"name": "Moss"}), COMMAND).result(SECONDS).id == 10


def test_damage_that_only_the_backup_of_the_present_finds(
    path: Path, store: SqliteStore, backup: Backup, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.close()
    with path.open("r+b") as file:  # an index: no question of a preview reads it
        file.seek(-4096, os.SEEK_END)
        file.write(b"\x5a" * 4096)
    monkeypatch.setattr("plantdesk.store.sqlite.files.store_file._MAX_CHECKED_BYTES", 0)
    restored = FileBackups(path).restore(backup.path)
    assert rows_in(path) == rows_in(backup.path)
    assert restored.saved is not None


@pytest.mark.parametrize("way", ["restored", "made anew"])
def test_a_log_without_its_file_is_kept_and_not_taken_for_that_of_another(
    path: Path, store: SqliteStore, backup: Backup, way: str
) -> None:
    for plant_id in range(100, 150):
        put(store, plant_id, "x" * 2000)
    log = path.with_name(f"{path.name}-wal")
    left = log.read_bytes()  # as after a kill
    store.close()
    path.unlink()
    log.write_bytes(left)
    os.utime(log, (0, 0))
    if way == "restored":
        FileBackups(path).restore(backup.path)
    else:
        with pytest.raises(StoreGoneError):
            SqliteStore(path)
    opened = SqliteStore(path, create=True)
    put(opened, 7, "Fern")
    opened.close()
    assert [row[0] for row in rows_in(path)] == ([1, 2, 3, 7] if way == "restored" else [7])
    assert left in [kept.read_bytes() for kept in BackupFolder(path).folder.glob("*-wal")]


@pytest.mark.usefixtures("backup")
def test_a_token_revoked_since_does_not_come_back_with_a_backup(path: Path, store: SqliteStore) -> None:
    token = store.tokens.create("again").result(SECONDS).token
    newer = FileBackups(path).make()
    store.tokens.revoke("again").result(SECONDS)
    store.close()
    path.write_bytes(b"\x5a" * 20_000)
    restored = FileBackups(path).restore(newer.path)
    assert not restored.tokens_retained
    opened = SqliteStore(path)
    with closing(opened.tokens.open_lookup()) as lookup, pytest.raises(TokenRefusedError):
        lookup.source(token)
    assert opened.tokens.list() == []
    opened.close()


@pytest.mark.usefixtures("backup")
def test_tokens_stay_where_the_damaged_store_still_knows_them(path: Path, store: SqliteStore) -> None:
    store.tokens.create("later").result(SECONDS)
    store.tokens.create("limited", max_plants=7).result(SECONDS)
    for plant_id in range(10, 400):
        store.add(NewPlant(id=plant_id, name="x" * 200), COMMAND).result(SECONDS)
    newer = FileBackups(path).make()
    store.tokens.revoke("later").result(SECONDS)
    store.close()
    with path.open("r+b") as file:
        file.seek(-8 * 4096, os.SEEK_END)
        file.write(b"\x5a" * 8 * 4096)
    restored = FileBackups(path).restore(newer.path)
    assert restored.tokens_retained
    assert restored.preview.difference is None
    opened = SqliteStore(path)
    assert {row.name: row.max_plants for row in opened.tokens.list()} == {"greenhouse": None, "limited": 7}
    opened.close()


def test_a_damaged_store_with_odd_tokens_is_replaced(path: Path, tmp_path: Path) -> None:
    odd = "INSERT INTO token VALUES (1, 'odd', zeroblob(32), 1, 'then', NULL, NULL, x'00', 'many')"
    hostile_store(path, odd, version=2)
    with closing(sqlite3.connect(path)) as database:
        (page,) = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'plant'").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\x5a" * 4096)
    older = tmp_path / "older.db"
    make_older(older)
    assert FileBackups(path).restore(older).tokens_retained
    assert ids_in(path) == [7]
    with closing(SqliteStore(path)) as opened:
        assert [row.name for row in opened.tokens.list()] == ["odd"]


@pytest.fixture
def plants(store: SqliteStore) -> list[PlantRow]:
    """A fern and an aloe with a tag, and a rose without one."""
    return [add(store, 3, "Fern", "kitchen"), add(store, 1, "Aloe", "kitchen"), add(store, 2, "Rose")]


@pytest.mark.usefixtures("plants")
def test_old_and_large_before_images_are_removed(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = [apply(store, SetTag(Selection(), f"tag {n}")) for n in range(3)]
    monkeypatch.setattr(history, "_MAX_IMAGE_BYTES", 0)
    monkeypatch.setattr(history, "_PRUNED_ROWS", 2)
    with closing(store.reader()) as reader:
        until(lambda: [change.can_undo for change in reader.history()] == [True, False, False])
    assert isinstance(store.undo(numbers[0], FORM).exception(SECONDS), NothingToUndoError)
    undo(store)
    assert {row.tag for row in rows(store)} == {"tag 1"}
    with closing(sqlite3.connect(store.path)) as database:
        until(lambda: database.execute("SELECT count(DISTINCT change) FROM before_image").fetchone() == (1,))


@pytest.mark.usefixtures("plants")
def test_a_large_change_can_be_undone_and_redone_again_and_again(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows(store)
    apply(store, DeleteAll(Selection()))
    monkeypatch.setattr(history, "_MAX_IMAGE_BYTES", 0)
    with closing(store.reader()) as reader:
        for _ in range(3):
            undo(store)
            assert [row[:6] for row in rows(store)] == [row[:6] for row in before]
            until(lambda: sum(change.can_undo for change in reader.history()) == 1)
            store.redo(FORM).result(SECONDS)
            assert rows(store) == []
            until(lambda: sum(change.can_undo for change in reader.history()) == 1)


def test_undo_goes_back_across_restores(store: SqliteStore, path: Path, plants: list[PlantRow]) -> None:
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
    store: SqliteStore, path: Path, tmp_path: Path, plants: list[PlantRow]
) -> None:
    with closing(SqliteStore(tmp_path / "foreign.db")) as foreign:
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
def test_the_size_of_an_import_is_that_of_its_before_images(store: SqliteStore, on_conflict: OnConflict) -> None:
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
