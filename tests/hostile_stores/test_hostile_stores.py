"""Every hostile file is opened, previewed, restored and copied; the whole folder is compared before and after."""

import hashlib
import os
import sqlite3
import stat
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from plantdesk.domain.edits import DeleteAll, SetTag, edited
from plantdesk.domain.errors import BackupUnusableError, PlantDeskError, StoreDamagedError, StoreError
from plantdesk.domain.records import COMMAND
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import Selection, View
from plantdesk.domain.validation import new_plant
from plantdesk.store import history
from plantdesk.store.sqlite.backups import FileBackups
from plantdesk.store.sqlite.database import runner_of
from plantdesk.store.sqlite.files import store_file
from plantdesk.store.sqlite.files.backup_folder import BackupFolder
from plantdesk.store.sqlite.store import SqliteStore
from tests.hostile_stores.generator import BAD_HISTORIES, BAD_ROWS, HARMLESS, REFUSED, SIDE_FILES, Make
from tests.support.adding import store_at
from tests.support.samples import some
from tests.support.waiting import SECONDS

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, pipes and sockets are POSIX")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "downloads"
    folder.mkdir()
    return folder


@pytest.fixture
def victim(folder: Path) -> Path:
    victim = folder / "my only thesis.txt"
    victim.write_text("my only thesis")
    return victim


@pytest.fixture
def path(folder: Path, victim: Path, make: Make) -> Path:
    """The hostile file."""
    path = folder / "garden.db"
    make(path, victim)
    return path


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A store of the user's own, with two plants, in another folder."""
    path = tmp_path / "own" / "plants.db"
    path.parent.mkdir()
    return store_at(path, "Own", "Own")


def tree(folder: Path) -> dict[str, tuple[int, str]]:
    """Names, kinds with modes, and contents of all that is in a folder."""
    found: dict[str, tuple[int, str]] = {}
    for file in sorted(folder.rglob("*")):
        status = file.lstat()
        text = ""
        if stat.S_ISREG(status.st_mode):
            text = hashlib.sha256(file.read_bytes()).hexdigest()
        elif stat.S_ISLNK(status.st_mode):
            text = str(file.readlink())
        found[str(file.relative_to(folder))] = (status.st_mode, text)
    return found


def has_own_header(path: Path) -> bool:
    """Whether it takes more than the header and the schema in the file to see what is wrong."""
    return path.is_file() and (path.stat().st_size == 100 or path.with_name("garden.db-wal").exists())


