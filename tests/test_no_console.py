"""A program without standard streams, as Windows starts a windowed one: nothing fails, and nothing it says is lost."""

from __future__ import annotations

import http.client
import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from plantdesk import no_console, paths
from plantdesk.cli import main
from plantdesk.store import Store
from tests.support.programs import runtimes

_WITHOUT = "import sys; sys.stdin = sys.stdout = sys.stderr = None; from plantdesk.cli import main; sys.exit(main({}))"
PATIENCE = 30


class Alone:
    """Runs what a person typed without streams to answer on; `shown` is what the boxes said, with the exit codes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.shown: list[tuple[str, int]] = []
        self._monkeypatch = monkeypatch
        monkeypatch.setattr(no_console, "message_box", lambda text, code: self.shown.append((text, code)))

    def __call__(self, *arguments: str) -> int:
        with self._monkeypatch.context() as without:
            for name in ("stdin", "stdout", "stderr"):
                without.setattr(sys, name, None)
            code = main(arguments)
            assert sys.stdout is None
            assert sys.stderr is None
            return code


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Alone:
    return Alone(monkeypatch)


def test_an_answer_is_shown(alone: Alone) -> None:
    assert alone("add", "--name", "Fern") == 0
    assert alone.shown == [("1", 0)]


def test_a_refusal_is_shown(alone: Alone) -> None:
    assert alone("token", "revoke", "nobody") == 1
    ((text, code),) = alone.shown
    assert code == 1
    assert text.startswith("plantdesk: ")


@pytest.mark.parametrize(("argument", "code"), [("--help", 0), ("--version", 0), ("--nonsense", 2)])
def test_help_and_wrong_usage_are_shown(argument: str, code: int, alone: Alone) -> None:
    assert alone(argument) == code
    ((text, told),) = alone.shown
    assert told == code
    assert "plantdesk" in text


def test_silence_shows_nothing(alone: Alone) -> None:
    assert alone("token", "create", "tests") == 0
    assert alone("token", "revoke", "tests") == 0
    assert len(alone.shown) == 1


def test_a_defect_is_not_hidden(alone: Alone, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(paths, "database_file", fail)
    with pytest.raises(ZeroDivisionError):
        alone("info")
    assert alone.shown == []


def test_a_talkative_program_fills_no_memory() -> None:
    answer = no_console.CapturedOutput()
    for _ in range(100):
        assert answer.write("x" * 1000) == 1000
    assert len(answer.getvalue()) == 20_000


def starts() -> list[tuple[str, list[str]]]:
    """Ways to start the window without streams: as a windowed program has none, and with closed descriptors."""
    ways = [("None", [sys.executable, "-c", _WITHOUT.format(["--port", "0"])])]
    if os.name == "posix":
        shell = 'exec "$0" -m plantdesk --port 0 <&- >&- 2>&-'
        ways.append(("closed", ["sh", "-c", shell, sys.executable]))
    return ways


@pytest.mark.parametrize("command", [each for _, each in starts()], ids=[name for name, _ in starts()])
def test_the_window_takes_a_plant_by_its_api(command: list[str]) -> None:
    with closing(Store(paths.database_file())) as store:
        token = store.tokens.create("tests").result(PATIENCE).token
    with subprocess.Popen(command) as window:
        try:
            assert post(port_of(window), token, {"id": 7, "name": "Fern"}) == 200
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
    end = time.monotonic() + PATIENCE
    while not (found := list(runtimes(paths.runtime_folder()))):
        assert window.poll() is None, "the window has ended"
        assert time.monotonic() < end, "the API never started"
        time.sleep(0.05)  # between two looks at what another process does
    return int(found[0]["port"])


def post(port: int, token: str, plant: dict[str, object]) -> int:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection.request("POST", "/plants", json.dumps(plant), headers)
        return connection.getresponse().status


@pytest.mark.skipif(os.name != "posix", reason="nothing tells a program without a window and a console to end there")
def test_a_server_that_ends_shows_nothing(tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    box = f"from plantdesk import no_console; no_console.message_box = lambda text, code: open({str(shown)!r}, 'w')"
    with subprocess.Popen([sys.executable, "-c", f"{box}; {_WITHOUT.format(['serve', '--port', '0'])}"]) as server:
        port_of(server)
        server.terminate()
        assert server.wait(PATIENCE) == 0
    assert not shown.exists()
