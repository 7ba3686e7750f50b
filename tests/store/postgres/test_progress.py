"""Processes of the server that are stopped: they answer nobody, and their system keeps the connections alive."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING

import psycopg
import pytest

from plantdesk.domain.edits import SetTag
from plantdesk.domain.errors import StoreError
from plantdesk.domain.records import FORM
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store.change_writer import PAGE
from plantdesk.store.postgres import progress
from plantdesk.store.postgres import store as postgres_store
from tests.support.adding import add_each
from tests.support.waiting import SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future

    from plantdesk.domain.edits import Applied
    from plantdesk.domain.protocols import PlantStore
    from plantdesk.store.postgres.location import PostgresLocation

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no process is stopped there")
_WAITING = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query NOT LIKE '%pg_stat_activity%'"


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0.1)
    monkeypatch.setattr(progress, "MAX_PAUSE", 1.0)
    monkeypatch.setattr(postgres_store, "_CLOSE_PAUSE", 1.0)


@contextmanager
def stopped_while_changing(location: PostgresLocation, store: PlantStore) -> Iterator[Future[Applied]]:
    """Stop the process of the server that changes plants, in the midst of it."""
    with psycopg.connect(location.url) as other, psycopg.connect(location.url, autocommit=True) as observer:
        other.execute("LOCK TABLE plantdesk.plant IN EXCLUSIVE MODE")
        changing = store.apply([SetTag(Selection(since=0), "hall")], FORM)
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


@pytest.mark.parametrize("plants", [1, PAGE + 1], ids=["few", "many"])
def test_a_change_fails_whose_process_is_stopped(location: PostgresLocation, store: PlantStore, plants: int) -> None:
    add_each(store, [(new_plant({"id": n, "name": "Fern"}), FORM) for n in range(plants)])
    with stopped_while_changing(location, store) as changing:
        assert isinstance(changing.exception(SECONDS), StoreError)
    assert store.apply([SetTag(Selection(since=0), "attic")], FORM).result(SECONDS).plants == plants


def test_a_store_is_closed_while_a_process_is_stopped(
    location: PostgresLocation, store: PlantStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "MAX_PAUSE", 600.0)
    add_each(store, [(new_plant({"id": n, "name": "Fern"}), FORM) for n in range(PAGE + 1)])
    with stopped_while_changing(location, store) as changing:
        store.close()
        assert isinstance(changing.exception(0), StoreError)
    with closing(location.open_read_only()) as plants:
        assert {row.tag for page in plants.pages(Selection()) for row in page} == {None}


def test_a_process_that_works_is_waited_for(location: PostgresLocation, monkeypatch: pytest.MonkeyPatch) -> None:
    """It writes rows for longer than the pause that is allowed, in one statement."""
    monkeypatch.setattr(progress, "MIN_LOG", 10_000)
    ended = threading.Event()
    with psycopg.connect(location.url, autocommit=True) as working:
        stalled: list[bool] = []

        def watch() -> None:
            backend = working.info.backend_pid
            found = progress.is_stalled(location.address, lambda: [backend], ended, max_pause=1.0, max_silence=0)
            stalled.append(found)

        working.execute("CREATE TABLE rows (number bigint)")
        thread = threading.Thread(target=watch)
        thread.start()
        working.execute(
            """DO $$ DECLARE start timestamptz := clock_timestamp(); BEGIN
               WHILE clock_timestamp() < start + interval '3 s' LOOP
                   INSERT INTO rows SELECT generate_series(1, 1000);
               END LOOP; END $$"""
        )
        ended.set()
        thread.join(SECONDS)
    assert stalled == [False]
