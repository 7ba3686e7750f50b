"""Opening a shared store: what is refused, with which words, what is never created, and users with fewer rights."""

import socket
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

import psycopg
import pytest

from plantdesk.cli.main import main
from plantdesk.domain.edits import DeleteAll
from plantdesk.domain.errors import ErrorNumber, StoreError
from plantdesk.domain.records import FORM, Changes
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant, plant_fields
from plantdesk.store import location_of
from plantdesk.store.locations import PostgresLocation
from plantdesk.store.postgres.address import Address
from plantdesk.store.postgres.administration import OnlyAddsError, OnlyReadsError, create_tables
from plantdesk.store.postgres.connections import connect
from plantdesk.store.postgres.errors import (
    DatabaseMissingError,
    HostUnknownError,
    RightsMissingError,
    ServerUnreachableError,
    SignInRefusedError,
    StandbyError,
)
from plantdesk.store.postgres.schema import NoSharedStoreError, UpdateRightsError
from tests.support.plant_changes import add, rows, undo
from tests.support.ports import free_port
from tests.support.postgres_server import PostgresServer, running_server
from tests.support.waiting import SECONDS, until


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
    ("change", "error"), [({"database": "nothing"}, DatabaseMissingError), ({"user": "nobody"}, SignInRefusedError)]
)
def test_the_cause_of_a_refusal_is_named(
    postgres: PostgresServer, change: dict[str, str], error: type[StoreError]
) -> None:
    user, database = change.get("user", "plants"), change.get("database", "postgres")
    location = location_of(f"postgresql://{user}:secret@127.0.0.1:{postgres.port}/{database}")
    with pytest.raises(error) as refused:
        location.open()
    assert "secret" not in str(refused.value)


def test_a_server_that_is_off_raises_an_error_that_says_so() -> None:
    with pytest.raises(ServerUnreachableError) as refused:
        location_of(f"postgresql://127.0.0.1:{free_port()}/plants").open(create=True)
    assert refused.value.retry_after is not None


def test_a_desk_has_at_most_three_connections_that_name_it(
    postgres: PostgresServer, location: PostgresLocation
) -> None:
    with closing(location.open()) as store:
        store.subscribe(lambda _changes: None)
        readers = [store.reader() for _ in range(5)]
        with closing(store.tokens.open_lookup()):
            assert [reader.count() for reader in readers] == [0] * 5
            store.tokens.create("script").result(SECONDS)
            sql = f"SELECT application_name FROM pg_stat_activity WHERE datname = '{location.name}' ORDER BY 1"
            until(lambda: len(postgres.execute(sql)) >= 3)  # the listener connects on a thread of its own
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
    with connect(location, "test") as connection:
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
    port = location.conninfo["port"]
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


class Users(NamedTuple):
    """The store as each user names it, and as the administrator does."""

    read: PostgresLocation
    add: PostgresLocation
    all: PostgresLocation
    admin: PostgresLocation


@pytest.fixture
def users(postgres: PostgresServer, location: PostgresLocation, capfd: pytest.CaptureFixture[str]) -> Users:
    """A store with a plant and a user of each role, made by what the command prints, twice."""
    with closing(location.open()) as store:
        add(store, 1, "Fern")
    assert main(["roles", location.url]) == 0
    sql = capfd.readouterr().out
    for _ in range(2):
        with psycopg.connect(postgres.url(location.name), autocommit=True) as connection:
            connection.execute(sql.encode())
    places = []
    for role in ("read", "add", "all"):
        user = f"{role}er_of_{location.name}"
        postgres.execute(f"CREATE ROLE {user} LOGIN IN ROLE {location.name}_{role}")
        places.append(PostgresLocation.parse(location.url.replace("plants@", f"{user}@")))
    reader, adder, owner = places
    return Users(reader, adder, owner, location)


def test_who_may_read_reads_and_is_told_why_nothing_else(users: Users) -> None:
    with closing(users.read.open()) as store:
        assert isinstance(store.write_error, OnlyReadsError)
        assert [row.name for row in rows(store)] == ["Fern"]
        for _ in range(2):
            assert isinstance(
                store.add(new_plant({"id": 2, "name": "Ivy"}), FORM).exception(SECONDS), RightsMissingError
            )
            assert isinstance(store.apply([DeleteAll(Selection())], FORM).exception(SECONDS), RightsMissingError)
        assert store.write_error.number is ErrorNumber.STORE_READ_ONLY
        with closing(users.admin.open()) as other:
            add(other, 3, "Aloe")
        assert [row.name for row in rows(store)] == ["Fern", "Aloe"]
    with pytest.raises(UpdateRightsError, match="_all” may"):
        users.read.update()


