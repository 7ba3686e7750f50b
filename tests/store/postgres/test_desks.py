"""Desks: their names in the history, and that their ids never collide and all see every commit once, in one order."""

import json
import random
import re
import shlex
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from queue import SimpleQueue

import pytest

from plantdesk.cli.main import main
from plantdesk.domain.edits import DeleteAll, edited
from plantdesk.domain.errors import NothingToUndoError, PlantDeskError
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import COMMAND, FORM, Changes, PlantRow
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant, plant_fields
from plantdesk.platform import paths
from plantdesk.platform.settings import Settings, save, with_store
from plantdesk.store.locations import PostgresLocation
from plantdesk.store.postgres.address import Address
from tests.support.cases import number
from tests.support.changing import change
from tests.support.plant_changes import add
from tests.support.postgres_server import PostgresServer
from tests.support.waiting import SECONDS


def named(location: PostgresLocation, desk: str) -> PostgresLocation:
    return PostgresLocation.parse(f"{location.url}?application_name={desk}")


@pytest.fixture
def desks(location: PostgresLocation) -> Iterator[list[PlantStore]]:
    """Office and Greenhouse, which have added, edited and deleted a plant."""
    with ExitStack() as stack:
        stores = [stack.enter_context(closing(named(location, text).open())) for text in ("Office", "Greenhouse")]
        office, greenhouse = stores
        plant = add(office, 1, "Fern")
        office.apply([edited(plant, note="dry")], FORM).result(SECONDS)
        greenhouse.apply([DeleteAll(Selection())], FORM).result(SECONDS)
        office.undo(2, FORM).result(SECONDS)
        yield stores


def test_a_desk_is_named_by_the_address_or_the_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.node", lambda: "laptop")
    assert Address.parse("postgresql://host/plants").desk == "laptop"
    assert Address.parse("postgresql://host/plants?application_name=%20").desk == "laptop"
    assert Address.parse("postgresql://host/plants?application_name=Anna%27s%20desk").desk == "Anna's desk"
    assert len(Address.parse("postgresql://host/plants?application_name=" + "x" * 99).desk) == 60


def test_each_change_has_the_name_of_its_desk(desks: list[PlantStore]) -> None:
    assert [store.desk for store in desks] == ["Office", "Greenhouse"]
    with closing(desks[1].reader()) as reader:
        assert [change.desk for change in reader.history()] == ["Office", "Greenhouse", "Office"]
        assert all("desk" not in change.parameters for change in reader.history())
        assert reader.history_summary().desks == ("Greenhouse", "Office")
        assert [entry.change.number for entry in reader.history_entries(source="Greenhouse")] == [2]
        assert reader.history_entries(source="Shed") == []
        assert [(entry.change.desk, entry.last.desk) for entry in reader.history_entries()] == [
            ("Greenhouse", "Office"),
            ("Office", "Office"),
        ]


def test_the_command_names_the_desks(
    desks: list[PlantStore], location: PostgresLocation, capfd: pytest.CaptureFixture[str]
) -> None:
    assert desks
    assert main(["history", "--json", "--database", location.url]) == 0
    assert [item["desk"] for item in json.loads(capfd.readouterr().out)] == ["Office", "Greenhouse", "Office"]
    assert main(["history", "--database", location.url]) == 0
    assert "form, Greenhouse" in capfd.readouterr().out


def test_the_latest_change_of_another_desk_is_only_undone_by_its_number(desks: list[PlantStore]) -> None:
    greenhouse = desks[1]
    with pytest.raises(NothingToUndoError, match="Office has made this"):
        greenhouse.undo(None, FORM).result(SECONDS)
    with pytest.raises(NothingToUndoError, match="Office has made this"):
        greenhouse.redo(FORM).result(SECONDS)
    assert greenhouse.undo(1, FORM).result(SECONDS).change.desk == "Greenhouse"


