"""Somebody replaces or removes the file of a store that PlantDesk has open."""

import logging
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from queue import SimpleQueue

import pytest
from typing_extensions import override

from plantdesk.domain.backups import BackupKind
from plantdesk.domain.errors import StoreError, StoreMovedError, StoreUnreachableError, TokenRefusedError
from plantdesk.domain.models import NewPlant
from plantdesk.domain.records import COMMAND, Changes, PlantRow
from plantdesk.domain.validation import new_plant, plant_fields
from plantdesk.store.change_writer import ChangeWriter
from plantdesk.store.changes import insert_as_next
from plantdesk.store.sqlite.backups import FileBackups
from plantdesk.store.sqlite.files.backup_folder import BackupFolder
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.store.sqlite.transactions import UnsavedError
from tests.support.adding import add_each
from tests.support.store_files import ids_in
from tests.support.waiting import SECONDS, until

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows lets nobody replace an open file")

_DISKS = (Path("/dev/shm"), Path("/var/tmp"))  # noqa: S108  tmp_path is on one of them, or on another one


def plants(*ids: int, name: str = "Fern") -> list[tuple[NewPlant, object]]:
    return [(new_plant({"id": plant_id, "name": name}), COMMAND) for plant_id in ids]


def add(store: SqliteStore, *ids: int, name: str = "Fern") -> None:
    for outcome in add_each(store, plants(*ids, name=name)):  # type: ignore[arg-type]
        assert not isinstance(outcome, Exception)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Another store, which is to take the place."""
    path = tmp_path / "other.db"
    with closing(SqliteStore(path)) as store:
        add(store, *range(1000, 1500), name="x" * 500)
    return path


@pytest.fixture
def changes(store: SqliteStore) -> SimpleQueue[bool]:
    """Whether all is to be read again, for each notification."""
    received: SimpleQueue[bool] = SimpleQueue()
    store.subscribe(lambda change: received.put(change.needs_reload))
    return received


def replaced_backups(path: Path) -> list[list[int]]:
    return [ids_in(backup.path) for backup in BackupFolder(path).newest_first() if backup.kind is BackupKind.REPLACED]


def test_an_idle_store_notices_saves_what_it_held_and_opens_the_new_file(
    store: SqliteStore, path: Path, other: Path, changes: SimpleQueue[bool]
) -> None:
    add(store, 1, 2)
    changes.get(timeout=SECONDS)
    other.replace(path)
    while not changes.get(timeout=SECONDS):
        pass
    assert replaced_backups(path) == [[1, 2]]
    add(store, 3)
    store.close()
    assert ids_in(path) == [3, *range(1000, 1500)]


def test_a_backup_beside_an_idle_store_leaves_the_new_file_as_it_is(
    store: SqliteStore, path: Path, other: Path
) -> None:
    """The backup thread of 0.1.0 merged the log of the old file into the new one."""
    add(store, *range(200))
    other.replace(path)
    FileBackups(store.path, store.file).make_after(0)
    store.close()
    assert ids_in(path) == list(range(1000, 1500))
    assert list(range(200)) in replaced_backups(path)


def test_a_command_that_comes_first_takes_nothing_from_either_file(store: SqliteStore, path: Path, other: Path) -> None:
    add(store, *range(50))
    other.replace(path)
    command = [sys.executable, "-m", "plantdesk", "add", "--name", "New", "--id", "9", "--database", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    add(store, 10)
    store.close()
    assert ids_in(path) == [9, 10, *range(1000, 1500)]
    assert replaced_backups(path) == [list(range(50))]


def test_two_processes_follow_to_the_new_file_without_losing_a_plant(path: Path, other: Path) -> None:
    with closing(SqliteStore(path)) as first, closing(SqliteStore(path)) as second:
        acknowledged: set[int] = set()
        ended = threading.Event()

        def post(store: SqliteStore, start: int) -> None:
            plant_id = start
            while not ended.is_set():
                (outcome,) = add_each(store, plants(plant_id))  # type: ignore[arg-type]
                if not isinstance(outcome, Exception):
                    acknowledged.add(plant_id)
                plant_id += 1

        posting = [
            threading.Thread(target=post, args=(each, 10_000 * (n + 1))) for n, each in enumerate((first, second))
        ]
        for thread in posting:
            thread.start()
        try:
            until(lambda: len(acknowledged) >= 100)
            other.replace(path)
            enough = len(acknowledged) + 200
            until(lambda: len(acknowledged) >= enough)
        finally:
            ended.set()
            for thread in posting:
                thread.join()
    kept = set(ids_in(path)).union(*replaced_backups(path))
    assert acknowledged <= kept


def test_a_token_of_the_old_file_is_worth_nothing_in_the_new_one(
    store: SqliteStore, path: Path, tmp_path: Path
) -> None:
    mine = store.tokens.create("mine").result(SECONDS).row.source
    theirs_path = tmp_path / "theirs.db"
    with closing(SqliteStore(theirs_path)) as theirs:
        theirs.tokens.create("somebody else's").result(SECONDS)
    theirs_path.replace(path)
    with pytest.raises(TokenRefusedError):
        store.add(new_plant({"id": 1, "name": "Fern"}), mine).result(SECONDS)
    store.close()
    assert ids_in(path) == []


@pytest.mark.parametrize("where", ["same disk", "other disk"])
def test_backups_may_be_on_another_disk(
    store: SqliteStore, path: Path, other: Path, tmp_path: Path, where: str
) -> None:
    folder = tmp_path / "disk"
    if where == "other disk":
        others = [disk for disk in _DISKS if disk.is_dir() and disk.stat().st_dev != tmp_path.stat().st_dev]
        if not others:
            pytest.skip("there is no other disk")
        folder = others[0] / f"plantdesk-{os.getpid()}"
    folder.mkdir()
    BackupFolder(path).folder.symlink_to(folder)
    try:
        add(store, 1)
        good = FileBackups(path).make()
        other.replace(path)
        add(store, 2)
        assert replaced_backups(path) == [[1]]
        store.close()
        path.write_bytes(b"\x5a" * 20_000)
        restored = FileBackups(path).restore(good.path)
        assert ids_in(path) == [1]
        assert restored.saved in [backup.path for backup in BackupFolder(path).newest_first()]
    finally:
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


def test_what_was_removed_is_saved_before_the_store_is_closed(store: SqliteStore, path: Path) -> None:
    add(store, 1, 2)
    path.unlink()
    store.close()
    assert replaced_backups(path) == [[1, 2]]


def test_closing_fails_where_what_was_removed_cannot_be_saved(path: Path) -> None:
    """A command ends with an error then: what it has added is in no file."""
    store = SqliteStore(path)
    add(store, 1)
    BackupFolder(path).folder.write_text("in the way")
    path.unlink()
    for _ in range(2):
        with pytest.raises(UnsavedError, match="backup"):
            store.close()


def test_what_another_process_adds_to_a_file_that_came_back_is_saved(
    path: Path, store: SqliteStore, other: Path
) -> None:
    added: SimpleQueue[tuple[PlantRow, ...]] = SimpleQueue()
    store.subscribe(lambda changes: added.put(changes.added))
    add(store, 1)
    away = path.rename(path.with_name("away.db"))
    with pytest.raises(StoreMovedError):
        store.add(new_plant({"id": 2, "name": "Fern"}), COMMAND).result(SECONDS)
    away.rename(path)
    with closing(SqliteStore(path)) as command:
        add(command, 3)
    while 3 not in (row.id for row in added.get(timeout=SECONDS)):
        pass
    other.replace(path)
    add(store, 4)
    assert [1, 3] in replaced_backups(path)


def test_a_folder_of_backups_that_may_not_be_written_is_an_error_and_no_hang(
    store: SqliteStore, path: Path, other: Path
) -> None:
    add(store, 1)
    BackupFolder(path).folder.write_text("in the way")
    other.replace(path)
    for plant_id in (2, 3):
        with pytest.raises(StoreError, match="backup"):
            store.add(new_plant({"id": plant_id, "name": "Fern"}), COMMAND).result(SECONDS)
    BackupFolder(path).folder.unlink()
    while True:
        (outcome,) = add_each(store, plants(4))  # type: ignore[arg-type]
        if not isinstance(outcome, StoreError):
            break
    assert replaced_backups(path) == [[1]]
    assert 4 in ids_in(path)


@pytest.mark.parametrize("count", [1, 2])
def test_a_file_that_was_moved_during_a_commit_numbers_the_next_plants(
    store: SqliteStore, path: Path, changes: SimpleQueue[bool], count: int
) -> None:
    """The commit counts as failed, but is in the file that comes back: its sequence numbers are taken."""
    away = path.with_name("away.db")

    def move(writer: ChangeWriter) -> tuple[PlantRow, Changes]:
        row = insert_as_next(writer, plant_fields({"name": "Fern"}), COMMAND)
        path.rename(away)
        return row, Changes((row,))

    with pytest.raises(StoreMovedError):
        store._writer.submit(move).result(SECONDS)  # noqa: SLF001  it is to be in the transaction
    away.rename(path)
    while not changes.get(timeout=SECONDS):
        pass
    for first in (10, 20):
        add(store, *range(first, first + count))
    store.close()
    assert ids_in(path) == [1, *range(10, 10 + count), *range(20, 20 + count)]


@pytest.fixture
def older(tmp_path: Path, path: Path) -> Path:
    """A copy of the store at `path`, with which the log of the next process begins."""
    with closing(SqliteStore(path)) as store:
        add(store, *range(100))
    return Path(shutil.copy(path, tmp_path / "older.db"))


def use(store: SqliteStore) -> None:
    """Add plants, and wait until a checkpoint has moved all of them from the log into the file."""
    add(store, *range(100, 150))
    written = store.path.stat().st_mtime_ns
    while store.path.stat().st_mtime_ns == written:
        time.sleep(0.05)


def overwrite(path: Path, content: bytes) -> None:
    with path.open("wb") as file:  # the same inode
        file.write(content)


@pytest.mark.parametrize("content", ["older", "other"])
def test_an_overwritten_file_is_opened_again_as_it_is(
    path: Path, older: Path, other: Path, store: SqliteStore, changes: SimpleQueue[bool], content: str
) -> None:
    """A checkpoint would copy pages of the log into the other content."""
    use(store)
    copied = {"older": older, "other": other}[content]
    known = ids_in(copied)
    overwrite(path, copied.read_bytes())
    while not changes.get(timeout=SECONDS):
        pass
    add(store, 5000)
    store.close()
    assert ids_in(path) == [*known, 5000]
    assert replaced_backups(path) == []


def test_an_emptied_file_is_refused_and_left_as_it_is(path: Path) -> None:
    store = SqliteStore(path)
    use(store)
    overwrite(path, b"")
    for plant_id in (5000, 5001):
        (outcome,) = add_each(store, plants(plant_id))  # type: ignore[arg-type]
        assert isinstance(outcome, StoreError)
    assert path.read_bytes() == b""
    with suppress(UnsavedError):
        store.close()
    assert path.read_bytes() == b""


@pytest.fixture
def foreign(tmp_path: Path) -> bytes:
    """A database of another program."""
    file = tmp_path / "foreign.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE plant (id INTEGER PRIMARY KEY)")
    return file.read_bytes()


@pytest.mark.parametrize("kind", ["text", "zeros", "foreign"])
def test_a_file_that_becomes_no_store_is_refused_and_left_as_it_is(path: Path, foreign: bytes, kind: str) -> None:
    content = {"text": b"Monstera;window\n" * 100, "zeros": bytes(100_000), "foreign": foreign}[kind]
    store = SqliteStore(path)
    use(store)
    overwrite(path, content)
    for plant_id in (5000, 5001):
        (outcome,) = add_each(store, plants(plant_id))  # type: ignore[arg-type]
        assert isinstance(outcome, StoreError)
    assert path.read_bytes() == content
    with suppress(UnsavedError):
        store.close()
    assert path.read_bytes() == content


def test_a_foreign_file_that_replaces_the_store_keeps_no_log_of_it(path: Path, foreign: bytes, tmp_path: Path) -> None:
    """SQLite would apply it when the other program opens its file."""
    with suppress(UnsavedError), closing(SqliteStore(path)) as store:
        add(store, *range(10))
        (tmp_path / "foreign.db").replace(path)
        (outcome,) = add_each(store, plants(5000))  # type: ignore[arg-type]
        assert isinstance(outcome, StoreError)
    assert path.read_bytes() == foreign
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT count(*) FROM plant").fetchone() == (0,)
    assert replaced_backups(path) == [[*range(10)]]


def test_a_store_that_was_moved_behind_a_link_has_no_second_log(path: Path, tmp_path: Path) -> None:
    """A process that opens it by the link would not see the log in use, nor know of what that holds."""
    moved = tmp_path / "elsewhere" / "plants.db"
    moved.parent.mkdir()
    with closing(SqliteStore(path)) as store:
        add(store, 1)
        path.rename(moved)
        path.symlink_to(moved)
        with pytest.raises(StoreUnreachableError, match="Close PlantDesk"):
            SqliteStore(path)
        add(store, 2)
    with closing(SqliteStore(path)) as store:
        add(store, 3)
    assert ids_in(moved) == [1, 2, 3]


def test_what_replaces_an_emptied_file_is_opened(
    store: SqliteStore, path: Path, other: Path, changes: SimpleQueue[bool]
) -> None:
    use(store)
    overwrite(path, b"")
    (outcome,) = add_each(store, plants(5000))  # type: ignore[arg-type]
    assert isinstance(outcome, StoreError)
    overwrite(path, other.read_bytes())
    while not changes.get(timeout=SECONDS):
        pass
    add(store, 5001)
    store.close()
    assert ids_in(path) == [*ids_in(other), 5001]


def test_a_file_that_is_overwritten_just_before_the_end_stays_as_it_is(path: Path, other: Path) -> None:
    store = SqliteStore(path)
    use(store)
    overwrite(path, other.read_bytes())
    with suppress(UnsavedError):
        store.close()
    assert ids_in(path) == ids_in(other)


def test_processes_that_come_after_the_log_index_was_removed_lose_nothing(
    store: SqliteStore, path: Path, changes: SimpleQueue[bool]
) -> None:
    """Each process would have an index of its own, and overwrite what the other one had committed."""
    add(store, 1)
    path.with_name("plants.db-shm").unlink()
    while not changes.get(timeout=SECONDS):
        pass
    for plant_id in (2, 4):
        command = [sys.executable, "-m", "plantdesk", "add", "--name", "New", "--id", str(plant_id)]
        subprocess.run([*command, "--database", str(path)], check=True, capture_output=True)
        add(store, plant_id + 1)
    store.close()
    assert ids_in(path) == [1, 2, 3, 4, 5]


def test_a_log_that_is_removed_during_an_opening_leaves_the_store_usable(store: SqliteStore, path: Path) -> None:
    """The opening noted that there was no log, so that the other process did not restore it and could not go on."""
    add(store, 1)
    path.parent.chmod(0o777)  # about which an opening warns when it has read the log

    class Remover(logging.Handler):
        @override
        def emit(self, record: logging.LogRecord) -> None:
            if "is writable for all" in record.getMessage():
                path.parent.chmod(0o700)
                path.with_name("plants.db-wal").unlink()

    remover = Remover()
    opening = logging.getLogger("plantdesk.store.sqlite.files.store_file")
    opening.addHandler(remover)
    try:
        with closing(SqliteStore(path)) as command:
            add(command, 2)
    finally:
        opening.removeHandler(remover)
    add(store, 3)
    store.close()
    assert ids_in(path) == [1, 2, 3]


def test_what_is_committed_while_the_index_is_restored_is_not_lost(
    store: SqliteStore, path: Path, changes: SimpleQueue[bool]
) -> None:
    add(store, 1)
    with closing(store.file.connect()) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(
            "INSERT INTO plant (id, name, searched_name, seq, added_at, source_id) VALUES (2, 'Moss', 'moss', 2, 0, 1)"
        )
        path.with_name("plants.db-shm").unlink()
        while not replaced_backups(path):
            pass
        connection.execute("COMMIT")
    while not changes.get(timeout=SECONDS):
        pass
    store.close()
    assert ids_in(path) == [1, 2]


def test_nothing_is_acknowledged_without_the_log_index(store: SqliteStore, path: Path) -> None:
    add(store, 1, 2)
    reported: SimpleQueue[StoreError | None] = SimpleQueue()
    store.subscribe_health(reported.put)
    BackupFolder(path).folder.write_text("in the way")
    path.with_name("plants.db-shm").unlink()
    assert reported.get(timeout=SECONDS) is not None
    for plant_id in (3, 4):
        with pytest.raises(StoreError):
            store.add(new_plant({"id": plant_id, "name": "Fern"}), COMMAND).result(SECONDS)
    BackupFolder(path).folder.unlink()
    assert reported.get(timeout=SECONDS) is None
    add(store, 5)
    store.close()
    assert ids_in(path) == [1, 2, 5]


def test_readers_and_token_checks_outlive_a_file_that_is_replaced_twice(
    store: SqliteStore, path: Path, other: Path, changes: SimpleQueue[bool]
) -> None:
    """The second replacement comes before they have noticed the first, so that they cannot connect."""
    token = store.tokens.create("greenhouse").result(SECONDS).token
    with closing(store.reader()) as reader, closing(store.tokens.open_lookup()) as lookup:
        assert reader.count() == 0
        lookup.source(token)
        other.replace(path)
        while not changes.get(timeout=SECONDS):
            pass
        away = path.rename(path.with_name("away.db"))
        with pytest.raises(StoreMovedError):
            reader.count()
        with pytest.raises(StoreMovedError):
            lookup.source("another token")
        away.rename(path)
        assert reader.count() == 500
        with pytest.raises(TokenRefusedError):
            lookup.source(token)
