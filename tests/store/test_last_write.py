"""What the timestamps of a store's files tell."""

from __future__ import annotations

import os
import sys
import time
from contextlib import closing
from queue import SimpleQueue
from typing import TYPE_CHECKING

import pytest

from plantdesk.store.sqlite.files.file_watch import FileWatch, LastWrite
from plantdesk.store.sqlite.store import Store
from tests.store.test_file_watch import commit_elsewhere
from tests.support.waiting import SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.domain.records import Changes

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="timestamps say nothing there")

OLD = 1_000_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "plants.db"
    for file in (path, log(path)):
        file.write_bytes(b"x")
        os.utime(file, (OLD, OLD))
    return path


def log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def test_old_files_are_not_new(path: Path) -> None:
    last = LastWrite(path)
    assert [last.may_be_new() for _ in range(3)] == [True, False, False]


@pytest.mark.parametrize("suffix", ["", "-wal"])
def test_a_write_or_another_file_is_new(path: Path, suffix: str) -> None:
    file = path.with_name(path.name + suffix)
    last = LastWrite(path)
    last.may_be_new()
    os.utime(file, (OLD + 1, OLD + 1))
    assert last.may_be_new()
    other = path.with_name("other")
    other.write_bytes(b"x")
    os.utime(other, (OLD + 1, OLD + 1))
    other.replace(file)
    assert last.may_be_new()
    file.unlink()
    assert [last.may_be_new(), last.may_be_new()] == [True, True]


def test_another_index_of_the_log_is_new_but_not_what_is_in_it(path: Path) -> None:
    index, other = path.with_name(f"{path.name}-shm"), path.with_name("other")
    index.write_bytes(b"x")
    last = LastWrite(path)
    last.may_be_new()
    index.write_bytes(b"changed")
    assert not last.may_be_new()
    other.write_bytes(b"x")
    other.replace(index)
    assert last.may_be_new()
    index.unlink()
    assert [last.may_be_new(), last.may_be_new()] == [True, False]


def test_a_commit_that_no_timestamp_tells_of_is_noticed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The flush of a slow disk may take seconds between the last write of a commit and the moment it is visible."""
    for file in (path, log(path)):
        file.unlink()
    monkeypatch.setattr(LastWrite, "may_be_new", lambda _: False)
    monkeypatch.setattr(FileWatch, "arm", lambda _: False)
    changes: SimpleQueue[Changes] = SimpleQueue()
    with closing(Store(path)) as store:
        store.subscribe(changes.put)
        commit_elsewhere(path, 1)
        assert [row.id for row in changes.get(timeout=SECONDS).added] == [1]


@pytest.mark.parametrize("ahead", [0, 3600])
def test_a_file_of_these_seconds_or_of_the_future_may_be_new(path: Path, ahead: int) -> None:
    moment = time.time() + ahead
    os.utime(log(path), (moment, moment))
    last = LastWrite(path)
    assert [last.may_be_new() for _ in range(3)] == [True, True, True]
