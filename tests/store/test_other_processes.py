"""What an open store notices of other processes: nothing is missed, and nothing is read again without need."""

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from queue import SimpleQueue

import pytest

from plantdesk.domain.errors import ForeignSchemaError, StoreError, StoreMovedError
from plantdesk.domain.records import COMMAND, Changes, PlantRow
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.connections import connect
from plantdesk.store.sqlite.files.store_file import StoreFile
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.store.sqlite.transactions import WriteConnection
from tests.support.waiting import SECONDS, until

movable = pytest.mark.skipif(sys.platform == "win32", reason="an open file can neither be moved nor replaced there")

_COMMIT = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
columns = "id, seq, name, searched_name, added_at, source_id"
database.execute(f"INSERT INTO plant ({columns}) VALUES (?, ?, 'Fern', 'fern', 1, 1)", sys.argv[2:] * 2)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "parent" / "folder"
    folder.mkdir(parents=True)
    return folder / "plants.db"


@pytest.fixture
def changes(store: SqliteStore) -> SimpleQueue[Changes]:
    received: SimpleQueue[Changes] = SimpleQueue()
    store.subscribe(received.put)
    return received


@pytest.fixture
def health(store: SqliteStore) -> SimpleQueue[StoreError | None]:
    received: SimpleQueue[StoreError | None] = SimpleQueue()
    store.subscribe_health(received.put)
    return received


def check_notices(path: Path, plant_id: int, changes: SimpleQueue[Changes]) -> None:
    """Let another process add a plant, and wait until the store notices it."""
    subprocess.run([sys.executable, "-c", _COMMIT, str(path), str(plant_id)], check=True)
    while not (added := changes.get(timeout=SECONDS).added):
        pass
    assert [row.id for row in added] == [plant_id]


def test_each_commit_of_another_process_is_noticed(path: Path, changes: SimpleQueue[Changes]) -> None:
    for plant_id in (1, 2):
        check_notices(path, plant_id, changes)


@movable
@pytest.mark.parametrize("levels", [1, 2])
def test_a_folder_is_moved_away_and_back(
    path: Path, levels: int, changes: SimpleQueue[Changes], health: SimpleQueue[StoreError | None]
) -> None:
    folder = path.parents[levels - 1]
    moved = folder.rename(folder.with_name("moved"))
    assert isinstance(health.get(timeout=SECONDS), StoreMovedError)
    moved.rename(folder)
    assert health.get(timeout=SECONDS) is None
    check_notices(path, 1, changes)


@movable
def test_a_removed_folder_is_noticed(path: Path, store: SqliteStore, health: SimpleQueue[StoreError | None]) -> None:
    shutil.rmtree(path.parent)
    assert health.get(timeout=SECONDS) is not None
    path.parent.mkdir()
    store.close()  # it saves what the file held


def _content(store: SqliteStore) -> dict[int, PlantRow]:
    with closing(store.reader()) as reader:
        return {row.id: row for row in reader.selected(Selection())}


def test_a_listener_follows_what_other_processes_change(store: SqliteStore, path: Path) -> None:
    seen: dict[int, PlantRow] = {}

    def follow(changes: Changes) -> None:
        if changes.needs_reload:
            seen.clear()
            seen.update(_content(store))
        seen.update((row.id, row) for row in (*changes.added, *changes.updated))
        for plant_id in changes.removed:
            seen.pop(plant_id, None)

    store.subscribe(follow)
    command = [sys.executable, "-m", "tests.support.changing", str(path)]
    others = [subprocess.Popen([*command, str(seed), "150"], stdout=subprocess.PIPE, text=True) for seed in range(1, 4)]
    printed = [other.communicate(timeout=120)[0] for other in others]
    assert [other.returncode for other in others] == [0, 0, 0]
    until(lambda: seen == _content(store))
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        kept = {plant_id for (plant_id,) in database.execute("SELECT plant_id FROM before_image")}
    acknowledged = {int(line) for output in printed for line in output.split()}
    assert acknowledged
    assert acknowledged <= seen.keys() | kept


