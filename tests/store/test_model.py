"""The store in a file beside a dict that does the same (`tests/support/store_model`)."""

import contextlib
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from unittest import mock

from hypothesis import strategies as st
from hypothesis.stateful import rule
from typing_extensions import override

from plantdesk.domain.records import FORM
from plantdesk.domain.selections import Order, View
from plantdesk.store import history
from plantdesk.store.sqlite.backups import FileBackups
from plantdesk.store.sqlite.database import runner_of
from plantdesk.store.sqlite.store import SqliteStore
from tests.support.cases import runs
from tests.support.store_model import LETTERS, Entry, StoreBesideDict, ids_, tags

_with_nul = st.text(LETTERS | st.just("\0"), max_size=6)


class FileBesideDict(StoreBesideDict):
    """With backups, pruning and U+0000."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "plants.db"
        self.backups: list[tuple[Path, dict[int, Entry]]] = []

    @override
    def open_store(self) -> SqliteStore:
        return SqliteStore(self.path)

    @rule(plant_id=ids_, name=_with_nul, tag=tags)
    def add_with_nul(self, plant_id: int, name: str, tag: str | None) -> None:
        self.add_to(self.store, plant_id, Entry(name, tag, FORM))

    @rule(text=_with_nul, order=st.sampled_from(Order))
    def view_with_nul(self, text: str, order: Order) -> None:
        self.expect_view(text, View(order=order))

    @rule()
    def back_up(self) -> None:
        self.backups.append((FileBackups(self.path).make().path, dict(self.plants)))

    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        if not self.backups:
            return
        backup, plants = data.draw(st.sampled_from(self.backups))
        restored = FileBackups(self.path).restore(backup)
        difference = restored.preview.difference
        assert difference is not None
        gone, back = self.plants.keys() - plants.keys(), plants.keys() - self.plants.keys()
        assert (difference.leaving.size, difference.returning.size) == (len(gone), len(back))
        if {key: entry.fields for key, entry in plants.items()} == {key: e.fields for key, e in self.plants.items()}:
            assert (restored.saved, restored.change) == (None, None)
            return
        assert restored.saved is not None
        assert restored.change is not None
        self.backups.append((restored.saved, dict(self.plants)))
        number = restored.change.number
        same = {key: entry for key, entry in self.plants.items() if key in plants and plants[key][:5] == entry[:5]}
        requested = {key: entry._replace(change=number) for key, entry in plants.items()} | same
        self.record_change(number, requested)

    @rule()
    def prune(self) -> None:
        self.reader.close()
        self.store.close()
        with (
            mock.patch.multiple(history, _MAX_IMAGE_BYTES=0, _PRUNED_ROWS=3),
            closing(sqlite3.connect(self.path)) as database,
        ):
            while history.is_prunable(runner_of(database)):
                history.prune(runner_of(database))
            database.commit()
        self.record_pruning()
        self.open()

    @override
    def teardown(self) -> None:
        super().teardown()
        with contextlib.suppress(sqlite3.Error), closing(sqlite3.connect(self.path)) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        self.folder.cleanup()


TestFileBesideDict = FileBesideDict.TestCase
TestFileBesideDict.settings = runs(20)
