"""Backups: files of their own, and restores as changes."""

from contextlib import closing
from pathlib import Path
from queue import SimpleQueue

import pytest

from plantdesk.domain.backups import BackupKind, StoreBackups
from plantdesk.domain.edits import DeleteAll, edited
from plantdesk.domain.errors import TokenRefusedError
from plantdesk.domain.history import ChangeKind
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import FORM, Changes
from plantdesk.domain.selections import Selection
from plantdesk.store import location_of
from tests.store.test_copies import fill, state
from tests.support.plant_changes import add, rows, undo
from tests.support.waiting import SECONDS


@pytest.fixture
def backups(location: StoreLocation) -> StoreBackups:
    return location.backups


def test_a_backup_opens_as_a_file_of_its_own_without_tokens(store: PlantStore, backups: StoreBackups) -> None:
    token = fill(store)
    backup = backups.make()
    assert [each.kind for each in backups.newest_first()] == [BackupKind.BY_HAND]
    with closing(location_of(backup.path).open()) as saved:
        plants, changes, *rest = state(saved)
        assert (plants, changes, *rest[:-1]) == state(store)[:-1]
        with closing(saved.tokens.open_lookup()) as tokens, pytest.raises(TokenRefusedError):
            tokens.source(token)


def test_a_restore_is_a_change_that_others_see_and_undo(
    store: PlantStore, backups: StoreBackups, location: StoreLocation
) -> None:
    plants = [add(store, 3, "Fern", "kitchen"), add(store, 1, "Aloe", "kitchen"), add(store, 2, "Rose")]
    backup = backups.make()
    assert not backups.preview(backup.path).difference
    changed = store.apply([edited(plants[0], note="dry"), DeleteAll(Selection(ids=[1]))], FORM).result(SECONDS)
    assert changed.change is not None
    add(store, 7, "New")
    before = rows(store)
    preview = backups.preview(backup.path)
    assert preview.difference is not None
    assert [(group.size, group.newest) for group in preview.difference] == [
        (1, ((1, "Aloe"),)),
        (1, ((7, "New"),)),
        (1, ((3, "Fern"),)),
    ]
    received: SimpleQueue[Changes] = SimpleQueue()
    store.subscribe(received.put)
    with closing(location.open()) as other:
        restored = backups.restore(backup.path, FORM)
        while not received.get(timeout=SECONDS).history_changed:
            pass
        assert restored.change is not None
        assert (restored.change.kind, restored.change.plants) == (ChangeKind.RESTORE, 3)
        assert [row[:6] for row in rows(other)] == [row[:6] for row in plants]
        with closing(other.reader()) as reader:
            assert reader.count() == 3
        undo(other)
        assert rows(other) == before
    assert restored.saved is not None
    with closing(location_of(restored.saved).open_reader()) as saved:
        assert [row for page in saved.pages(Selection()) for row in page] == before
    assert backups.restore(restored.saved, FORM).change is None


def test_a_file_of_elsewhere_is_restored_with_its_sources(
    store: PlantStore, backups: StoreBackups, tmp_path: Path
) -> None:
    file = location_of(tmp_path / "own.db")
    with closing(file.open()) as own:
        fill(own)
        add(own, 700, "Late")
        expected = [row._replace(version=0, source=FORM) for row in rows(own)]
        add(store, 1, "Fern")
        store.tokens.create("mine").result(SECONDS)
        backups.restore(tmp_path / "own.db", FORM)  # with its log beside it
    assert [row.name for row in store.tokens.list()] == ["mine"]
    assert [row._replace(version=0, source=FORM) for row in rows(store)] == expected
    assert [row.source.label for row in rows(store)][-3:] == ["script", "list.csv", ""]
    assert add(store, 701, "After").id == 701
    assert rows(store)[-1].id == 701
