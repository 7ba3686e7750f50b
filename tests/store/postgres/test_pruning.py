"""What the writer of a shared store removes in time."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from plantdesk.domain.edits import SetTag
from plantdesk.domain.records import FORM
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store import entries
from plantdesk.store.postgres.transactions import Transactions
from tests.support.waiting import SECONDS

if TYPE_CHECKING:
    import pytest

    from plantdesk.domain.protocols import PlantStore
    from plantdesk.store.locations import PostgresLocation
    from tests.support.postgres_server import PostgresServer


def test_old_before_images_and_keys_of_commits_are_removed_but_for_the_last(
    postgres: PostgresServer, location: PostgresLocation, store: PlantStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add(new_plant({"id": 1, "name": "Fern"}), FORM).result(SECONDS)
    for tag in ("hall", "attic", "cellar"):
        store.apply([SetTag(Selection(), tag)], FORM).result(SECONDS)
    with closing(Transactions(location.address, "test")) as transactions:
        assert not transactions.prune()
        assert postgres.execute("SELECT count(size) FROM plantdesk.change", location.name) == [(3,)]
        monkeypatch.setattr(entries, "_MIN_CHANGES", 1)
        for table in ("change", "commits"):
            postgres.execute(f"UPDATE plantdesk.{table} SET made_at = 0", location.name)
        assert not transactions.prune()
    for table in ("before_image", "commits"):
        assert postgres.execute(f"SELECT count(*) FROM plantdesk.{table}", location.name) == [(1,)]
    with closing(store.reader()) as reader:
        assert [change.can_undo for change in reader.history()] == [True, False, False]