_FILL = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
    INSERT INTO plant (id, name, tag, seq, added_at, source_id, searched_name, searched_tag)
    SELECT i, 'Fern', 'hall', i, i, 1, 'fern', 'hall' FROM n"""


def test_what_others_write_reaches_the_file_while_nobody_listens(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plantdesk.store.sqlite.store.POLL_INTERVAL", 0.001)
    with closing(SqliteStore(path)):
        for plant_id in (1, 2):  # the second when this process has been idle for long
            before = path.stat().st_mtime_ns
            with closing(SqliteStore(path)) as other:
                other.add(new_plant({"id": plant_id, "name": "Fern"}), COMMAND).result(SECONDS)
            until(partial(is_written_since, path, before))


def is_written_since(path: Path, moment: int) -> bool:
    return path.stat().st_mtime_ns > moment


def test_a_commit_that_changed_no_plant_lets_nobody_read_all_again(store: SqliteStore, path: Path) -> None:
    received: SimpleQueue[Changes] = SimpleQueue()
    store.subscribe(received.put)
    with closing(SqliteStore(path)) as other:
        plant = new_plant({"id": 1, "name": "Fern"})
        other.add(plant, COMMAND).result(SECONDS)
        source = other.tokens.create("greenhouse").result(SECONDS).row.source
        other.add(plant, source).result(SECONDS)  # the same again
        other.tokens.record_use(source).result(SECONDS)
        other.tokens.revoke("greenhouse").result(SECONDS)
        other.add(new_plant({"id": 2, "name": "Moss"}), COMMAND).result(SECONDS)
    seen: list[int] = []
    while 2 not in seen:
        changes = received.get(timeout=SECONDS)
        assert not changes.needs_reload
        seen += [row.id for row in changes.added]
    assert seen == [1, 2]


def test_a_row_that_no_plantdesk_wrote_stops_no_write(store: SqliteStore, path: Path) -> None:
    received: SimpleQueue[Changes] = SimpleQueue()
    store.subscribe(received.put)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("INSERT INTO source (id, kind, label) VALUES (50, 'sync', 'a later version')")
        other.execute(
            "INSERT INTO plant (id, name, searched_name, seq, added_at, source_id) "
            "VALUES (1, CAST(x'41ff' AS TEXT), 'a', 1, 0, 50)"
        )
    store.add(new_plant({"id": 2, "name": "Moss"}), COMMAND).result(SECONDS)
    seen: list[str] = []
    while len(seen) < 2:
        seen += [row.name for row in received.get(timeout=SECONDS).added]
    assert seen == ["A\ufffd", "Moss"]


@pytest.fixture
def connection(path: Path) -> Iterator[WriteConnection]:
    with closing(StoreFile(path)) as file, closing((found := WriteConnection(file)).sqlite):
        yield found


def test_a_trigger_that_another_program_makes_is_refused_and_not_executed(store: SqliteStore, path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("CREATE TRIGGER t BEFORE INSERT ON plant BEGIN SELECT RAISE(IGNORE); END")
        refused = store.add(new_plant({"id": 1, "name": "Fern"}), COMMAND)
        assert isinstance(refused.exception(SECONDS), ForeignSchemaError)
        other.execute("DROP TRIGGER t")
        store.add(new_plant({"id": 2, "name": "Ivy"}), COMMAND).result(SECONDS)
        assert other.execute("SELECT name FROM plant").fetchall() == [("Ivy",)]


def test_a_connection_notices_that_another_one_writes(connection: WriteConnection, path: Path) -> None:
    with closing(connect(path)) as other:
        assert not connection.is_locked()
        other.execute("BEGIN IMMEDIATE")
        assert connection.is_locked()
        other.execute("ROLLBACK")
        assert not connection.is_locked()
        assert connection.sqlite.execute("PRAGMA busy_timeout").fetchone() == (5000,)


def test_a_transaction_that_begins_a_new_log_is_noticed_at_its_commit(connection: WriteConnection, path: Path) -> None:
    with closing(connect(path)) as other:
        other.execute("PRAGMA cache_size = 5")  # so that it writes to the log before its commit
        other.execute("UPDATE store SET other_commits = 1")
        assert not connection.poll().needs_reload
        assert other.execute("PRAGMA wal_checkpoint").fetchone()[0] == 0
        other.execute("BEGIN")
        other.execute(_FILL)
        assert not connection.poll().added
        other.execute("COMMIT")
        changes = connection.poll()
        assert (len(changes.added), changes.needs_reload) == (1000, True)
