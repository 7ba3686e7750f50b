"""Backups of a shared store: files of their own, and restores as changes."""

import json
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from plantdesk.cli.main import main
from plantdesk.domain.backups import BackupKind
from plantdesk.domain.edits import SetTag
from plantdesk.domain.errors import BackupUnusableError
from plantdesk.domain.locations import copy_store
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import FORM
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store import location_of
from plantdesk.store.locations import PostgresLocation
from plantdesk.store.postgres.copies import SharedBackups
from plantdesk.store.postgres.errors import NulRefusedError
from tests.store.test_copies import fill
from tests.support.plant_changes import add, rows, undo
from tests.support.postgres_server import PostgresServer
from tests.support.waiting import SECONDS, until


@pytest.fixture
def backups(location: PostgresLocation) -> SharedBackups:
    return SharedBackups(location)


def test_a_backup_goes_to_an_empty_database_with_its_history(
    store: PlantStore, backups: SharedBackups, postgres: PostgresServer
) -> None:
    fill(store)
    backup = backups.make()
    other = location_of(postgres.url(postgres.new_database()))
    copy_store(location_of(backup.path), other)
    with closing(other.open()) as copied:
        assert rows(copied) == rows(store)
        undo(copied)
        assert rows(copied) != rows(store)


def test_a_restore_keeps_imports_of_one_name_apart(
    store: PlantStore, location: PostgresLocation, tmp_path: Path
) -> None:
    database = ["--database", location.url]
    for plant_id in (1, 2):
        folder = tmp_path / str(plant_id)
        folder.mkdir()
        (folder / "plants.csv").write_text(f"id,name\n{plant_id},Fern\n")
        assert main(["import", str(folder / "plants.csv"), *database]) == 0
    assert main(["backup", str(tmp_path / "saved.db"), *database]) == 0
    add(store, 3, "New")
    assert main(["restore", str(tmp_path / "saved.db"), "--yes", *database]) == 0
    with closing(store.reader()) as reader:
        assert [change.plants for change in reader.history(1)] == [1]


def test_what_cannot_be_restored_changes_nothing(store: PlantStore, backups: SharedBackups, tmp_path: Path) -> None:
    add(store, 1, "Fern")
    with pytest.raises(BackupUnusableError):
        backups.preview(tmp_path / "nothing.db")
    with closing(location_of(tmp_path / "own.db").open()) as own:
        add(own, 1, "a\0b")
    with pytest.raises(NulRefusedError):
        backups.restore(tmp_path / "own.db", FORM)
    assert [row.name for row in rows(store)] == ["Fern"]
    assert backups.newest_first() == []


def test_automatic_backups_are_made_daily_if_something_changed(
    store: PlantStore, backups: SharedBackups, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_800_000_000_000
    for module in ("sqlite.backups", "sqlite.files.backup_folder"):
        monkeypatch.setattr(f"plantdesk.store.{module}.now_ms", lambda: now)

    def later(**span: float) -> bool:
        nonlocal now
        now += timedelta(**span) // timedelta(milliseconds=1)
        return backups.make_if_due()

    assert later()
    add(store, 1, "Fern")
    assert not later(hours=23)
    assert later(hours=2)
    assert not later(days=2)
    store.apply([SetTag(Selection(), "hall")], FORM).result(SECONDS)
    assert later(hours=1)
    assert {backup.kind for backup in backups.newest_first()} == {BackupKind.AUTOMATIC}


def test_an_open_store_is_backed_up_by_time(
    store: PlantStore, backups: SharedBackups, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plantdesk.store.postgres.store.PostgresStore._first_backup", 0)
    store.add(new_plant({"id": 1, "name": "Fern"}), FORM).result(SECONDS)
    end = store.begin_backups()
    until(lambda: bool(backups.newest_first()))
    end()
    assert [backup.kind for backup in backups.newest_first()] == [BackupKind.AUTOMATIC]


def test_the_commands_back_up_and_restore(
    store: PlantStore, location: PostgresLocation, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    add(store, 1, "Fern")
    database = ["--database", location.url]
    file = tmp_path / "saved.db"
    assert main(["backup", *database]) == main(["backup", str(file), *database]) == 0
    made = capfd.readouterr().out.splitlines()
    assert made[1] == str(file)
    assert main(["backup", "--list", "--json", *database]) == 0
    assert [item["file"] for item in json.loads(capfd.readouterr().out)] == [made[0]]
    add(store, 2, "Aloe")
    assert main(["restore", str(file), "--yes", *database]) == 0
    assert "Goes: 1 plant (2 “Aloe”)" in capfd.readouterr().out
    assert [row.id for row in rows(store)] == [1]
    assert main(["undo", *database]) == 0
    assert [row.id for row in rows(store)] == [1, 2]
    assert main(["backup", str(file), *database]) == 1
    assert "is there already" in capfd.readouterr().err
