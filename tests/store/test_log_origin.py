"""Whatever is put under the name of a store that was killed: its own content is opened, and a foreign log is kept."""

import itertools
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plantdesk.domain.backups import preview_text
from plantdesk.domain.edits import SetTag
from plantdesk.domain.records import COMMAND
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.backups import FileBackups
from plantdesk.store.sqlite.files import file_lock
from plantdesk.store.sqlite.files.backup_folder import BackupFolder
from plantdesk.store.sqlite.files.open_checks import is_own_log, log_size
from plantdesk.store.sqlite.migrations import APPLICATION_ID, SCHEMA_VERSION
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.store.sqlite.transactions import UnsavedError, WriteConnection
from tests.support.cases import cases
from tests.support.store_files import make_older
from tests.support.waiting import SECONDS

_LATER = range(100, 130)
#: Adds plants and dies; with a second argument, another program empties the log in the midst of it, so that the next
#: commit begins a new one.
_ADD_AND_DIE = f"""
import os, signal, sqlite3, sys
from contextlib import closing
from pathlib import Path
from plantdesk.domain.records import COMMAND
from plantdesk.domain.edits import SetTag
from plantdesk.domain.selections import Selection
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.domain.validation import new_plant
store = SqliteStore(Path(sys.argv[1]))
for plant_id in range({_LATER.start}, {_LATER.stop}):
    if plant_id == {_LATER.start} + 20 and len(sys.argv) > 2:
        with closing(sqlite3.connect(sys.argv[1])) as other:
            assert other.execute("PRAGMA wal_checkpoint").fetchone()[0] == 0
    store.add(new_plant({{"id": plant_id, "name": "y" * 500}}), COMMAND).result()
store.apply([SetTag(Selection(ids=range(1, 20)), "later")], COMMAND).result()
os.kill(os.getpid(), signal.SIGKILL)
"""


def filled(path: Path, ids: range) -> None:
    with closing(SqliteStore(path)) as store:
        for plant_id in ids:
            store.add(new_plant({"id": plant_id, "name": "x" * 200}), COMMAND).result(SECONDS)


def kill_while_adding(path: Path, *checkpoint: str) -> None:
    killed = subprocess.run([sys.executable, "-c", _ADD_AND_DIE, str(path), *checkpoint], check=False)
    assert killed.returncode == -signal.SIGKILL


