"""Files that are watched by inotify while a store is idle, instead of polled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

import pytest

from plantdesk.domain.errors import StoreMovedError
from plantdesk.domain.records import COMMAND
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite import idle_work
from plantdesk.store.sqlite.files import file_watch
from plantdesk.store.sqlite.files.file_watch import FileWatch
from plantdesk.store.sqlite.store import Store
from tests.store.test_backups import until
from tests.support.waiting import SECONDS

if TYPE_CHECKING:
    from plantdesk.domain.errors import StoreError
    from plantdesk.domain.records import Changes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify belongs to Linux")

resource = pytest.importorskip("resource")
NEVER = 1_000_000.0

_COMMIT = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("INSERT INTO plant (id, name, seq, added_at, source_id) VALUES (?, 'Fern', ?, 1, 1)", sys.argv[2:] * 2)
"""


def commit_elsewhere(path: Path, plant_id: int) -> None:
    subprocess.run([sys.executable, "-c", _COMMIT, str(path), str(plant_id)], check=True)


def is_watched(path: Path) -> bool:
    """Whether this process watches the file, according to the kernel."""
    inode = f" ino:{path.stat().st_ino:x} "
    texts = []
    for entry in Path("/proc/self/fdinfo").iterdir():
        try:
            texts.append(entry.read_text())
        except FileNotFoundError:
            continue
    return any(inode in line for text in texts for line in text.splitlines() if line.startswith("inotify wd:"))


def descriptors() -> set[int]:
    """The open descriptors of this process."""
    entries = list(Path("/proc/self/fd").iterdir())
    return {int(entry.name) for entry in entries if entry.exists()}  # that of the listing is closed


# --- the watch ------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "parent" / "folder"
    folder.mkdir(parents=True)
    for name in ("plants.db", "plants.db-wal", "plants.db-shm", "other"):
        (folder / name).write_bytes(b"x")
    return folder / "plants.db"


@pytest.fixture
def watch(files: Path) -> Iterator[FileWatch]:
    watch = FileWatch(files)
    yield watch
    watch.close()


def nothing_came(watch: FileWatch, timeout: float = 0) -> bool:
    return watch.wait(lambda: True, timeout)


def _write(path: Path) -> None:
    path.write_bytes(b"changed")


@pytest.mark.parametrize(
    "change",
    [
        _write,
        lambda path: _write(path.with_name("plants.db-wal")),
        lambda path: path.with_name("plants.db-shm").unlink(),
        lambda path: path.with_name("plants.db-shm").rename(path.with_name("elsewhere")),
        lambda path: path.chmod(0o400),
        lambda path: path.with_name("other").replace(path),
        Path.unlink,
        lambda path: path.rename(path.with_name("elsewhere")),
        lambda path: path.parent.rename(path.parent.with_name("moved")),
        lambda path: path.parent.parent.rename(path.parent.parent.with_name("moved")),
        lambda path: shutil.rmtree(path.parent),
    ],
    ids=[
        *("write", "log", "index", "move index", "mode", "replace", "remove", "move"),
        *("move folder", "move its parent", "remove folder"),
    ],
)
def test_a_change_ends_the_wait(files: Path, watch: FileWatch, change: Callable[[Path], object]) -> None:
    with files.open("rb"):  # as SQLite has it open
        assert watch.arm()
        assert nothing_came(watch)
        change(files)
        assert not nothing_came(watch, SECONDS)


def test_reads_and_other_files_of_the_folder_are_no_change(files: Path, watch: FileWatch) -> None:
    assert watch.arm()
    files.read_bytes()
    for name in ("other", "plants.db-shm", ".plants.db.lock", "settings.json"):
        files.with_name(name).write_bytes(b"x")
    files.with_name("other").unlink()
    assert nothing_came(watch)


def test_only_the_first_change_costs_anything(files: Path, watch: FileWatch) -> None:
    assert watch.arm()
    assert is_watched(files)
    _write(files)
    assert not is_watched(files)
    assert watch.arm()  # forgets it
    assert nothing_came(watch)


def test_a_wake_ends_the_wait_of_another_thread(files: Path, watch: FileWatch) -> None:
    assert files.exists()
    assert watch.arm()
    is_asked = threading.Event()

    def is_idle() -> bool:
        is_asked.set()
        return True

    ended: SimpleQueue[bool] = SimpleQueue()
    thread = threading.Thread(target=lambda: ended.put(watch.wait(is_idle, NEVER)))
    thread.start()
    is_asked.wait(SECONDS)
    watch.wake()
    assert ended.get(timeout=SECONDS) is False
    thread.join()
    assert not watch.wait(lambda: False, NEVER)


