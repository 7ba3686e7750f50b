"""Updates of the tables of a shared store, and desks whose PlantDesk is older or newer than the tables."""

import shlex
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue

import psycopg
import pytest

from plantdesk import __version__
from plantdesk.cli.main import main
from plantdesk.domain.backups import BackupKind
from plantdesk.domain.edits import DeleteAll
from plantdesk.domain.errors import StoreError, StoreNewerError, StoreOutdatedError, StoreTooNewError
from plantdesk.domain.locations import copy_store
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import FORM, Desk
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import Order, Selection, View
from plantdesk.domain.validation import new_plant
from plantdesk.store import location_of
from plantdesk.store.locations import PostgresLocation
from plantdesk.store.postgres.schema import SCHEMA_VERSION, UpdateRightsError, apply_steps
from tests.support.plant_changes import add, rows
from tests.support.postgres_server import PostgresServer
from tests.support.waiting import SECONDS, until

NEWER = SCHEMA_VERSION + 1


@pytest.fixture
def old(postgres: PostgresServer) -> PostgresLocation:
    return make_old_store(postgres)


def make_old_store(postgres: PostgresServer) -> PostgresLocation:
    """Make a store with the tables of version 1 and a plant, on which Greenhouse has worked today and Shed long ago."""
    name = postgres.new_database()
    with psycopg.connect(postgres.url(name)) as connection:
        connection.execute("SET search_path = plantdesk")
        apply_steps(connection, 0, 1)
        connection.execute("""
            UPDATE state SET version = 1, position = 1, last_seq = 1, plants = 1;
            INSERT INTO plant (id, name, seq, added_at, source_id) VALUES (7, 'Fern', 1, 1700000000000, 1);
            INSERT INTO commits SELECT gen_random_uuid(), 1, extract(epoch FROM now()) * 1000, 'Greenhouse', 1, 0;
            INSERT INTO commits SELECT gen_random_uuid(), NULL, 1700000000000, 'Shed'""")
    return PostgresLocation.parse(f"{postgres.url(name)}?application_name=Office")


def version_of(postgres: PostgresServer, location: PostgresLocation) -> object:
    return postgres.execute("SELECT version FROM plantdesk.state", location.name)[0][0]


def make_newer(postgres: PostgresServer, location: PostgresLocation, reads_from: int = 1) -> None:
    sql = f"UPDATE plantdesk.state SET version = {NEWER}, reads_from = {reads_from}; NOTIFY plantdesk"
    postgres.execute(sql, location.name)


def expect_refusals(store: PlantStore, error: type[StoreError]) -> None:
    """Check that neither adding nor changing is possible."""
    before = rows(store)
    for _ in range(2):
        assert isinstance(store.add(new_plant({"id": 1, "name": "Ivy"}), FORM).exception(SECONDS), error)
        assert isinstance(store.apply([DeleteAll(Selection())], FORM).exception(SECONDS), error)
        assert isinstance(store.tokens.create("script").exception(SECONDS), error)
    assert rows(store) == before


def test_an_older_store_is_read_and_not_changed_until_it_is_updated(
    postgres: PostgresServer, old: PostgresLocation
) -> None:
    with closing(old.open()) as store:
        assert isinstance(store.write_error, StoreOutdatedError)
        assert [row.name for row in rows(store)] == ["Fern"]
        expect_refusals(store, StoreOutdatedError)
        assert version_of(postgres, old) == 1
        health: SimpleQueue[StoreError | None] = SimpleQueue()
        store.subscribe_health(health.put)
        assert isinstance(health.get(), StoreOutdatedError)
        old.update()
        assert health.get(timeout=SECONDS) is None
        assert add(store, 8, "Ivy").id == 8
        assert [row.name for row in rows(store)] == ["Fern", "Ivy"]
    assert version_of(postgres, old) == SCHEMA_VERSION
    assert old.needed_update() is None


