"""The commands that read and change plants, run as a user runs them."""

import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from plantdesk.cli.main import main
from plantdesk.domain.edits import Insert
from plantdesk.domain.records import FORM
from plantdesk.domain.validation import new_plant
from plantdesk.platform import paths
from plantdesk.store.sqlite.store import SqliteStore
from tests.conftest import Run
from tests.support.adding import plant
from tests.support.terminals import Terminal, agree_at_terminal
from tests.support.waiting import SECONDS


@pytest.fixture(autouse=True)
def plants() -> None:
    """A fern and an aloe in the kitchen, and a rose without a tag; a token has added a cactus."""
    with closing(SqliteStore(paths.database_file())) as store:
        source = store.tokens.create("greenhouse").result(SECONDS).row.source
        values: list[dict[str, object]] = [
            {"id": 3, "name": "Fern", "tag": "kitchen"},
            {"id": -1, "name": "Aloe", "tag": "kitchen"},
            {"id": 2, "name": 'Röse, "red"'},
        ]
        for value in values:
            store.add(new_plant(value), FORM).result(SECONDS)
        store.add(new_plant({"id": 9, "name": "Cactus", "tag": "desert"}), source).result(SECONDS)


def listed(run: Run, *arguments: str) -> list[int]:
    code, printed, _ = run("list", "--json", *arguments)
    assert code == 0
    return [plant["id"] for plant in json.loads(printed)]


def tags(run: Run) -> dict[str, int]:
    """Return the tags, each with the number of its plants."""
    return {item["tag"]: item["plants"] for item in json.loads(run("tag", "list", "--json")[1])}


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        ([], [9, 2, -1, 3]),
        (["--limit", "2"], [9, 2]),
        (["--search", "rose"], [2]),
        (["--tag", "kitchen"], [-1, 3]),
        (["--tag", "Kitchen"], []),
        (["--tag", "kitchen/"], [-1, 3]),
        (["--tag", "Kitchen/"], []),
        (["--search", "tag:Kitchen/"], [-1, 3]),
        (["--no-tag"], [2]),
        (["--from", "form", "--tag", "kitchen"], [-1, 3]),
        (["--from", "greenhouse"], [9]),
        (["--from", "token", "--since", "1h"], [9]),
        (["--since", "2999-01-01"], []),
        (["--since", "today"], [9, 2, -1, 3]),
        (["--since", "Yesterday"], [9, 2, -1, 3]),
    ],
)
def test_list_shows_what_matches_newest_first(run: Run, arguments: list[str], ids: list[int]) -> None:
    assert listed(run, *arguments) == ids


def test_list_prints_lines_or_csv(run: Run) -> None:
    assert [line.split()[0] for line in run("list")[1].splitlines()] == ["9", "2", "-1", "3"]
    rows = list(csv.DictReader(run("list", "--csv", "--no-tag")[1].splitlines()))
    assert [(row["id"], row["name"], row["tag"], row["source"]) for row in rows] == [("2", 'Röse, "red"', "", "form")]


def test_a_plant_is_shown_and_edited(run: Run) -> None:
    code, _, hint = run("edit", "-1", "--name", "Aloe vera", "--note", "Little water")
    assert code == 0
    assert "plantdesk undo 1" in hint
    plant = json.loads(run("get", "-1", "--json")[1])
    assert (plant["name"], plant["tag"], plant["note"]) == ("Aloe vera", "kitchen", "Little water")
    assert run("edit", "-1", "--no-tag", "--note", "")[0] == 0
    shown = run("get", "-1")[1]
    assert "Aloe vera" in shown
    assert "kitchen" not in shown
    assert "Little water" not in shown


