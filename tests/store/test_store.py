"""The store in a file: its listeners, its errors, its closing, its tokens, and reading it in chunks."""

import hashlib
import itertools
import os
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import Future
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plantdesk.domain.errors import (
    IdTakenError,
    StoreBusyError,
    StoreClosedError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    TokenRefusedError,
)
from plantdesk.domain.protocols import TokenLookup
from plantdesk.domain.records import COMMAND, FORM, LARGEST_ID, SMALLEST_ID, Changes
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import View
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite import transactions
from plantdesk.store.sqlite.files.backup_folder import BackupFolder
from plantdesk.store.sqlite.files.store_file import StoreFile
from plantdesk.store.sqlite.migrations import SCHEMA_VERSION, apply_steps
from plantdesk.store.sqlite.reader import read_ids
from plantdesk.store.sqlite.store import SqliteStore
from tests.support.adding import plant, write_connection
from tests.support.cases import cases
from tests.support.waiting import SECONDS, until


def stored(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT id, name, tag, source_id FROM plant ORDER BY seq").fetchall()


def test_listeners_hear_of_a_plant_after_it_is_there(store: SqliteStore, path: Path) -> None:
    received: SimpleQueue[tuple[Changes, int]] = SimpleQueue()
    unsubscribe = store.subscribe(lambda changes: received.put((changes, len(stored(path)))))
    row = store.add(plant(1), FORM).result(SECONDS)
    assert received.get(timeout=SECONDS) == (Changes((row,)), 1)
    unsubscribe()
    store.add(plant(2), FORM).result(SECONDS)
    store.close()
    assert received.empty()


def test_a_failing_listener_does_not_stop_the_writer(store: SqliteStore, caplog: pytest.LogCaptureFixture) -> None:
    def fail(_changes: Changes) -> None:
        raise ValueError

    store.subscribe(fail)
    store.add(plant(1), FORM).result(SECONDS)
    store.add(plant(2), FORM).result(SECONDS)
    store.close()
    assert "a listener failed" in caplog.text


def test_a_write_cannot_be_cancelled(store: SqliteStore) -> None:
    """A caller that gives up must not keep the writer from those that wait."""
    goes_on = threading.Event()

    def wait(_changes: Changes) -> None:
        goes_on.wait(SECONDS)

    store.subscribe(wait)
    store.add(plant(1), FORM).result(SECONDS)
    waiting: list[Future[Any]] = [store.add(plant(2), FORM), store.tokens.create("garden-sync")]
    assert not any(future.cancel() for future in waiting)
    goes_on.set()
    for future in waiting:
        assert future.result(SECONDS)
    assert store.add(plant(3), FORM).result(SECONDS)


def test_opening_the_file_once_more_leaves_the_first_its_locks(store: SqliteStore, path: Path) -> None:
    store.add(plant(1), FORM).result(SECONDS)
    received: SimpleQueue[Changes] = SimpleQueue()
    store.subscribe(received.put)
    # Had it closed a descriptor of its own, the program below would take itself for the only one.
    SqliteStore(path).close()
    subprocess.run([sys.executable, "-m", "plantdesk", "add", "--name", "Fern", "--database", str(path)], check=True)
    while not (changes := received.get(timeout=SECONDS)).added:
        pass  # that something has changed may be reported once too often
    assert [row.name for row in changes.added] == ["Fern"]
    store.add(plant(9), FORM).result(SECONDS)
    store.close()
    assert [row[1] for row in stored(path)] == ["Aloe vera", "Fern", "Aloe vera"]


def test_a_full_disk_is_reported_and_nothing_is_half_written(store: SqliteStore, path: Path) -> None:
    store.add(plant(1), FORM).result(SECONDS)
    pages = write_connection(store).execute("PRAGMA page_count").fetchone()[0]  # SQLite's own limit is a full disk
    write_connection(store).execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StoreFullError):
        store.add(plant(2, "x" * 100_000), FORM).result(SECONDS)
    assert len(stored(path)) == 1
    store.add(plant(3), FORM).result(SECONDS)


posix = pytest.mark.skipif(os.name != "posix", reason="Windows lets nobody replace an open file")


@posix
def test_a_foreign_file_that_took_the_place_is_refused_and_left(store: SqliteStore, path: Path, tmp_path: Path) -> None:
    store.add(plant(1), COMMAND).result(SECONDS)
    original = path.rename(tmp_path / "aside.db")
    path.write_bytes(b"my diary" * 1000)
    for plant_id in range(2, 8):  # each tries again, without another backup
        with pytest.raises(StoreDamagedError):
            store.add(plant(plant_id), COMMAND).result(SECONDS)
    assert path.read_bytes() == b"my diary" * 1000
    (kept,) = BackupFolder(path).newest_first()
    assert [row[0] for row in stored(kept.path)] == [1]
    kept.path.replace(path)
    store.add(plant(2), COMMAND).result(SECONDS)
    assert [row[0] for row in stored(path)] == [1, 2]
    assert original.exists()


