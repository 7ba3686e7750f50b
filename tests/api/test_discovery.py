"""How scripts find their own server among several servers, stores and impostors."""

import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from plantdesk.api.announcement import Announcement
from plantdesk.api.discovery import Runtime, ServerIdentity, find_server, find_server_on_port, generate_key, proves_key
from plantdesk.api.server import Server
from plantdesk.domain.server_state import Failed, PortOfOtherUserError
from plantdesk.store import location_of
from plantdesk.store.sqlite.store import SqliteStore
from tests.api.client import Api, runtime_of
from tests.api.conftest import Serve
from tests.support.waiting import SECONDS, until

Start = Callable[[Path], Api]

RUNTIME = Runtime(
    url="http://127.0.0.1:9", port=9, socket="", pid=1, started=0, database="plants.db", version="0", key="0" * 64
)
posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no such files")
root = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs another user")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def start(serve: Serve, folder: Path) -> Start:
    """Start another server of a store."""
    return lambda database: serve(database, runtime_folder=folder, check_interval=0.5)


def find_port(folder: Path, database: Path) -> int | None:
    runtime = find_server(folder, location_of(database))
    return None if runtime is None else runtime.port


# --- one of them, and several ------------------------------------------------------------------------------------


def test_the_newest_server_of_each_store_is_found(start: Start, folder: Path, tmp_path: Path) -> None:
    mine, other = tmp_path / "mine.db", tmp_path / "other.db"
    first, second, third = start(mine), start(mine), start(other)
    assert (find_port(folder, mine), find_port(folder, other)) == (second.port, third.port)
    second.server.stop()
    third.server.stop()
    assert (find_port(folder, mine), find_port(folder, other)) == (first.port, None)


@posix
def test_a_store_is_identified_by_its_real_path(start: Start, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "link.db").symlink_to(tmp_path / "here" / "plants.db")
    port = start(tmp_path / "here" / "plants.db").port
    for name in ("here/plants.db", "here/../here/plants.db", "link.db"):
        assert find_port(folder, tmp_path / name) == port


def test_a_removed_file_is_written_again(start: Start, folder: Path, tmp_path: Path) -> None:
    port = start(tmp_path / "plants.db").port
    shutil.rmtree(folder)
    until(lambda: find_port(folder, tmp_path / "plants.db") == port)


@posix
def test_a_file_that_a_full_disk_did_not_take_is_written_later(folder: Path, tmp_path: Path) -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with closing(Announcement(folder, location_of(tmp_path / "plants.db"))) as file:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        try:
            with pytest.raises(OSError, match="too large"):
                file.write(RUNTIME)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        file.write(RUNTIME)
        assert [each.suffix for each in folder.iterdir()] == [".json"]


# --- what is stale -----------------------------------------------------------------------------------------------


@posix
def test_the_file_of_a_killed_server_is_ignored_and_removed(start: Start, folder: Path, tmp_path: Path) -> None:
    """Another program may have its port, and would receive the request."""
    folder.mkdir(mode=0o700)
    with socket.create_server(("127.0.0.1", 0)) as squatter:
        squatter.setblocking(False)
        runtime = RUNTIME.model_copy(update={"port": squatter.getsockname()[1]})
        with closing(Announcement(folder, location_of(tmp_path / "plants.db"))) as file:
            file.write(runtime)
            (path,) = folder.iterdir()
            content = path.read_bytes()
        path.write_bytes(content)  # its lock is gone, as after a kill
        path.chmod(0o600)
        file.socket_path.touch()
        assert find_port(folder, tmp_path / "plants.db") is None
        assert find_server_on_port(folder, runtime.port) is None
        with pytest.raises(BlockingIOError):
            squatter.accept()
    port = start(tmp_path / "plants.db").port
    assert find_port(folder, tmp_path / "plants.db") == port
    assert not path.exists()
    assert not file.socket_path.exists()