def test_the_command_that_a_refused_undo_suggests_names_the_store(
    desks: list[PlantStore], location: PostgresLocation, capfd: pytest.CaptureFixture[str]
) -> None:
    assert desks
    here = named(location, "Shed").url
    assert main(["undo", "--database", here]) == 1
    suggested = re.search("`plantdesk (undo [0-9]+ .*)`", capfd.readouterr().err)
    assert suggested is not None
    assert shlex.split(suggested[1])[2:] == ["--database", here]
    assert main(["undo", "99", "--database", here]) == 1
    assert f"`plantdesk history --database {shlex.quote(here)}`" in capfd.readouterr().err
    assert main(shlex.split(suggested[1])) == 0


def test_commands_have_the_name_and_the_user_of_the_window(
    location: PostgresLocation, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with closing(named(location, "Shed").open()) as store:
        add(store, 1, "Fern")
    file = tmp_path / "plants.plantdesk-store"
    file.write_text(location.desk_file())
    assert main(["list", "--database", str(file)]) == 1
    assert "names no user" in capfd.readouterr().err
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGUSER", location.user)
        assert main(["list", "--database", str(file)]) == 0
    capfd.readouterr()
    known = with_store(Settings(computer_name="Shed"), location.key, {"user": location.user})
    save(known, paths.settings_file())
    assert main(["edit", "1", "--name", "Moss", "--database", str(file)]) == 0
    assert main(["history", "--json", "--database", str(file)]) == 0
    assert [item["desk"] for item in json.loads(capfd.readouterr().out)] == ["Shed"]
    assert main(["undo", "--database", str(file)]) == 0


_LAST = 1_000_000


def follow(received: SimpleQueue[Changes], plants: dict[int, PlantRow]) -> None:
    """Do to `plants` what a desk was notified of, until the last plant was."""
    while _LAST not in plants:
        changes = received.get(timeout=SECONDS)
        assert not changes.needs_reload
        for plant_id in changes.removed:
            plants.pop(plant_id, None)
        for row in (*changes.added, *changes.updated):
            plants[row.id] = row


def test_each_desk_follows_all_others(postgres: PostgresServer, location: PostgresLocation) -> None:
    desks = [location.open() for _ in range(3)]
    queues: list[SimpleQueue[Changes]] = [SimpleQueue() for _ in desks]
    for desk, queue in zip(desks, queues, strict=True):
        desk.subscribe(queue.put)

    def work(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(number(40)):
            with suppress(PlantDeskError):  # others may have been quicker
                change(desks[seed % 3], chance, chance.randrange(1, 60))

    with ThreadPoolExecutor() as threads:
        assert [*threads.map(work, range(6))] == [None] * 6
    desks[0].add(new_plant({"id": _LAST, "name": "Last"}), COMMAND).result(SECONDS)
    with closing(desks[1].reader()) as reader:
        ids = [plant_id for page in reader.pages(Selection()) for plant_id in [row.id for row in page]]
        plants = reader.rows(ids)
        counts = reader.count(), reader.counts().total
    for queue in queues:
        followed: dict[int, PlantRow] = {}
        follow(queue, followed)
        plain = {each: row._replace(source=plants[each].source) for each, row in followed.items()}
        assert plain == plants
    for desk in desks:
        desk.close()
    assert counts == (len(ids), len(ids))
    positions = postgres.execute("SELECT position FROM plantdesk.commits ORDER BY position", location.name)
    assert [position for (position,) in positions] == [*range(1, len(positions) + 1)]
    changes = postgres.execute("SELECT number FROM plantdesk.change ORDER BY number", location.name)
    assert [each for (each,) in changes] == [*range(1, len(changes) + 1)]


def test_next_free_ids_never_collide(location: PostgresLocation) -> None:
    desks = [location.open() for _ in range(3)]
    futures = [desk.add_as_next(plant_fields({"name": "Fern"}), COMMAND) for _ in range(30) for desk in desks]
    assert sorted(future.result(SECONDS).id for future in futures) == [*range(1, 91)]
    for desk in desks:
        desk.close()