@posix
def test_a_store_whose_log_was_deleted_goes_on_with_all_its_plants(store: SqliteStore, path: Path) -> None:
    store.add(plant(1), COMMAND).result(SECONDS)
    with closing(store.reader()) as reader:
        path.with_name(f"{path.name}-wal").unlink()
        store.add(plant(2), COMMAND).result(SECONDS)
        assert reader.count() == 2
    with closing(SqliteStore(path)) as other:
        other.add(plant(3), COMMAND).result(SECONDS)
    store.add(plant(4), COMMAND).result(SECONDS)
    store.close()
    assert [row[0] for row in stored(path)] == [1, 2, 3, 4]
    assert [row[0] for row in stored(BackupFolder(path).newest_first()[0].path)] == [1]


# --- error, and its end ------------------------------------------------------------------------


@pytest.fixture
def health(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> SimpleQueue[StoreError | None]:
    """What the store reports of its health; it retries after every poll."""
    monkeypatch.setattr(transactions, "_RETRY_POLLS", 1)
    received: SimpleQueue[StoreError | None] = SimpleQueue()
    store.subscribe_health(received.put)
    store.subscribe(lambda _changes: None)
    return received


def test_a_lock_of_another_program_is_reported_until_it_is_gone(
    store: SqliteStore, path: Path, health: SimpleQueue[StoreError | None]
) -> None:
    store.add(plant(1), FORM).result(SECONDS)
    write_connection(store).execute("PRAGMA busy_timeout = 10")  # else the test waits for 5 s
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError) as busy:
            store.add(plant(2), FORM).result(SECONDS)
        assert busy.value.retry_after
        assert isinstance(health.get(timeout=SECONDS), StoreBusyError)
        other.execute("ROLLBACK")
    assert health.get(timeout=SECONDS) is None
    assert store.add(plant(2), FORM).result(SECONDS).id == 2
    assert health.empty()


def test_what_one_plant_is_refused_for_is_no_trouble(
    store: SqliteStore, health: SimpleQueue[StoreError | None]
) -> None:
    store.add(plant(1), FORM).result(SECONDS)
    with pytest.raises(IdTakenError):
        store.add(plant(1), FORM).result(SECONDS)
    store.close()
    with pytest.raises(StoreClosedError):
        store.add(plant(2), FORM).result(SECONDS)
    assert health.empty()


def test_closing_writes_what_waits_and_refuses_what_comes_after(path: Path) -> None:
    store = SqliteStore(path)
    waiting = [store.add(plant(number), FORM) for number in range(200)]
    store.close()
    store.close()
    assert all(future.done() for future in waiting)
    assert len(stored(path)) == 200
    with pytest.raises(StoreClosedError):
        store.add(plant(999), FORM).result(SECONDS)
    with pytest.raises(StoreClosedError):
        store.tokens.create("late").result(SECONDS)


