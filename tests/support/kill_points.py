"""Kills a process before its n-th call that changes files, for each n, and checks the next start.

    LD_PRELOAD=kill_points.so python -m tests.support.kill_points SCENARIO FIRST STEP OTHERS

Prints a JSON object: the number of calls in the scenario, the kills, and the problems. `OTHERS` processes add plants to
the same store meanwhile. The parent opens no store: it only forks, so that a kill costs milliseconds.
"""

import ctypes
import json
import os
import signal
import sqlite3
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from plantdesk.domain.backups import BackupKind
from plantdesk.domain.edits import DeleteAll, SetTag
from plantdesk.domain.errors import StoreDamagedError, StoreError, StoreGoneError
from plantdesk.domain.history import ChangeKind
from plantdesk.domain.imports import OnConflict
from plantdesk.domain.records import COMMAND
from plantdesk.domain.selections import Selection, View
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.backups import FileBackups
from plantdesk.store.sqlite.files.backup_folder import BackupFolder
from plantdesk.store.sqlite.migrations import apply_steps
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.transfer.files import input_file
from plantdesk.transfer.importing import FileImport, ImportOptions
from tests.support.waiting import SECONDS

#: First of the ids that other processes add.
_FIRST_OTHER_ID = 10_000
#: Ids of the plants that a scenario changes.
_OWN_IDS = range(1, 31)
_IMPORTED_IDS = range(1000, 1200)


