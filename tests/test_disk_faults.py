"""Disk faults under a running `plantdesk serve` and a running window: reported, nothing partly written, recovered.

The disks are real: a small file system in memory, and one in a file whose files can be made immutable. Those need root
on Linux.
"""

import itertools
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from plantdesk.domain.backups import BackupKind
from plantdesk.domain.errors import ErrorNumber, StoreFullError
from plantdesk.domain.models import NewPlant
from plantdesk.domain.records import FORM
from plantdesk.platform import paths, settings
from plantdesk.platform.unsaved_file import UnsavedFile
from plantdesk.store.sqlite.backups import FileBackups
from plantdesk.store.sqlite.files.backup_folder import BackupFolder
from plantdesk.store.sqlite.store import SqliteStore
from tests.support.adding import add_each, store_at
from tests.support.clients import new_token
from tests.support.disks import mounted, new_image, tmpfs
from tests.support.program_driver import Show
from tests.support.programs import Posted, ids_in, post
from tests.support.waiting import until
from tests.test_headless import serving

_SMALL = "2m"

posix = pytest.mark.skipif(os.name != "posix", reason="Windows lets nobody move or overwrite an open file")


def number_of(answer: Posted) -> ErrorNumber:
    assert set(answer.body) == {"error", "message"}
    return {int(number): number for number in ErrorNumber}[answer.body["error"]]


class Script:
    """A naive script on the same machine: a new connection for each plant."""

    def __init__(self, port: int, token: str) -> None:
        self.port, self.token = port, token

    def post(self, plant_id: int, name: str = "Fern") -> Posted:
        return post(self.port, self.token, {"id": plant_id, "name": name})

    def until_taken(self, plant_id: int) -> None:
        """Retry as the response says, without limit."""
        while (answer := self.post(plant_id)).status != 200:
            assert answer.status == 503
            time.sleep(float(answer.retry_after or 0.1))


@contextmanager
def serving_script(database: Path) -> Iterator[Script]:
    with serving("--database", str(database)) as (_, port):
        yield Script(port, new_token(database))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "small", *tmpfs(_SMALL)) as disk:
        yield disk