def plants(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return database.execute("SELECT id, name, tag FROM plant ORDER BY id").fetchall()


def cases(*groups: dict[str, Make]) -> pytest.MarkDecorator:
    makers = {name: maker for group in groups for name, maker in group.items()}
    return pytest.mark.parametrize("make", some(makers.values(), 10, makers))


def prune_backups(path: Path) -> None:
    FileBackups(path).make()
    BackupFolder(path).prune("another")


#: What a program does with a file that it is given, as the store or as a backup.
USES: dict[str, Callable[[Path, Path], object]] = {
    "open": lambda path, _own: SqliteStore(path).close(),
    "back up": lambda path, _own: FileBackups(path).make(),
    "prune the backups": lambda path, _own: prune_backups(path),
    "copy": lambda path, own: FileBackups(path).copy_to(own.with_name("copy.db")),
    "preview": lambda path, own: FileBackups(own).preview(path),
    "restore": lambda path, own: FileBackups(own).restore(path),
    "restore to nothing": lambda path, own: FileBackups(own.with_name("new.db")).restore(path),
}


@cases(REFUSED)
def test_a_hostile_file_is_refused_and_nothing_is_touched(folder: Path, path: Path, own: Path) -> None:
    before, own_plants = tree(folder), plants(own)
    # A file whose header is that of a store gets its lock file; SQLite makes an index to read a log.
    may_appear = {"garden.db-shm", ".garden.db.lock"} if has_own_header(path) else set()
    for use in USES.values():
        with pytest.raises(PlantDeskError) as refusal:
            use(path, own)
        assert str(folder) not in str(refusal.value)
        after = tree(folder)
        assert {name: after[name] for name in after if name not in may_appear} == {
            name: before[name] for name in before if name not in may_appear
        }
    assert plants(own) == own_plants
    assert BackupFolder(path).newest_first() == []


@cases(BAD_ROWS)
def test_no_row_is_taken_from_a_store_with_a_bad_one(folder: Path, path: Path, own: Path) -> None:
    before, own_plants = tree(folder), plants(own)
    for use in ("preview", "restore", "restore to nothing"):
        with pytest.raises(BackupUnusableError, match=r"garden\.db"):
            USES[use](path, own)
    assert tree(folder) == before
    assert plants(own) == own_plants
    assert not own.with_name("new.db").exists()


@cases(BAD_ROWS, HARMLESS)
def test_a_store_with_odd_rows_is_opened_and_works(path: Path) -> None:
    with closing(SqliteStore(path)) as store, closing(store.reader()) as reader:
        for plant_id in (50, 51):
            store.add(new_plant({"id": plant_id, "name": "New"}), COMMAND).result(SECONDS)
        ids = [plant_id for chunk in reader.ids(View()) for plant_id in chunk]
        assert ids[:2] == [51, 50]
        assert set(reader.rows(ids)) == set(ids)
        store.tokens.list()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("is_checked", [True, False], ids=["checked", "too large to check"])
@cases(BAD_HISTORIES)
def test_a_bad_history_ends_in_a_message(
    path: Path, own: Path, monkeypatch: pytest.MonkeyPatch, *, is_checked: bool
) -> None:
    if not is_checked:  # as for a file above 16 MiB that was opened before
        monkeypatch.setattr(store_file, "check_whole", lambda _: None)
    try:
        store = SqliteStore(path)
    except StoreDamagedError:
        FileBackups(own).restore(path)
        assert [name for _, name, _ in plants(own)] == ["Fern"]
        return
    with closing(store), closing(store.reader()) as reader:
        for change in reader.history():
            _outcome(store.undo(change.number, COMMAND))
        for step in ("undo", "undo", "redo", "redo", "undo"):
            _outcome(store.redo(COMMAND) if step == "redo" else store.undo(None, COMMAND))
            rows = list(reader.selected(Selection()))
            if rows:
                _outcome(store.apply([edited(rows[0], note="New")], COMMAND))
            _outcome(store.apply([SetTag(Selection(), step)], COMMAND))
        _outcome(store.apply([DeleteAll(Selection())], COMMAND))
        _outcome(store.undo(None, COMMAND))
        assert not any(_outcome(store.add(new_plant({"id": 60 + n, "name": "New"}), COMMAND)) for n in range(2))
        with suppress(PlantDeskError):
            FileBackups(own).restore(path)
        with suppress(PlantDeskError):
            FileBackups(path).restore(FileBackups(path).make().path)
        _outcome(store.undo(None, COMMAND))
        _prune_all(path)
        assert all(change.plants >= 0 for change in reader.history())
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA ignore_check_constraints = ON")
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def _prune_all(path: Path) -> None:
    with (
        mock.patch.object(history, "_MAX_IMAGE_AGE_MS", -(2**53)),  # also what is of the future
        closing(sqlite3.connect(path, isolation_level=None)) as database,
    ):
        for _ in range(20):
            if history.is_prunable(runner_of(database)):
                history.prune(runner_of(database))
        assert not history.is_prunable(runner_of(database))


def _outcome(future: Future[Any]) -> BaseException | None:
    error = future.exception(SECONDS)
    assert error is None or isinstance(error, PlantDeskError), error
    assert error is None or "\x1b" not in str(error)
    return error


@cases(HARMLESS)
def test_the_rows_of_an_odd_store_are_restored(folder: Path, path: Path, own: Path) -> None:
    before = tree(folder)
    for target in (own, own.with_name("new.db")):
        FileBackups(target).restore(path)
        assert plants(target) == [(1, "Fern", "office")]
        with closing(SqliteStore(target)) as store, closing(store.reader()) as reader:
            assert [list(chunk) for chunk in reader.ids(View(parse_search("fern")))] == [[1]]
            assert list(reader.ids(View(parse_search("cactus")))) == []
            assert store.tokens.list() == []
            store.add(new_plant({"id": 3, "name": "New"}), COMMAND).result(SECONDS)
    after = tree(folder)
    assert {name: after[name] for name in before} == before


@cases(SIDE_FILES)
def test_what_is_beside_a_store_leads_to_no_other_file(folder: Path, victim: Path, path: Path, own: Path) -> None:
    folder.chmod(0o755)
    victim.chmod(0o755)
    mine = {name: what for name, what in tree(folder).items() if "my only" in name or "notes" in name}
    for use in USES.values():
        with suppress(StoreError):
            use(path, own)
        after = tree(folder)
        assert {name: after.get(name) for name in mine} == mine
        assert stat.S_IMODE(folder.stat().st_mode) == 0o755
