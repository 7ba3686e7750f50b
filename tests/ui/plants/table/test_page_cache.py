"""Rows that become known while a page is read."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from pytestqt.qtbot import QtBot

from plantdesk.domain.edits import edited
from plantdesk.domain.records import FORM, PlantRow
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.plants.table.model import PageCache
from tests.support.waiting import SECONDS


@pytest.fixture
def cache(bridge: Bridge, store: SqliteStore) -> Iterator[PageCache]:
    store.add(new_plant({"id": 1, "name": "Old"}), FORM).result(SECONDS)
    cache = PageCache(bridge, store)
    yield cache
    cache.close()


def stored(store: SqliteStore) -> PlantRow:
    with closing(store.reader()) as reader:
        row = reader.plant(1)
    assert row is not None
    return row


def read_before_a_rename(cache: PageCache, store: SqliteStore) -> None:
    """Let a page be read whose result is not delivered yet, and rename its plant."""
    cache.request([1])
    cache._queries._worker.run_and_wait(lambda: None)  # noqa: SLF001  the page was read when this ends
    store.apply([edited(stored(store), name="New")], FORM).result(SECONDS)


def test_a_page_does_not_replace_a_row_that_became_known_meanwhile(
    qtbot: QtBot, cache: PageCache, store: SqliteStore
) -> None:
    read_before_a_rename(cache, store)
    cache.add([stored(store)])
    with qtbot.waitSignal(cache.loaded):
        pass
    shown = cache.row(1)
    assert shown is not None
    assert shown.name == "New"


def test_a_row_that_expires_while_its_page_is_read_is_read_again(
    qtbot: QtBot, cache: PageCache, store: SqliteStore
) -> None:
    read_before_a_rename(cache, store)
    cache.expire()
    with qtbot.waitSignal(cache.loaded):
        pass
    assert cache.is_missing(1)
    with qtbot.waitSignal(cache.loaded):
        cache.request([1])
    shown = cache.row(1)
    assert shown is not None
    assert (shown.name, cache.is_missing(1)) == ("New", False)