@posix
@pytest.mark.parametrize("mode", [0o644, 0o620])
def test_a_file_that_is_not_private_is_ignored(start: Start, folder: Path, tmp_path: Path, mode: int) -> None:
    port = start(tmp_path / "plants.db").port
    (path,) = folder.glob("*.json")
    assert find_port(folder, tmp_path / "plants.db") == port
    path.chmod(mode)
    assert find_port(folder, tmp_path / "plants.db") is None


# --- impostors ---------------------------------------------------------------------------------------------------


def test_a_server_proves_its_key_without_sending_it(serve: Serve, folder: Path) -> None:
    api = serve(runtime_folder=folder)
    runtime = runtime_of(api, folder)
    assert proves_key(runtime.identity, timeout=SECONDS)
    assert not proves_key(ServerIdentity(generate_key(), api.port), timeout=SECONDS)
    answer = api.request("GET", "/openapi.json", headers={"PlantDesk-Nonce": "0" * 64})
    assert answer.headers["PlantDesk-Proof"]
    assert runtime.key not in str(answer.headers) + answer.body.decode()


@pytest.mark.parametrize("nonce", [None, "", "0" * 63, "0" * 65, "G" * 64])
def test_only_a_valid_nonce_is_answered(api: Api, nonce: str | None) -> None:
    headers = {} if nonce is None else {"PlantDesk-Nonce": nonce}
    assert api.request("GET", "/openapi.json", headers=headers).headers["PlantDesk-Proof"] is None


def test_a_forwarded_challenge_is_refused(serve: Serve, folder: Path) -> None:
    api = serve(runtime_folder=folder)
    runtime = runtime_of(api, folder)

    def pass_on(client: socket.socket) -> None:
        with api.opened() as real:
            real.sendall(client.recv(65536))
            while piece := real.recv(65536):
                client.sendall(piece)

    with Impostor(pass_on) as port:
        assert not proves_key(ServerIdentity(runtime.identity.key, port), timeout=SECONDS)


@pytest.mark.parametrize(
    ("sent", "pause", "timeout"), [(b"x", 0.01, 0.3), (b"X-Filler: x\r\n" * 1000, 0, SECONDS)], ids=["drip", "flood"]
)
def test_an_endless_response_ends_at_the_deadline_or_after_64_kib(sent: bytes, pause: float, timeout: float) -> None:
    def send(client: socket.socket) -> None:
        while True:
            client.sendall(sent)
            client_has_left.wait(pause)

    client_has_left = threading.Event()
    with Impostor(send) as port:
        assert not proves_key(ServerIdentity(generate_key(), port), timeout=timeout)


class Impostor:
    """A listener that does `behave` with each connection until it is closed."""

    def __init__(self, behave: Callable[[socket.socket], None]) -> None:
        self._behave = behave
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> int:
        self._thread.start()
        port: int = self._listener.getsockname()[1]
        return port

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        self._thread.join(SECONDS)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        client, _ = self._listener.accept()
        with suppress(OSError), client:
            self._behave(client)


_SQUAT = """
import os, socket
os.setuid(54321)
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
listener.accept()
"""


@pytest.fixture
def port_of_other_user() -> Iterator[int]:
    """A port on which another user listens."""
    command = [sys.executable, "-c", _SQUAT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())
        assert process.poll() is None, "it was asked"
        process.kill()


@root
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says whose a port is")
def test_a_port_of_another_user_is_not_contacted(port_of_other_user: int, folder: Path, tmp_path: Path) -> None:
    folder.mkdir(mode=0o700)
    with closing(Announcement(folder, location_of(tmp_path / "plants.db"))) as file:
        file.write(RUNTIME.model_copy(update={"port": port_of_other_user}))
        assert find_server(folder, location_of(tmp_path / "plants.db")) is None


@root
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says whose a port is")
def test_a_port_of_another_user_is_reported_with_what_to_do(port_of_other_user: int, tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "plants.db")) as store:
        server = Server(store, location_of(store.path), tmp_path / "run")
        server.start(port_of_other_user)
        state = server.wait_until_settled(SECONDS)
    assert isinstance(state, Failed)
    assert isinstance(state.error, PortOfOtherUserError)
    assert "another user" in str(state.error)
    assert "revoke" in str(state.error)
