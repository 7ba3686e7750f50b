"""A program without standard streams, as windowed programs on Windows: it works, and its output is shown."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from plantdesk.cli.main import main
from plantdesk.platform import output, paths
from plantdesk.store.sqlite.store import SqliteStore
from tests.support.programs import post, runtimes
from tests.support.waiting import SECONDS, until

_WITHOUT = (
    "import sys; sys.stdin = sys.stdout = sys.stderr = None; from plantdesk.cli.main import main; sys.exit(main({}))"
)


class WithoutStreams:
    """Runs commands without standard streams; `shown` has the texts and exit codes of the message boxes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.shown: list[tuple[str, int]] = []
        self._monkeypatch = monkeypatch
        monkeypatch.setattr(output, "HAS_MESSAGE_BOX", True)
        monkeypatch.setattr(output, "show_message_box", lambda text, code: self.shown.append((text, code)))

    def __call__(self, *arguments: str) -> int:
        with self._monkeypatch.context() as without:
            for name in ("stdin", "stdout", "stderr"):
                without.setattr(sys, name, None)
            code = main(arguments)
            assert sys.stdout is None
            assert sys.stderr is None
            return code


@pytest.fixture
def without_streams(monkeypatch: pytest.MonkeyPatch) -> WithoutStreams:
    return WithoutStreams(monkeypatch)


@pytest.mark.parametrize(
    ("command", "code", "beginning"),
    [
        ("add --name Fern", 0, "1"),
        ("token revoke nobody", 1, "plantdesk: "),
        ("--help", 0, "usage: plantdesk"),
        ("--version", 0, "plantdesk "),
        ("--nonsense", 2, "usage: plantdesk"),
    ],
)
def test_output_and_errors_are_shown(command: str, code: int, beginning: str, without_streams: WithoutStreams) -> None:
    assert without_streams(*command.split()) == code
    ((text, exit_code),) = without_streams.shown
    assert exit_code == code
    assert text.startswith(beginning)


def test_no_output_shows_no_box(without_streams: WithoutStreams) -> None:
    assert without_streams("token", "create", "tests") == 0
    assert without_streams("token", "revoke", "tests") == 0
    assert len(without_streams.shown) == 1


def test_a_defect_is_not_hidden(without_streams: WithoutStreams, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(paths, "database_file", fail)
    with pytest.raises(ZeroDivisionError):
        without_streams("info")
    assert without_streams.shown == []


def test_captured_output_is_limited() -> None:
    answer = output.CapturedOutput()
    for _ in range(100):
        assert answer.write("x" * 1000) == 1000
    assert len(answer.getvalue()) == 20_000


def starts() -> list[tuple[str, list[str]]]:
    """Return commands that start the window without streams: set to None, and with closed descriptors."""
    ways = [("None", [sys.executable, "-c", _WITHOUT.format(["--port", "0"])])]
    if os.name == "posix":
        shell = 'exec "$0" -m plantdesk --port 0 <&- >&- 2>&-'
        ways.append(("closed", ["sh", "-c", shell, sys.executable]))
    return ways


@pytest.mark.parametrize("command", [each for _, each in starts()], ids=[name for name, _ in starts()])
def test_the_window_accepts_a_plant_by_its_api(command: list[str]) -> None:
    with closing(SqliteStore(paths.database_file())) as store:
        token = store.tokens.create("tests").result(SECONDS).token
    with subprocess.Popen(command) as window:
        try:
            assert post(port_of(window), token, {"id": 7, "name": "Fern"}).status == 200
            if command[0] == "sh" and sys.platform == "linux":  # no file of ours has the number of a stream
                streams = {Path(f"/proc/{window.pid}/fd/{number}").readlink() for number in range(3)}
                assert streams == {Path(os.devnull)}
        finally:
            window.terminate()
    with closing(sqlite3.connect(paths.database_file())) as database:
        assert database.execute("SELECT id, name FROM plant").fetchall() == [(7, "Fern")]
    log = (paths.log_folder() / "plantdesk.log").read_text(encoding="utf-8")
    assert "ERROR" not in log
    assert "CRITICAL" not in log


def port_of(window: subprocess.Popen[bytes]) -> int:
    def look() -> list[int]:
        assert window.poll() is None, "the window has ended"
        return [int(runtime["port"]) for runtime in runtimes(paths.runtime_folder())]

    return until(look, "the API starts")[0]


@pytest.mark.skipif(os.name != "posix", reason="nothing asks a program without a window and a console to end there")
def test_a_server_that_stops_shows_no_box(tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    box = "from plantdesk.platform import output; "
    box += f"output.show_message_box = lambda text, code: open({str(shown)!r}, 'w')"
    with subprocess.Popen([sys.executable, "-c", f"{box}; {_WITHOUT.format(['serve', '--port', '0'])}"]) as server:
        port_of(server)
        server.terminate()
        assert server.wait(SECONDS) == 0
    assert not shown.exists()