@pytest.mark.parametrize(
    "command",
    [
        *("get 77", "get seven", "list --from nobody", "undo", "undo 5", "redo"),
        *("add --like 77", "add --like 3 --id 9", "edit 77 --name x", f"edit 3 --note {'x' * 100_001}", "delete 3 77"),
        *("merge 3 77 --into -1", "merge 3 --into 77", "merge 3 2 --into -1"),
        *("tag rename attic cellar", "tag rename kitchen desert", "tag merge kitchen attic desert", "tag remove attic"),
    ],
    ids=lambda command: command[:40],
)
def test_what_cannot_be_done_is_refused_and_changes_nothing(run: Run, command: str) -> None:
    before = run("list", "--json")[1]
    code, printed, error = run(*command.split())
    assert (code, printed) == (1, "")
    assert error.startswith("plantdesk: ")
    assert run("list", "--json")[1] == before


def test_deleting_many_needs_a_yes(run: Run) -> None:
    command = [sys.executable, "-m", "plantdesk", "delete", "--tag", "kitchen"]
    assert subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 1
    for answer, left in (("n\n", [9, 2, -1, 3]), ("yes\n", [9, 2])):
        with Terminal() as terminal:
            terminal.type(answer)
            subprocess.run(command, stdin=terminal.end, stdout=terminal.end, stderr=terminal.end, check=False)
        assert listed(run) == left


def test_one_plant_is_deleted_without_a_question_and_brought_back(run: Run) -> None:
    before = run("list", "--json")[1]
    assert run("delete", "3")[0] == 0
    assert listed(run) == [9, 2, -1]
    assert run("delete", "--from", "greenhouse", "--yes")[0] == 0
    assert listed(run) == [2, -1]
    assert run("undo")[0] == 0
    assert run("undo")[0] == 0
    assert run("list", "--json")[1] == before
    assert run("redo")[0] == 0
    assert listed(run) == [9, 2, -1]


def test_tags_are_listed_renamed_merged_and_removed(run: Run) -> None:
    assert tags(run) == {"desert": 1, "kitchen": 2}
    assert run("tag", "rename", "kitchen", "Küche")[0] == 0
    assert tags(run) == {"desert": 1, "Küche": 2}
    assert run("tag", "merge", "Küche", "desert", "all")[0] == 0
    assert tags(run) == {"all": 3}
    assert run("tag", "remove", "all")[0] == 0
    assert tags(run) == {}
    changes = json.loads(run("history", "--json")[1])
    assert [(change["plants"], change["undone"]) for change in changes] == [(3, False), (3, False), (2, False)]
    assert run("undo", "1")[0] == 1  # the plants have been changed since
    for _ in range(3):
        assert run("undo")[0] == 0
    assert tags(run) == {"desert": 1, "kitchen": 2}
    assert "(undone)" in run("history")[1]
    assert run("history", "--since", "yesterday") == run("history")
    assert run("history", "--since", "2999-01-01")[1:] == ("", "There are no changes since then.\n")


@pytest.mark.parametrize("command", [("rename", "kitchen", ""), ("merge", "kitchen", "desert", "")])
def test_an_empty_tag_is_a_tag_and_is_said_to_be_one(run: Run, command: tuple[str, ...]) -> None:
    code, _, said = run("tag", *command)
    assert (code, "plantdesk tag remove TAG" in said) == (0, True)
    assert "" in {item["tag"] for item in json.loads(run("list", "--json")[1])}
    assert "tag remove" not in run("tag", "rename", "", "kitchen")[2]


