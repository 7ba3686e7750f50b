"""The indexes that are kept between starts: used where each change since is recorded, and built anew otherwise."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from queue import Empty, SimpleQueue

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from typing_extensions import override

from plantdesk.domain.edits import DeleteAll, SetTag
from plantdesk.domain.records import COMMAND, FORM, Changes
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import Selection
from plantdesk.domain.views import Order, View
from plantdesk.platform import paths
from plantdesk.store.sqlite import view_index
from plantdesk.store.sqlite.queries import Reader
from plantdesk.store.sqlite.read_only import ReadOnlyStore
from plantdesk.store.sqlite.store import Store
from tests.store.test_view_index import WORDS, make, plant, view_ids
from tests.support.adding import add_each
from tests.support.cases import cases
from tests.support.waiting import SECONDS

SEARCHES = ("aloe", "foreign", "late", "12", "a", "f", "-aloe", "tag:aloe", "tag:none", "nothing at all")


@pytest.fixture(autouse=True)
def small_stores() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(view_index, "MIN_PLANTS", 1)
        patch.setattr(view_index, "_QUIET", 0.01)
        yield


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of some plants, with indexes that were kept."""
    path = tmp_path / "plants.db"
    with closing(opened(path)) as store:
        add_each(store, [(plant(number, f"Aloe {number}", "office"), FORM) for number in range(50)])
        wait_until_indexed(store)
    assert len(folders()) == 1
    return path


def opened(path: Path) -> Store:
    store = Store(path)
    store.prepare_views()
    return store


def folders() -> list[str]:
    """Return the names of the folders of indexes."""
    return [folder.name for folder in (paths.cache_folder() / "indexes").glob("*/plantdesk-index-*")]


def wait_until_indexed(store: Store) -> None:
    while not store.is_indexed:
        time.sleep(0.001)


def check(store: Store) -> None:
    """Compare the views of a store with those without indexes."""
    with closing(store.reader()) as reader, closing(Reader(store.file)) as plain:
        views = [View(parse_search(text)) for text in SEARCHES]
        views += [View(Selection(), order, descending) for order in Order for descending in (False, True)]
        for view in views:
            assert view_ids(reader, view) == view_ids(plain, view), view
        assert reader.counts()[:3] == plain.counts()[:3]


def check_kept(path: Path, *, is_kept: bool) -> None:
    """Open a store and check whether its indexes are those of before."""
    before = folders()
    with closing(opened(path)) as store:
        for _ in range(2):  # what is damaged is noticed when it is used
            wait_until_indexed(store)
            check(store)
        assert (folders() == before) is is_kept