def fill(disk: Path) -> Path:
    """Fill a disk completely; removing the returned file frees it."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        for size in (65_536, 4096, 1):
            with suppress(OSError):
                while file.write(b"\0" * size):
                    pass
    return ballast


# --- full ----------------------------------------------------------------------------------------


def test_what_is_not_saved_is_kept_on_a_full_disk_and_after_it(small_disk: Path) -> None:
    kept = UnsavedFile(small_disk)
    kept.reserve()
    ballast = fill(small_disk)
    plants = [{"texts": ["", f"Fern {number}", ""]} for number in range(300)]
    for some in (plants[:1], plants[:2], plants):
        kept.change("a", {"unsaved": some})
        assert UnsavedFile(small_disk).of_store("a") == {"unsaved": some}
    with pytest.raises(OSError, match="more is not saved than there is space for"):
        kept.change("a", {"unsaved": plants * 10})
    assert UnsavedFile(small_disk).of_store("a") == {"unsaved": plants}
    ballast.unlink()
    kept.change("a", {"unsaved": plants * 10})
    assert UnsavedFile(small_disk).of_store("a") == {"unsaved": plants * 10}
    kept.change("a", {"unsaved": []})
    assert UnsavedFile(small_disk).of_store("a") == {}


def test_a_full_disk_is_reported_and_recovered_from(small_disk: Path) -> None:
    database = small_disk / "plants.db"
    with serving_script(database) as script:
        assert script.post(1).status == 200
        ballast = fill(small_disk)
        refused = 2
        while (answer := script.post(refused, "x" * 2000)).status == 200:
            refused += 1
        assert number_of(answer) is ErrorNumber.STORE_FULL
        ballast.unlink()
        assert script.post(refused, "x" * 2000).status == 200
    assert ids_in(database) == set(range(1, refused + 1))


@pytest.mark.parametrize("is_read", [False, True], ids=["", "while a reader holds it"])
def test_a_log_that_has_filled_the_disk_shrinks_when_there_is_space(tmp_path: Path, *, is_read: bool) -> None:
    with mounted(tmp_path / "disk", *tmpfs("12m")) as disk:
        database = disk / "plants.db"
        log = database.with_name("plants.db-wal")
        with serving_script(database) as script, closing(sqlite3.connect(database)) as reader:
            if is_read:
                reader.execute("BEGIN")
                reader.execute("SELECT * FROM plant").fetchall()
            last = 1
            while (answer := script.post(last, "x" * 500_000)).status == 200:
                last += 1
            assert number_of(answer) is ErrorNumber.STORE_FULL
            reader.rollback()
            subprocess.run(["mount", "-o", "remount,size=40m", str(disk)], check=True)
            until(lambda: log.stat().st_size < 1_000_000)
            script.until_taken(last)
        assert ids_in(database) == set(range(1, last + 1))


def test_a_start_on_a_full_disk_says_so_and_loses_nothing(small_disk: Path) -> None:
    database = small_disk / "plants.db"
    store_at(database, "Fern")
    ballast = fill(small_disk)
    with pytest.raises(StoreFullError):
        SqliteStore(database)
    ballast.unlink()
    assert ids_in(database) == {1}


@pytest.mark.slow
def test_the_window_reports_a_full_disk_until_there_is_space(show: Show, small_disk: Path) -> None:
    paths.create_folder(paths.settings_folder())
    settings.save(settings.Settings(backup_every="never"), paths.settings_file())  # a failing one is reported as well
    with show(small_disk / "plants.db") as user:
        user.add("Aloe")
        user.expect_names("Aloe")
        ballast = fill(small_disk)
        for number in range(200):
            user.add(f"Fern {number} {'x' * 9000}")
            added = f"Added “Fern {number} "
            user.until(lambda: user.message.text.startswith(added) or user.bar.isVisible())  # noqa: B023
            if user.bar.isVisible():
                break
        assert "disk is full" in user.bar.text
        user.until(lambda: "Try again" in user.buttons())
        ballast.unlink()
        user.until_bar(shown=False)
        user.until(lambda: user.names()[0].startswith(f"Fern {number} "))


def test_a_full_disk_makes_no_backup_and_damages_none(small_disk: Path) -> None:
    database = small_disk / "plants.db"
    with closing(SqliteStore(database)) as store:
        add_each(store, [(NewPlant(id=number, name="x" * 2500), FORM) for number in range(100)])
        backups = BackupFolder(database)
        good = FileBackups(database).make(BackupKind.AUTOMATIC)
        ballast = fill(small_disk)
        with pytest.raises(Exception, match=r"(?i)full|No space"):
            FileBackups(database).make(BackupKind.AUTOMATIC)
        assert backups.newest_first() == [good]
        assert [file.name for file in backups.folder.iterdir()] == [good.path.name]
        ballast.unlink()
    assert ids_in(good.path) == set(range(100))


# --- read-only, gone ---------------------------------------------------------------------------


def test_files_that_become_read_only_are_reported(tmp_path: Path) -> None:
    if not shutil.which("chattr"):
        pytest.skip("needs chattr")
    with mounted(tmp_path / "disk", *new_image(tmp_path / "disk.img", 32)) as disk:
        database = disk / "plants.db"
        with serving_script(database) as script:
            assert script.post(1).status == 200
            # Not the -shm file, which is mapped: the system would kill whoever writes to it.
            files = [str(database), f"{database}-wal"]
            subprocess.run(["chattr", "+i", *files], check=True)
            answer = script.post(2)
            subprocess.run(["chattr", "-i", *files], check=True)
            assert (answer.status, number_of(answer).status) == (503, 503)
            script.until_taken(2)
        assert ids_in(database) == {1, 2}


@posix
def test_the_window_reports_a_missing_file_until_it_is_back(show: Show, tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "stick", tmp_path / "pulled out"
    folder.mkdir()
    with show(folder / "plants.db") as user:
        user.add("Aloe")
        user.expect_names("Aloe")
        folder.rename(elsewhere)
        user.until_bar(shown=True)
        assert "moved, replaced or deleted" in user.bar.text
        elsewhere.rename(folder)
        user.until_bar(shown=False)
        user.add("Basil")
        user.expect_names("Basil", "Aloe")


# --- damaged while it runs -----------------------------------------------------------------------


@posix
def test_a_store_damaged_while_it_is_open_is_reported_and_restored(tmp_path: Path) -> None:
    database = tmp_path / "plants.db"
    with closing(SqliteStore(database)) as store:
        add_each(store, [(NewPlant(id=number, name="x" * 500), FORM) for number in range(2000)])
    with serving_script(database) as script:
        backup = FileBackups(database).make()
        with database.open("r+b") as file:
            file.seek(4096)
            file.write(b"\x5a" * (database.stat().st_size - 4096))
        refused = next(answer for number in range(5000, 9000) if (answer := script.post(number)).status != 200)
        assert (refused.status, number_of(refused)) == (503, ErrorNumber.STORE_DAMAGED)
        command = [sys.executable, "-m", "plantdesk", "restore", str(backup.path), "--database", str(database), "--yes"]
        restored = subprocess.run(command, capture_output=True, text=True, check=True)
        assert "Restored 2,000 plants." in restored.stdout
        # It answers again; the tokens are lost where the damaged file cannot be read.
        token = "" if "No token is valid" in restored.stdout else script.token
        if not token:
            made = [sys.executable, "-m", "plantdesk", "token", "create", "new", "--database", str(database)]
            token = subprocess.run(made, capture_output=True, text=True, check=True).stdout.strip()
        assert Script(script.port, token).post(9999).status == 200
    assert ids_in(database) == {*range(2000), 9999}


# --- a sync program ------------------------------------------------------------------------------


@posix
def test_a_folder_that_a_sync_program_reads_and_changes(tmp_path: Path) -> None:
    folder = tmp_path / "Dropbox"
    folder.mkdir()
    database = folder / "plants.db"
    ended = threading.Event()

    def sync() -> None:
        for number in itertools.count():
            for name in ("plants.db", "plants.db-wal", "plants.db-shm"):
                with suppress(OSError):
                    (folder / f"{name} (conflicted copy {number % 3})").write_bytes((folder / name).read_bytes())
                    os.utime(folder / name)
            if ended.is_set():
                return

    with serving_script(database) as script:
        program = threading.Thread(target=sync)
        program.start()
        try:
            assert {script.post(number).status for number in range(200)} == {200}
        finally:
            ended.set()
            program.join()
    assert ids_in(database) == set(range(200))
