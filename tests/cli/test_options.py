"""The command line: options before and after commands, misspelt ones, help, and JSON output."""

import itertools
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from plantdesk.cli.main import main
from plantdesk.platform import paths
from plantdesk.store.sqlite.files import file_lock
from tests.conftest import Refused


@pytest.fixture
def wrong(capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[str, str]]:
    """Run with wrong usage; return the command in the usage line, and the last line."""

    def wrong(*arguments: str) -> tuple[str, str]:
        with pytest.raises(SystemExit) as left:
            main(arguments)
        assert left.value.code == 2
        lines = capfd.readouterr().err.splitlines()
        return lines[0].removeprefix("usage: ").partition(" [")[0], lines[-1]

    return wrong


@pytest.mark.parametrize(
    ("typed", "usage", "expected"),
    [
        ("servee", "plantdesk", "did you mean serve?"),
        ("token ls", "plantdesk token", "did you mean list?"),
        ("add --nmae Fern --name x", "plantdesk add", "did you mean --name?"),
        ("token create x --expire 1d", "plantdesk token create", "did you mean --expires?"),
        ("serve now", "plantdesk serve", "“now”"),
        ("add --name A --name B", "plantdesk add", "only once"),
        ("--database a add --name A --database b", "plantdesk add", "only once"),
        ("--port 8800 add --name A", "plantdesk add", "--port has no effect"),
        ("--port 0 info", "plantdesk info", "--port has no effect"),
        ("--background add --name A", "plantdesk add", "--background has no effect"),
        ("--database x openapi", "plantdesk openapi", "--database has no effect"),
        ("selfcheck --database x", "plantdesk selfcheck", "--database"),
        ("integration --database x", "plantdesk integration", "--database"),
        ("backup --json", "plantdesk backup", "--json has no effect"),
        ("backup --list x.db", "plantdesk backup", "FILE has no effect"),
        ("restore x.db --dry-run --yes", "plantdesk restore", "--yes has no effect"),
        ("help ad", "plantdesk", "did you mean add?"),
        ("add Rose", "plantdesk add", "“Rose” is an unexpected argument (a name is typed after --name)"),
    ],
)
def test_wrong_usage_shows_the_commands_usage_and_the_reason(
    typed: str, usage: str, expected: str, wrong: Callable[..., tuple[str, str]]
) -> None:
    found, last = wrong(*typed.split())
    assert found == usage
    assert expected in last
    assert not paths.database_file().exists()


def test_a_value_of_two_dashes_is_a_value(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["add", "--name=--", "--tag=--"]) == 0
    for command in (["list", "--search=--"], ["list", "--tag=--", "--json"], ["edit", "1", "--note=--"]):
        assert main(command) == 0
    capfd.readouterr()
    for command in (["list", "--limit=--"], ["list", "--since=--"], ["serve", "--port=--"]):
        with pytest.raises(SystemExit) as stopped:
            main(command)
        assert stopped.value.code == 2
    assert main(["list", "--from=--"]) == 1


@pytest.mark.parametrize("typed", ["--database X token list", "token --database X list", "token list --database=X"])
def test_the_database_may_be_named_anywhere(typed: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    database = tmp_path / "other.db"
    assert main(["token", "create", "garden", "--database", str(database)]) == 0
    assert main(typed.replace("X", str(database)).split()) == 0
    assert "garden" in capfd.readouterr().out
    assert not paths.database_file().exists()


@pytest.mark.parametrize("name", ["mysql://me:secret@host/plants", "file:plants.db?mode=memory", ":memory:"])
def test_an_unknown_address_is_no_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    monkeypatch.chdir(tmp_path)
    error = refused("add", "--name", "Fern", "--database", name)
    assert "begins an address" in error
    assert "secret" not in error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["list", "backup", "undo", "info"])
