"""The names of desks in the history of a shared store."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import pytest

from plantdesk.cli.main import main
from plantdesk.domain.edits import DeleteAll, edited
from plantdesk.domain.errors import NothingToUndoError
from plantdesk.domain.records import FORM
from plantdesk.domain.selections import Selection
from plantdesk.platform import paths
from plantdesk.platform.settings import Settings, save, with_store
from plantdesk.store.locations import PostgresLocation
from plantdesk.store.postgres.address import Address
from plantdesk.store.postgres.desks import desk_name
from tests.store.contract.test_changes import add
from tests.support.waiting import SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.domain.protocols import PlantStore


def named(location: PostgresLocation, desk: str) -> PostgresLocation:
    return PostgresLocation.parse(f"{location.url}?application_name={desk}")


@pytest.fixture
def desks(location: PostgresLocation) -> Iterator[list[PlantStore]]:
    """Office and Greenhouse, which have added, edited and deleted a plant."""
    with ExitStack() as stack:
        stores = [stack.enter_context(closing(named(location, each).open())) for each in ("Office", "Greenhouse")]
        office, greenhouse = stores
        plant = add(office, 1, "Fern")
        office.apply([edited(plant, note="dry")], FORM).result(SECONDS)
        greenhouse.apply([DeleteAll(Selection())], FORM).result(SECONDS)
        office.undo(2, FORM).result(SECONDS)
        yield stores


def test_a_desk_is_named_by_the_address_or_the_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.node", lambda: "laptop")
    assert desk_name(Address.parse("postgresql://host/plants")) == "laptop"
    assert desk_name(Address.parse("postgresql://host/plants?application_name=%20")) == "laptop"
    assert desk_name(Address.parse("postgresql://host/plants?application_name=Anna%27s%20desk")) == "Anna's desk"
    assert len(desk_name(Address.parse("postgresql://host/plants?application_name=" + "x" * 99))) == 60


def test_each_change_has_the_name_of_its_desk(desks: list[PlantStore]) -> None:
    assert [store.desk for store in desks] == ["Office", "Greenhouse"]
    with closing(desks[1].reader()) as reader:
        assert [each.desk for each in reader.history()] == ["Office", "Greenhouse", "Office"]
        assert all("desk" not in each.parameters for each in reader.history())
        assert reader.history_summary().desks == ("Greenhouse", "Office")
        assert [each.change.number for each in reader.history_entries(source="Greenhouse")] == [2]
        assert reader.history_entries(source="Shed") == []
        assert [(each.change.desk, each.last.desk) for each in reader.history_entries()] == [
            ("Greenhouse", "Office"),
            ("Office", "Office"),
        ]


def test_the_command_names_the_desks(
    desks: list[PlantStore], location: PostgresLocation, capfd: pytest.CaptureFixture[str]
) -> None:
    assert desks
    assert main(["history", "--json", "--database", location.url]) == 0
    assert [each["desk"] for each in json.loads(capfd.readouterr().out)] == ["Office", "Greenhouse", "Office"]
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
    known = with_store(Settings(computer_name="Shed"), location.key, {"user": location.address.user})
    save(known, paths.settings_file())
    assert main(["edit", "1", "--name", "Moss", "--database", str(file)]) == 0
    assert main(["history", "--json", "--database", str(file)]) == 0
    assert [each["desk"] for each in json.loads(capfd.readouterr().out)] == ["Shed"]
    assert main(["undo", "--database", str(file)]) == 0
