"""Tokens must not be in files and output, and all files must be private."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from plantdesk.cli.commands.info import NOT_RUNNING_EXIT_CODE
from plantdesk.store.sqlite.store import SqliteStore
from tests.support.attackers import Target
from tests.support.clients import open_rude_connections
from tests.support.programs import SERVE, WINDOW, Home, running
from tests.support.waiting import SECONDS

pytestmark = pytest.mark.skipif(os.name != "posix", reason="looks at modes and signals that Windows has not")

_ALL_IS_LOGGED = """
import logging, sys
logging.INFO = 1  # the level that the program asks for
from plantdesk.cli.main import main
sys.exit(main(["serve", "--port", "0"]))
"""


@pytest.fixture
def program_home(tmp_path: Path) -> Home:
    return Home(tmp_path / "program")


def test_no_token_is_in_any_file_or_output(program_home: Home) -> None:
    good, revoked = program_home.new_token(), program_home.new_token("revoked")
    wrong = "plantdesk_" + "WrongWrongWrong" * 3
    environment = {**program_home.environment, "PYTHONASYNCIODEBUG": "1"}
    command, pipe = [sys.executable, "-c", _ALL_IS_LOGGED], subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe) as process:
        port = program_home.port(process)  # type: ignore[arg-type]
        with closing(SqliteStore(program_home.database)) as store:
            store.tokens.revoke("revoked").result()
        for token in (good, revoked, wrong):
            for request in requests_with(Target(port, token)):
                exchange(port, request)
        for connection in open_rude_connections(Target(port, good)):
            connection.close()
        about = b"".join(told_by_the_system(process.pid))
        process.send_signal(signal.SIGABRT)  # faulthandler writes what it was doing
        out, err = process.communicate(timeout=SECONDS)
    written = {file: file.read_bytes() for file in program_home.folder.rglob("*") if file.is_file()}
    assert b"Fatal Python error" in written[next(file for file in written if file.name == "serve-crash.log")]
    assert b"ASGI [1] Started" in written[next(file for file in written if file.name == "serve.log")]
    for token in (good, revoked, wrong):
        secret = token.removeprefix("plantdesk_").encode()
        assert secret not in out + err + about
        assert [file.name for file, content in written.items() if secret in content] == []


def requests_with(target: Target) -> list[bytes]:
    """Return requests with the token in the right place and in wrong ones."""
    whole = target.plant("Connection: close")
    token = target.token
    body = json.dumps({"id": token, "name": 7, token: 1}).encode()
    return [
        whole,
        whole[:-1],
        whole.replace(b"POST /plants", f"POST /plants?access_token={token}".encode()),
        whole.replace(b"POST /plants", f"POST /{token}".encode()),
        whole.replace(b"POST", token.encode()),
        whole.replace(b"localhost", token.encode()),
        whole.replace(b"application/json", token.encode()),
        whole.replace(b"Bearer ", b"Basic "),
        whole.replace(b"HTTP/1.1", token.encode()),
        target.head(f"{token}: {token}", f"Content-Length: {len(body)}", "Connection: close") + body,
        target.head(f"Content-Length: {token}"),
        target.head("Transfer-Encoding: chunked") + token.encode() + b"\r\n",
        f"{token}\r\n\r\n".encode(),
    ]


def exchange(port: int, request: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65_536):
            pass


def told_by_the_system(pid: int) -> list[bytes]:
    """Return what other users can see of a process (Linux)."""
    files = [Path(f"/proc/{pid}/{name}") for name in ("cmdline", "environ", "comm", "status", "maps")]
    threads = Path(f"/proc/{pid}/task").glob("*/comm") if files[0].exists() else ()
    return [file.read_bytes() for file in (*files, *threads) if file.exists()]


@pytest.mark.usefixtures("no_umask")
@pytest.mark.parametrize("how", [SERVE, WINDOW], ids=["serve", "window"])
def test_all_files_of_the_program_are_private(program_home: Home, how: tuple[str, ...]) -> None:
    with running(program_home, how) as process:
        exchange(program_home.port(process), b"rubbish\r\n\r\n")
        found = modes(program_home.folder)
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 0
    found |= modes(program_home.folder)
    assert {"plants.db", "plants.db-wal", "run"} <= found.keys()
    assert ".json" in {Path(name).suffix for name in found}
    assert {name: oct(mode) for name, mode in found.items() if mode & 0o077} == {}


@pytest.mark.usefixtures("no_umask")
def test_files_of_commands_are_private(program_home: Home) -> None:
    for command in (["token", "create", "x"], ["add", "--name", "Fern"], ["info"]):
        call = [sys.executable, "-m", "plantdesk", *command]
        done = subprocess.run(call, env=program_home.environment, check=False, capture_output=True)
        assert done.returncode == (NOT_RUNNING_EXIT_CODE if command == ["info"] else 0)
    assert {name: oct(mode) for name, mode in modes(program_home.folder).items() if mode & 0o077} == {}


def modes(folder: Path) -> dict[str, int]:
    return {file.name: file.lstat().st_mode & 0o777 for file in (folder, *folder.rglob("*"))}