def test_an_older_store_is_searched_and_sorted_before_and_after_its_update(
    postgres: PostgresServer, old: PostgresLocation
) -> None:
    postgres.execute(
        """SET search_path = plantdesk;
           INSERT INTO plant (id, name, tag, seq, added_at, source_id, folded, note) VALUES
               (1, 'Érable', 'Küche', 2, 0, 1, E'erable\\x1fkuche', 'GROSS'),
               (2, 'Rosa “Ilse”', NULL, 3, 0, 1, NULL, NULL);
           INSERT INTO change VALUES (1, 0, 1, 'edit', '{}', 1, NULL, 0, 50);
           INSERT INTO before_image VALUES (1, 1, 1, 'Ahorn', NULL, NULL, 2, 0, 1, NULL, 0);
           INSERT INTO before_image (change, plant_id, after) VALUES (1, 3, 1);
           UPDATE state SET last_seq = 3, last_change = 1""",
        old.name,
    )
    with closing(old.open()) as store, closing(store.reader()) as reader:
        for _ in range(2):
            for text, found in {"erable": [1], "tag:kuche": [1], "note:gross": [1], "'ilse'": [2], "form": []}.items():
                view = View(parse_search(text), Order.NAME)
                assert [plant_id for ids in reader.ids(view) for plant_id in ids] == found
            assert [*next(reader.ids(View(order=Order.NAME)))] == [2, 7, 1]
            assert [entry.change.number for entry in reader.history_entries(text="ahorn")] == [1]
            old.update()
    texts = "SELECT searched_name, searched_tag, searched_note FROM plantdesk.{} ORDER BY 1"
    assert postgres.execute(texts.format("plant"), old.name) == [
        ("erable", "kuche", "gross"),
        ("fern", None, None),
        ("rosa 'ilse'", None, None),
    ]
    assert postgres.execute(texts.format("before_image"), old.name) == [("ahorn", None, None), (None, None, None)]


def test_an_older_store_remembers_the_ids_of_deleted_plants(postgres: PostgresServer, old: PostgresLocation) -> None:
    sql = f"INSERT INTO plantdesk.before_image (change, plant_id) VALUES (1, 9), (1, -5), (1, {2**63 - 1})"
    postgres.execute(sql, old.name)
    with closing(old.open()) as store:
        assert next_free_id(store) == 8
        old.update()
        assert next_free_id(store) == 10


def next_free_id(store: PlantStore) -> int:
    with closing(store.reader()) as reader:
        return reader.next_free_id()


def test_opening_with_create_updates_nothing(postgres: PostgresServer, old: PostgresLocation) -> None:
    old.open(create=True).close()
    assert version_of(postgres, old) == 1


def test_an_older_store_is_backed_up_and_copied(old: PostgresLocation, tmp_path: Path) -> None:
    backup = old.backups.make()
    file = location_of(tmp_path / "plants.db")
    copy_store(old, file)
    for place in (location_of(backup.path), file):
        with closing(place.open()) as store:
            assert [row.name for row in rows(store)] == ["Fern"]


def test_the_desks_of_the_last_month_are_named_with_their_versions(old: PostgresLocation) -> None:
    update = old.needed_update()
    assert update is not None
    assert (update.before, update.after) == (1, SCHEMA_VERSION)
    assert [(desk.name, desk.version, desk.is_own) for desk in update.desks] == [("Greenhouse", "", False)]
    assert not update.can_write_after(update.desks[0])


def test_a_desk_that_listens_notes_its_name_and_version(postgres: PostgresServer, location: PostgresLocation) -> None:
    for name in ("Office", "Greenhouse", "Office"):
        desk = PostgresLocation.parse(f"{location.url}?application_name={name}")
        postgres.execute("UPDATE plantdesk.desk SET last_seen = 0", location.name)
        with closing(desk.open()) as store:
            store.subscribe(lambda _changes: None)
            sql = "SELECT version, tables FROM plantdesk.desk WHERE name = '{}' AND last_seen > 0"
            until(lambda: postgres.execute(sql.format(name), location.name) == [(__version__, SCHEMA_VERSION)])  # noqa: B023


def test_the_desks_that_go_on_come_last(postgres: PostgresServer, old: PostgresLocation) -> None:
    old.update()
    sql = """UPDATE plantdesk.state SET version = 1;
             INSERT INTO plantdesk.desk SELECT name, '9.0', tables, extract(epoch FROM now()) * 1000
             FROM (VALUES ('Hall', {0}), ('Shed', 1), ('Office', {0})) AS desks (name, tables)"""
    postgres.execute(sql.format(SCHEMA_VERSION), old.name)
    update = old.needed_update()
    assert update is not None
    assert [(desk.name, desk.version, update.can_write_after(desk)) for desk in update.desks] == [
        ("Office", "9.0", True),
        ("Greenhouse", "", False),
        ("Shed", "9.0", False),
        ("Hall", "9.0", True),
    ]
    assert isinstance(update.desks[0], Desk)
    assert update.desks[0].is_own


