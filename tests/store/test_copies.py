"""Copies of whole stores: everything arrives and goes on working, or nothing is there."""

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from plantdesk.cli.main import main
from plantdesk.domain.copying import (
    CopyDiffersError,
    CopyRefusedError,
    NulInStoreError,
    SameStoreError,
    TargetNotEmptyError,
)
from plantdesk.domain.edits import DeleteAll, SetTag, edited
from plantdesk.domain.errors import NoStoreError, StoreGoneError
from plantdesk.domain.imports import ImportRow, OnConflict
from plantdesk.domain.locations import StoreLocation, copy_store
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import COMMAND, FORM, SourceKind
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant, plant_fields
from plantdesk.platform import paths, settings
from plantdesk.store import location_of
from plantdesk.store.locations import PostgresLocation
from plantdesk.store.models import PLANT
from plantdesk.store.postgres.schema import NoSharedStoreError
from tests.support.postgres_server import PostgresServer
from tests.support.waiting import SECONDS

New = Callable[[str], StoreLocation]

KINDS = ["sqlite", "postgres"]
NAMES = ["", "Fern", 'A "quoted", ‘cut’\ttext\n\\N', "Acer ×", "e\u0301", "🌱" * 300, "\x1f", " "]


@pytest.fixture
def new(postgres: PostgresServer, tmp_path: Path) -> New:
    """Name a place without a store."""

    def place(kind: str) -> StoreLocation:
        if kind == "postgres":
            return location_of(postgres.url(postgres.new_database()))
        folder = tmp_path / str(len([*tmp_path.iterdir()]))
        folder.mkdir()
        return location_of(folder / "plants.db")

    return place


def import_two(store: PlantStore, label: str) -> None:
    rows = [ImportRow(0, line, None, f"{label} {line}", None, "new") for line in (1, 2)]
    with closing(store.new_import()) as files_import:
        files_import.add(rows)
        files_import.compare(OnConflict.REFUSE, ["name", "note"])
        files_import.apply(label)


def fill(store: PlantStore) -> str:
    """Do something of every kind; return a token."""
    token = store.tokens.create("script", max_plants=5).result(SECONDS).token
    store.tokens.create("old").result(SECONDS)
    store.tokens.revoke("old").result(SECONDS)
    with closing(store.tokens.open_lookup()) as tokens:
        by_script = tokens.source(token)
    for number, name in enumerate(NAMES):
        store.add(new_plant({"id": number * 7 - 9, "name": name, "tag": NAMES[-number]}), FORM).result(SECONDS)
    store.add(new_plant({"id": 500, "name": "Of a script"}), by_script).result(SECONDS)
    import_two(store, "list.csv")
    with closing(store.reader()) as reader:
        fern = reader.plant(-2)
    assert fern is not None
    store.apply([edited(fern, name="Fern of the hall", note="dry")], FORM).result(SECONDS)
    store.apply([SetTag(Selection(), "hall")], COMMAND).result(SECONDS)
    store.undo(None, FORM).result(SECONDS)
    store.apply([DeleteAll(Selection(ids=[-9, 5, 502]))], FORM).result(SECONDS)
    return token


def state(store: PlantStore) -> tuple[object, ...]:
    """Return all that can be read of a store."""
    with closing(store.reader()) as reader:
        plants = [row for page in reader.pages(Selection()) for row in page]
        changes = reader.history(100)
        of_each = {row.id: reader.plant_history(row.id) for row in plants}
        sources, summary = reader.sources(), reader.history_summary()._replace(desks=())
    tokens = [token._replace(last_used_at=None) for token in store.tokens.list()]  # SQLite: of the newest plant
    return plants, changes, of_each, sources, summary, tokens


@pytest.mark.parametrize("target_kind", KINDS)
@pytest.mark.parametrize("source_kind", KINDS)
def test_a_copy_has_everything_and_goes_on(new: New, source_kind: str, target_kind: str) -> None:
    source, target = new(source_kind), new(target_kind)
    with closing(source.open(create=True)) as store:
        token = fill(store)
        expected = state(store)
    progress: list[float] = []
    copied = copy_store(source, target, progress.append)
    assert copied.rows == {"source": 5, "plant": 8, "change": 5, "before_image": 28, "token": 2}
    assert progress == sorted(progress)
    assert progress[-1] == 1.0
    with closing(target.open()) as store:
        assert state(store) == expected
        with closing(store.tokens.open_lookup()) as tokens:
            assert tokens.source(token).label == "script"
        with closing(store.reader()) as reader:
            assert reader.next_free_id() == 503, "502 is deleted, and is given to no other plant"
        store.undo(None, FORM).result(SECONDS)
        with closing(store.reader()) as reader:
            assert reader.plant(-9) is not None
        new_row = store.add_as_next(plant_fields({"name": "New"}), FORM).result(SECONDS)
        import_two(store, "second.csv")
        store.tokens.create("second").result(SECONDS)
        with closing(store.reader()) as reader:
            rows = [row for page in reader.pages(Selection()) for row in page]
            assert [row.id for row in rows][-3:] == [new_row.id, 504, 505]
            sources = reader.sources()
        assert len({each.id for each in sources}) == len(sources) == 7
        assert sources[-1].kind is SourceKind.TOKEN
    with closing(source.open()) as store:
        assert state(store) == expected


