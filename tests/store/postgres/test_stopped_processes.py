"""Processes of the server that are stopped: they answer nobody, and their system keeps the connections alive."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from queue import SimpleQueue

import psycopg
import pytest

from plantdesk.domain.edits import Applied, Edit, SetTag, edited
from plantdesk.domain.errors import StoreError
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import FORM
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store.locations import PostgresLocation
from plantdesk.store.postgres import transactions
from tests.support.waiting import SECONDS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no process is stopped there")
_WAITING = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query NOT LIKE '%pg_stat_activity%'"


@contextmanager
def stopped_while_changing(location: PostgresLocation, store: PlantStore, edit: Edit) -> Iterator[Future[Applied]]:
    """Stop the process of the server that changes plants, in the midst of it."""
    with psycopg.connect(location.url) as other, psycopg.connect(location.url, autocommit=True) as observer:
        other.execute("LOCK TABLE plantdesk.plant IN EXCLUSIVE MODE")
        changing = store.apply([edit], FORM)
        deadline = time.monotonic() + SECONDS
        while (found := observer.execute(_WAITING).fetchone()) is None:
            assert time.monotonic() < deadline
        os.kill(found[0], signal.SIGSTOP)
        try:
            other.rollback()
            yield changing
        finally:
            with suppress(ProcessLookupError):
                os.kill(found[0], signal.SIGCONT)


@pytest.mark.slow
def test_an_edit_fails_whose_process_is_stopped_and_a_closed_store_waits_no_longer(
    location: PostgresLocation, store: PlantStore
) -> None:
    row = store.add(new_plant({"id": 1, "name": "Fern"}), FORM).result(SECONDS)
    with stopped_while_changing(location, store, edited(row, tag="hall")) as changing:
        store.close()
        assert isinstance(changing.exception(0), StoreError)
    with closing(location.open()) as other:
        assert other.apply([edited(row, tag="attic")], FORM).result(SECONDS).plants == 1


def test_while_a_process_is_stopped_each_write_is_refused_for_now(
    location: PostgresLocation, store: PlantStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "_QUICK_TIMEOUT", 1.0)
    row = store.add(new_plant({"id": 1, "name": "Fern"}), FORM).result(SECONDS)
    with stopped_while_changing(location, store, edited(row, tag="hall")) as changing:
        assert isinstance(changing.exception(SECONDS), StoreError)
        failure = store.add(new_plant({"id": 2, "name": "Ivy"}), FORM).exception(SECONDS)
        assert isinstance(failure, StoreError)
        assert failure.retry_after is not None
    health: SimpleQueue[StoreError | None] = SimpleQueue()
    store.subscribe_health(health.put)
    while store.write_error is not None:
        health.get(timeout=SECONDS)
    assert store.apply([edited(row, tag="attic")], FORM).result(SECONDS).plants == 1


def test_a_large_change_goes_on_whose_process_is_stopped_for_a_while(
    location: PostgresLocation, store: PlantStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "_QUICK_TIMEOUT", 1.0)
    store.add(new_plant({"id": 1, "name": "Fern"}), FORM).result(SECONDS)
    with (
        stopped_while_changing(location, store, SetTag(Selection(since=0), "hall")) as changing,
        pytest.raises(TimeoutError),
    ):
        changing.result(2)
    assert changing.result(SECONDS).plants == 1
