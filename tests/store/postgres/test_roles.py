"""Users of the server with fewer rights: what they can do, and which sentence they get for the rest."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import psycopg
import pytest

from plantdesk.cli.main import main
from plantdesk.domain.edits import DeleteAll
from plantdesk.domain.errors import ErrorNumber
from plantdesk.domain.records import FORM
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant, plant_fields
from plantdesk.store.locations import PostgresLocation
from plantdesk.store.postgres.administration import OnlyAddsError, OnlyReadsError
from plantdesk.store.postgres.connections import RightsMissingError
from plantdesk.store.postgres.schema import UpdateRightsError
from tests.store.contract.test_changes import add, rows, undo
from tests.store.test_backups import until
from tests.support.waiting import SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.postgres_server import PostgresServer


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
        with closing(store.tokens.checker()) as tokens:
            store.add(new_plant({"id": 9, "name": "By a script"}), tokens.source(made.token)).result(SECONDS)
            store.tokens.used(tokens.source(made.token)).result(SECONDS)
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