def test_closing_between_groups_ends_the_thread(path: Path) -> None:
    store = SqliteStore(path)
    threads = [threading.Thread(target=store.close) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert not any(thread.is_alive() for thread in threads)


def test_the_log_is_moved_into_the_file_under_load(store: SqliteStore, path: Path) -> None:
    for number in range(600):
        store.add(plant(number, "x" * 3000), FORM).result(SECONDS)
    assert path.stat().st_size > 1_000_000
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_who_subscribes_while_the_store_recovers_gets_its_present_health(store: SqliteStore) -> None:
    """The writer reports at the very moment in which the subscriber is called."""
    health = store._writer._health  # noqa: SLF001
    health.record(StoreFullError())
    received: list[StoreError | None] = []

    def listen(error: StoreError | None) -> None:
        if error is not None and not received:
            health.record(None)
        received.append(error)

    store.subscribe_health(listen)
    assert received[-1] is None


def test_only_the_digest_is_kept(store: SqliteStore, path: Path) -> None:
    token = store.tokens.create("greenhouse").result(SECONDS).token
    store.close()
    assert token.encode() not in path.read_bytes()
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT digest FROM token").fetchall() == [(hashlib.sha256(token.encode()).digest(),)]


def test_a_revocation_by_another_program_is_noticed(store: SqliteStore, path: Path, lookup: TokenLookup) -> None:
    token = store.tokens.create("greenhouse").result(SECONDS).token
    assert lookup.source(token).label == "greenhouse"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE token SET revoked_at = 1")

    def is_refused() -> bool:
        with suppress(TokenRefusedError):
            lookup.source(token)
            return False
        return True

    until(is_refused)


def test_the_cost_of_a_check_does_not_grow_with_the_tokens(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in instructions of SQLite's machine, as time would vary."""
    steps = itertools.count()
    really = StoreFile.connect

    def counting(file: StoreFile) -> sqlite3.Connection:
        connection = really(file)
        connection.set_progress_handler(lambda: next(steps) < 0, 1)
        return connection

    def cost() -> int:
        before = next(steps)
        with closing(store.tokens.open_lookup()) as lookup:
            lookup.source(token)
        return next(steps) - before

    monkeypatch.setattr(StoreFile, "connect", counting)
    token = store.tokens.create("greenhouse").result(SECONDS).token
    with_one = cost()
    for number in range(100):
        store.tokens.create(f"other {number}").result(SECONDS)
    assert cost() <= 2 * with_one


@pytest.mark.parametrize("text", ["", "x", "-y"])
def test_a_large_view_comes_in_chunks_of_which_the_first_is_small(store: SqliteStore, path: Path, text: str) -> None:
    store.add(new_plant({"id": 0, "name": "x"}), FORM).result(SECONDS)
    with closing(sqlite3.connect(path)) as other, other:
        other.execute(
            """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
               INSERT INTO plant (id, name, searched_name, seq, added_at, source_id)
               SELECT i, 'x', 'x', i + 1, 0, 1 FROM n"""
        )
    with closing(store.reader()) as reader:
        chunks = list(reader.ids(View(parse_search(text))))
    assert len(chunks[0]) < 1000
    assert [plant_id for chunk in chunks for plant_id in chunk] == list(range(60000, -1, -1))


def test_a_running_question_can_be_interrupted(store: SqliteStore) -> None:
    reader = store.reader()
    started = threading.Event()

    def go_on_for_ever() -> int:
        started.set()
        return 1

    reader._connection.create_function("going", 0, go_on_for_ever)  # noqa: SLF001  shows that the query runs

    def interrupt() -> None:
        started.wait(SECONDS)
        reader.interrupt()

    threading.Thread(target=interrupt).start()
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + going() FROM n) SELECT count(*) FROM n"
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        reader._connection.execute(endless).fetchall()  # noqa: SLF001
    assert reader.count() == 0
    reader.close()
    reader.close()


ids = st.sets(st.integers(-20, 20) | st.sampled_from([SMALLEST_ID, SMALLEST_ID + 1, LARGEST_ID - 1, LARGEST_ID]))


def connection_with(listed: list[int]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    apply_steps(connection, 0, SCHEMA_VERSION)
    insert = "INSERT INTO plant (id, name, searched_name, seq, added_at, source_id) VALUES (?, 'Aloe', 'aloe', ?, 0, 1)"
    connection.executemany(insert, [(each, seq) for seq, each in enumerate(listed, 1)])
    return connection


@cases(100)
@given(ids=ids.map(list), size=st.integers(1, 7), order=st.sampled_from(["seq", "id", "seq DESC", "id DESC"]))
def test_chunks_hold_what_one_statement_selects(ids: list[int], size: int, order: str) -> None:
    statement = f"SELECT id FROM plant ORDER BY {order}"
    with closing(connection_with(ids)) as connection:
        chunks = [*read_ids(connection, statement, {}, size)]
        assert [*chain(*chunks)] == [plant_id for (plant_id,) in connection.execute(statement)]
        assert all(chunks)


@pytest.mark.parametrize(
    ("change", "sources", "tags", "today"),
    [
        ("source_id = 99 WHERE id < 3", {"other": 2, "form": 1}, {"hall": 2, "attic": 1}, 3),
        ("tag = CAST(CASE id WHEN 1 THEN x'FF' ELSE x'FE' END AS TEXT)", {"form": 3}, {"\ufffd": 3}, 3),
        ("added_at = added_at - 86400000 WHERE id = 1", {"form": 3}, {"hall": 2, "attic": 1}, 2),
    ],
    ids=["of a source that is missing", "with tags that read the same", "of yesterday"],
)
def test_counts_of_plants_that_another_program_has_changed(
    store: SqliteStore, change: str, sources: dict[str, int], tags: dict[str, int], today: int
) -> None:
    for plant_id, tag in ((1, "hall"), (2, "hall"), (3, "attic")):
        store.add(new_plant({"id": plant_id, "name": "Fern", "tag": tag}), FORM).result(SECONDS)
    with closing(sqlite3.connect(store.path)) as database, database:
        database.execute(f"UPDATE plant SET {change}")
    with closing(store.reader()) as reader:
        counts = reader.counts()
    found = {source.kind: count for source, count in counts.sources.items()}
    assert (found, counts.tags, counts.today, counts.total) == (sources, tags, today, 3)