def content(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return database.execute("SELECT id, name, tag FROM plant ORDER BY id").fetchall()


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def quarantined(path: Path) -> list[bytes]:
    return [file.read_bytes() for file in path.parent.rglob("*-damaged.db-wal")]


def note_numbers(path: Path) -> None:
    """Let the note hold the inodes that the files have now, as where the system gives those of removed files again."""
    with file_lock.locked(path) as lock:
        lock.write_record(file_lock.files_at(path), lock.last_record.store, lock.last_record.users)


def is_own(path: Path) -> bool | None:
    return is_own_log(path, file_lock.read_record(path).store)


@pytest.fixture(scope="module")
def killed_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that was killed, beside copies of its state before, made in several ways, and other stores."""
    folder = tmp_path_factory.mktemp("killed")
    path = folder / "plants.db"
    filled(path, range(1, 60))
    shutil.copy(path, folder / "copied.db")
    FileBackups(path).copy_to(folder / "backup.db")
    with closing(sqlite3.connect(path)) as database:
        database.execute("VACUUM INTO ?", (str(folder / "vacuumed.db"),))
        with closing(sqlite3.connect(folder / "backed up by sqlite3.db")) as copy:
            database.backup(copy)
        with closing(sqlite3.connect(folder / "dumped.db")) as copy:
            copy.executescript("\n".join(database.iterdump()))
            copy.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            copy.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    filled(path, range(60, 70))
    shutil.copy(folder / "copied.db", folder / "went on elsewhere.db")
    filled(folder / "went on elsewhere.db", range(60, 70))
    filled(folder / "other.db", range(1000, 1300))
    make_older(folder / "of 0.1.0.db")
    kill_while_adding(path)
    return folder


@pytest.fixture
def folder(killed_folder: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "desk"
    shutil.copytree(killed_folder, folder)
    note_numbers(folder / "plants.db")
    return folder


_OTHERS = ["copied", "backup", "vacuumed", "backed up by sqlite3", "dumped", "went on elsewhere", "other", "of 0.1.0"]


@pytest.mark.parametrize("is_read_only", [False, True], ids=["", "read only"])
@pytest.mark.parametrize("other", _OTHERS)
def test_what_is_copied_over_a_killed_store_is_opened_as_it_is(
    folder: Path, other: str, monkeypatch: pytest.MonkeyPatch, *, is_read_only: bool
) -> None:
    path, source = folder / "plants.db", folder / f"{other}.db"
    expected, log = content(source), log_of(path).read_bytes()
    shutil.copyfile(source, path)  # the same inode
    if is_read_only:
        if other == "of 0.1.0":
            pytest.skip("cannot be updated")
        monkeypatch.setattr("plantdesk.store.sqlite.files.store_file.is_writable", lambda _: False)
    with closing(SqliteStore(path)) as store:
        with closing(store.reader()) as reader:
            rows = [(row.id, row.name, row.tag) for row in reader.selected(Selection())]
        assert sorted(rows) == expected
        if is_read_only:
            assert log_of(path).read_bytes() == log
            return
        store.add(new_plant({"id": 5000, "name": "New"}), COMMAND).result(SECONDS)
    assert content(path) == [*expected, (5000, "New", None)]
    assert quarantined(path) == [log]


def test_a_log_begun_after_the_checkpoint_of_another_program_is_its_file_s(tmp_path: Path) -> None:
    path = tmp_path / "plants.db"
    filled(path, range(1, 22))
    kill_while_adding(path, "with a checkpoint")
    assert is_own(path) is not False
    SqliteStore(path).close()
    assert len(content(path)) == 21 + len(_LATER)


@pytest.mark.parametrize("with_note", [True, False], ids=["with its note", "without a note"])
def test_a_killed_store_that_is_copied_with_its_log_is_recovered(folder: Path, *, with_note: bool) -> None:
    copy = folder / "copy" / "plants.db"
    copy.parent.mkdir()
    for file in folder.glob("*plants.db*"):
        if with_note or not file.name.endswith(".lock"):
            shutil.copy(file, copy.parent)
    assert is_own(copy)
    SqliteStore(copy).close()
    assert len(content(copy)) == len(range(1, 70)) + len(_LATER)
    assert not quarantined(copy)


@pytest.mark.skipif(os.name != "posix", reason="Windows lets nobody replace an open file")
@pytest.mark.parametrize("is_in_use", [False, True])
def test_the_log_of_a_killed_store_that_is_copied_back_is_kept(folder: Path, *, is_in_use: bool) -> None:
    """As by a backup program; another process may have the replaced file open with that log."""
    path = folder / "plants.db"
    with closing(sqlite3.connect(path if is_in_use else ":memory:")) as other:
        other.execute("SELECT * FROM sqlite_schema").fetchall()
        path.rename(folder / "old.db")
        shutil.copy(folder / "old.db", path)
        with closing(SqliteStore(path)) as store:
            if is_in_use:  # by a program that does not notice that the file was replaced
                other.execute("UPDATE plant SET name = 'lost'")
                other.commit()
                other.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
            store.add(new_plant({"id": 5000, "name": "New"}), COMMAND).result(SECONDS)
    rows = content(path)
    assert [plant_id for plant_id, _, _ in rows] == [*range(1, 70), 5000]
    assert "lost" not in {name for _, name, _ in rows}
    assert len(quarantined(path)) == 1


@pytest.mark.skipif(os.name != "posix", reason="Windows lets nobody replace an open file")
def test_what_a_store_holds_is_saved_when_it_is_copied_back_while_it_is_open(folder: Path) -> None:
    path = folder / "plants.db"
    with closing(SqliteStore(path)) as store:
        _add(store, 7000)
        shutil.copy(path, folder / "copy.db")
        (folder / "copy.db").replace(path)
        while store.add(new_plant({"id": 7001, "name": "New"}), COMMAND).exception(SECONDS) is not None:
            pass  # as it was replaced
    assert 7001 in {row[0] for row in content(path)}
    assert {row[0] for row in content(BackupFolder(path).newest_first()[0].path)} >= {1, *_LATER, 7000}


def test_a_killed_store_takes_the_place_of_another_with_its_log(folder: Path) -> None:
    other = folder / "other.db"
    kill_while_adding(other)
    expected = len(range(1000, 1300)) + len(_LATER)
    shutil.copyfile(other, folder / "plants.db")
    shutil.copyfile(log_of(other), log_of(folder / "plants.db"))
    SqliteStore(folder / "plants.db").close()
    assert len(content(folder / "plants.db")) == expected


def test_logs_that_were_swapped_between_two_killed_stores_are_kept(folder: Path) -> None:
    path, other = folder / "plants.db", folder / "other.db"
    kill_while_adding(other)
    logs = log_of(path).read_bytes(), log_of(other).read_bytes()
    log_of(path).write_bytes(logs[1])
    log_of(other).write_bytes(logs[0])
    for file, ids, log in ((path, range(1, 70), logs[1]), (other, range(1000, 1300), logs[0])):
        SqliteStore(file).close()
        assert [row[0] for row in content(file)] == list(ids)
        assert log in quarantined(file)


def test_an_older_log_of_the_same_store_is_kept(folder: Path) -> None:
    """As where a program copies back the files of a folder that are missing."""
    path = folder / "plants.db"
    log = log_of(path).read_bytes()
    filled(path, range(200, 203))
    expected = content(path)
    log_of(path).write_bytes(log)
    note_numbers(path)
    SqliteStore(path).close()
    assert content(path) == expected
    assert quarantined(path) == [log]


def test_a_log_without_a_number_beside_another_store_is_kept(folder: Path) -> None:
    """As sqlite3 leaves it, when it is killed."""
    path, copy = folder / "other.db", folder / "of sqlite3.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("DELETE FROM plant WHERE id = 1000")
        database.commit()
        shutil.copyfile(path, copy)
        shutil.copyfile(log_of(path), log_of(copy))
    shutil.copyfile(file_lock.lock_file(path), file_lock.lock_file(copy))
    note_numbers(copy)
    shutil.copyfile(folder / "copied.db", copy)
    SqliteStore(copy).close()
    assert [row[0] for row in content(copy)] == list(range(1, 60))
    assert len(quarantined(copy)) == 1


def _add(store: SqliteStore, number: int) -> None:
    store.add(new_plant({"id": number, "name": "x" * 50}), COMMAND).result(SECONDS)


def _edit(store: SqliteStore, number: int) -> None:
    store.apply([SetTag(Selection(), f"{number}")], COMMAND).result(SECONDS)


def _token(store: SqliteStore, number: int) -> None:
    store.tokens.create(f"{number}").result(SECONDS)


def _by_other_process(store: SqliteStore, number: int) -> None:
    with closing(SqliteStore(store.path)) as other:
        _add(other, number)


def _by_sqlite3(store: SqliteStore, number: int) -> None:
    with closing(sqlite3.connect(store.path)) as database:
        database.execute("UPDATE plant SET note = ?", (f"{number}",))
        database.commit()


def _index_by_sqlite3(store: SqliteStore, number: int) -> None:
    with closing(sqlite3.connect(store.path)) as database:
        database.execute(f"CREATE INDEX mine_{number} ON plant (tag)")


def _vacuum_by_sqlite3(store: SqliteStore, _number: int) -> None:
    with closing(sqlite3.connect(store.path)) as database:
        database.execute("VACUUM")


def _checkpoint(store: SqliteStore, number: int) -> None:
    with closing(sqlite3.connect(store.path)) as database:
        database.execute(f"PRAGMA wal_checkpoint({('PASSIVE', 'RESTART', 'TRUNCATE')[number % 3]})").fetchall()


_STEPS: list[Callable[[SqliteStore, int], None]] = [
    _add, _add, _edit, _token, _by_other_process, _by_sqlite3, _index_by_sqlite3,
    _vacuum_by_sqlite3, _checkpoint
]  # fmt: skip


@cases(20)
@given(steps=st.lists(st.sampled_from(_STEPS), min_size=2, max_size=12))
def test_the_log_of_a_store_in_use_is_never_taken_for_that_of_another(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Callable[[SqliteStore, int], None]]
) -> None:
    path = tmp_path_factory.mktemp("use") / "plants.db"
    with closing(SqliteStore(path)) as store:
        for number, step in enumerate(steps, 1):
            step(store, number)
            assert is_own(path) is not False, [each.__name__ for each in steps[:number]]


def test_a_log_is_not_taken_for_another_s_while_checkpoints_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WriteConnection, "is_checkpoint_due", property(lambda _: True))
    path, ended = tmp_path / "plants.db", Event()
    with closing(SqliteStore(path)) as store, ThreadPoolExecutor() as threads:

        def write() -> None:
            for number in itertools.count():
                _add(store, number)
                if ended.is_set():
                    return

        writing = threads.submit(write)
        try:
            assert all(is_own(path) is not False for _ in range(500))
        finally:
            ended.set()
        writing.result(SECONDS)


@pytest.mark.skipif(os.name != "posix", reason="Windows lets nobody replace an open file")
def test_a_file_that_is_copied_over_an_open_store_is_not_mixed_with_its_log(folder: Path) -> None:
    path = folder / "plants.db"
    expected = content(folder / "other.db")
    # Closing it may report that what it added is lost: its log belongs to pages that are no longer there.
    with suppress(UnsavedError), closing(SqliteStore(path)) as store:
        _add(store, 7000)
        shutil.copyfile(folder / "other.db", path)
        with closing(SqliteStore(path)) as other, closing(other.reader()) as reader:
            assert reader.count() == len(expected)
    assert content(path) == expected


@pytest.mark.skipif(os.name != "posix", reason="Windows lets nobody delete an open file")
def test_a_log_that_was_deleted_after_a_kill_is_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "plants.db"
    kill_while_adding(path)
    assert "log of" not in caplog.text
    path.with_name("plants.db-wal").unlink()
    path.with_name("plants.db-shm").unlink()
    with closing(SqliteStore(path)):
        assert "The log of plants.db is gone" in caplog.text


def test_a_log_that_another_program_has_copied_into_the_file_is_not_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "plants.db"
    with closing(SqliteStore(path)):
        pass
    with closing(sqlite3.connect(path)) as browser:
        browser.execute("SELECT * FROM plant").fetchall()
        filled(path, range(5))
        assert log_size(path)
    assert not log_of(path).exists()
    with closing(SqliteStore(path)) as store, closing(store.reader()) as reader:
        assert reader.count() == 5
    assert not caplog.text


_BROWSER = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("SELECT * FROM plant").fetchall()
print("open", flush=True)
sys.stdin.read()
database.close()
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows lets nobody replace an open file")
@pytest.mark.parametrize("is_killed", [False, True])
def test_a_moved_store_that_a_database_browser_has_open_loses_nothing(tmp_path: Path, *, is_killed: bool) -> None:
    """The index of the log that the browser has made is not that of the file at the old place."""
    path = tmp_path / "plants.db"
    if is_killed:
        kill_while_adding(path)
    else:
        filled(path, range(5))
    (tmp_path / "same").mkdir()
    for file in filter(Path.exists, (path, log_of(path))):
        shutil.copy(file, tmp_path / "same")
        shutil.copy(file, tmp_path / "moved")
        (tmp_path / "moved").replace(file)
    before = content(tmp_path / "same" / "plants.db")
    command = [sys.executable, "-c", _BROWSER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as browser:
        assert browser.stdout is not None
        assert browser.stdout.readline() == "open\n"
        filled(path, range(7000, 7003))
        filled(path, range(7003, 7005))
        browser.communicate()
    assert len(content(path)) == len(before) + 5


def test_a_quarantined_log_is_restored_with_its_file(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = folder / "plants.db"
    path.rename(folder / "old.db")
    shutil.copy(folder / "other.db", path)
    filled(path, range(5000, 5001))
    (log,) = folder.rglob("*-damaged.db-wal")
    file = log.with_name(log.name.removesuffix("-wal"))
    assert f"quarantined as {log.name} in {log.parent}" in caplog.text
    assert f"beside it as {file.name}" in caplog.text
    shutil.copy(path, file)  # not that of the log
    shown = str(preview_text(FileBackups(path).preview(file), file.name))
    assert f"“{file.name}-wal” beside it belongs to another file" in shown
    shutil.copy(folder / "old.db", file)
    FileBackups(path).restore(file)
    assert {row[0] for row in content(path)} >= {1, *_LATER}
