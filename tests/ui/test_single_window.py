import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from plantdesk.platform import window_requests
from plantdesk.platform.window_requests import WindowRequest
from plantdesk.store import location_of
from plantdesk.ui.single_window import SingleWindow

unix = pytest.mark.skipif(os.name != "posix", reason="Windows has named pipes of the session")

_SEND = """
import sys
from pathlib import Path
from plantdesk.platform.window_requests import WindowRequest, send_request, socket_name
sent = send_request(socket_name(sys.argv[1], Path(sys.argv[2])), WindowRequest(True, *sys.argv[3:]))
sys.exit(0 if sent and not [each for each in sys.modules if each.startswith("PySide6")] else 1)
"""
_START = """
import os, socket, sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from plantdesk.platform.window_requests import WindowRequest, socket_name
from plantdesk.store import location_of
from plantdesk.ui.single_window import SingleWindow
app = QCoreApplication([])
"""
_MANY = f"""{_START}
for number in range(200):
    single = SingleWindow(location_of(sys.argv[1]), Path(sys.argv[2]))
    assert single.try_lock()
    single.listen()
    requests = []
    single.request_received.connect(requests.append)
    with socket.socket(socket.AF_UNIX) as other:
        other.connect(socket_name(single.key, Path(sys.argv[2])))
        other.sendall(WindowRequest().encoded())
        while not requests:
            app.processEvents()
        assert other.recv(7) == b"raised\\n"
    single.release()
"""
_TAKE_AND_DIE = f"""{_START}
single = SingleWindow(location_of(sys.argv[1]), Path(sys.argv[2]))
assert single.try_lock()
os._exit(1)
"""


@pytest.fixture
def first(tmp_path: Path) -> Iterator[SingleWindow]:
    """The window of a store, which listens."""
    first = SingleWindow(location_of(tmp_path / "plants.db"), tmp_path)
    assert first.try_lock()
    first.listen()
    yield first
    first.release()


def test_a_request_reaches_the_window_without_qt_in_the_other_process(
    qtbot: QtBot, first: SingleWindow, tmp_path: Path
) -> None:
    request = WindowRequest(quick=True, address="plantdesk:42", token="an-activation_TIME7")
    asking = subprocess.Popen([sys.executable, "-c", _SEND, first.key, str(tmp_path), *request[1:]])
    with qtbot.waitSignal(first.request_received) as received:
        pass
    assert received.args == [request]
    qtbot.waitUntil(lambda: asking.poll() is not None)
    assert asking.returncode == 0


@unix
@pytest.mark.parametrize("line", [b"GET / HTTP/1.1", b"[]", b"{}", b'{"quick":1,"address":"","token":""}', b"\xff"])
def test_what_is_no_request_is_ignored(qtbot: QtBot, first: SingleWindow, tmp_path: Path, line: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as other, qtbot.assertNotEmitted(first.request_received):
        other.connect(window_requests.socket_name(first.key, tmp_path))
        other.sendall(line + b"\n")
        other.setblocking(False)
        qtbot.waitUntil(lambda: _has_ended(other))


@unix
def test_the_window_survives_many_requests(tmp_path: Path) -> None:
    """In a process of its own: Qt frees each connection, which crashed while its own slot held it."""
    subprocess.run([sys.executable, "-c", _MANY, str(tmp_path / "plants.db"), str(tmp_path)], check=True)


def _has_ended(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def test_without_a_window_nobody_answers(tmp_path: Path) -> None:
    assert not window_requests.send_request(window_requests.socket_name("01234567", tmp_path), WindowRequest())


def test_another_store_has_a_window_of_its_own(tmp_path: Path) -> None:
    first, other = (SingleWindow(location_of(tmp_path / name), tmp_path) for name in ("plants.db", "other.db"))
    assert first.try_lock()
    first.listen()
    assert other.try_lock()
    other.listen()
    first.release()
    other.release()


def test_what_a_killed_window_leaves_behind_is_in_nobodys_way(tmp_path: Path) -> None:
    store = tmp_path / "plants.db"
    subprocess.run([sys.executable, "-c", _TAKE_AND_DIE, str(store), str(tmp_path)], check=False)
    assert list(tmp_path.glob("*.lock"))
    single = SingleWindow(location_of(store), tmp_path)
    assert single.try_lock()
    single.release()


@unix
def test_the_socket_is_in_a_folder_of_the_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private, long, open_to_all = tmp_path / "private", tmp_path / ("x" * 90), tmp_path / "open"
    for folder in (private, long, open_to_all):
        folder.mkdir(mode=0o700)
    open_to_all.chmod(0o777)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(private))
    for folder in (private, long, open_to_all):
        single = SingleWindow(location_of(tmp_path / f"{folder.name}.db"), folder)
        assert single.try_lock()
        single.listen()
        assert (private / f"w-{single.key}").is_socket()
        assert (private / f"w-{single.key}").stat().st_mode & 0o077 == 0
        single.release()


@unix
def test_a_socket_that_cannot_be_made_is_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    folder = tmp_path / ("x" * 120)
    folder.mkdir()
    single = SingleWindow(location_of(tmp_path / "plants.db"), folder)
    assert single.try_lock()
    single.listen()
    assert "cannot bring this window to the front" in caplog.text
    single.release()


@pytest.mark.skipif(not hasattr(socket, "SO_PEERCRED"), reason="the system does not know the user of a peer")
def test_a_process_of_another_user_is_no_window_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = SingleWindow(location_of(tmp_path / "plants.db"), tmp_path)
    assert first.try_lock()
    path = tmp_path / f"w-{first.key}"
    with socket.socket(socket.AF_UNIX) as squatter:  # it answers as a window does, but as another user
        squatter.bind(str(path))
        squatter.listen()
        answering = threading.Thread(target=_answer, args=(squatter,), daemon=True)
        answering.start()
        assert first.raise_other()
        monkeypatch.setattr(window_requests, "_get_user_id", lambda: 1 + os.getuid())
        assert not first.raise_other()
    first.release()


def _answer(server: socket.socket) -> None:
    with contextlib.suppress(OSError):  # a client that goes away, and the end of the test
        while True:
            connection, _ = server.accept()
            with connection, contextlib.suppress(OSError):
                connection.send(b"raised\n")
                connection.recv(1)  # until the client has gone


@pytest.mark.qt_log_ignore("Got unexpected locking error")  # Qt's own words on Windows
def test_a_folder_without_room_for_a_lock_keeps_no_window_closed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    single = SingleWindow(location_of(tmp_path / "plants.db"), tmp_path / "missing")
    assert single.try_lock()
    assert "cannot be locked" in caplog.text
    single.listen()
    single.release()
    nowhere = SingleWindow(location_of(tmp_path / "plants.db"), None)
    assert nowhere.try_lock()
    nowhere.listen()
    nowhere.release()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can become another user")
def test_a_read_only_folder_is_not_another_window() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        script = _TAKE_AND_DIE.replace(
            "assert single.try_lock()\nos._exit(1)", "os.setuid(65534)\nassert single.try_lock()"
        )
        done = subprocess.run([sys.executable, "-c", script, f"{folder}/plants.db", folder], check=False)
        assert done.returncode == 0
        assert list(Path(folder).iterdir()) == []
