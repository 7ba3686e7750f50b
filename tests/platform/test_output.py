"""Output that cannot be written, tokens above all."""

import contextlib
import os
import re
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TextIO

import pytest

from plantdesk.cli.main import main
from plantdesk.domain.records import FORM
from plantdesk.domain.validation import new_plant
from plantdesk.platform import paths
from plantdesk.store.sqlite.store import SqliteStore
from tests.conftest import Refused
from tests.support.disks import mounted, tmpfs
from tests.support.terminals import Terminal
from tests.support.waiting import SECONDS

closes_streams = pytest.mark.skipif(os.name != "posix", reason="a POSIX shell closes them")
needs_full = pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")


def run_into(output: TextIO, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "plantdesk", *arguments]
    done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stderr


def run_into_full(*arguments: str) -> tuple[int, str]:
    """Run a command with output to a full disk; return its exit code and standard error."""
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        return run_into(full, *arguments)


def tokens() -> list[str]:
    with closing(SqliteStore(paths.database_file())) as store:
        return [row.name for row in store.tokens.list()]


def one_line(text: str) -> bool:
    return re.fullmatch(r"plantdesk: .+\n", text) is not None


def run_closed(*arguments: str) -> tuple[int, str]:
    """Run a command without standard input and output; return its exit code and standard error."""
    command = ["sh", "-c", 'exec "$0" -m plantdesk "$@" <&- >&-', sys.executable, *arguments]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stderr


@needs_full
@pytest.mark.parametrize("command", [["openapi"], ["info"], ["backup", "--list", "--json"], ["serve", "--port", "0"]])
def test_a_failed_write_is_a_one_line_error(command: list[str]) -> None:
    code, errors = run_into_full(*command)
    assert (code, one_line(errors)) == (1, True)
    assert "No space left on device" in errors


def run_into_nobody(*arguments: str) -> tuple[int, str]:
    """Run a command with output to a pipe that nobody reads; return its exit code and standard error."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        return run_into(pipe, *arguments)


runs = pytest.mark.parametrize(
    "run",
    [
        pytest.param(run_into_full, marks=needs_full),
        *(pytest.param(each, marks=closes_streams) for each in (run_closed, run_into_nobody)),
    ],
)


@runs
def test_a_token_that_cannot_be_printed_is_revoked(run: Callable[..., tuple[int, str]]) -> None:
    code, errors = run("token", "create", "garden-sync")
    assert (code, one_line(errors)) == (1, True)
    assert "revoked" in errors
    assert tokens() == []


@closes_streams
@pytest.mark.parametrize(
    "command",
    [["list"], ["tag", "list", "--json"], ["export", "-", "--format", "csv"], ["export", "-", "--format", "xlsx"]],
)
def test_a_closed_output_is_a_one_line_error(command: list[str]) -> None:
    assert main(["add", "--name", "Fern", "--tag", "kitchen"]) == 0
    code, errors = run_closed(*command)
    assert (code, one_line(errors)) == (1, True)
    assert "could not be written" in errors


@closes_streams
def test_a_closed_input_is_a_one_line_error() -> None:
    code, errors = run_closed("import", "-", "--format", "csv")
    assert (code, one_line(errors)) == (1, True)


@runs
def test_a_plant_whose_id_cannot_be_printed_is_reported_as_added(run: Callable[..., tuple[int, str]]) -> None:
    code, errors = run("add", "--name", "Fern")
    assert (code, one_line(errors)) == (0, True)
    assert "was added with ID 1" in errors
    with closing(sqlite3.connect(paths.database_file())) as connection:
        assert connection.execute("SELECT id, name FROM plant").fetchall() == [(1, "Fern")]


# --- token create --output -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("no_umask")
def test_a_token_is_written_alone_to_a_private_file(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "garden.token"
    assert main(["token", "create", "garden-sync", "--output", str(file)]) == 0
    assert capfd.readouterr() == ("", "")
    with closing(SqliteStore(paths.database_file())) as store, closing(store.tokens.open_lookup()) as lookup:
        assert lookup.source(file.read_text().removesuffix("\n")).label == "garden-sync"
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_an_existing_file_is_refused_without_a_token(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "garden.token"
    file.write_text("precious")
    assert main(["token", "create", "garden-sync", "--output", str(file)]) == 1
    assert one_line(capfd.readouterr().err)
    assert file.read_text() == "precious"
    assert tokens() == []


def test_a_refused_token_leaves_no_file(tmp_path: Path) -> None:
    assert main(["token", "create", " ", "--output", str(tmp_path / "garden.token")]) == 1
    assert list(tmp_path.glob("*.token")) == []


def test_a_token_whose_file_cannot_be_written_is_revoked(tmp_path: Path, refused: Refused) -> None:
    with mounted(tmp_path / "full", *tmpfs("4k")) as full:
        (full / "filler").write_bytes(bytes(4096))
        assert "revoked" in refused("token", "create", "garden-sync", "--output", str(full / "garden.token"))
        assert [file.name for file in full.iterdir()] == ["filler"]
    assert tokens() == []


HOSTILE = "\x1b[31m\x07\x9b\u202e\x7f"


@pytest.mark.parametrize(
    "arguments",
    [
        ("import", f"no{HOSTILE}.csv"),
        ("restore", f"no{HOSTILE}.db"),
        ("list", "--database", f"no{HOSTILE}.db"),
        ("export", f"no{HOSTILE}"),
        ("import", "-", "--format", HOSTILE),
        ("import", "-", "--encoding", HOSTILE),
        ("list", f"--{HOSTILE}"),
        (f"list{HOSTILE}",),
        ("get", HOSTILE),
    ],
)
def test_names_in_messages_do_not_control_the_terminal(
    arguments: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    with contextlib.suppress(SystemExit):
        assert main(arguments) == 1
    err = capfd.readouterr().err
    assert "plantdesk" in err
    assert not set(HOSTILE).intersection(err) - set("[31m")


@pytest.mark.skipif(os.name != "posix", reason="Windows has no pseudo-terminals here")
@pytest.mark.parametrize("form", ["csv", "excel", "tsv", "json", "jsonl", "xlsx"])
def test_an_export_does_not_control_the_terminal(form: str) -> None:
    with closing(SqliteStore(paths.database_file())) as store:
        store.add(new_plant({"id": 1, "name": f"Aster{HOSTILE}", "tag": HOSTILE}), FORM).result(SECONDS)
    command = [sys.executable, "-m", "plantdesk", "export", "-", "--format", form]
    with Terminal() as terminal:
        done = subprocess.run(command, stdout=terminal.end, stderr=subprocess.PIPE, check=False)
        shown = terminal.printed()
    assert done.returncode == (1 if form == "xlsx" else 0), done.stderr
    assert ("Aster" in shown) == (form != "xlsx")
    assert not set(HOSTILE).intersection(shown) - set("[31m")
    unchanged = subprocess.run(command, capture_output=True, check=True).stdout
    assert form in {"xlsx", "json", "jsonl"} or HOSTILE in unchanged.decode()