def test_a_desk_that_is_older_than_the_tables_only_reads(postgres: PostgresServer, location: PostgresLocation) -> None:
    with closing(location.open()) as store:
        add(store, 1, "Fern")
        make_newer(postgres, location)  # it has not noticed yet: the transaction itself finds out
        expect_refusals(store, StoreNewerError)
    with closing(location.open()) as store:
        assert isinstance(store.write_error, StoreNewerError)
        expect_refusals(store, StoreNewerError)
    with closing(location.open_reader()) as plants:
        assert [row.id for page in plants.pages(Selection()) for row in page] == [1]
    assert location.needed_update() is None


def test_an_open_desk_hears_of_newer_tables_and_goes_on_reading(
    postgres: PostgresServer, location: PostgresLocation
) -> None:
    with closing(location.open()) as store:
        health: SimpleQueue[StoreError | None] = SimpleQueue()
        store.subscribe_health(health.put)
        received: SimpleQueue[object] = SimpleQueue()
        store.subscribe(received.put)
        with closing(location.open()) as other:
            add(other, 1, "Fern")
            received.get(timeout=SECONDS)
        make_newer(postgres, location)
        assert isinstance(health.get(timeout=SECONDS), StoreNewerError)
        sql = """INSERT INTO plantdesk.plant (id, name, searched_name, seq, added_at, source_id)
                 VALUES (2, 'Ivy', 'ivy', 2, 0, 1);
                 UPDATE plantdesk.state SET last_seq = 2, position = 2; NOTIFY plantdesk"""
        postgres.execute(sql, location.name)
        received.get(timeout=SECONDS)
        assert [row.name for row in rows(store)] == ["Fern", "Ivy"]


def test_tables_that_cannot_be_read_are_left_alone(postgres: PostgresServer, location: PostgresLocation) -> None:
    make_newer(postgres, location, reads_from=NEWER)
    for opened in (location.open, location.open_reader, location.needed_update):
        with pytest.raises(StoreTooNewError):
            opened()


def test_two_desks_may_update_at_the_same_time(postgres: PostgresServer, old: PostgresLocation) -> None:
    with ThreadPoolExecutor() as threads:
        for done in [threads.submit(old.update) for _ in range(4)]:
            done.result(SECONDS)
    assert version_of(postgres, old) == SCHEMA_VERSION
    assert postgres.execute("SELECT count(*) FROM plantdesk.desk", old.name) == [(0,)]


def test_only_the_owner_of_the_tables_may_update_them(postgres: PostgresServer, old: PostgresLocation) -> None:
    postgres.execute(
        f"""CREATE ROLE reader_{old.name} LOGIN;
            GRANT USAGE ON SCHEMA plantdesk TO reader_{old.name};
            GRANT SELECT ON ALL TABLES IN SCHEMA plantdesk TO reader_{old.name}""",
        old.name,
    )
    url = postgres.url(old.name).replace("plants@", f"reader_{old.name}@")
    with pytest.raises(UpdateRightsError, match="Members of “plants” may"):
        PostgresLocation.parse(url).update()
    assert version_of(postgres, old) == 1


def test_the_command_asks_makes_a_backup_and_updates(
    postgres: PostgresServer, old: PostgresLocation, capfd: pytest.CaptureFixture[str]
) -> None:
    command = ["migrate", "--database", old.url]
    assert main(command) == 1
    printed = capfd.readouterr()
    assert "Greenhouse  unknown" in printed.out
    assert f"from version 1 to {SCHEMA_VERSION}" in printed.err
    assert "no terminal to ask on" in printed.err
    assert version_of(postgres, old) == 1
    assert main(["add", "--name", "Ivy", "--database", old.url]) == 1
    assert f"`plantdesk migrate --database {shlex.quote(old.url)}`" in capfd.readouterr().err
    assert main([*command, "--yes"]) == 0
    (backup,) = old.backups.newest_first()
    assert capfd.readouterr().out.endswith(f"The state before is in {backup.path}\n")
    assert backup.kind is BackupKind.BEFORE_UPDATE
    assert main(["add", "--name", "Ivy", "--database", old.url]) == main(command) == 0
    assert capfd.readouterr().out == f"8\n{old.url} has the tables of this version.\n"


def test_the_command_makes_a_store_in_an_empty_database(
    postgres: PostgresServer, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    url = postgres.url(postgres.new_database())
    assert main(["migrate", "--database", url]) == 1
    assert f"`plantdesk migrate --create --database {url}`" in capfd.readouterr().err
    assert main(["migrate", "--create", "--database", url]) == 0
    assert main(["add", "--name", "Ivy", "--database", url]) == 0
    assert main(["migrate", "--database", str(tmp_path / "none.db")]) == 1