def test_a_copy_of_a_copy_is_the_same(new: New) -> None:
    places = [new(kind) for kind in (*KINDS, *KINDS)]
    with closing(places[0].open()) as store:
        fill(store)
    digests = {copy_store(one, other).digest for one, other in itertools.pairwise(places)}
    assert len(digests) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_store_that_is_open_is_filled_and_shows_it(new: New, kind: str) -> None:
    source, target = new("sqlite"), new(kind)
    with closing(source.open()) as store:
        fill(store)
    with closing(target.open(create=True)) as store:
        copy_store(source, target)
        assert store.undo(None, FORM).result(SECONDS).change.plants == 3
        with closing(store.reader()) as reader:
            assert reader.count() == 11


@pytest.mark.parametrize("kind", KINDS)
def test_a_target_with_plants_history_or_tokens_is_refused(new: New, kind: str) -> None:
    source = new("sqlite")
    source.open().close()
    for step in ("plants", "history", "token"):
        target = new(kind)
        with closing(target.open(create=True)) as store:
            if step == "token":
                store.tokens.create("script").result(SECONDS)
            else:
                store.add(new_plant({"id": 1, "name": "Fern"}), FORM).result(SECONDS)
            if step == "history":
                store.apply([DeleteAll(Selection())], FORM).result(SECONDS)
            before = state(store)
            with pytest.raises(TargetNotEmptyError, match=f"“{target.name}” holds plants"):
                copy_store(source, target)
            assert state(store) == before


def test_what_is_no_store_or_the_same_one_is_not_copied(new: New, postgres: PostgresServer) -> None:
    nothing, file = new("sqlite"), new("sqlite")
    with pytest.raises(NoStoreError):
        copy_store(nothing, file)
    assert not nothing.exists()
    assert not file.exists()
    file.open().close()
    with pytest.raises(SameStoreError):
        copy_store(file, file)
    database = new("postgres")
    with pytest.raises(NoSharedStoreError):
        copy_store(database, new("sqlite"))
    assert postgres.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'plantdesk'", database.name) == []


def test_plants_and_changes_that_a_server_cannot_store_are_named(new: New, postgres: PostgresServer) -> None:
    source, target = new("sqlite"), new("postgres")
    with closing(source.open()) as store:
        for number, name in ((1, "a\0b"), (2, "Fern"), (3, "c")):
            store.add(new_plant({"id": number, "name": name, "tag": "\0" if number == 3 else ""}), FORM).result()
        with pytest.raises(NulInStoreError, match=r"these IDs: 1, 3\. Remove it there\.$"):
            copy_store(source, target)
        store.apply([DeleteAll(Selection(ids=[1, 3]))], FORM).result(SECONDS)
        with pytest.raises(NulInStoreError, match="in its changes 1, "):
            copy_store(source, target)
    assert postgres.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'plantdesk'", target.name) == []
    assert copy_store(source, new("sqlite")).rows["before_image"] == 2


def test_a_log_without_its_file_is_not_continued(new: New, tmp_path: Path) -> None:
    source, target = new("sqlite"), new("sqlite")
    source.open().close()
    log = tmp_path / "1" / "plants.db-wal"
    log.write_bytes(b"left")
    with pytest.raises(StoreGoneError):
        copy_store(source, target)
    assert [file.name for file in (tmp_path / "1").iterdir() if "lock" not in file.name] == [log.name]