def test_many_plants_are_edited_as_one_change(run: Run) -> None:
    before = run("list", "--json")[1]
    what = shlex.split("edit --search tag:kitchen --replace E e --ignore-case --note-append '2026-11-23 fed'")
    code, shown, report = run(*what, "--dry-run")
    assert (code, report) == (0, "2 plants would change.\n")
    assert "nothing -> “2026-11-23 fed”" in shown
    assert run("list", "--json")[1] == before
    assert run(*what)[0] == 1, "it asks, and nobody answers"
    assert run("list", "--json")[1] == before
    code, _, report = run(*what, "--yes")
    assert code == 0
    assert report.startswith("Replace “E” with “e” in 2 plants. To undo it, type: plantdesk undo 1")
    assert {item["note"] for item in json.loads(run("list", "--search", "tag:kitchen", "--json")[1])} == {
        "2026-11-23 fed"
    }
    assert run("undo")[0] == 0
    assert run("list", "--json")[1] == before
    assert run("edit", "--search", "tag:kitchen", "--replace", "no such", "text", "--yes")[2] == "Nothing to change.\n"
    assert run("edit", "3", "--replace", "a", "b", "--in", "note", "--tidy")[2] == "Nothing to change.\n"


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--replace", "^(\\w)", "<\\1>", "--regex"], {"<A>loe", "<F>ern"}),
        (["--replace", "er", "x", "--whole-words"], {"Aloe", "Fern"}),
        (["--prefix", "† ", "--suffix", " 'old'", "--quotes", "curly"], {"† Aloe 'old'", "† Fern 'old'"}),
    ],
)
def test_names_are_edited_by_pattern_and_at_their_ends(run: Run, options: list[str], names: set[str]) -> None:
    run("edit", "--tagged", "kitchen", *options, "--yes")
    assert {item["name"] for item in json.loads(run("list", "--tag", "kitchen", "--json")[1])} == names


@pytest.mark.parametrize(
    ("selection", "count"),
    [
        (["--tagged", "kitchen"], 2),
        (["--tagged", "kitchen/"], 2),
        (["--untagged"], 1),
        (["--from", "command"], 0),
        (["--since", "yesterday", "--search", "aloe"], 1),
        (["--since", "2999-01-01"], 0),
    ],
)
def test_edit_selects_as_list_does(run: Run, selection: list[str], count: int) -> None:
    word = "1 plant" if count == 1 else f"{count} plants"
    assert run("edit", *selection, "--prefix", "x", "--dry-run")[2] == f"{word} would change.\n"


@pytest.mark.parametrize(
    "command", [["add"], ["add", "--like", "1"], ["edit", "1"], ["edit", "--search", "aloe", "--yes"]]
)
def test_a_blank_name_is_refused(run: Run, command: list[str]) -> None:
    assert run(*command, "--name", " \u00a0\u200b")[::2] == (1, "plantdesk: The name is missing.\n")


def test_a_wrong_pattern_is_refused_with_a_reason(run: Run) -> None:
    code, _, error = run("edit", "1", "--replace", "a(b", "", "--regex")
    assert (code, error) == (1, "plantdesk: The pattern is not valid. RE2 reports: missing ): a(b\n")


def test_a_branch_of_tags_is_renamed_and_removed(run: Run) -> None:
    run("tag", "rename", "kitchen", "home/kitchen")
    run("tag", "rename", "desert", "home")
    assert tags(run) == {"home": 1, "home/kitchen": 2}
    assert run("tag", "rename", "--branch", "home", "house")[0] == 0
    assert tags(run) == {"house": 1, "house/kitchen": 2}
    assert run("list", "--search", "tag:house/", "--json")[1].count('"id"') == 3
    assert run("tag", "rename", "--branch", "attic", "cellar")[0] == 1
    assert run("tag", "remove", "--branch", "house")[0] == 0
    assert tags(run) == {}
    assert len(json.loads(run("history", "--json")[1])) == 4


def test_an_undo_reports_what_it_left(run: Run) -> None:
    run("tag", "remove", "kitchen")
    run("edit", "3", "--note", "mine")
    code, _, report = run("undo", "1")
    assert code == 0
    assert "1 plant has been" in report
    assert report.rstrip().endswith("3")
    assert json.loads(run("get", "3", "--json")[1])["note"] == "mine"
    assert json.loads(run("get", "-1", "--json")[1])["tag"] == "kitchen"


def test_the_history_names_the_undo_of_an_addition(run: Run) -> None:
    with closing(SqliteStore(paths.database_file())) as store:
        store.apply([Insert(plant(number, "Salvia")) for number in range(10, 30)], FORM).result(SECONDS)
    assert run("undo")[2].startswith("Took back 20 plants (20 plants), made")
    assert run("redo")[2] == "Added 20 plants again (20 plants).\n"
    titles = [item["title"] for item in json.loads(run("history", "--json")[1])]
    assert titles == ["Added 20 plants again", "Took back 20 plants", "Add 20 plants"]


