"""The changes that a store reports, beside other writers and failing commits, make a copy that equals the file.

Writers are the store itself, a second one (as in another process) and sqlite3, which counts no commit.
"""

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from typing_extensions import override

from plantdesk.domain.edits import DeleteAll, SetTag
from plantdesk.domain.errors import PlantDeskError, StoreError
from plantdesk.domain.records import COMMAND, FORM, Changes, Source
from plantdesk.domain.selections import HasTag, Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.store import SqliteStore
from tests.support.adding import add_each
from tests.support.cases import runs

if os.name != "posix":
    pytest.skip("the limit on the size of files is POSIX's", allow_module_level=True)

import resource

from tests.support.waiting import SECONDS

_ids = st.integers(1, 12)
_tags = st.sampled_from([None, "hall", "attic"])
_batches = st.lists(st.tuples(_ids, _tags), min_size=1, max_size=4)


class CopyOfChanges(RuleBasedStateMachine):
    """Keeps a copy by the changes alone; reads the file only where they ask for it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "plants.db"
        self.copy: dict[int, tuple[str, str | None]] = {}
        self.foreign = False  # whether a program that reports nothing has written

    @initialize()
    def open(self) -> None:
        self.store, self.other = SqliteStore(self.path), SqliteStore(self.path)
        self.store.subscribe(self.listen)
        self.source = self.store.tokens.create("script").result(SECONDS).row.source

    def listen(self, changes: Changes) -> None:
        if changes.needs_reload:
            assert self.foreign, "all is read again without need"
            self.copy = self.content()
        for row in (*changes.added, *changes.updated):
            self.copy[row.id] = (row.name, row.tag)
        for plant_id in changes.removed:
            self.copy.pop(plant_id, None)

    def content(self) -> dict[int, tuple[str, str | None]]:
        with closing(sqlite3.connect(self.path)) as database:
            rows = database.execute("SELECT id, name, tag FROM plant").fetchall()
        return {plant_id: (name, tag) for plant_id, name, tag in rows}

    @rule()
    def compare(self) -> None:
        self.store.tokens.record_use(self.source).result(SECONDS)  # a commit, which polls first; it changes no plant
        assert self.copy == self.content()
        self.foreign = False

    # --- this store ---

    @rule(batch=_batches, by=st.sampled_from(["form", "token"]))
    def add(self, batch: list[tuple[int, str | None]], by: str) -> None:
        self.add_to(self.store, batch, FORM if by == "form" else self.source)

    @rule(batch=_batches)
    def fail_to_add(self, batch: list[tuple[int, str | None]]) -> None:
        with self.full_disk():
            self.add_to(self.store, batch, COMMAND)

    @rule(tag=_tags, delete=st.booleans())
    def fail_to_change(self, tag: str | None, *, delete: bool) -> None:
        with self.full_disk(), contextlib.suppress(StoreError):
            self.change_in(self.store, tag, delete=delete)

    @rule(tag=_tags, delete=st.booleans())
    def change(self, tag: str | None, *, delete: bool) -> None:
        self.change_in(self.store, tag, delete=delete)

    @rule()
    def undo(self) -> None:
        with contextlib.suppress(PlantDeskError):
            self.store.undo(None, COMMAND).result(SECONDS)

    @rule(by=st.sampled_from(["this", "other", "sqlite3"]))
    def replace_token(self, by: str) -> None:
        old = self.source
        self.before_other()
        if by == "sqlite3":
            self.foreign = True
            with closing(sqlite3.connect(self.path)) as database, database:
                database.execute("UPDATE token SET revoked_at = 1 WHERE revoked_at IS NULL")
        else:
            (self.store if by == "this" else self.other).tokens.revoke(old.label).result(SECONDS)
        if by != "this":
            self.compare()  # now it is noticed
        (outcome,) = add_each(self.store, [(new_plant({"id": 99, "name": "Refused"}), old)])
        assert isinstance(outcome, PlantDeskError)
        self.source = self.store.tokens.create(old.label).result(SECONDS).row.source

    # --- others ---

    def before_other(self) -> None:
        """Notice what sqlite3 wrote: a commit of PlantDesk between two polls hides it."""
        if self.foreign:
            self.compare()

    @rule(batch=_batches)
    def other_adds(self, batch: list[tuple[int, str | None]]) -> None:
        self.before_other()
        self.add_to(self.other, batch, COMMAND)

    @rule(tag=_tags, delete=st.booleans())
    def other_changes(self, tag: str | None, *, delete: bool) -> None:
        self.before_other()
        self.change_in(self.other, tag, delete=delete)

    @rule(sql=st.sampled_from(["UPDATE plant SET name = name || '+'", "DELETE FROM plant WHERE id % 3 = 0"]))
    def sqlite3_writes(self, sql: str) -> None:
        self.compare()  # a commit of the other store hides this one as well
        self.foreign = True
        with closing(sqlite3.connect(self.path)) as database, database:
            database.execute(sql)

    @rule()
    def sqlite3_checkpoints(self) -> None:
        with closing(sqlite3.connect(self.path)) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    # --- both ---

    def add_to(self, store: SqliteStore, batch: list[tuple[int, str | None]], source: Source) -> None:
        fields = [{"id": plant_id, "name": "Fern"} | ({} if tag is None else {"tag": tag}) for plant_id, tag in batch]
        add_each(store, [(new_plant(field), source) for field in fields])

    def change_in(self, store: SqliteStore, tag: str | None, *, delete: bool) -> None:
        plants = Selection.of(HasTag(tag, is_exact=True))
        edit = DeleteAll(plants) if delete else SetTag(plants, "moved")
        store.apply([edit], COMMAND).result(SECONDS)

    @contextlib.contextmanager
    def full_disk(self) -> Iterator[None]:
        """Let this process make no file larger than the log is."""
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        log = self.path.with_name("plants.db-wal")
        resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size if log.exists() else 0, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    @override
    def teardown(self) -> None:
        with self.folder, contextlib.ExitStack() as stack:
            if hasattr(self, "store"):
                stack.callback(self.store.close)
                stack.callback(self.other.close)
                self.compare()


TestCopyOfChanges = CopyOfChanges.TestCase
TestCopyOfChanges.settings = runs(25)