class Trial:
    """One store in its own folder; acknowledged plants are written to a pipe, which survives the process."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "plants.db"
        self.other = folder / "other.db"
        self._reading, self._writing = os.pipe()

    def acknowledge(self, plant_id: int) -> None:
        os.write(self._writing, b"%d\n" % plant_id)

    def read_acknowledged(self) -> set[int]:
        os.close(self._writing)
        with os.fdopen(self._reading, "rb") as pipe:
            return {int(line) for line in pipe.read().split()}

    def add(self, store: SqliteStore, first: int, count: int = 3, size: int = 3000) -> None:
        for plant_id in range(first, first + count):
            store.add(new_plant({"id": plant_id, "name": f"Plant {plant_id} " + "x" * size}), COMMAND).result(SECONDS)
            self.acknowledge(plant_id)


# --- what is prepared, and what is then done and killed ----------------------------------------------------------


def _prepare_nothing(_trial: Trial) -> None:
    """Start without a file."""


def _prepare_filled(trial: Trial) -> None:
    with closing(SqliteStore(trial.path)) as store:
        trial.add(store, 1, 30)


def _prepare_killed(trial: Trial) -> None:
    """Leave a log, as a killed process does."""
    with closing(SqliteStore(trial.path)) as store:
        trial.add(store, 1, 10)
    in_child(lambda: _add_and_die(trial))


def _add_and_die(trial: Trial) -> None:
    store = SqliteStore(trial.path)
    trial.add(store, 100, 30)
    os.kill(os.getpid(), signal.SIGKILL)


def _prepare_old(trial: Trial) -> None:
    with closing(sqlite3.connect(trial.path)) as database:
        apply_steps(database, 0, 2)
        for plant_id in range(1, 60):
            database.execute("INSERT INTO plant VALUES (?, ?, NULL, ?, 0, 1, NULL)", (plant_id, "x" * 1000, plant_id))
            trial.acknowledge(plant_id)
        database.execute("PRAGMA application_id = 0x504C4E54")
        database.execute("PRAGMA user_version = 2")
        database.commit()
        database.execute("PRAGMA journal_mode = WAL")


def _prepare_backed_up(trial: Trial) -> None:
    _prepare_filled(trial)
    FileBackups(trial.path).make()
    with closing(SqliteStore(trial.path)) as store:
        trial.add(store, 100, 5)


def _prepare_damaged(trial: Trial) -> None:
    """Damage the end of the file, which contains no acknowledged plant; the rest can be read."""
    _prepare_filled(trial)
    FileBackups(trial.path).make()
    with trial.path.open("r+b") as file:
        file.seek(-4096, os.SEEK_END)
        file.write(b"\x5a" * 4096)


def _prepare_missing(trial: Trial) -> None:
    _prepare_filled(trial)
    FileBackups(trial.path).make()
    trial.path.unlink()


def _prepare_two_stores(trial: Trial) -> None:
    _prepare_filled(trial)
    with closing(SqliteStore(trial.other)) as store:
        store.add(new_plant({"id": 5000, "name": "Of the other store"}), COMMAND).result(SECONDS)


def _open_and_add(trial: Trial) -> None:
    arm()
    with closing(SqliteStore(trial.path)) as store:
        trial.add(store, 1000)


def _fill_and_checkpoint(trial: Trial) -> None:
    with closing(SqliteStore(trial.path)) as store:
        trial.add(store, 1000, 40, 20_000)
        arm()
    with closing(SqliteStore(trial.path)) as store:
        trial.add(store, 2000)


def _back_up(trial: Trial) -> None:
    with closing(SqliteStore(trial.path)) as store:
        trial.add(store, 1000)
        arm()
        FileBackups(trial.path).make()
        FileBackups(store.path, store.file).make_after(0)


def _restore_backup(trial: Trial) -> None:
    backup = next(saved for saved in BackupFolder(trial.path).newest_first() if saved.kind is BackupKind.BY_HAND)
    arm()
    FileBackups(trial.path).restore(backup.path)


def _restore(trial: Trial) -> None:
    _restore_backup(trial)
    with closing(SqliteStore(trial.path)) as store:
        trial.add(store, 1000)


def _replace(trial: Trial, lose: Callable[[Trial], object] = lambda trial: trial.other.replace(trial.path)) -> None:
    with closing(SqliteStore(trial.path)) as store:
        trial.add(store, 1000)
        FileBackups(trial.path).make()
        lose(trial)
        arm()
        trial.add(store, 2000)


def _lose_log(trial: Trial) -> None:
    _replace(trial, lambda trial: trial.path.with_name("plants.db-wal").unlink())


def _change(trial: Trial) -> None:
    with closing(SqliteStore(trial.path)) as store:
        arm()
        store.apply([SetTag(Selection(ids=_OWN_IDS), "new")], COMMAND).result(SECONDS)
        store.apply([DeleteAll(Selection(ids=_OWN_IDS))], COMMAND).result(SECONDS)
        store.undo(None, COMMAND).result(SECONDS)


def _check_change(store: SqliteStore) -> None:
    """Check that each edit is complete or absent; undo a deletion that was not undone."""
    with closing(store.reader()) as reader:
        changes = reader.history()
        if changes and changes[0].kind is ChangeKind.DELETE:
            assert reader.rows(_OWN_IDS) == {}
            store.undo(changes[0].number, COMMAND).result(SECONDS)
        rows = reader.rows(_OWN_IDS)
        assert rows.keys() == set(_OWN_IDS)
        assert {row.tag for row in rows.values()} == ({"new"} if changes else {None})


def _restore_and_undo(trial: Trial) -> None:
    with closing(SqliteStore(trial.path)) as store:
        _restore_backup(trial)
        store.undo(None, COMMAND).result(SECONDS)


def _check_restore(store: SqliteStore) -> None:
    """Check that restore and undo are complete or absent; undo a restore that was not undone."""
    with closing(store.reader()) as reader:
        changes = reader.history()
        assert [change.kind for change in changes[::-1]] in [
            [],
            [ChangeKind.RESTORE],
            [ChangeKind.RESTORE, ChangeKind.UNDO],
        ]
        if len(changes) == 1:
            store.undo(None, COMMAND).result(SECONDS)


def _import(trial: Trial) -> None:
    file = trial.path.with_name("plants.csv")
    file.write_text("id,name\n" + "".join(f"{plant_id},{'x' * 500}\n" for plant_id in _IMPORTED_IDS), encoding="utf-8")
    with closing(SqliteStore(trial.path)) as store, FileImport(store, ImportOptions(), lambda *_: None) as files_import:
        arm()
        files_import.read([input_file(file)])
        files_import.compare(OnConflict.REFUSE)
        files_import.apply(skip_invalid=False)
        for plant_id in _IMPORTED_IDS:
            trial.acknowledge(plant_id)


def _check_import(store: SqliteStore) -> None:
    """Check that the import is complete or absent, with its entry of the history."""
    with closing(store.reader()) as reader:
        kinds = [change.kind for change in reader.history()]
        assert len(reader.rows(_IMPORTED_IDS)) == len(_IMPORTED_IDS) * kinds.count(ChangeKind.IMPORT)


class Scenario(NamedTuple):
    prepare: Callable[[Trial], None]
    act: Callable[[Trial], None]
    #: What else must be true at the next start.
    check: Callable[[SqliteStore], None] = lambda _store: None
    #: Whether the next start may say that the store is damaged or gone, as it was before.
    may_fail: bool = False
    #: Somebody takes the file or its log away: if the only process that has it open is killed at the same moment,
    #: nobody can save what others have added to it.
    only_own: bool = False


SCENARIOS = {
    "create": Scenario(_prepare_nothing, _open_and_add),
    "open": Scenario(_prepare_filled, _open_and_add),
    "recover": Scenario(_prepare_killed, _open_and_add),
    "checkpoint": Scenario(_prepare_filled, _fill_and_checkpoint),
    "migrate": Scenario(_prepare_old, _open_and_add),
    "backup": Scenario(_prepare_backed_up, _back_up),
    "restore": Scenario(_prepare_backed_up, _restore),
    "restore-damaged": Scenario(_prepare_damaged, _restore, may_fail=True),
    "restore-missing": Scenario(_prepare_missing, _restore, may_fail=True),
    "replace": Scenario(_prepare_two_stores, _replace, only_own=True),
    "change": Scenario(_prepare_filled, _change, _check_change),
    "undo-restore": Scenario(_prepare_backed_up, _restore_and_undo, _check_restore),
    "import": Scenario(_prepare_filled, _import, _check_import),
    "lose-log": Scenario(_prepare_filled, _lose_log, only_own=True),
}


# --- killing -----------------------------------------------------------------------------------------------------

_limit = 0
_report = -1


def arm() -> None:
    """Count calls from now on, and kill the process at the limit."""
    ctypes.CDLL(None).kill_at(_limit)


def in_child(action: Callable[[], None]) -> int:
    """Run `action` in a forked process; return its wait status. Kill it after a minute."""
    process = os.fork()
    if process == 0:
        signal.alarm(SECONDS)
        try:
            action()
            os._exit(0)
        except BaseException:  # noqa: BLE001  the top of the child
            traceback.print_exc()
            os._exit(1)
    return os.waitpid(process, 0)[1]


def _run_scenario(scenario: Scenario, trial: Trial, limit: int) -> None:
    global _limit
    _limit = limit
    scenario.act(trial)
    os.write(_report, b"%d\n" % ctypes.CDLL(None).calls())


def _add_beside(trial: Trial, first: int, stop: int) -> None:
    """Add plants in another process until the pipe is closed; retry where the store cannot be used."""
    plant_id = first
    os.set_blocking(stop, False)
    while True:
        with suppress(BlockingIOError):
            if os.read(stop, 1) == b"":
                return
        with suppress(StoreError), closing(SqliteStore(trial.path)) as store:
            for _ in range(5):
                trial.add(store, plant_id, 1, 100)
                plant_id += 1


def _verify(scenario: Scenario, trial: Trial, expected: set[int]) -> None:
    found = _read_backup_ids(trial.path)
    try:
        with closing(SqliteStore(trial.path)) as store, closing(store.reader()) as reader:
            scenario.check(store)
            for chunk in reader.ids(View()):
                found |= set(chunk)
            store.add(new_plant({"id": 999_999, "name": "after"}), COMMAND).result(SECONDS)
        with closing(sqlite3.connect(trial.path)) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    except (StoreGoneError, StoreDamagedError):
        if not scenario.may_fail:
            raise
        backup = next(copy for copy in BackupFolder(trial.path).newest_first() if copy.kind is not BackupKind.DAMAGED)
        FileBackups(trial.path).restore(backup.path)
        SqliteStore(trial.path).close()
    missing = {plant_id for plant_id in expected - found if plant_id < _FIRST_OTHER_ID or not scenario.only_own}
    assert not missing, f"{len(missing)} acknowledged plants are missing: {sorted(missing)[:5]}"


def _read_backup_ids(path: Path) -> set[int]:
    found: set[int] = set()
    for backup in BackupFolder(path).newest_first():
        with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(backup.path)) as database:
            found |= {plant_id for (plant_id,) in database.execute("SELECT id FROM plant")}
    return found


class Outcome(NamedTuple):
    """The result of one run: the calls it counted, if it was not killed, and the problems found."""

    calls: int
    killed: bool
    problem: str


def run_once(scenario: Scenario, folder: Path, limit: int, others: int) -> Outcome:
    global _report
    trial = Trial(folder)
    stop_reading, stop = os.pipe()
    reading, _report = os.pipe()
    prepared = in_child(lambda: scenario.prepare(trial))
    beside = [_fork_beside(trial, number + 1, stop_reading, stop) for number in range(others)]
    status = in_child(lambda: _run_scenario(scenario, trial, limit))
    os.close(stop)
    beside_status = [os.waitpid(process, 0)[1] for process in beside]
    os.close(stop_reading)
    os.close(_report)
    with os.fdopen(reading, "rb") as pipe:
        report = pipe.read()
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    expected = trial.read_acknowledged()
    verified = in_child(lambda: _verify(scenario, trial, expected))
    is_right = not prepared and not any(beside_status) and not verified and (killed or report)
    problem = "" if is_right else f"call {limit}: status {status}, others {beside_status}, next start {verified}"
    return Outcome(int(report or 0), killed, problem)


def _fork_beside(trial: Trial, number: int, stop_reading: int, stop: int) -> int:
    if (process := os.fork()) == 0:
        os.close(stop)
        os._exit(in_child(lambda: _add_beside(trial, _FIRST_OTHER_ID * number, stop_reading)) != 0)
    return process


def main() -> None:
    name, first, step, others = sys.argv[1], *map(int, sys.argv[2:])
    outcomes = [_run_in_folder(name, 0, 0)]  # counts only
    outcomes += [_run_in_folder(name, limit, others) for limit in range(first, outcomes[0].calls + 1, step)]
    problems = [outcome.problem for outcome in outcomes if outcome.problem]
    kills = sum(outcome.killed for outcome in outcomes)
    print(json.dumps({"calls": outcomes[0].calls, "kills": kills, "problems": problems}))


def _run_in_folder(name: str, limit: int, others: int) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        return run_once(SCENARIOS[name], Path(folder), limit, others)


if __name__ == "__main__":
    main()