def test_an_undo_says_that_added_plants_stay(run: Run) -> None:
    code, _, said = run("undo")
    assert (code, "no change to undo" in said, "`plantdesk delete ID`" in said) == (1, True, True)
    run("edit", "3", "--name", "Moss")
    assert re.fullmatch(r"Undo: Rename “Fern” to “Moss” \(1 plant\), made 20[-0-9]{8} [0-9:]{5}\.\n", run("undo")[2])
    run("redo")
    run("add", "--name", "Ivy")
    said = run("undo")[2]
    assert said.splitlines()[1:] == ["1 plant was added since and stays. To remove it, type: plantdesk delete 10"]
    run("redo")
    run("add", "--name", "Dill")
    said = run("undo")[2]
    assert said.splitlines()[1:] == ["2 plants were added since and stay. To see them, type: plantdesk list"]
    assert listed(run) == [11, 10, 9, 2, -1, 3]


def test_what_cannot_be_redone_is_called_so(run: Run) -> None:
    run("edit", "3", "--name", "Moss")
    run("undo")
    run("edit", "3", "--name", "Ivy")
    code, _, said = run("redo")
    assert (code, "a later change: Rename “Fern” to “Ivy”." in said and "type: plantdesk undo 2" in said) == (1, True)
    assert run("undo", "2")[2].startswith("plantdesk: Not redone, as the plant has been changed")
    assert run("undo", "1")[2].startswith("plantdesk: This is undone already: Rename “Fern” to “Moss”. `plant")
    run("undo", "3")
    run("redo")
    assert run("undo", "4")[2].startswith("plantdesk: This is redone already: Rename “Fern” to “Ivy”. ")


def test_a_plant_whose_id_is_in_use_comes_back_under_another_one(run: Run) -> None:
    run("delete", "9")
    assert run("add", "--name", "Another") == (0, "10\n", "")
    run("add", "--name", "Mine", "--id", "9")
    code, _, said = run("undo")
    assert code == 0
    came, added = said.splitlines()[1:]
    assert came == "1 plant came back under another ID, since its own is in use: 9 → 11."
    assert added.startswith("2 plants were added since")
    assert json.loads(run("get", "11", "--json")[1])["name"] == "Cactus"
    assert run("redo")[0] == 0
    assert listed(run) == [9, 10, 2, -1, 3]
    run("delete", "-1", "3", "2", "--yes")
    for plant_id in ("-1", "3", "2"):
        run("add", "--name", "Again", "--id", plant_id)
    said = run("undo")[2].splitlines()[1]
    assert said == "3 plants came back under other IDs, since theirs are in use: -1 → 12, 2 → 13, 3 → 14."


def test_the_undo_that_is_printed_takes_back_this_very_change(run: Run, tmp_path: Path) -> None:
    """In another database than the default one, as typed: first that of a restore, then that of an import."""
    rows, other = tmp_path / "rows.csv", ("--database", str(tmp_path / "other plants.db"))
    rows.write_text("name\nRose\n", encoding="utf-8")
    imported = run("import", str(rows), *other)
    backup = run("backup", *other)[1].strip()
    run("add", "--name", "Fern", *other)
    restored = run("restore", backup, "--yes", *other)
    for _, out, err in (restored, imported):
        (command,) = re.findall("type: plantdesk (.*)", out + err)
        assert run(*shlex.split(command))[0] == 0
    assert [plant["name"] for plant in json.loads(run("list", "--json", *other)[1])] == ["Fern"]


def test_texts_are_shown_whole_and_cannot_control_the_terminal(run: Run) -> None:
    name, note = "N" * 200 + "\x1b[31m", "first " * 50 + "\n\x1b]0;title\x07second"
    assert run("edit", "3", "--name", name, "--note", note)[0] == 0
    shown = run("get", "3")[1]
    assert "N" * 200 in shown
    assert "first " * 50 in shown
    everything = shown + run("list")[1] + run("history")[1] + run("undo")[2]
    assert "\x1b" not in everything
    assert "\x07" not in everything


