"""Opening a file: what is refused, what is left alone, and that whatever SQLite can recover, PlantDesk opens."""

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue

import pytest

from plantdesk.domain.backups import BackupKind
from plantdesk.domain.errors import (
    FolderMissingError,
    ForeignFileError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreGoneError,
    StoreReadOnlyError,
    StoreTooNewError,
    StoreUnreachableError,
)
from plantdesk.domain.models import Plant
from plantdesk.domain.records import COMMAND, FORM
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite import transactions
from plantdesk.store.sqlite.backups import FileBackups
from plantdesk.store.sqlite.connections import connect, translate_errors
from plantdesk.store.sqlite.files import file_lock
from plantdesk.store.sqlite.files.backup_folder import BackupFolder
from plantdesk.store.sqlite.files.open_checks import check_file
from plantdesk.store.sqlite.store import SqliteStore
from tests.hostile_stores.generator import REFUSED
from tests.support.adding import add_each
from tests.support.store_files import make_older
from tests.support.waiting import SECONDS

ALOE = new_plant({"id": 1, "name": "Aloe vera"})


posix = pytest.mark.skipif(os.name != "posix", reason="links, modes and open files are POSIX")


def files(folder: Path) -> list[str]:
    """The names of the files in a folder, without the lock file of the store."""
    return sorted(file.name for file in folder.iterdir() if file.is_file() and not file.name.endswith(".lock"))


def filled(path: Path, plants: int = 1) -> None:
    store = SqliteStore(path)
    for number in range(plants):
        store.add(new_plant({"id": number, "name": f"Plant {number} " + "x" * 200}), COMMAND).result()
    store.close()


def test_a_new_store_is_made_for_its_owner_alone(path: Path) -> None:
    old = os.umask(0)
    try:
        store = SqliteStore(path)
        store.add(ALOE, FORM).result()
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir() if file.is_file()}
        store.close()
    finally:
        os.umask(old)
    if os.name == "posix":
        assert len(modes) == 4
        assert set(modes.values()) == {0o600}
    assert files(path.parent) == ["plants.db"]


@pytest.mark.parametrize("name", ["a?b#c%41.db" if os.name == "posix" else "a#c%41.db", "with space.db", "пион 🌱.db"])
def test_any_file_name_will_do(tmp_path: Path, name: str) -> None:
    filled(tmp_path / name)
    assert files(tmp_path) == [name]


@pytest.mark.parametrize("data", [b"just some text, not a database", b"x", b"SQLite format 3\0" + bytes(84)])
def test_a_foreign_file_is_refused_and_untouched(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with pytest.raises(ForeignFileError, match=r"plants\.db.*choose another file") as refusal:
        SqliteStore(path)
    assert str(path.parent) not in str(refusal.value)
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    ("name", "error", "match"),
    [
        ("other database", ForeignFileError, "choose another file"),
        ("folder", ForeignFileError, "folder"),
        ("newer", StoreTooNewError, "newer PlantDesk"),
    ],
)
def test_the_cause_of_a_refusal_is_named(path: Path, name: str, error: type[StoreError], match: str) -> None:
    REFUSED[name](path, path)
    with pytest.raises(error, match=match):
        SqliteStore(path)


