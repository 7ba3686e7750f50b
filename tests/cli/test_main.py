import json
import re
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from plantdesk import __version__
from plantdesk.api.openapi import build_openapi_document
from plantdesk.cli.main import main
from plantdesk.domain.models import NewPlant
from plantdesk.domain.records import COMMAND
from plantdesk.platform import paths
from plantdesk.store.sqlite.store import SqliteStore
from tests.support.terminals import Terminal
from tests.support.waiting import SECONDS

Run = Callable[..., str]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command that succeeds; return what it printed."""

    def run(*arguments: str) -> str:
        code = main(arguments)
        printed, errors = capfd.readouterr()
        assert (code, errors) == (0, "")
        return printed

    return run


@pytest.fixture
def refused(capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command that fails; return its one-line error."""

    def refused(*arguments: str) -> str:
        assert main(arguments) == 1
        printed, errors = capfd.readouterr()
        assert printed == ""
        assert re.fullmatch("plantdesk: .+\n", errors)
        return errors

    return refused


def test_a_file_may_be_opened_by_its_url(refused: Run, tmp_path: Path) -> None:
    file = tmp_path / "my store.plantdesk-store"
    file.write_text("no JSON")
    assert f"“{file.name}”" in refused(file.as_uri())
    assert f"“{file.name}”" in refused(str(file))


def plants(database: Path | None = None) -> list[tuple[int, str, str | None]]:
    with closing(sqlite3.connect(database or paths.database_file())) as connection:
        return connection.execute("SELECT id, name, tag FROM plant ORDER BY id").fetchall()


def plantdesk(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "plantdesk", *arguments]
    return subprocess.run(command, text=True, check=False, **options)  # type: ignore[call-overload, no-any-return]


# --- add ----------------------------------------------------------------------------------------


def test_add_takes_the_next_free_id_and_prints_it(run: Run) -> None:
    assert run("add", "--name", "Fern") == "1\n"
    assert run("add", "--name", "Fern", "--id", "41", "--tag", "office") == "41\n"
    assert run("add", "--name", "Fern") == "42\n"
    assert plants() == [(1, "Fern", None), (41, "Fern", "office"), (42, "Fern", None)]


@pytest.mark.parametrize("plant_id", [-(2**63), 2**63 - 1])
def test_add_takes_any_id_of_64_bits(plant_id: int, run: Run) -> None:
    assert run("add", "--name", "Fern", f"--id={plant_id}") == f"{plant_id}\n"
    assert plants() == [(plant_id, "Fern", None)]


def test_add_stores_any_text_unchanged(run: Run) -> None:
    run("add", "--name", " 山椒 🌱\n", "--tag", "")
    assert plants() == [(1, " 山椒 🌱\n", "")]


@pytest.mark.parametrize(
    ("plant_id", "reason"),
    [("abc", "whole number"), ("1.5", "whole number"), ("9223372036854775808", "too large"), ("", "whole number")],
)
def test_add_refuses_an_invalid_id(plant_id: str, reason: str, refused: Run) -> None:
    assert reason in refused("add", "--name", "Fern", "--id", plant_id)


def test_add_refuses_an_id_of_another_plant(run: Run, refused: Run) -> None:
    run("add", "--name", "Aloe vera", "--id", "7")
    assert "ID 7 already belongs to “Aloe vera”" in refused("add", "--name", "Fern", "--id", "7")


def test_add_may_be_repeated_with_the_same_id(run: Run) -> None:
    assert run("add", "--name", "Fern", "--id", "7") == run("add", "--name", "Fern", "--id", "7")
    assert len(plants()) == 1


def test_add_refuses_undecodable_bytes(refused: Run) -> None:
    assert "cannot be stored" in refused("add", "--name", "\udcff")


def test_add_works_while_the_store_is_open(run: Run) -> None:
    with closing(SqliteStore(paths.database_file())) as store:
        store.add(NewPlant(id=5, name="Ficus"), COMMAND).result()
        assert run("add", "--name", "Fern") == "6\n"


