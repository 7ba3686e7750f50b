"""Opening a shared store: what is refused, with which words, and what is never created."""

from __future__ import annotations

import socket
from contextlib import closing
from queue import SimpleQueue
from typing import TYPE_CHECKING

import pytest

from plantdesk.domain.records import FORM, Changes
from plantdesk.domain.validation import new_plant
from plantdesk.store import location_of
from plantdesk.store.postgres.address import Address
from plantdesk.store.postgres.connections import (
    DatabaseMissingError,
    HostUnknownError,
    ServerUnreachableError,
    SignInRefusedError,
    StandbyError,
    connect,
)
from plantdesk.store.postgres.desks import create_tables
from plantdesk.store.postgres.schema import NoSharedStoreError
from tests.support.ports import free_port
from tests.support.postgres_server import running_server
from tests.support.waiting import SECONDS

if TYPE_CHECKING:
    from plantdesk.domain.errors import StoreError
    from plantdesk.store.locations import PostgresLocation
    from tests.support.postgres_server import PostgresServer


def test_only_create_makes_tables_and_only_where_there_are_none(postgres: PostgresServer) -> None:
    location = location_of(postgres.url(name := postgres.new_database()))
    for opened in (location.open, location.open_reader):
        with pytest.raises(NoSharedStoreError, match=f"“{name}” on 127.0.0.1 has no plant store yet"):
            opened()
    assert postgres.execute("SELECT count(*) FROM pg_namespace WHERE nspname = 'plantdesk'", name) == [(0,)]
    with closing(location.open(create=True)) as store:
        store.add(new_plant({"id": 1, "name": "Fern"}), FORM).result(SECONDS)
    with closing(location.open(create=True)) as store, closing(store.reader()) as reader:
        assert reader.count() == 1


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"database": "nothing"}, DatabaseMissingError),
        ({"user": "nobody"}, SignInRefusedError),
    ],
)
def test_the_cause_of_a_refusal_is_named(
    postgres: PostgresServer, change: dict[str, str], error: type[StoreError]
) -> None:
    user, database = change.get("user", "plants"), change.get("database", "postgres")
    location = location_of(f"postgresql://{user}:secret@127.0.0.1:{postgres.port}/{database}")
    with pytest.raises(error) as refused:
        location.open()
    assert "secret" not in str(refused.value)


def test_a_server_that_is_off_is_said_so() -> None:
    with pytest.raises(ServerUnreachableError) as refused:
        location_of(f"postgresql://127.0.0.1:{free_port()}/plants").open(create=True)
    assert refused.value.retry_after is not None


def test_a_desk_has_at_most_three_connections_that_name_it(
    postgres: PostgresServer, location: PostgresLocation
) -> None:
    with closing(location.open()) as store:
        store.subscribe(lambda _changes: None)
        readers = [store.reader() for _ in range(5)]
        with closing(store.tokens.checker()):
            assert [reader.count() for reader in readers] == [0] * 5
            store.tokens.create("script").result(SECONDS)
            sql = f"SELECT application_name FROM pg_stat_activity WHERE datname = '{location.name}' ORDER BY 1"
            names = [str(name) for (name,) in postgres.execute(sql)]
    assert [name.split()[-1] for name in names] == ["listener", "reader", "writer"]
    assert all(name.startswith("PlantDesk ") for name in names)


@pytest.mark.parametrize(
    ("given", "used"), [("off", "on"), ("local", "on"), ("on", "on"), ("remote_apply", "remote_apply")]
)
def test_a_weaker_commit_than_a_durable_one_is_overridden(
    postgres: PostgresServer, location: PostgresLocation, given: str, used: str
) -> None:
    postgres.execute(f"ALTER DATABASE {location.name} SET synchronous_commit = {given}")
    with connect(location.address, "test") as connection:
        assert connection.execute("SHOW synchronous_commit").fetchone() == (used,)


def test_a_server_that_takes_no_writes_is_read_until_it_does(
    postgres: PostgresServer, location: PostgresLocation
) -> None:
    postgres.execute(f"ALTER DATABASE {location.name} SET default_transaction_read_only = on")
    with closing(location.open()) as store, closing(store.reader()) as reader:
        assert isinstance(store.write_error, StandbyError)
        failure = store.add(new_plant({"id": 1, "name": "Fern"}), FORM).exception(SECONDS)
        assert isinstance(failure, StandbyError)
        assert failure.retry_after is not None
        assert reader.count() == 0
        healthy: SimpleQueue[StoreError | None] = SimpleQueue()
        store.subscribe_health(healthy.put)
        postgres.execute(f"ALTER DATABASE {location.name} SET default_transaction_read_only = off")
        while healthy.get(timeout=SECONDS) is not None:
            pass
        assert store.add(new_plant({"id": 1, "name": "Fern"}), FORM).result(SECONDS).id == 1


def test_of_several_servers_the_one_that_takes_writes_is_used(
    postgres: PostgresServer, location: PostgresLocation
) -> None:
    with running_server() as standby:
        standby.execute(f"CREATE DATABASE {location.name}")
        create_tables(Address.parse(standby.url(location.name)))
        standby.execute(f"ALTER DATABASE {location.name} SET default_transaction_read_only = on")
        both = f"postgresql://plants@127.0.0.1:{standby.port},127.0.0.1:{postgres.port}/{location.name}"
        with closing(location_of(both).open()) as store, closing(store.reader()) as reader:
            received: SimpleQueue[Changes] = SimpleQueue()
            store.subscribe(received.put)
            store.add(new_plant({"id": 1, "name": "Fern"}), FORM).result(SECONDS)
            assert reader.count() == 1
            with closing(location.open()) as other:
                other.add(new_plant({"id": 2, "name": "Ivy"}), FORM).result(SECONDS)
            assert [received.get(timeout=SECONDS).added[0].id for _ in range(2)] == [1, 2]
        only_standby = f"postgresql://plants@127.0.0.1:{standby.port},127.0.0.1:1/{location.name}"
        with closing(location_of(only_standby).open_reader()) as reader:
            assert reader.count() == 0


# --- hosts ---


def test_a_store_is_opened_by_the_name_of_its_server(location: PostgresLocation) -> None:
    with closing(location_of(location.url.replace("127.0.0.1", "localhost")).open_reader()) as reader:
        assert reader.count() == 0


def test_what_cannot_be_a_name_belongs_to_no_computer() -> None:
    with pytest.raises(HostUnknownError, match=r"plants\.\.server"):
        location_of("postgresql://plants@plants..server/plants").open_reader()


@pytest.mark.network
def test_of_several_hosts_one_with_an_unknown_name_is_left_out(location: PostgresLocation) -> None:
    port = location.address.conninfo["port"]
    hosts = f"plants.invalid:{port},127.0.0.1:{port}"
    with closing(location_of(f"postgresql://plants@{hosts}/{location.name}?sslmode=disable").open_reader()) as reader:
        assert reader.count() == 0
    with pytest.raises(HostUnknownError, match=r"plants\.invalid"):
        location_of(f"postgresql://plants@plants.invalid:{port}/{location.name}").open_reader()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_host_that_is_silent_is_given_up(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(ServerUnreachableError):
            location_of(f"postgresql://plants@{host}:{port}/plants").open_reader()