def test_a_failure_of_the_target_ends_the_reading_of_a_server(new: New, postgres: PostgresServer) -> None:
    source = new("postgres")
    source.open(create=True).close()
    postgres.execute(
        "INSERT INTO plantdesk.plant (id, name, searched_name, seq, added_at, source_id) "
        "SELECT n, repeat('Fern', 200), repeat('fern', 200), n, 0, 1 FROM generate_series(1, 20000) AS n",
        source.name,
    )
    with pytest.raises(StopIteration), source.open_all_rows() as rows:  # noqa: PT012
        reading = rows.rows(PLANT)
        next(reading)
        raise StopIteration
    del reading
    sql = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in%' AND datname = current_database()"
    assert postgres.execute(sql, source.name) == [(0,)]


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_rows_are_refused(new: New, kind: str, postgres: PostgresServer) -> None:
    source, target = new("postgres"), new(kind)
    with closing(source.open(create=True)) as store:
        store.add(new_plant({"id": 1, "name": "Fern"}), FORM).result(SECONDS)
    sql = """ALTER TABLE plantdesk.plant DROP CONSTRAINT plant_source_id_fkey;
             UPDATE plantdesk.plant SET source_id = 77, added_at = 9223372036854775807"""
    postgres.execute(sql, source.name)
    with pytest.raises(CopyRefusedError):
        copy_store(source, target)
    if kind == "sqlite":
        assert not target.exists()


def test_a_difference_is_found_and_nothing_is_copied(new: New, postgres: PostgresServer) -> None:
    source, target = new("sqlite"), new("postgres")
    with closing(source.open()) as store:
        fill(store)
    target.open(create=True).close()
    sql = """CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN NEW.name = upper(NEW.name); RETURN NEW; END $$;
             CREATE TRIGGER shout BEFORE INSERT ON plantdesk.before_image FOR EACH ROW EXECUTE FUNCTION shout()"""
    postgres.execute(sql, target.name)
    with pytest.raises(CopyDiffersError):
        copy_store(source, target)
    assert postgres.execute("SELECT plants, last_seq FROM plantdesk.state", target.name) == [(0, 0)]
    assert postgres.execute("SELECT count(*) FROM plantdesk.plant", target.name) == [(0,)]


#: Copies, and kills itself or raises when half of it is done.
_HALF = """
import os, signal, sys
from plantdesk.domain.locations import copy_store
from plantdesk.store import location_of
def end(fraction):
    if fraction >= 0.5:
        os.kill(os.getpid(), signal.SIGKILL)
copy_store(location_of(sys.argv[1]), location_of(sys.argv[2]), end)
"""


class _CancelledError(Exception):
    pass


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("how", ["killed", "cancelled"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_copy_leaves_no_usable_store(new: New, kind: str, how: str) -> None:
    source, target = new("sqlite"), new(kind)
    with closing(source.open()) as store:
        fill(store)
    if how == "killed":
        done = subprocess.run([sys.executable, "-c", _HALF, source.url, target.url], check=False)
        assert done.returncode == -signal.SIGKILL
    else:

        def cancel(_fraction: float) -> None:
            raise _CancelledError

        with pytest.raises(_CancelledError):
            copy_store(source, target, cancel)
    if isinstance(target, PostgresLocation):
        with closing(target.open()) as store, closing(store.reader()) as reader:
            assert reader.count() == 0
    else:
        assert not target.exists()
    if target.folder is not None:
        for file in target.folder.iterdir():
            os.utime(file, (1, 1))  # another copy may run that has just made its file
    assert copy_store(source, target).rows["plant"] == 8
    assert target.folder is None or [file.name for file in target.folder.iterdir()] == ["plants.db"]


def test_the_command_prints_what_it_copied_and_copies_searches(new: New, capfd: pytest.CaptureFixture[str]) -> None:
    source, target = new("sqlite"), new("postgres")
    with closing(source.open()) as store:
        fill(store)
    remembered = {"searches": [{"name": "hall", "text": "tag:hall"}], "draft": {"name": "half"}}
    known = settings.Settings()
    settings.update(paths.settings_file(), lambda each: settings.with_store(each, source.key, remembered), known)
    assert main(["copy", source.url, target.url]) == 0
    assert capfd.readouterr() == (f"Copied 8 plants, 5 changes of the history and 2 tokens to {target.url}\n", "")
    found = settings.of_store(settings.load(paths.settings_file()), target.key)
    assert found == {"searches": [{"name": "hall", "text": "tag:hall"}]}
    back = new("sqlite")
    assert main(["copy", target.url, back.url, "--json"]) == 0
    printed = json.loads(capfd.readouterr().out)
    assert {**printed, "sha256": len(printed["sha256"])} == {
        "from": target.url,
        "to": back.url,
        "plants": 8,
        "changes": 5,
        "tokens": 2,
        "sha256": 64,
    }
    assert main(["copy", target.url, back.url]) == 1
    assert "holds plants, history or tokens already" in capfd.readouterr().err