@pytest.mark.parametrize("damage", ["truncated", "overwritten"])
def test_a_damaged_store_is_refused_and_untouched(path: Path, damage: str) -> None:
    filled(path, 200)
    content = bytearray(path.read_bytes())
    if damage == "truncated":
        del content[len(content) // 2 :]
    else:
        content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(StoreDamagedError, match=r"plants\.db.*damaged"):
        SqliteStore(path)
    assert path.read_bytes() == content


@posix
def test_a_store_is_made_below_a_folder_that_cannot_be_listed(ordinary_folder: Path) -> None:
    folder = ordinary_folder / "home" / "user"
    folder.mkdir(parents=True)
    folder.parent.chmod(0o300)
    filled(folder / "plants.db")
    folder.parent.chmod(0o700)


@posix
@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_read_only_store_is_read_until_it_can_be_written(
    ordinary_folder: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(transactions, "_RETRY_POLLS", 1)
    path = ordinary_folder / "plants.db"
    filled(path)
    before = files(ordinary_folder)
    (path if what == "file" else ordinary_folder).chmod(0o500 if what == "folder" else 0o400)
    health: SimpleQueue[StoreError | None] = SimpleQueue()
    with closing(SqliteStore(path)) as store, closing(store.reader()) as reader:
        store.subscribe_health(health.put)
        assert isinstance(health.get(timeout=SECONDS), StoreReadOnlyError)
        assert reader.count() == 1
        assert store.tokens.list() == []
        with pytest.raises(StoreReadOnlyError, match="read-only"):
            store.add(ALOE, FORM).result(SECONDS)
        assert files(ordinary_folder) == before
        ordinary_folder.chmod(0o700)
        path.chmod(0o600)
        while health.get(timeout=SECONDS) is not None:
            pass
        store.add(ALOE, FORM).result(SECONDS)
        assert reader.count() == 2


@posix
def test_a_read_only_store_of_an_older_version_is_reported_as_read_only(ordinary_folder: Path) -> None:
    path = ordinary_folder / "plants.db"
    make_older(path)
    path.chmod(0o400)
    with pytest.raises(StoreReadOnlyError, match=r"plants\.db.*read-only"):
        SqliteStore(path)


@posix
def test_a_folder_that_may_not_be_written_to_takes_no_new_store(ordinary_folder: Path) -> None:
    ordinary_folder.chmod(0o500)
    with pytest.raises(StoreReadOnlyError, match="read-only"):
        SqliteStore(ordinary_folder / "plants.db")


@posix
def test_a_lock_file_of_another_user_is_named(ordinary_folder: Path) -> None:
    """As `sudo plantdesk` leaves it."""
    path = ordinary_folder / "plants.db"
    filled(path)
    file_lock.lock_file(path).chmod(0)
    with pytest.raises(StoreUnreachableError, match=r"\.plants\.db\.lock.* Move it away"):
        SqliteStore(path)


@posix
def test_a_folder_that_may_not_be_written_to_takes_no_import(ordinary_folder: Path) -> None:
    path = ordinary_folder / "plants.db"
    filled(path)
    ordinary_folder.chmod(0o500)
    with closing(SqliteStore(path)) as store, pytest.raises(StoreReadOnlyError, match="read-only"):
        store.new_import()


def test_a_file_that_another_start_puts_into_its_mode_is_waited_for(path: Path) -> None:
    SqliteStore(path).close()
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN IMMEDIATE")
        ending = threading.Timer(0.1, other.execute, ["COMMIT"])
        ending.start()
        SqliteStore(path).close()
        ending.join()


# --- names, links and what is gone ---------------------------------------------------------------


@posix
def test_a_link_to_an_empty_file_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    target, link = tmp_path / "disk" / "garden.db", tmp_path / "plants.db"
    target.touch()
    link.symlink_to(target)
    filled(link)
    assert link.is_symlink()
    assert target.stat().st_size > 0
    FileBackups(link).make()
    assert [backup.path.parent for backup in BackupFolder(target).newest_first()] == [
        target.with_name("garden.db-backups")
    ]


@posix
def test_a_dangling_link_makes_its_target(tmp_path: Path) -> None:
    (tmp_path / "plants.db").symlink_to(tmp_path / "new.db")
    filled(tmp_path / "plants.db")
    assert (tmp_path / "new.db").stat().st_size > 0
    (tmp_path / "lost.db").symlink_to(tmp_path / "unplugged" / "new.db")
    with pytest.raises(FolderMissingError, match="unplugged"):
        SqliteStore(tmp_path / "lost.db")


def test_a_store_that_is_gone_is_not_replaced_by_an_empty_one(path: Path) -> None:
    filled(path)
    FileBackups(path).make()
    path.unlink()
    with pytest.raises(StoreGoneError, match=r"plants\.db.*is gone"):
        SqliteStore(path)
    assert not path.exists()
    path.touch()  # an empty file, as a full disk or a program that synchronizes folders leaves
    with pytest.raises(StoreGoneError):
        SqliteStore(path)
    with closing(SqliteStore(path, create=True)) as store, closing(store.reader()) as reader:
        assert reader.count() == 0


@posix
def test_a_log_beside_an_empty_file_is_not_mixed_into_a_new_store(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        store.add(ALOE, FORM).result()
        log = path.with_name("plants.db-wal").read_bytes()
    path.write_bytes(b"")
    path.with_name("plants.db-wal").write_bytes(log)
    with pytest.raises(StoreGoneError):
        SqliteStore(path)
    assert path.with_name("plants.db-wal").read_bytes() == log


@pytest.mark.parametrize(
    "note",
    ['{"database": [1e400, 2], "wal": null}'.ljust(256), "[" * 256, '{"database": [1], "wal": 7}', "[]", '{"data'],
)
def test_any_note_in_the_lock_file_is_survived(path: Path, note: str) -> None:
    filled(path)
    file_lock.lock_file(path).write_text(note)
    filled(path, 2)
    with file_lock.locked(path) as lock:
        assert lock.last_record.files.database == file_lock.file_id(path)


def test_two_openings_at_once_exclude_each_other(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_lock, "LOCK_TIMEOUT", 0.05)
    filled(path)
    with file_lock.locked(path), pytest.raises(StoreBusyError):
        SqliteStore(path)
    filled(path)


@posix
def test_rights_of_others_are_taken_away(path: Path) -> None:
    filled(path)
    files = (path, file_lock.lock_file(path))
    for file in files:
        file.chmod(0o666)
    filled(path)
    assert [stat.S_IMODE(file.stat().st_mode) for file in files] == [0o600] * 2


def test_the_sources_that_a_foreign_store_lacks_are_added(path: Path) -> None:
    filled(path)
    with closing(sqlite3.connect(path)) as database:
        database.execute("DELETE FROM source")
        database.commit()
    with closing(SqliteStore(path)) as store:
        assert store.add(new_plant({"id": 50, "name": "Fern"}), FORM).result().source == FORM
        assert store.add_as_next(Plant(name="Moss"), COMMAND).result().id == 51


def test_an_error_of_sqlite_without_a_message_of_its_own_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnreachableError, match=r"cannot be reached \(SQLITE_CANTOPEN\)"), translate_errors():
        connect(tmp_path / "missing.db").execute("SELECT 1")


OPENINGS = int(os.environ.get("PLANTDESK_OPENINGS", "10000"))


_ADD_FOR_EVER = """
import sys
from pathlib import Path
from plantdesk.domain.records import COMMAND
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.store import SqliteStore
from tests.support.adding import add_each
store, first = SqliteStore(Path(sys.argv[1])), 0
while True:
    add_each(store, [(new_plant({"id": first + n, "name": "x" * 3000}), COMMAND) for n in range(50)])
    first += 50
    if first == 50:
        print("ready", flush=True)
"""


def test_a_store_beside_a_busy_writer_is_never_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "plants.db"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", _ADD_FOR_EVER, str(path)], stdin=pipe, stdout=pipe) as writing:
        assert writing.stdout is not None
        writing.stdout.readline()
        try:
            for _ in range(OPENINGS):
                check_file(path)
        finally:
            writing.kill()


def test_the_readable_plants_of_a_damaged_store_can_be_restored(tmp_path: Path) -> None:
    path = tmp_path / "plants.db"
    with closing(SqliteStore(path)) as store:
        add_each(store, [(new_plant({"id": n, "name": f"Fern {n} " + "x" * 300}), COMMAND) for n in range(500)])
    backup = FileBackups(path).make()
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2 // 4096 * 4096)
        file.write(b"\x5a" * 4096)
    with pytest.raises(StoreDamagedError):
        SqliteStore(path)
    FileBackups(path).restore(backup.path)
    (quarantined,) = [each for each in BackupFolder(path).newest_first() if each.kind is BackupKind.DAMAGED]
    look = FileBackups(path).preview(quarantined.path)
    assert look.is_partial
    assert 450 <= look.plants < 500
    assert FileBackups(path).restore(quarantined.path).preview.plants == look.plants
    with closing(SqliteStore(path)) as store, closing(store.reader()) as reader:
        assert reader.count() == look.plants
