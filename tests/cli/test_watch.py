"""`plantdesk watch`, as a script runs it: beside other programs that change the plants, and may be killed."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from plantdesk.cli.main import main
from plantdesk.domain.edits import Delete, SetTag, edited
from plantdesk.domain.models import NewPlant
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import COMMAND, PlantRow
from plantdesk.domain.selections import Selection
from plantdesk.platform import paths
from plantdesk.store.sqlite.store import SqliteStore
from tests.conftest import Refused
from tests.support.adding import store_at
from tests.support.postgres_server import PostgresServer
from tests.support.tcp_proxy import proxy_to
from tests.support.waiting import SECONDS

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no such signals")


class Watch:
    """A running `plantdesk watch --json`."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "plantdesk", "watch", "--json", *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.position = ""

    def next(self) -> tuple[str, int, str | None]:
        """Wait for the next line; return event, id and name."""
        assert self.process.stdout is not None
        line: dict[str, Any] = json.loads(self.process.stdout.readline())
        self.position = line["position"]
        return line["event"], line["id"], line["plant"] and line["plant"]["name"]

    def wait_for_error(self, text: str) -> None:
        """Wait for a line on standard error that contains `text`."""
        assert self.process.stderr is not None
        assert any(text in line for line in self.process.stderr)

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        """End it by a signal and return its exit code."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=SECONDS)
        assert errors == ""
        return self.process.returncode


@pytest.fixture
def watch() -> Iterator[Callable[..., Watch]]:
    running: list[Watch] = []

    def start(*arguments: str) -> Watch:
        running.append(Watch(*arguments))
        return running[-1]

    yield start
    for each in running:
        each.process.kill()
        each.process.communicate()


@pytest.fixture
def store() -> Iterator[PlantStore]:
    with closing(SqliteStore(paths.database_file())) as store:
        add(store, 1, "Fern")
        yield store


def add(store: PlantStore, plant_id: int, name: str) -> None:
    store.add(NewPlant(id=plant_id, name=name), COMMAND).result(SECONDS)


def position(store: PlantStore) -> str:
    with closing(store.reader()) as reader:
        return reader.events(None).position


def plant(store: PlantStore, plant_id: int) -> PlantRow:
    with closing(store.reader()) as reader:
        return reader.rows([plant_id])[plant_id]


def rename(store: PlantStore, plant_id: int, name: str) -> None:
    store.apply([edited(plant(store, plant_id), name=name)], COMMAND).result(SECONDS)


def test_each_change_is_a_line_as_soon_as_it_is_made(store: PlantStore, watch: Callable[..., Watch]) -> None:
    watching = watch("--since", position(store))
    add(store, 2, "Rose")
    assert watching.next() == ("added", 2, "Rose")
    rename(store, 2, "Rosa")
    assert watching.next() == ("changed", 2, "Rosa")
    store.apply([Delete(1, plant(store, 1).version, "Fern")], COMMAND).result(SECONDS)
    assert watching.next() == ("deleted", 1, None)
    store.undo(None, COMMAND).result(SECONDS)
    assert watching.next() == ("added", 1, "Fern")
    assert watching.end() == 130


def test_a_line_has_all_of_the_plant(store: PlantStore, capfd: pytest.CaptureFixture[str]) -> None:
    since = position(store)
    store.apply([edited(plant(store, 1), tag="hall", note="Water")], COMMAND).result(SECONDS)
    (line,) = lines_since(since, 1, capfd)
    assert line.keys() == {"position", "event", "id", "plant", "change"}
    assert line["plant"] == {"id": 1, "name": "Fern", "tag": "hall", "note": "Water"}
    assert line["change"] == 1


def lines_since(since: str, count: int, capfd: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """Read so many lines of a watch, then close its standard output."""
    command = [sys.executable, "-m", "plantdesk", "watch", "--json", "--since", since]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = [json.loads(process.stdout.readline()) for _ in range(count)]
        process.stdout.close()  # nothing is changed any more: it must notice by itself
        assert process.wait(SECONDS) == 1
    assert capfd.readouterr().err == ""
    return found


def test_a_position_in_the_middle_of_a_change_continues_behind_it(
    store: PlantStore, capfd: pytest.CaptureFixture[str]
) -> None:
    since = position(store)
    for plant_id in range(2, 12):
        add(store, plant_id, "Rose")
    store.apply([SetTag(Selection(), "hall")], COMMAND).result(SECONDS)
    add(store, 99, "Last")
    every = lines_since(since, 22, capfd)
    assert [each["event"] for each in every] == ["added"] * 10 + ["changed"] * 11 + ["added"]
    assert [each["plant"]["tag"] for each in every[:10]] == [None] * 10  # what it was then
    for place in (3, 9, 14, 20):
        assert lines_since(every[place]["position"], 21 - place, capfd) == every[place + 1 :]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_end_it_as_they_end_each_command(
    store: PlantStore, watch: Callable[..., Watch], number: signal.Signals
) -> None:
    watching = watch("--since", position(store))
    add(store, 2, "Rose")
    assert watching.next() == ("added", 2, "Rose")
    assert watching.end(number) == -number


_ADDS_UNTIL_KILLED = """
import sys, threading
from plantdesk.platform import paths
from plantdesk.domain.records import COMMAND
from plantdesk.domain.models import NewPlant
from plantdesk.store.sqlite.store import SqliteStore
store, first = SqliteStore(paths.database_file()), int(sys.argv[1])
for number in range(first, first + 100_000):
    store.add(NewPlant(id=number, name=f"Plant {number}"), COMMAND).result()
    print(number, flush=True)