def test_csv_is_exact_in_a_pipe_and_safe_on_a_terminal(run: Run) -> None:
    name = 'a\rb\nc\r\nd,"e" \x1b[31m Röse 🌵'
    assert run("edit", "3", "--name", name)[0] == 0
    command = [sys.executable, "-m", "plantdesk", "list", "--csv"]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    printed = subprocess.run(command, capture_output=True, check=True, env=environment).stdout.decode()
    rows = list(csv.DictReader(io.StringIO(printed, newline="")))
    assert [row["name"] for row in rows if row["id"] == "3"] == [name]
    with Terminal() as terminal:
        subprocess.run(command, stdout=terminal.end, check=True)
        assert "\x1b" not in terminal.printed()


@pytest.mark.parametrize(
    "command",
    [
        *("list", "list --json", "get 1", "tag list", "history", "duplicates", "token list", "names info", "watch"),
        *("export - --format csv", "backup", "undo", "redo", "delete 1", "delete --tag x --yes", "edit 1 --name x"),
        *("add --like 1", "merge 1 --into 2", "duplicates --merge --yes", "tag remove x", "token revoke x"),
        *("names import names.txt", "names remove"),
    ],
)
def test_no_database_is_created_by_a_command_that_only_changes_one(run: Run, tmp_path: Path, command: str) -> None:
    code, printed, error = run(*command.split(), "--database", str(tmp_path / "typo.db"))
    assert (code, printed) == (1, "")
    assert "typo.db" in error
    assert list(tmp_path.glob("*typo.db*")) == []


@pytest.mark.parametrize("option", ["--tag", "--search"])
def test_text_that_is_not_unicode_is_wrong_usage(option: str) -> None:
    with pytest.raises(SystemExit) as exit_code:
        main(["list", option, "\udcff"])
    assert exit_code.value.code == 2


def test_plants_that_match_since_the_question_are_not_deleted(run: Run) -> None:
    def edit() -> None:
        assert run("edit", "2", "--tag", "kitchen")[0] == 0

    command = [sys.executable, "-m", "plantdesk", "delete", "--tag", "kitchen"]
    code, printed = agree_at_terminal(command, edit)
    assert code == 1
    assert "plantdesk: 3 plants match now" in printed
    assert listed(run) == [9, 2, -1, 3]


def test_the_hint_names_another_database(run: Run, tmp_path: Path) -> None:
    database = tmp_path / "my other.db"
    for _ in range(2):
        assert run("add", "--name", "Fern", "--database", str(database))[0] == 0
    _, _, hint = run("delete", "1", "--database", str(database))
    _, command = hint.rstrip().split("type: plantdesk ")
    assert main(shlex.split(command)) == 0
    assert run("get", "1", "--database", str(database))[0] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
def test_a_change_that_cannot_be_reported_is_no_failure(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ivy.csv").write_text("name\nIvy\n", encoding="utf-8")
    for arguments in (["delete", "3"], ["undo"], ["import", str(tmp_path / "ivy.csv"), "--json"]):
        command = [sys.executable, "-m", "plantdesk", *arguments]
        with Path("/dev/full").open("w", encoding="utf-8") as full:
            done = subprocess.run(command, stdout=full, stderr=full, check=False)
        assert done.returncode == 0
    assert listed(run) == [10, 9, 2, -1, 3]


def test_tokens_of_one_name_count_together(run: Run) -> None:
    with closing(SqliteStore(paths.database_file())) as store:
        store.tokens.revoke("greenhouse").result(SECONDS)
        source = store.tokens.create("greenhouse").result(SECONDS).row.source
        store.add(new_plant({"id": 10, "name": "Agave"}), source).result(SECONDS)
    assert listed(run, "--from", "greenhouse") == [10, 9]


def test_a_database_of_which_only_the_log_is_left_is_gone(run: Run) -> None:
    run("add", "--name", "Aloe")
    path = paths.database_file()
    path.with_name(f"{path.name}-wal").write_bytes(b"left by a crash")
    path.unlink()
    code, _, error = run("list")
    assert (code, "is gone" in error) == (1, True)