def test_missing_files_and_missing_descriptors_leave_the_polls(files: Path, watch: FileWatch) -> None:
    before = descriptors()
    assert watch.arm()  # imports ctypes
    watch.close()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.dup(0)
    os.close(lowest)
    for allowed in range(4):  # an instance takes four
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + allowed, hard))
        try:
            assert not watch.arm()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert descriptors() == before
    files.unlink()
    assert not watch.arm()
    _write(files)
    assert watch.arm()
    watch.close()
    assert descriptors() == before


def test_children_inherit_nothing(files: Path, watch: FileWatch) -> None:
    before = descriptors()
    assert files.exists()
    assert watch.arm()
    added = descriptors() - before
    assert len(added) == 4
    assert not any(os.get_inheritable(descriptor) for descriptor in added)


# --- the store ------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that a store watches as soon as it is idle, and never polls meanwhile."""
    monkeypatch.setattr(file_watch, "_RECENT", 50_000_000)
    monkeypatch.setattr(idle_work, "_QUIET_POLLS", 1)
    monkeypatch.setattr(idle_work, "_WATCHED_POLL_INTERVAL", NEVER)
    folder = tmp_path / "parent" / "folder"
    folder.mkdir(parents=True)
    return folder / "plants.db"


@pytest.fixture
def watching(path: Path) -> Iterator[Store]:
    with closing(Store(path)) as store:
        until(lambda: is_watched(path))
        yield store


@pytest.fixture
def changes(watching: Store) -> SimpleQueue[Changes]:
    received: SimpleQueue[Changes] = SimpleQueue()
    watching.subscribe(received.put)
    return received


@pytest.fixture
def health(watching: Store) -> SimpleQueue[StoreError | None]:
    received: SimpleQueue[StoreError | None] = SimpleQueue()
    watching.subscribe_health(received.put)
    return received


def test_each_commit_of_another_process_is_noticed(path: Path, changes: SimpleQueue[Changes]) -> None:
    for plant_id in (1, 2):
        until(lambda: is_watched(path))
        commit_elsewhere(path, plant_id)
        assert [row.id for row in changes.get(timeout=SECONDS).added] == [plant_id]


def test_a_file_that_takes_the_place_is_noticed_and_watched(
    path: Path, tmp_path: Path, changes: SimpleQueue[Changes]
) -> None:
    other = tmp_path / "other.db"
    Store(other).close()
    other.replace(path)
    assert changes.get(timeout=SECONDS).needs_reload
    until(lambda: is_watched(path))
    commit_elsewhere(path, 1)
    while not (added := changes.get(timeout=SECONDS).added):
        pass
    assert [row.id for row in added] == [1]


@pytest.mark.parametrize("levels", [1, 2])
def test_a_folder_is_moved_away_and_back(
    path: Path, levels: int, changes: SimpleQueue[Changes], health: SimpleQueue[StoreError | None]
) -> None:
    folder = path.parents[levels - 1]
    moved = folder.rename(folder.with_name("moved"))
    assert isinstance(health.get(timeout=SECONDS), StoreMovedError)
    moved.rename(folder)
    assert health.get(timeout=SECONDS) is None
    until(lambda: is_watched(path))
    commit_elsewhere(path, 1)
    while not (added := changes.get(timeout=SECONDS).added):
        pass
    assert [row.id for row in added] == [1]


def test_a_removed_folder_is_noticed(path: Path, watching: Store, health: SimpleQueue[StoreError | None]) -> None:
    shutil.rmtree(path.parent)
    assert health.get(timeout=SECONDS) is not None
    path.parent.mkdir()
    watching.close()  # it saves what the file held


def test_plants_of_this_process_do_not_wait_and_end_the_watch(watching: Store, path: Path) -> None:
    for plant_id in (1, 2):
        watching.add(new_plant({"id": plant_id, "name": "Fern"}), COMMAND).result(SECONDS)
        until(lambda: is_watched(path))


def test_a_file_that_cannot_be_watched_is_polled(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FileWatch, "arm", lambda _self: False)
    with closing(Store(path)) as store:
        received: SimpleQueue[Changes] = SimpleQueue()
        store.subscribe(received.put)
        commit_elsewhere(path, 1)
        assert [row.id for row in received.get(timeout=SECONDS).added] == [1]


def test_close_ends_a_watch_and_leaves_nothing(path: Path) -> None:
    before, others = descriptors(), set(threading.enumerate())  # a test before may still close a store
    for is_waited_for in (True, False, False, False):  # also while the watch is about to begin
        store = Store(path)
        if is_waited_for:
            until(lambda: is_watched(path))
        store.close()
        assert not any(thread.name == "store-writer" for thread in set(threading.enumerate()) - others)
        assert descriptors() == before