def test_adding_the_same_name_concurrently_adds_each_plant() -> None:
    """Without a chosen id, a used id is not a retry."""
    command = [sys.executable, "-m", "plantdesk", "add", "--name", "Fern"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    printed = {process.communicate(timeout=SECONDS)[0] for process in running}
    assert printed == {"1\n", "2\n", "3\n", "4\n"}
    assert len(plants()) == 4


# --- token --------------------------------------------------------------------------------------


def test_a_token_is_printed_alone_and_is_valid(run: Run) -> None:
    token = run("token", "create", "garden-sync").removesuffix("\n")
    assert re.fullmatch("plantdesk_[A-Za-z0-9_-]{43}", token)
    with closing(SqliteStore(paths.database_file())) as store, closing(store.tokens.open_lookup()) as lookup:
        assert lookup.source(token).label == "garden-sync"


def test_tokens_are_listed_without_the_secret(run: Run) -> None:
    token = run("token", "create", "garden-sync")
    run("token", "create", "greenhouse", "--expires", "90d")
    first, second, third = run("token", "list").splitlines()
    assert first.split() == ["NAME", "MADE", "LAST", "USED", "PLANTS", "EXPIRES"]
    assert second.startswith("greenhouse")
    assert re.search(r"never +0 +20\d\d-\d\d-\d\d \d\d:\d\d$", second)
    assert re.search(r"^garden-sync .* never +0 +never$", third)
    assert token.strip() not in first + second + third


@pytest.mark.parametrize("moment", [-(2**63), 2**63 - 1])
def test_a_token_with_an_invalid_time_is_listed(run: Run, moment: int) -> None:
    run("token", "create", "garden-sync")
    with closing(sqlite3.connect(paths.database_file())) as database:  # another program
        database.execute("UPDATE token SET created_at = :at, expires_at = :at, last_used_at = :at", {"at": moment})
        database.commit()
    assert "garden-sync" in run("token", "list")
    assert "garden-sync" in run("token", "list", "--json")


def test_a_revoked_token_is_gone(run: Run, refused: Run) -> None:
    run("token", "create", "garden-sync")
    run("token", "create", "other")
    assert run("token", "revoke", "garden-sync") == ""
    assert "garden-sync" not in run("token", "list")
    assert "garden-sync" in refused("token", "revoke", "garden-sync")


def test_an_empty_token_list_says_how_to_create_one(capfd: pytest.CaptureFixture[str]) -> None:
    with closing(SqliteStore(paths.database_file())):
        assert main(["token", "list"]) == 0
    printed, errors = capfd.readouterr()
    assert printed == ""
    assert "plantdesk token create NAME" in errors


def test_a_token_name_is_unique(run: Run, refused: Run) -> None:
    run("token", "create", "garden-sync")
    assert "garden-sync" in refused("token", "create", "garden-sync")


# --- info and openapi ---------------------------------------------------------------------------


def test_info_reports_that_nothing_runs_and_creates_nothing(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    database = home / "data" / "plants.db"
    assert main(["info", "--wait", "0.05"]) == 3
    assert capfd.readouterr().out == f"PlantDesk {__version__}: the API is not running.\nDatabase: {database}\n"
    assert main(["info", "--json"]) == 3
    assert json.loads(capfd.readouterr().out) == {
        "running": False,
        "url": None,
        "port": None,
        "socket": None,
        "pid": None,
        "database": str(database),
        "version": __version__,
    }
    assert not home.exists()


def test_openapi_prints_the_served_document(run: Run) -> None:
    assert json.loads(run("openapi")) == build_openapi_document()


# --- what all have in common --------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"something else", b"SQLite format 3\0" + bytes(4096)], ids=["text", "SQLite"])
def test_a_file_that_is_not_a_store_is_refused_and_unchanged(content: bytes, refused: Run, tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    file.write_bytes(content)
    refused("add", "--name", "Fern", "--database", str(file))
    assert file.read_bytes() == content


def test_a_missing_folder_is_reported(refused: Run, tmp_path: Path) -> None:
    assert "does not exist" in refused("token", "create", "x", "--database", str(tmp_path / "missing" / "a.db"))


#: Of which no command can make sense.
WRONG = (
    *("fly", "add", "add --name", "add --tag x", "undo last", "tag", "delete", "delete 3 --tag kitchen"),
    *("delete --search '\"\"'", "merge 3 --into 3", "duplicates --keep newest", "duplicates --merge --json"),
    *("token", "token create", "token create x --expires soon", "token create x --expires 0d"),
    *("token create x --expires 999999d", "token create x --max-plants 0", "integration --login maybe"),
    *("serve --port 65536", "serve --port -1", "serve --port web", "serve --host example.org", "openapi --port 1"),
    *("info --wait -1", "info --wait long", "list --since tomorrow", "list --json --csv", "list --limit 0"),
    f"list --search '{'rose ' * 301}'",
    *("edit 3", "edit 3 --ignore-case", "edit --name x", "edit 3 --search x --name x", "edit --search ' ' --name x"),
    *("edit 3 --tag x --no-tag", "edit 3 --replace '' x", "edit 3 --replace '' x --prefix y"),
)


@pytest.mark.parametrize("command", WRONG)
def test_wrong_usage_is_2_and_names_the_command(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(shlex.split(command))
    assert left.value.code == 2
    assert capfd.readouterr().err.startswith("usage: plantdesk")


@pytest.mark.parametrize(
    "arguments", [["--version"], ["-V"], ["--database", "x.db", "--version"], ["-session", "1", "-V"]], ids=" ".join
)
def test_the_version_is_printed(arguments: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", "plantdesk", *arguments], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (f"plantdesk {__version__}\n", "")


@pytest.mark.parametrize("name", ["openapi", "list"])
def test_a_broken_pipe_prints_no_error(name: str, run: Run) -> None:
    run("add", "--name", "Fern")
    command = [sys.executable, "-m", "plantdesk", name]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait() == 1
    process.stderr.close()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is always a display")
def test_without_a_display_the_window_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    done = plantdesk(capture_output=True)
    assert done.returncode == 1
    assert re.fullmatch("plantdesk: There is no display .*plantdesk serve.*\n", done.stderr)


# --- backup, restore ----------------------------------------------------------------------------


def test_a_backup_is_made_listed_and_restored(run: Run) -> None:
    run("add", "--name", "Fern")
    made = Path(run("backup").strip())
    run("add", "--name", "Aloe")
    assert made.name in run("backup", "--list")
    preview = run("restore", made.name, "--dry-run")
    assert "Goes: 1 plant (2 “Aloe”)" in preview
    assert run("restore", made.name, "--look") == preview  # its name in 0.1.0
    assert len(plants()) == 2
    printed = run("restore", made.name, "--yes")
    assert printed.startswith(preview)
    assert plants() == plants(made) == [(1, "Fern", None)]
    saved = Path(printed.splitlines()[-1].removeprefix("The state before is in "))
    run("restore", str(saved), "--yes")
    assert len(plants()) == 2


def test_a_backup_may_be_any_new_file_and_overwrites_none(run: Run, refused: Run, tmp_path: Path) -> None:
    run("add", "--name", "Fern")
    file = tmp_path / "a copy.db"
    assert run("backup", str(file)) == f"{file}\n"
    assert plants(file) == plants()
    before = file.read_bytes()
    assert "there already" in refused("backup", str(file))
    assert "No such file" in refused("backup", str(tmp_path / "missing" / "copy.db"))
    assert file.read_bytes() == before


def test_without_a_store_there_is_nothing_to_back_up(refused: Run) -> None:
    assert "no database" in refused("backup")
    assert not paths.database_file().exists()


@pytest.mark.parametrize(("typed", "restored"), [("y\n", True), ("n\n", False), ("\n", False), ("", False)])
def test_restoring_asks_first(typed: str, *, restored: bool, run: Run) -> None:
    run("add", "--name", "Fern")
    made = run("backup").strip()
    run("add", "--name", "Aloe")
    asked = on_a_terminal("restore", made, typed=typed or "\x04")  # Ctrl+D
    assert "Goes: 1 plant" in asked
    assert ("Nothing was restored" in asked) is not restored
    assert len(plants()) == (1 if restored else 2)


def on_a_terminal(*arguments: str, typed: str) -> str:
    command = [sys.executable, "-m", "plantdesk", *arguments]
    with Terminal() as terminal:
        terminal.type(typed)
        done = subprocess.run(
            command, stdin=terminal.end, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
    return done.stdout


def test_a_restore_that_changes_nothing_makes_no_backup(run: Run) -> None:
    run("add", "--name", "Fern")
    made = run("backup").strip()
    assert "nothing would change" in run("restore", made, "--yes")
    assert len(run("backup", "--list").splitlines()) == len(["header", made, "", "folder"])


def test_without_a_terminal_a_restore_needs_yes(run: Run) -> None:
    run("add", "--name", "Fern")
    made = run("backup").strip()
    run("add", "--name", "Aloe")
    done = plantdesk("restore", made, stdin=subprocess.DEVNULL, capture_output=True)
    assert (done.returncode, len(plants())) == (1, 2)
    assert "--yes" in done.stderr


def test_a_file_that_is_not_a_backup_is_refused(run: Run, refused: Run, tmp_path: Path) -> None:
    run("add", "--name", "Fern")
    (tmp_path / "diary.txt").write_text("today")
    assert "not a PlantDesk store" in refused("restore", str(tmp_path / "diary.txt"), "--yes")
    assert "no file" in refused("restore", "never-made.db", "--yes")
    assert len(plants()) == 1


def test_a_damaged_backup_says_how_much_of_it_can_be_read(run: Run, tmp_path: Path) -> None:
    names = tmp_path / "names.csv"
    names.write_text("\n".join(["name", *(f"Plant {number}" for number in range(3000))]))
    assert plantdesk("import", str(names), capture_output=True).returncode == 0
    made = Path(run("backup").strip())
    with made.open("r+b") as file:
        file.seek(made.stat().st_size // 2)
        file.write(b"\xff" * 4096)
    errors = run("restore", str(made), "--yes")
    assert re.search(r"is damaged: no more than 2,\d\d\d plants of it can be read", errors)


def test_a_damaged_store_is_replaced_and_kept(run: Run, refused: Run) -> None:
    run("add", "--name", "Fern")
    made = run("backup").strip()
    paths.database_file().write_bytes(b"\x5a" * 9000)
    assert "plantdesk backup --list" in refused("add", "--name", "Aloe")
    errors = run("restore", made, "--yes")
    assert plants() == [(1, "Fern", None)]
    assert Path(re.findall("The state before is in (.+)", errors)[0]).read_bytes() == b"\x5a" * 9000
