import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from plantdesk.cli.main import main
from plantdesk.platform import paths, settings
from plantdesk.store.sqlite.store import SqliteStore
from tests.support.disks import mounted, tmpfs
from tests.support.programs import post, runtimes
from tests.support.waiting import SECONDS

PREFIX = "PlantDesk is listening on http://127.0.0.1:"
if sys.platform == "win32":
    SIGNALS = [signal.CTRL_BREAK_EVENT]
    IN_A_GROUP = subprocess.CREATE_NEW_PROCESS_GROUP
else:
    SIGNALS = [signal.SIGTERM, signal.SIGINT]
    IN_A_GROUP = 0


@contextmanager
def serving(*arguments: str, within: tuple[str, ...] = ()) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run `plantdesk serve`, `within` another command; yield the process and its port when it serves."""
    command = [*within, sys.executable, "-m", "plantdesk", "serve", "--port", "0", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, creationflags=IN_A_GROUP) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith(PREFIX), process.stderr and process.stderr.read()
            yield process, int(line.removeprefix(PREFIX))
        finally:
            process.kill()


@pytest.fixture
def token() -> str:
    with closing(SqliteStore(paths.database_file())) as store:
        return store.tokens.create("tests").result().token


@pytest.mark.parametrize("end", SIGNALS, ids=lambda number: number.name)
def test_it_serves_until_a_signal(end: signal.Signals, token: str) -> None:
    with serving() as (process, port):
        assert post(port, token, {"id": 7, "name": "Fern"}).status == 200
        assert [runtime["port"] for runtime in runtimes(paths.runtime_folder())] == [port]
        process.send_signal(end)
        printed, errors = process.communicate(timeout=SECONDS)
        assert (process.returncode, printed, errors) == (0, "", "")
    assert not paths.runtime_folder().exists()
    with closing(sqlite3.connect(paths.database_file())) as database:
        assert database.execute("SELECT id, name FROM plant").fetchall() == [(7, "Fern")]


def test_info_names_the_database_of_another_server(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.db"
    with serving("--database", str(other)):
        capfd.readouterr()
        assert main(["info"]) == 3
        assert capfd.readouterr().out.splitlines()[-1] == f"It runs with another one, for --database: {other}"


def test_info_finds_it(capfd: pytest.CaptureFixture[str]) -> None:
    with serving() as (process, port):
        main(["info", "--json"])
        found = json.loads(capfd.readouterr().out)
        assert (found["running"], found["port"], found["pid"]) == (True, port, process.pid)
        assert found["url"] == f"http://127.0.0.1:{port}"
        main(["info"])
        assert f"Address: http://127.0.0.1:{port}/plants" in capfd.readouterr().out


def test_a_port_in_use_is_reported_with_a_command(capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert main(["serve", "--port", str(port)]) == 1
    printed, errors = capfd.readouterr()
    assert printed == ""
    assert errors.startswith(f"plantdesk: Port {port} is in use")
    assert "plantdesk serve --port " in errors
    assert errors.count("\n") == 1


def test_the_port_of_the_settings_is_used(capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        settings.save(settings.Settings(port=port), paths.settings_file())
        assert main(["serve"]) == 1
    assert f"Port {port} is in use" in capfd.readouterr().err


def test_verbose_prints_a_line_for_each_request_without_its_contents(token: str) -> None:
    with serving("--verbose") as (process, port):
        assert post(port, token, {"id": 1, "name": "Fern"}).status == 200
        assert post(port, "plantdesk_wrong", {"id": 2, "name": "Fern"}).status == 401
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=SECONDS)
    lines = [line.partition(" ")[2] for line in errors.splitlines()]
    assert [line for line in lines if line.endswith(".")] == [
        "'tests' 200 Added.",
        "- 401 The token is unknown, expired or revoked.",
    ]
    assert token not in errors


# --- what it starts with -----------------------------------------------------------------------------------------


def files(allowed: int) -> tuple[str, ...]:
    """Return a command that limits the open files of another."""
    return ("sh", "-c", f'ulimit -n {allowed} && exec "$@"', "sh")


def failed_start(*within: str) -> str:
    """Return the errors of a server that does not start within another command."""
    command = [*within, sys.executable, "-m", "plantdesk", "serve", "--port", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such limit")
@pytest.mark.parametrize("allowed", [18, 24, 32])
def test_too_few_file_descriptors_are_reported(allowed: int) -> None:
    assert re.fullmatch("plantdesk: .*ulimit -n.*\n", failed_start(*files(allowed)))


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such limit")
def test_with_few_file_descriptors_idle_clients_do_not_block_others(token: str) -> None:
    with serving(within=files(64)) as (_, port), ExitStack() as idle:
        for plant_id in range(60):
            for _ in range(3):
                idle.enter_context(socket.create_connection(("127.0.0.1", port), timeout=SECONDS))
            assert post(port, token, {"id": plant_id, "name": "Fern"}).status == 200


@pytest.mark.skipif(sys.platform != "linux", reason="needs a network of its own")
def test_a_missing_loopback_interface_is_reported() -> None:
    errors = failed_start("unshare", "--net")
    if errors.startswith("unshare"):
        pytest.skip("needs root")
    assert re.fullmatch("plantdesk: .*loopback.*\n", errors)


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such signals")
@pytest.mark.parametrize("ignored", ["HUP", "INT"])
def test_a_signal_that_is_ignored_at_the_start_stays_ignored(ignored: str, token: str) -> None:
    """As under nohup, and in the background of a script."""
    with serving(within=("sh", "-c", f'trap "" {ignored} && exec "$@"', "sh")) as (process, port):
        process.send_signal(signal.Signals[f"SIG{ignored}"])
        assert post(port, token, {"id": 1, "name": "Fern"}).status == 200
        process.terminate()
        assert process.wait(SECONDS) == 0
    assert "because of signal 15" in (paths.log_folder() / "serve.log").read_text(encoding="utf-8")


@pytest.mark.parametrize("obstacle", ["logs", "data/run"])
def test_an_unusable_folder_only_affects_its_own_files(obstacle: str, token: str, home: Path) -> None:
    (home / obstacle).write_text("in the way")
    with serving() as (process, port):
        assert post(port, token, {"id": 1, "name": "Fern"}).status == 200
        process.send_signal(SIGNALS[0])
        _, errors = process.communicate(timeout=SECONDS)
        assert process.returncode == 0
    assert "Traceback" not in errors
    assert errors.count("\n") == (0 if obstacle == "logs" else 1)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a full disk")
def test_a_full_disk_for_the_logs_does_not_matter(token: str, home: Path) -> None:
    with mounted(home / "logs", *tmpfs("4k")):
        (home / "logs" / "filler").write_bytes(bytes(4096))
        with serving() as (process, port):
            assert post(port, token, {"id": 1, "name": "Fern"}).status == 200
            process.terminate()
            printed, errors = process.communicate(timeout=SECONDS)
            assert (process.returncode, printed, errors) == (0, "", "")


@pytest.mark.skipif(sys.platform != "linux", reason="needs a read-only disk")
def test_it_serves_when_only_the_store_is_writable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with mounted(tmp_path / "disk", "-t", "tmpfs", "-o", "ro", "tmpfs") as disk:
        monkeypatch.setenv("PLANTDESK_HOME", str(disk / "home"))
        with serving("--database", str(tmp_path / "plants.db")) as (process, _):
            process.terminate()
            _, errors = process.communicate(timeout=SECONDS)
            assert process.returncode == 0
    assert re.fullmatch("WARNING: Scripts may not find this server: .*\n", errors)