"""


def test_nothing_is_missed_or_repeated_while_writers_and_readers_are_killed(
    store: PlantStore, watch: Callable[..., Watch]
) -> None:
    watching = watch("--since", position(store))
    found: list[int] = []
    for first in range(1_000_000, 6_000_000, 1_000_000):
        command = [sys.executable, "-c", _ADDS_UNTIL_KILLED, str(first)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            for _ in range(40):
                writer.stdout.readline()
            watching.next()
            found.append(first)
            watching.process.kill()
            watching = watch("--since", watching.position)
            writer.kill()
        with closing(store.reader()) as reader:
            ids = {row.id for row in reader.selected(Selection()) if row.id >= first}
        found += [watching.next()[1] for _ in range(len(ids) - 1)]
    with closing(store.reader()) as reader:
        assert found == sorted(row.id for row in reader.selected(Selection()) if row.id != 1)
    assert watching.end() == 130


def test_a_slow_reader_gets_every_line(store: PlantStore, watch: Callable[..., Watch]) -> None:
    watching = watch("--since", position(store))
    count = 3_000  # more than fits into the pipe
    done = threading.Event()
    entries = [(NewPlant(id=plant_id, name="Rose " * 20), COMMAND) for plant_id in range(2, 2 + count)]
    store.add_each(entries, lambda _outcomes: done.set())
    assert done.wait(SECONDS)
    store.apply([SetTag(Selection(), "hall")], COMMAND).result(SECONDS)
    assert [watching.next()[:2] for _ in range(count)] == [("added", plant_id) for plant_id in range(2, 2 + count)]
    assert [watching.next()[:2] for _ in range(count + 1)] == [("changed", number) for number in range(1, 2 + count)]
    assert watching.end() == 130


@pytest.mark.parametrize("since", ["", "7", "x.1.0.0.0", "0123456789ab.1.0.0.0", "0123456789ab.-1.0.0.0"])
@pytest.mark.usefixtures("store")
def test_a_position_of_another_store_is_refused(since: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", "--json", "--since", since]) == 1
    printed, error = capfd.readouterr()
    assert printed == ""
    assert "is not one of these plants" in error


def test_a_position_before_changes_that_are_not_stored_is_refused(refused: Refused) -> None:
    with closing(SqliteStore(paths.database_file())) as store:
        add(store, 1, "Fern")
        since = position(store)
        rename(store, 1, "Moss")
        present = position(store)
    with closing(sqlite3.connect(paths.database_file())) as database, database:
        database.execute("UPDATE change SET size = NULL")
        database.execute("DELETE FROM before_image")
    assert "no longer stored" in refused("watch", "--since", since)
    with closing(SqliteStore(paths.database_file())) as store, closing(store.reader()) as reader:
        assert reader.events(present).events == []


def test_an_older_copy_in_the_place_of_the_file_ends_it(watch: Callable[..., Watch], tmp_path: Path) -> None:
    file, copy = paths.database_file(), tmp_path / "copy.db"
    shutil.copy(store_at(file, "Fern"), copy)
    with closing(SqliteStore(file)) as store:
        add(store, 2, "Rose")
        since = position(store)
    watching = watch("--since", since)
    with closing(SqliteStore(file)) as store:
        add(store, 3, "Aloe")
    assert watching.next() == ("added", 3, "Aloe")
    copy.replace(file)
    watching.wait_for_error("an older copy has taken its place")
    assert watching.process.wait(SECONDS) == 1


def test_a_file_that_is_away_for_a_while_is_followed_again(watch: Callable[..., Watch], tmp_path: Path) -> None:
    file = paths.database_file()
    with closing(SqliteStore(file)) as store:
        add(store, 1, "Fern")
        since = position(store)
    watching = watch("--since", since)
    with closing(SqliteStore(file)) as store:
        add(store, 2, "Rose")
    assert watching.next() == ("added", 2, "Rose")
    with closing(sqlite3.connect(file)) as database:
        database.execute("VACUUM INTO ?", (str(tmp_path / "copy.db"),))
    file.rename(tmp_path / "away.db")
    watching.wait_for_error("moved, replaced or deleted")
    (tmp_path / "copy.db").replace(file)
    watching.wait_for_error("The plants can be read again.")
    with closing(SqliteStore(file)) as store:
        add(store, 3, "Aloe")
    assert watching.next() == ("added", 3, "Aloe")
    assert watching.end() == 130


def test_a_server_that_is_gone_for_a_while_is_followed_again(
    postgres: PostgresServer, watch: Callable[..., Watch]
) -> None:
    location = postgres.new_store()
    with closing(location.open()) as store:
        add(store, 1, "Fern")
        since = position(store)
        with proxy_to(postgres.port) as proxy:
            watching = watch("--since", since, "--database", location.url.replace(str(postgres.port), str(proxy.port)))
            add(store, 2, "Rose")
            assert watching.next() == ("added", 2, "Rose")
            proxy.is_off = True
            proxy.cut()
            add(store, 3, "Aloe")
            watching.wait_for_error("does not answer")
            proxy.is_off = False
            assert watching.next() == ("added", 3, "Aloe")
            rename(store, 3, "Agave")
            assert watching.next() == ("changed", 3, "Agave")
            assert watching.process.poll() is None