@pytest.mark.parametrize("name", ["/", "--"])
def test_odd_names_of_databases_are_reported(command: str, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main([command, f"--database={name}"]) in {1, 3}
    assert "Traceback" not in capfd.readouterr().err


def test_an_empty_file_is_no_database_that_could_be_read(tmp_path: Path, refused: Refused) -> None:
    file = tmp_path / "empty.db"
    file.touch()
    assert "There is no database" in refused("list", "--database", str(file))
    assert [each.name for each in tmp_path.iterdir()] == ["empty.db"]
    assert file.stat().st_size == 0


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("command", ["", "add", "token", "token create"])
def test_help_prints_what_the_option_prints(
    command: str, columns: int, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = []
    for typed in (["help", *command.split()], [*command.split(), "--help"]):
        try:
            code: object = main(typed)
        except SystemExit as left:
            code = left.code
        assert code == 0
        shown.append(capfd.readouterr().out)
    assert shown[0].startswith(shown[1])  # and then what the manual says
    assert shown[0].startswith(f"usage: plantdesk {command}".rstrip())


def test_the_help_begins_with_eight_commands(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    groups = capfd.readouterr().out.partition("  COMMAND\n")[2].partition("\nexamples:")[0].split("\n\n")
    named = [re.findall("^    ([a-z]+)", group, re.MULTILINE) for group in groups]
    assert named[0] == ["add", "list", "edit", "delete", "import", "export", "undo", "serve"]
    titles = [group.partition("\n")[0].strip() for group in groups[1:]]
    assert titles == ["more for plants:", "for other programs:", "for whole stores:", "for this program:"]
    assert [group[0] for group in named[1:-1]] == ["get", "token", "backup"]
    shown = [*itertools.chain(*named)]
    assert len(shown) == len(set(shown))


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
@pytest.mark.parametrize("typed", ["--help", "help", "token create --help"])
def test_help_that_cannot_be_printed_is_a_failure(typed: str) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        command = [sys.executable, "-m", "plantdesk", *typed.split()]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr[:46]) == (1, "plantdesk: The output could not be written: No")


def test_tokens_are_listed_in_json(capfd: pytest.CaptureFixture[str]) -> None:
    main(["add", "--name", "Fern"])
    main(["token", "list", "--json"])
    assert json.loads(capfd.readouterr().out.partition("\n")[2]) == []
    main(["token", "create", "a  b", "--expires", "1d"])
    main(["token", "list", "--json"])
    (found,) = json.loads(capfd.readouterr().out.partition("\n")[2])
    assert found.pop("made_at").endswith("+00:00")
    assert found.pop("expires_at")
    assert found == {"name": "a  b", "last_used_at": None, "plants_added": 0, "max_plants": None, "expired": False}


def test_backups_are_listed_in_json(capfd: pytest.CaptureFixture[str]) -> None:
    main(["add", "--name", "Fern"])
    main(["backup"])
    file = capfd.readouterr().out.splitlines()[-1]
    assert main(["backup", "--list", "--json"]) == 0
    (found,) = json.loads(capfd.readouterr().out)
    assert (found["file"], found["why"]) == (file, "manual")
    assert found["size"] > 0


def test_completions_offer_existing_names(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    main(["token", "create", "my script"])
    main(["backup"])
    main(["token", "create", "other", "--database", str(tmp_path / "a b.db")])
    backup = capfd.readouterr().out.splitlines()[1]
    assert main(["__complete", "tokens", "plantdesk", "token", "revoke"]) == 0
    assert capfd.readouterr().out == "my script\n"
    assert main(["__complete", "tokens", "plantdesk", "--database", "=", str(tmp_path / "a b.db")]) == 0
    assert capfd.readouterr().out == "other\n"
    assert main(["__complete", "backups", "plantdesk", "restore"]) == 0
    assert backup.endswith(capfd.readouterr().out.strip())


def test_completions_of_a_locked_store_do_not_wait(capfd: pytest.CaptureFixture[str]) -> None:
    main(["token", "create", "my script"])
    main(["add", "--name", "Fern", "--tag", "room 10"])
    main(["add", "--name", "Fern", "--tag", "room 9"])
    capfd.readouterr()
    with file_lock.locked(paths.database_file()):  # as while another process migrates it
        assert main(["__complete", "tags"]) == 0
        assert main(["__complete", "tokens"]) == 0
    assert capfd.readouterr().out == "room 9\nroom 10\nmy script\n"


@pytest.mark.parametrize("content", [None, b"no store"])
def test_completions_without_a_store_are_empty(
    content: bytes | None, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        paths.database_file().write_bytes(content)
    assert main(["__complete", "tokens"]) == 0
    assert capfd.readouterr() == ("", "")
    assert home.exists() is (content is not None)


@pytest.mark.parametrize("name", ["\x1b]0;title\x07x", "two\nlines", "\u202eevil"])
def test_a_name_in_a_foreign_store_cannot_control_the_terminal(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    main(["token", "create", "x"])
    with closing(sqlite3.connect(paths.database_file(), isolation_level=None)) as connection:
        connection.execute("UPDATE token SET name = ?", (name,))
    capfd.readouterr()
    for arguments in (["token", "list"], ["token", "list", "--json"], ["__complete", "tokens"]):
        assert main(arguments) == 0
        printed = capfd.readouterr().out
        assert all(character.isprintable() or character == "\n" for character in printed)
        assert "two\nlines" not in printed


def test_an_unused_token_is_marked(capfd: pytest.CaptureFixture[str]) -> None:
    main(["token", "create", "old"])
    main(["token", "create", "new"])
    with closing(sqlite3.connect(paths.database_file(), isolation_level=None)) as connection:
        connection.execute("UPDATE token SET created_at = created_at - 91 * 86400000 WHERE name = 'old'")
    capfd.readouterr()
    main(["token", "list"])
    _, new, old = capfd.readouterr().out.splitlines()
    assert "unused" not in new
    assert "never (unused for 90 days)" in old
