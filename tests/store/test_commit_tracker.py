"""Noticing what other processes write: nothing is missed, and nothing is read again without need."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING

from plantdesk.domain.records import COMMAND, Changes
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.commit_tracker import CommitTracker, is_locked
from plantdesk.store.sqlite.connections import connect
from plantdesk.store.sqlite.store import Store
from tests.store.test_backups import until
from tests.support.waiting import SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

_FILL = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
    INSERT INTO plant (id, name, tag, seq, added_at, source_id, searched_name, searched_tag)
    SELECT i, 'Fern', 'hall', i, i, 1, 'fern', 'hall' FROM n"""


def test_what_others_write_reaches_the_file_while_nobody_listens(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plantdesk.store.sqlite.store.POLL_INTERVAL", 0.001)
    with closing(Store(path)):
        for plant_id in (1, 2):  # the second when this process has been idle for long
            before = path.stat().st_mtime_ns
            with closing(Store(path)) as other:
                other.add(new_plant({"id": plant_id, "name": "Fern"}), COMMAND).result(SECONDS)
            until(partial(is_written_since, path, before))


def is_written_since(path: Path, moment: int) -> bool:
    return path.stat().st_mtime_ns > moment


def test_a_commit_that_changed_no_plant_lets_nobody_read_all_again(store: Store, path: Path) -> None:
    received: SimpleQueue[Changes] = SimpleQueue()
    store.subscribe(received.put)
    with closing(Store(path)) as other:
        plant = new_plant({"id": 1, "name": "Fern"})
        other.add(plant, COMMAND).result(SECONDS)
        source = other.tokens.create("greenhouse").result(SECONDS).row.source
        other.add(plant, source).result(SECONDS)  # the same again
        other.tokens.used(source).result(SECONDS)
        other.tokens.revoke("greenhouse").result(SECONDS)
        other.add(new_plant({"id": 2, "name": "Moss"}), COMMAND).result(SECONDS)
    seen: list[int] = []
    while 2 not in seen:
        changes = received.get(timeout=SECONDS)
        assert not changes.needs_reload
        seen += [row.id for row in changes.added]
    assert seen == [1, 2]


def test_a_row_that_no_plantdesk_wrote_stops_no_write(store: Store, path: Path) -> None:
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


def test_a_connection_notices_that_another_one_writes(path: Path) -> None:
    Store(path).close()
    with closing(connect(path)) as connection, closing(connect(path)) as other:
        assert not is_locked(connection)
        other.execute("BEGIN IMMEDIATE")
        assert is_locked(connection)
        other.execute("ROLLBACK")
        assert not is_locked(connection)
        assert connection.execute("PRAGMA busy_timeout").fetchone() == (5000,)


def test_a_transaction_that_begins_a_new_log_is_noticed_at_its_commit(path: Path) -> None:
    Store(path).close()
    with closing(connect(path)) as connection, closing(connect(path)) as other:
        tracker = CommitTracker(connection)
        other.execute("PRAGMA cache_size = 5")  # so that it writes to the log before its commit
        other.execute("UPDATE store SET other_commits = 1")
        assert not tracker.poll().needs_reload
        assert other.execute("PRAGMA wal_checkpoint").fetchone()[0] == 0
        other.execute("BEGIN")
        other.execute(_FILL)
        assert not tracker.poll().added
        other.execute("COMMIT")
        changes = tracker.poll()
        assert (len(changes.added), changes.needs_reload) == (1000, True)