def test_a_restore_that_is_refused_makes_no_backup(users: Users, tmp_path: Path) -> None:
    file = tmp_path / "saved.db"
    users.admin.backups.copy_to(file)
    with closing(users.admin.open()) as store:
        add(store, 2, "Ivy")
    for user in (users.read, users.add):
        with pytest.raises(RightsMissingError):
            user.backups.restore(file, FORM)
        assert not user.backups.newest_first()


def test_who_may_add_adds_and_cannot_change(users: Users) -> None:
    with closing(users.add.open()) as store:
        assert store.write_error is None
        assert isinstance(store.change_error, OnlyAddsError)
        add(store, 2, "Ivy")
        store.add_as_next(plant_fields({"name": "Aloe"}), FORM).result(SECONDS)
        token = store.tokens.create("script")
        assert type(token.exception(SECONDS)) is RightsMissingError
        assert type(store.apply([DeleteAll(Selection())], FORM).exception(SECONDS)) is RightsMissingError
        assert store.write_error is None
        with closing(users.admin.open()) as other:
            made = other.tokens.create("script").result(SECONDS)
        with closing(store.tokens.open_lookup()) as tokens:
            store.add(new_plant({"id": 9, "name": "By a script"}), tokens.source(made.token)).result(SECONDS)
            store.tokens.record_use(tokens.source(made.token)).result(SECONDS)
        assert [row.id for row in rows(store)] == [1, 2, 3, 9]
        assert store.tokens.list()[0].plants_added == 1


def test_who_may_all_changes_updates_and_backs_up(users: Users, postgres: PostgresServer) -> None:
    with closing(users.all.open()) as store:
        assert store.change_error is None
        add(store, 2, "Ivy")
        store.apply([DeleteAll(Selection())], FORM).result(SECONDS)
        undo(store)
        assert [row.name for row in rows(store)] == ["Fern", "Ivy"]
    users.all.update()
    assert users.read.backups.make().size
    with closing(users.admin.open()) as store:
        assert store.change_error is None
        store.apply([DeleteAll(Selection())], FORM).result(SECONDS)
    sql = "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'plantdesk'"
    assert postgres.execute(sql, users.all.name) == [(f"{users.all.name}_all",)]


def test_a_right_that_is_given_later_counts(users: Users, postgres: PostgresServer) -> None:
    with closing(users.read.open()) as store:
        assert isinstance(store.write_error, OnlyReadsError)
        postgres.execute(f"GRANT {users.add.name}_add TO reader_of_{users.read.name}")
        until(lambda: store.write_error is None)
        add(store, 2, "Ivy")


def test_the_commands_give_one_sentence(users: Users, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--database", users.read.url]) == main(["history", "--database", users.read.url]) == 0
    for location, command in (
        (users.read, ["add", "--name", "Ivy"]),
        (users.read, ["delete", "1", "--yes"]),
        (users.add, ["delete", "1", "--yes"]),
        (users.add, ["undo"]),
        (users.add, ["token", "create", "script"]),
    ):
        capfd.readouterr()
        assert main([*command, "--database", location.url]) == 1
        assert capfd.readouterr().err.count("Your user") == (1 if command != ["undo"] else 0)
    with closing(users.admin.open_reader()) as plants:
        assert [row.id for page in plants.pages(Selection()) for row in page] == [1]


def test_a_file_has_no_roles_and_odd_names_are_quoted(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["roles", "plants.db"])
    assert refused.value.code == 2
    assert main(["roles", "postgresql://host/O%27Brien%22s"]) == 0
    printed = capfd.readouterr().out
    assert """ARRAY['O''Brien"s_read', 'O''Brien"s_add', 'O''Brien"s_all']""" in printed
    assert """GRANT SELECT ON ALL TABLES IN SCHEMA plantdesk TO "O'Brien""s_read";""" in printed
