"""`plantdesk duplicates`, `merge`, `add --like`, `names`, `labels`: as a user runs them, in a file and on a server."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from plantdesk.domain.edits import Insert
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.records import FORM, now_ms
from plantdesk.store import location_of
from plantdesk.transfer.known_names import KnownNames
from tests.conftest import Run
from tests.support.adding import plant
from tests.support.postgres_server import PostgresServer
from tests.support.terminals import agree_at_terminal
from tests.support.waiting import SECONDS

PLANTS = [
    (1, "Aloe vera", "Kitchen", None),
    (4, "aloe  VERA", "kitchen", "from Anna"),
    (6, "Fern", None, "old"),
    (7, "fern ", None, "older, and longer"),
    (9, "Aloe vera", "hall", None),
]


@pytest.fixture(params=["file", "server"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> StoreLocation:
    """A store with plants that are alike."""
    location: StoreLocation = location_of(tmp_path / "plants.db")
    if request.param == "server":
        server: PostgresServer = request.getfixturevalue("postgres")
        location = server.new_store()
    with closing(location.open()) as store:
        for plant_id, name, tag, note in PLANTS:
            store.apply([Insert(plant(plant_id, name, tag), note)], FORM).result(SECONDS)
            added = now_ms()
            while now_ms() == added:  # each plant is newer than the one before
                pass
    return location


@pytest.fixture
def run(location: StoreLocation, run: Run) -> Run:
    return lambda *arguments: run(*arguments, "--database", location.url)


def groups(run: Run, *arguments: str) -> list[list[int]]:
    code, printed, error = run("duplicates", "--json", *arguments)
    assert (code, error) == (0, "")
    return [[plant["id"] for plant in group["plants"]] for group in json.loads(printed)]


def plants(run: Run) -> list[tuple[int, str, str | None, str | None]]:
    listed = json.loads(run("list", "--json")[1])
    return sorted((each["id"], each["name"], each["tag"], each["note"]) for each in listed)


def test_plants_that_are_alike_are_listed_in_groups(run: Run) -> None:
    assert groups(run) == [[1, 4], [6, 7]]
    assert groups(run, "--by", "name") == [[1, 4, 9], [6, 7]]
    code, printed, said = run("duplicates")
    assert (code, said) == (0, "4 plants in 2 groups.\n")
    assert [line.split(maxsplit=1)[:1] for line in printed.splitlines()] == [["1"], ["4"], [], ["6"], ["7"]]
    whole = {plant["id"]: plant for group in json.loads(run("duplicates", "--json")[1]) for plant in group["plants"]}
    assert list(whole.values()) == [json.loads(run("get", str(number), "--json")[1]) for number in (1, 4, 6, 7)]


def test_where_no_plants_are_alike_there_is_nothing_to_merge(run: Run) -> None:
    run("delete", "4", "6", "--yes")
    assert groups(run) == []
    for arguments in ([], ["--merge"], ["--merge", "--dry-run"]):
        assert run("duplicates", *arguments) == (0, "", "No two plants are alike.\n")


@pytest.mark.parametrize(
    ("keep", "left"),
    [
        ([], [(1, "Aloe vera", "Kitchen", "from Anna"), (6, "Fern", None, "old\nolder, and longer")]),
        (["--keep", "newest"], [(4, *PLANTS[1][1:]), (7, "fern ", None, "old\nolder, and longer")]),
        (["--keep", "longest-note"], [(4, *PLANTS[1][1:]), (7, "fern ", None, "old\nolder, and longer")]),
    ],
)
def test_all_duplicates_are_merged_as_one_change(run: Run, keep: list[str], left: list[tuple[object, ...]]) -> None:
    before = plants(run)
    code, printed, said = run("duplicates", "--merge", "--dry-run", *keep)
    assert (code, said) == (0, "2 plants would be merged into others.\n")
    assert [int(line.split()[0]) for line in printed.splitlines()] == [each[0] for each in left]
    code, _, said = run("duplicates", "--merge", *keep)
    assert (code, "--yes" in said) == (1, True), "it asks, and nobody answers"
    assert plants(run) == before
    code, _, said = run("duplicates", "--merge", "--yes", *keep)
    assert (code, said.startswith("Merge 2 plants. To undo it, type: plantdesk undo")) == (0, True)
    assert plants(run) == [*left, PLANTS[4]]
    assert run("undo")[0] == 0
    assert plants(run) == before


def test_plants_that_were_added_together_are_merged_only_when_asked(run: Run, location: StoreLocation) -> None:
    with closing(location.open()) as store:
        for ids, name in ((range(20, 25), "Salvia"), ([40], "Dill"), ([50], "Dill")):
            store.apply([Insert(plant(plant_id, name)) for plant_id in ids], FORM).result(SECONDS)
    run("edit", "21", "--note", "cut back")
    left = "7 plants in 2 groups stay: they were added together, or have the same name, tag and note. "
    left += "--all merges them as well.\n"
    assert run("duplicates", "--merge", "--dry-run")[2] == "2 plants would be merged into others.\n" + left
    assert run("duplicates", "--merge", "--dry-run", "--all")[2] == "7 plants would be merged into others.\n"
    assert run("duplicates", "--merge", "--yes")[2].endswith(left)
    assert [each[0] for each in plants(run)] == [1, 6, 9, *range(20, 25), 40, 50]
    assert run("duplicates", "--merge") == (0, "", left)
    assert run("duplicates", "--merge", "--all", "--yes")[0] == 0
    assert [each[0] for each in plants(run)] == [1, 6, 9, 20, 40]


def test_named_plants_are_merged_into_another_one(run: Run) -> None:
    before = plants(run)
    code, printed, said = run("merge", "7", "4", "--into", "6", "--dry-run")
    assert (code, said) == (0, "2 plants would be merged into others.\n")
    assert printed == "       6  Fern  takes in 4, 7; note “old” -> “from Anna old older, and longer”\n"
    assert run("merge", "7", "4", "--into", "6")[0] == 1, "it asks, and nobody answers"
    assert plants(run) == before
    assert run("merge", "7", "4", "7", "--into", "6", "--yes")[0] == 0
    assert plants(run) == [PLANTS[0], (6, "Fern", None, "from Anna\nold\nolder, and longer"), PLANTS[4]]
    assert run("undo")[0] == 0
    assert plants(run) == before
    assert run("merge", "1", "--into", "9")[0] == 0, "one plant goes without a question"
    assert [plant[0] for plant in plants(run)] == [4, 6, 7, 9]


def test_notes_that_are_too_long_together_are_not_merged(run: Run) -> None:
    for plant_id in ("6", "7"):
        run("edit", plant_id, "--note", plant_id * 60_000)
    before = plants(run)
    for more in ([], ["--dry-run"]):
        code, _, said = run("merge", "6", "--into", "7", *more)
        assert (code, "too long together" in said) == (1, True)
    for more in (["--yes"], ["--dry-run"]):
        code, _, said = run("duplicates", "--merge", *more)
        assert (code, said.splitlines()[-1].startswith("1 plant stays: it has changed")) == (0, True)
    assert [plant[0] for plant in plants(run)] == [1, 6, 7, 9]
    code, _, said = run("duplicates", "--merge")
    assert (code, "was not merged" in said) == (1, True), "only those are left"
    assert [plant for plant in plants(run) if plant[0] in {6, 7}] == [each for each in before if each[0] in {6, 7}]


@pytest.mark.parametrize(
    ("arguments", "said", "code", "left"),
    [
        (["duplicates", "--merge"], ("Merge 2 plants into 2 others?", "1 plant stays"), 0, [1, 6, 7, 9]),
        (["merge", "6", "7", "--into", "4"], ("Merge 2 plants into one?", "None of the 2"), 1, [1, 4, 6, 7, 9]),
    ],
)
def test_a_plant_that_changed_since_the_question_is_not_merged(
    run: Run, location: StoreLocation, arguments: list[str], said: tuple[str, ...], code: int, left: list[int]
) -> None:
    def edit() -> None:
        assert run("edit", "7", "--note", "changed")[0] == 0

    command = [sys.executable, "-m", "plantdesk", *arguments, "--database", location.url]
    returned, printed = agree_at_terminal(command, edit)
    assert all(text in printed for text in said)
    assert returned == code
    assert [plant[0] for plant in plants(run)] == left


def test_a_plant_is_copied(run: Run) -> None:
    assert run("add", "--like", "4")[:2] == (0, "10\n")
    assert run("add", "--like", "4", "--tag", "hall", "--id", "-3")[:2] == (0, "-3\n")
    assert run("add", "--like", "6", "--name", "Moss")[:2] == (0, "11\n")
    added = [(-3, "aloe  VERA", "hall", "from Anna"), (10, *PLANTS[1][1:]), (11, "Moss", None, "old")]
    assert [plant for plant in plants(run) if plant not in PLANTS] == added
    assert run("undo")[0] == 0
    assert plants(run)[-1] == added[1]


# --- names ---


def test_known_names_are_imported_shown_and_removed(
    run: Run, location: StoreLocation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    none = '{\n  "names": 0,\n  "source": null,\n  "made_at": null\n}\n'
    assert run("names", "info", "--json") == (0, none, "")
    for action in ("info", "remove"):
        code, printed, said = run("names", action)
        assert (code, printed, "plantdesk names import FILE" in said) == (1, "", True)
    (tmp_path / "my names.txt").write_text("Salvia nemorosa\nRosa\n", encoding="utf-8")
    assert run("names", "import", str(tmp_path / "my names.txt")) == (
        0,
        "",
        "Offered while a name is typed: 2 names from “my names.txt”.\n",
    )
    assert KnownNames(location.names_file).beginning("sal", 9) == ["Salvia nemorosa"]
    assert run("names", "info")[1].startswith("2 names from “my names.txt”, 20")
    about = json.loads(run("names", "info", "--json")[1])
    assert (about["names"], about["source"]) == (2, "my names.txt")
    (tmp_path / "wcvp_names.csv").write_text("plant_name_id|taxon_status|taxon_name\n1|Accepted|Rosa\n2|Synonym|Roza\n")
    said = run("names", "import", str(tmp_path / "wcvp_names.csv"))[2]
    assert ": 1 name from “wcvp_names.csv”.\n" in said
    assert said.endswith("\nLeft out, as not accepted, not of plants or fungi, or not readable: 1 name.\n")
    for text, options in (("Rose, Dog\n", ()), ('[{"name": "Aloe"}]', ("--format", "json"))):
        (tmp_path / "piped").write_text(text, encoding="utf-8")
        with (tmp_path / "piped").open(encoding="utf-8") as piped:
            monkeypatch.setattr(sys, "stdin", piped)
            assert run("names", "import", "-", *options)[2].endswith(": 1 name from “standard input”.\n")
    assert run("names", "remove")[0] == 0
    assert not location.names_file.exists()


@pytest.mark.parametrize("name", ["folder", "pipe.txt", "binary.txt", "other.db", "empty.txt", "head.csv", "no.csv"])
def test_what_is_no_list_of_names_is_refused_and_the_list_stays(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / "names.txt").write_text("Rosa\n", encoding="utf-8")
    assert run("names", "import", str(tmp_path / "names.txt"))[0] == 0
    file = tmp_path / name
    if name == "folder":
        file.mkdir()
    elif name == "pipe.txt":
        if not hasattr(os, "mkfifo"):
            pytest.skip("needs named pipes")
        os.mkfifo(file)
    elif name == "other.db":
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("CREATE TABLE name (name)")
    else:
        contents = {"binary.txt": bytes(range(256)) * 9, "head.csv": b"name\n", "no.csv": b"a,b\n1,2\n"}
        file.write_bytes(contents.get(name, b""))
    code, printed, said = run("names", "import", str(file))
    assert (code, printed, said.count("\n")) == (1, "", 1)
    assert said.startswith("plantdesk: ")
    assert "store" not in said
    assert json.loads(run("names", "info", "--json")[1])["names"] == 1


def test_wrong_options_and_no_plant_write_no_labels(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "shelf.pdf"
    said = run("labels", str(file), "--search", "rose")
    assert said == (1, "", "plantdesk: No plant is selected, so no labels were written.\n")
    for wrong in (["--line", "{nam}"], ["--sheet", "none"], ["--start", "22"], ["9", "--no-tag"]):
        with pytest.raises(SystemExit, match="2"):
            run("labels", str(file), *wrong)
    assert not file.exists()


def test_labels_are_written_without_a_display(
    location: StoreLocation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / "shelf.pdf"

    def labels(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "plantdesk", "labels", str(file), *arguments, "--database", location.url]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    assert labels("9", "1", "--sheet", "L7159", "--start", "24", "--line", "{name} · {note}") == (
        0,
        "Wrote 2 labels on 2 sheets, Avery L7159.\n",
    )
    assert b"/Count 2" in file.read_bytes()
    assert labels("--tag", "kitchen/") == (0, "Wrote 1 label on 1 sheet, Avery L7160, Herma 4200.\n")
    assert b"/Count 1" in file.read_bytes()