def foreign_edit(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("UPDATE plant SET name = 'Foreign', tag = NULL, folded = NULL WHERE id % 7 = 0")


def test_indexes_are_kept(path: Path) -> None:
    check_kept(path, is_kept=True)
    check_kept(path, is_kept=True)


def test_indexes_are_kept_over_recorded_changes(path: Path) -> None:
    with closing(Store(path)) as store:  # of a command, which uses no index
        store.add(plant(100, "Late"), COMMAND).result(SECONDS)
        store.apply([SetTag(parse_search("aloe 1"), "aloe")], COMMAND).result(SECONDS)
    with closing(ReadOnlyStore(path)) as reading, closing(reading.reader()) as reader:
        assert reader.count() == 51
    with closing(Store(path)) as store:
        store.apply([DeleteAll(Selection(ids=[3]))], COMMAND).result(SECONDS)
    check_kept(path, is_kept=True)


def test_indexes_are_kept_while_a_server_goes_on(path: Path) -> None:
    with closing(Store(path)) as server:
        server.add(plant(100, "Late"), COMMAND).result(SECONDS)
        before = note()
        while note() == before:  # when it is idle
            time.sleep(0.01)
        check_kept(path, is_kept=True)
        server.add(plant(101, "Late"), COMMAND).result(SECONDS)
    check_kept(path, is_kept=True)


def note() -> bytes:
    (file,) = (paths.cache_folder() / "indexes").glob("*/note.json")
    return file.read_bytes()


def test_indexes_of_a_newer_build_are_kept_by_a_server(path: Path) -> None:
    with closing(Store(path)) as server:
        with closing(opened(path)) as window:
            wait_until_indexed(window)
            before = folders()
            index = window._index  # noqa: SLF001
            assert index is not None
            index.drop()
            while folders() == before or not window.is_indexed:
                time.sleep(0.001)
        server.add(plant(100, "Late"), COMMAND).result(SECONDS)
    check_kept(path, is_kept=True)


def test_a_change_of_another_program_is_found(path: Path) -> None:
    foreign_edit(path)
    check_kept(path, is_kept=False)
    assert len(folders()) == 1
    check_kept(path, is_kept=True)


def test_a_change_of_another_program_beside_a_running_one_is_found(path: Path) -> None:
    received: SimpleQueue[Changes] = SimpleQueue()
    with closing(Store(path)) as server:
        server.subscribe(received.put)
        foreign_edit(path)
        while not received.get(timeout=SECONDS).needs_reload:
            pass
        server.add(plant(100, "Late"), COMMAND).result(SECONDS)
    check_kept(path, is_kept=False)


def test_a_change_of_another_program_in_the_log_is_found(path: Path) -> None:
    """Where a connection keeps the log, the database itself does not change."""
    with closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE plant SET name = 'Foreign'")
        other.commit()
        check_kept(path, is_kept=False)


def test_an_older_copy_is_found(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    shutil.copy2(path, copy)
    with closing(Store(path)) as store:
        store.apply([SetTag(parse_search("aloe"), "other")], COMMAND).result(SECONDS)
    path.write_bytes(copy.read_bytes())
    check_kept(path, is_kept=False)


@pytest.mark.parametrize("name", ["texts.db", "name", "tag", "source", "index.json"])
@pytest.mark.parametrize("cut", [0, -1, None])
def test_damaged_files_are_found(path: Path, name: str, cut: int | None) -> None:
    (file,) = (paths.cache_folder() / "indexes").glob(f"*/*/{name}")
    content = file.read_bytes()
    file.write_bytes(content[:-9] + b"123456789" if cut is None else content[:cut])
    check_kept(path, is_kept=False)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes in folders")
@pytest.mark.parametrize("name", ["*/texts.db", "*/name", "*/index.json", "*/lock", "note.json"])
def test_a_pipe_instead_of_a_file_is_not_waited_for(path: Path, name: str) -> None:
    (file,) = (paths.cache_folder() / "indexes").glob(f"*/{name}")
    file.unlink()
    os.mkfifo(file)
    check_kept(path, is_kept=False)


def test_a_damaged_note_is_found(path: Path) -> None:
    (file,) = (paths.cache_folder() / "indexes").glob("*/note.json")
    file.write_bytes(note().replace(b"true", b"null"))
    check_kept(path, is_kept=False)


def test_without_a_cache_folder_indexes_are_temporary(tmp_path: Path) -> None:
    paths.cache_folder().parent.mkdir()
    paths.cache_folder().write_bytes(b"")
    with closing(opened(tmp_path / "plants.db")) as store:
        add_each(store, [(plant(number, f"Aloe {number}"), FORM) for number in range(50)])
        wait_until_indexed(store)
        check(store)
    assert not list(Path(tempfile.gettempdir()).glob("plantdesk-index-*"))


def test_indexes_of_a_store_that_is_gone_are_removed(path: Path, tmp_path: Path) -> None:
    (before,) = folders()
    path.unlink()
    with closing(opened(tmp_path / "other.db")) as store:
        add_each(store, [(plant(1), FORM)])
        wait_until_indexed(store)
    assert before not in folders()
    assert len(folders()) == 1


_KILLED = """
import os, sys, time
from pathlib import Path
from plantdesk.domain.records import FORM
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite import view_index
from plantdesk.store.sqlite.store import Store
view_index.MIN_PLANTS, view_index._QUIET = 1, 0.01
store = Store(Path(sys.argv[1]))
store.prepare_views()
for plant_id in range(int(sys.argv[2]), int(sys.argv[2]) + int(sys.argv[3])):
    store.add(new_plant({"id": plant_id, "name": f"Late {plant_id}"}), FORM).result()
os._exit(9)
"""


def kill(path: Path, first: int, plants: int) -> None:
    """Add plants in a process that is killed while it builds indexes."""
    command = [sys.executable, "-c", _KILLED, str(path), str(first), str(plants)]
    assert subprocess.run(command, check=False, env={**os.environ}).returncode == 9


def test_what_a_killed_process_added_is_found(path: Path) -> None:
    kill(path, 100, 3)
    check_kept(path, is_kept=False)


class Restarts(RuleBasedStateMachine):
    """Restarts, kills, changes, foreign changes and damage, beside plain searches."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "plants.db"
        self.copy: bytes | None = None
        self.next = 1000
        self.received: SimpleQueue[Changes] = SimpleQueue()
        self.store: Store | None = None
        self.open()
        for word in WORDS:
            self.add(word, None, apart=False)

    def open(self) -> None:
        self.store = opened(self.path)
        self.store.subscribe(self.received.put)

    @override
    def teardown(self) -> None:
        self.close()
        self.folder.cleanup()

    @rule(meanwhile=st.sampled_from(["nothing", "edit", "kill"]), opens=st.booleans())
    def restart(self, meanwhile: str, *, opens: bool) -> None:
        self.close()
        if meanwhile == "edit":
            self.edit_by_another_program()
        elif meanwhile == "kill":
            self.kill(1)
        if opens:
            self.open()

    def close(self) -> None:
        if self.store is not None:
            self.store.close()
            self.store = None

    @rule(name=st.sampled_from(WORDS), tag=st.none() | st.just("Aloe"), apart=st.booleans())
    def add(self, name: str, tag: str | None, *, apart: bool) -> None:
        self.next += 1
        self.make(plant(self.next, name, tag), apart=apart)

    @rule(word=st.sampled_from(WORDS), tag=st.sampled_from([None, "aloe", "late"]), apart=st.booleans())
    def edit(self, word: str, tag: str | None, *, apart: bool) -> None:
        self.make(SetTag(parse_search(word), tag), apart=apart)

    @rule(what=st.sampled_from(["undo", "redo"]), apart=st.booleans())
    def undo(self, what: str, *, apart: bool) -> None:
        self.make(what, apart=apart)

    def make(self, change: object, *, apart: bool) -> None:
        if self.store is None or apart:
            with closing(Store(self.path)) as store:
                make(store, change)  # type: ignore[arg-type]
        else:
            make(self.store, change)  # type: ignore[arg-type]

    @rule()
    def edit_by_another_program(self) -> None:
        self.settle()
        with closing(sqlite3.connect(self.path)) as other, other:
            self.next += 1  # SQLite writes nothing where a row stays the same
            sql = "UPDATE plant SET name = ?, folded = NULL WHERE id % 3 = 0"
            found = other.execute(sql, (f"Foreign {self.next}",)).rowcount
        if self.store is not None and found:
            while not self.received.get(timeout=SECONDS).needs_reload:
                pass

    def settle(self) -> None:
        """Wait until what others have committed is known: it would hide what another program commits just then."""
        with suppress(Empty):
            while self.store is not None:
                self.received.get(timeout=0.2)

    @rule(plants=st.integers(0, 2))
    def kill(self, plants: int) -> None:
        kill(self.path, self.next + 1, plants)
        self.next += plants

    @precondition(lambda self: self.store is None)
    @rule(keeps=st.booleans())
    def copy_back(self, *, keeps: bool) -> None:
        if self.path.with_name("plants.db-wal").exists():
            return
        if keeps or self.copy is None:
            self.copy = self.path.read_bytes()
        else:
            self.path.write_bytes(self.copy)

    @precondition(lambda self: self.store is None)
    @rule(data=st.data())
    def damage(self, data: st.DataObject) -> None:
        found = (paths.cache_folder() / "indexes").rglob("*")
        if files := {file.name: file for file in found if file.is_file() and file.stat().st_size}:
            file = files[data.draw(st.sampled_from(sorted(files)))]
            content = bytearray(file.read_bytes())
            content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
            file.write_bytes(content)

    @invariant()
    def views_are_the_same(self) -> None:
        if self.store is None:
            return
        with closing(self.store.reader()) as reader:
            is_empty = reader.count() == 0
        if not is_empty:
            wait_until_indexed(self.store)
            check(self.store)


def test_views_are_the_same_over_restarts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_index, "MAX_CHANGED", 6)  # so that plants are added to an index, and others built
    run_state_machine_as_test(Restarts, settings=cases(4, steps=15))
