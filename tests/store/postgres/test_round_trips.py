"""Gestures take few round trips, so that a desk far from the server is as quick as the way there."""

import timeit
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from plantdesk.domain.edits import edited
from plantdesk.domain.protocols import PlantReader, PlantStore
from plantdesk.domain.records import FORM
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import Order, View
from plantdesk.domain.validation import new_plant
from plantdesk.store import location_of
from plantdesk.store.locations import PostgresLocation
from tests.support.adding import add_each
from tests.support.postgres_server import PostgresServer
from tests.support.tcp_proxy import proxy_to
from tests.support.waiting import SECONDS

Count = Callable[[Callable[[], object]], int]

#: Seconds that the proxy adds on each way.
_LATENCY = 0.05


pytestmark = pytest.mark.timing


@pytest.fixture
def desk(postgres: PostgresServer, location: PostgresLocation) -> Iterator[tuple[PlantStore, PlantReader, Count]]:
    """A desk with 1,000 plants, and what counts the round trips of what is done, by the time that they take."""
    with (
        proxy_to(postgres.port) as proxy,
        closing(location_of(postgres.url(location.name, proxy.port)).open()) as store,
        closing(store.reader()) as reader,
    ):
        store.subscribe(lambda _changes: None)
        add_each(store, [(new_plant({"id": number, "name": f"Fern {number}"}), FORM) for number in range(1, 1001)])
        reader.count()

        def count(act: Callable[[], object]) -> int:
            for _ in range(6):  # psycopg prepares a statement at its fifth execution
                act()
            proxy.latency = _LATENCY
            seconds = min(timeit.repeat(act, number=1, repeat=5))  # the machine may be busy
            proxy.latency = 0
            return int(seconds / (2 * _LATENCY))

        yield store, reader, count


def test_round_trips(desk: tuple[PlantStore, PlantReader, Count]) -> None:
    store, reader, count = desk
    ids = iter(range(2000, 3000))

    def first_page(view: View) -> None:
        reader.shortened_rows(next(reader.ids(view))[:50], 100)

    assert count(lambda: first_page(View())) == 2
    assert count(lambda: first_page(View(order=Order.NAME))) == 2
    assert count(lambda: first_page(View(parse_search("fern 77")))) == 2
    assert count(lambda: reader.plant(7)) == 1
    assert count(lambda: store.add(new_plant({"id": next(ids), "name": "Ivy"}), FORM).result(SECONDS)) == 1


def test_an_edit_and_its_poll_take_few_round_trips(desk: tuple[PlantStore, PlantReader, Count]) -> None:
    store, reader, count = desk

    def edit() -> None:
        row = reader.plant(7)
        assert row is not None
        store.apply([edited(row, name=f"{row.name}!")], FORM).result(SECONDS)

    assert count(edit) <= 13  # a read, six of the edit, four of the poll after it, and the time of the machine itself
