import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from plantdesk.domain.backups import Backup, BackupKind, expired_backups
from plantdesk.domain.errors import (
    BackupFolderError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreUnreachableError,
)
from plantdesk.domain.models import NewPlant
from plantdesk.domain.records import COMMAND, now_ms
from plantdesk.platform import paths, settings
from plantdesk.store.automatic_backups import start_backup_thread
from plantdesk.store.sqlite.backups import FileBackups
from plantdesk.store.sqlite.connections import connect
from plantdesk.store.sqlite.files.backup_folder import BackupFolder, copy_database
from plantdesk.store.sqlite.store import SqliteStore
from tests.support.store_files import damage, ids_in, make_older
from tests.support.waiting import SECONDS, until

_NOW = datetime(2026, 11, 21, 12, 30, tzinfo=UTC)


@pytest.fixture
def backups(path: Path) -> FileBackups:
    return FileBackups(path)


def add(store: SqliteStore, *ids: int) -> None:
    for plant_id in ids:
        store.add(NewPlant(id=plant_id, name=f"Fern {plant_id}"), COMMAND).result(SECONDS)


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
@pytest.mark.usefixtures("store")
def test_backups_are_for_their_owner_alone(path: Path, backups: FileBackups) -> None:
    before = os.umask(0)
    try:
        backup = FileBackups(path).make()
    finally:
        os.umask(before)
    assert stat.S_IMODE(backup.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(backups.folder.stat().st_mode) == 0o700


def test_backups_made_while_plants_stream_in_hold_a_beginning_of_them(store: SqliteStore, path: Path) -> None:
    ended = threading.Event()

    def add_on() -> None:
        plant_id = 0
        while not ended.is_set():
            add(store, plant_id := plant_id + 1)

    writing = threading.Thread(target=add_on)
    writing.start()
    try:
        made = [FileBackups(path).make() for _ in range(20)]
    finally:
        ended.set()
        writing.join()
    held = [ids_in(backup.path) for backup in made]
    assert all(ids == list(range(1, len(ids) + 1)) for ids in held)
    assert [len(ids) for ids in held] == sorted(len(ids) for ids in held)


@pytest.mark.usefixtures("store")
def test_backups_of_one_millisecond_have_names_of_their_own(
    path: Path, backups: FileBackups, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plantdesk.store.sqlite.files.backup_folder.now_ms", lambda: 1_795_000_000_999)
    made = [FileBackups(path).make() for _ in range(3)]
    assert [(backup.made_at, backup.number) for backup in made] == [(1_795_000_000_999, number) for number in (1, 2, 3)]
    assert backups.newest_first() == made[::-1]


def test_the_newest_backups_stay_after_the_clock_was_set_back(
    store: SqliteStore, path: Path, backups: FileBackups, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, 1)
    made = [FileBackups(path).make(BackupKind.REPLACED) for _ in range(10)]
    monkeypatch.setattr("plantdesk.store.sqlite.files.backup_folder.now_ms", lambda: 0)
    made += [FileBackups(path).make(BackupKind.REPLACED) for _ in range(3)]
    assert backups.newest_first() == made[::-1]
    assert expired_backups(made) == made[2::-1]


@pytest.mark.usefixtures("store")
def test_other_files_in_the_folder_are_left_alone(path: Path, backups: FileBackups) -> None:
    FileBackups(path).make()
    for name in ("notes.txt", "plants-20269921-999999-000-auto.db", "plants-20261121-120000-000-damaged.db"):
        (backups.folder / name).write_text("mine")
    backups.prune("")
    assert [backup.kind for backup in backups.newest_first()] == [BackupKind.BY_HAND, BackupKind.DAMAGED]
    assert len(list(backups.folder.iterdir())) == 4


def test_a_damaged_store_makes_no_backup(store: SqliteStore, path: Path, backups: FileBackups) -> None:
    add(store, *range(1, 200))
    store.close()
    damage(path)
    with pytest.raises(StoreDamagedError):
        FileBackups(path).make(BackupKind.AUTOMATIC)
    assert backups.newest_first() == []
    assert not backups.folder.exists()


def test_a_locked_store_is_reported_after_a_while(path: Path) -> None:
    SqliteStore(path).close()
    source = sqlite3.connect(path, timeout=0.05, isolation_level=None)
    with closing(source), closing(connect(path)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError):
            copy_database(source, path.with_name("copy.db"))
    assert not path.with_name("copy.db").exists()


@pytest.mark.usefixtures("store")
def test_a_file_in_place_of_the_folder_is_reported(path: Path, backups: FileBackups) -> None:
    backups.folder.write_text("mine")
    with pytest.raises(StoreUnreachableError, match=r"plants\.db-backups"):
        FileBackups(path).make()
    assert backups.folder.read_text() == "mine"


@pytest.mark.usefixtures("store")
@pytest.mark.skipif(os.name != "posix", reason="Windows lets only administrators make links")
def test_a_link_in_place_of_the_folder_is_not_followed_to_other_files(path: Path, backups: FileBackups) -> None:
    elsewhere = path.with_name("elsewhere")
    elsewhere.mkdir()
    (diary := elsewhere / "diary.txt").touch()
    backups.folder.symlink_to(elsewhere)
    uses: list[Callable[[], object]] = [backups.make, lambda: backups.prune(""), backups.newest_first]
    for use in uses:
        with pytest.raises(BackupFolderError, match="link"):
            use()
    assert list(elsewhere.iterdir()) == [diary]


# --- which stay ----------------------------------------------------------------------------------


def make_backups(kind: BackupKind, *ages: timedelta) -> list[Backup]:
    moments = [round((_NOW - age).timestamp() * 1000) for age in ages]
    return [Backup(Path(f"{kind}-{moment}"), moment, kind, 1) for moment in moments]


def kept(backups: list[Backup]) -> list[datetime]:
    gone = set(expired_backups(backups))
    return [datetime.fromtimestamp(backup.made_at / 1000, UTC) for backup in backups if backup not in gone]


def test_a_year_of_hourly_backups_leaves_hours_days_and_months() -> None:
    times = kept(make_backups(BackupKind.AUTOMATIC, *(timedelta(hours=hours) for hours in range(24 * 400))))
    assert times[:24] == [_NOW - timedelta(hours=hours) for hours in range(24)]
    days = [time.date() for time in times[24:36]]  # today and yesterday are among the hours
    assert days == [(_NOW - timedelta(days=days)).date() for days in range(2, 14)]
    assert [(time.year, time.month) for time in times[36:]] == [
        *((2026, month) for month in range(10, 0, -1)),
        (2025, 12),
    ]


def test_thinning_again_and_again_keeps_what_thinning_once_would() -> None:
    hours = [timedelta(hours=hours) for hours in range(24 * 40, -1, -1)]
    step: list[Backup] = []
    for age in hours:
        step += make_backups(BackupKind.AUTOMATIC, age)
        gone = set(expired_backups(step))
        step = [each for each in step if each not in gone]
    everything = make_backups(BackupKind.AUTOMATIC, *hours)
    assert kept(step)[-24:] == kept(everything)[-24:]
    assert {time.date() for time in kept(step)} >= {time.date() for time in kept(everything)[-24:]}
    assert len(step) <= 24 + 14 + 12


def test_backups_made_by_hand_stay_and_those_before_changes_are_counted() -> None:
    years = [timedelta(days=400 * number) for number in range(1, 31)]
    assert len(kept(make_backups(BackupKind.BY_HAND, *years))) == 30
    assert kept(make_backups(BackupKind.BEFORE_RESTORE, *years)) == [_NOW - age for age in years[:10]]


def test_fewer_automatic_backups_stay_where_the_user_wants_fewer() -> None:
    backups = make_backups(BackupKind.AUTOMATIC, *(timedelta(hours=hours) for hours in range(24 * 400)))
    gone = set(expired_backups(backups, 3))
    assert [backup for backup in backups if backup not in gone] == backups[:3]


# --- where the settings say ----------------------------------------------------------------------


def set_up(**values: object) -> None:
    settings.save(settings.Settings().changed(**values), paths.settings_file())


def test_backups_go_to_the_folder_of_the_settings_and_older_ones_stay(
    store: SqliteStore, path: Path, tmp_path: Path
) -> None:
    chosen = tmp_path / "drive"
    chosen.mkdir()
    older = FileBackups(path).make()
    set_up(backup_folder=str(chosen))
    newer, before = FileBackups(path).make(), FileBackups(path).make(BackupKind.BEFORE_RESTORE)
    assert newer.path.parent.parent == chosen
    assert before.path.parent == older.path.parent  # a restore works without the drive
    assert [backup.path for backup in FileBackups(path).newest_first()] == [before.path, newer.path, older.path]
    add(store, 1)
    assert FileBackups(store.path).make_after(0)
    assert FileBackups(path).newest_first()[0].path.parent == newer.path.parent


def test_stores_of_one_name_have_folders_of_their_own(path: Path, tmp_path: Path) -> None:
    set_up(backup_folder=str(tmp_path))
    other = tmp_path / "other" / path.name
    assert FileBackups(path).folder != FileBackups(other).folder
    assert FileBackups(path).folder.parent == FileBackups(other).folder.parent == tmp_path


@pytest.mark.usefixtures("store")
def test_a_drive_that_is_not_there_gets_no_folder(path: Path, tmp_path: Path) -> None:
    set_up(backup_folder=str(tmp_path / "drive"))
    with pytest.raises(BackupFolderError):
        FileBackups(path).make()
    assert not (tmp_path / "drive").exists()
    FileBackups(path).make(BackupKind.BEFORE_UPDATE)
    assert len(FileBackups(path).newest_first()) == 1


def test_the_settings_say_how_often_and_how_many(store: SqliteStore, path: Path) -> None:
    add(store, 1)
    set_up(backup_every="never")
    FileBackups(path).make_if_due()
    assert not FileBackups(path).newest_first()
    set_up(backup_every="week", backup_count=1)
    FileBackups(path).make_if_due()
    (first,) = FileBackups(path).newest_first()
    add(store, 2)
    FileBackups(path).make_if_due()
    assert FileBackups(path).newest_first() == [first]
    first.path.rename(first.path.with_name(first.path.name.replace("-20", "-19", 1)))  # a century ago
    FileBackups(path).make_if_due()
    (only,) = FileBackups(path).newest_first()
    assert only.made_at > first.made_at


# --- by time -------------------------------------------------------------------------------------


def test_an_automatic_backup_is_made_only_when_something_changed(store: SqliteStore, backups: FileBackups) -> None:
    add(store, 1)
    assert FileBackups(store.path).make_after(0)
    assert not FileBackups(store.path).make_after(0)
    add(store, 2)
    assert not FileBackups(store.path).make_after(3600)
    assert FileBackups(store.path).make_after(0)
    store.tokens.create("greenhouse").result(SECONDS)
    assert not FileBackups(store.path).make_after(0)  # no token is valid in a backup
    assert ids_in(backups.newest_first()[0].path) == [1, 2]


def test_a_backup_of_the_future_keeps_no_other_from_being_made(
    store: SqliteStore, backups: FileBackups, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, 1)
    with monkeypatch.context() as clock:
        clock.setattr("plantdesk.store.sqlite.files.backup_folder.now_ms", lambda: now_ms() + 4 * 365 * 86_400_000)
        FileBackups(store.path).make(BackupKind.AUTOMATIC)
    add(store, 2)
    assert FileBackups(store.path).make_after(3600)
    assert not FileBackups(store.path).make_after(3600)
    assert ids_in(backups.newest_first()[0].path) == [1, 2]


def test_stores_of_one_stem_share_no_backups(tmp_path: Path) -> None:
    for number, name in enumerate(("plants.2025", "plants.2026", "plants", "plants.db")):
        with closing(SqliteStore(tmp_path / name)) as store:
            add(store, number)
            assert FileBackups(store.path).make_after(3600)
            backups = BackupFolder(store.path)
            backups.prune("")
            (backup,) = backups.newest_first()
            assert ids_in(backup.path) == [number]


def test_only_backups_of_this_very_store_are_thinned(store: SqliteStore, path: Path, backups: FileBackups) -> None:
    add(store, 1)
    own = FileBackups(path).make(BackupKind.AUTOMATIC)
    elsewhere = path.with_name("elsewhere.db")
    with closing(SqliteStore(elsewhere)) as other:
        add(other, 2)
    theirs = [FileBackups(elsewhere).make(BackupKind.AUTOMATIC).path for _ in range(2)]
    for number, file in enumerate(theirs):
        file.rename(backups.folder / f"plants.db-20250101-12000{number}-000-auto.db")
    with closing(connect(path)) as connection:
        (identity,) = connection.execute("SELECT identity FROM store").fetchone()
    backups.prune(identity)
    assert len(backups.newest_first()) == 3
    assert backups.of_store(identity) == [own]


def test_backups_of_0_1_0_are_still_found(store: SqliteStore, path: Path) -> None:
    add(store, 1)
    made = FileBackups(path).make()
    legacy = path.with_name("plants-backups")
    made.path.parent.rename(legacy)
    (legacy / made.path.name).rename(legacy / made.path.name.replace("plants.db-", "plants-"))
    assert len(BackupFolder(path).newest_first()) == 1
    assert FileBackups(path).make().path.parent == legacy


_QUITTING = """
import sys, threading
from pathlib import Path
from plantdesk.platform.atomic_files import new_file

def write():
    with new_file(Path(sys.argv[1])) as temporary:
        temporary.with_name(temporary.name + "-journal").touch()
        begun.set()
        threading.Event().wait()

begun = threading.Event()
threading.Thread(target=write, daemon=True).start()
begun.wait()
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows removes no file that is open")
def test_a_program_that_ends_in_the_middle_of_a_backup_leaves_no_temporary(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", _QUITTING, str(tmp_path / "backup.db")], check=True, timeout=SECONDS)
    assert list(tmp_path.iterdir()) == []


def test_temporary_files_of_killed_backups_are_removed(store: SqliteStore, backups: FileBackups) -> None:
    add(store, 1)
    backups.folder.mkdir()
    old, new = (backups.folder / f".plantdesk-{random}.new" for random in ("abcd1234", "efgh5678"))
    for temporary in (old, new):
        temporary.write_bytes(b"x")
    os.utime(old, (0, 0))
    assert FileBackups(store.path).make_after(0)
    assert (old.exists(), new.exists()) == (False, True)


def test_a_damaged_backup_does_not_pass_for_the_present_state(store: SqliteStore, path: Path) -> None:
    add(store, 1)
    FileBackups(path).make(BackupKind.AUTOMATIC).path.write_bytes(b"SQLite format 3\0" + b"\x5a" * 8000)
    assert FileBackups(store.path).make_after(0)


def test_a_long_running_program_makes_backups_by_itself(store: SqliteStore, backups: FileBackups) -> None:
    add(store, 1)
    end = start_backup_thread(partial(FileBackups(store.path).make_after, 0.01), None, first_delay=0, interval=0.01)
    try:
        until(lambda: len(backups.newest_first()) == 1)
        (first,) = backups.newest_first()
        add(store, 2)
        until(lambda: [backup.path == first.path for backup in backups.newest_first()] == [False])
    finally:
        end()
    assert [ids_in(backup.path) for backup in backups.newest_first()] == [[1, 2]]  # of each hour the newest


def test_a_failing_backup_is_logged_and_tried_again(
    store: SqliteStore, backups: FileBackups, caplog: pytest.LogCaptureFixture
) -> None:
    backups.folder.write_text("in the way")
    outcomes: list[StoreError | None] = []
    end = start_backup_thread(
        partial(FileBackups(store.path).make_after, 0.01), outcomes.append, first_delay=0, interval=0.01
    )
    try:
        until(lambda: "No automatic backup was made" in caplog.text)
        backups.folder.unlink()
        until(lambda: len(backups.newest_first()) == 1)
        until(lambda: outcomes[-1] is None)
    finally:
        end()
    assert isinstance(outcomes[0], BackupFolderError)


# --- before a migration --------------------------------------------------------------------------


def test_an_older_store_is_backed_up_before_it_is_migrated(path: Path, backups: FileBackups) -> None:
    make_older(path)
    SqliteStore(path).close()
    (backup,) = backups.newest_first()
    assert backup.kind is BackupKind.BEFORE_UPDATE
    with closing(sqlite3.connect(backup.path)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (1,)
    assert ids_in(backup.path) == ids_in(path) == [7]


def test_without_a_backup_nothing_is_migrated(path: Path, backups: FileBackups) -> None:
    make_older(path)
    backups.folder.write_text("in the way")
    with pytest.raises(StoreError, match=r"plants\.db-backups"):
        SqliteStore(path)
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (1,)
