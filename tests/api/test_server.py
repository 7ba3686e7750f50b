import errno
import json
import os
import socket
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from queue import SimpleQueue

import pytest

from plantdesk.api import plants
from plantdesk.api.server import Server
from plantdesk.domain.server_state import (
    Failed,
    NotAnsweringError,
    Off,
    On,
    PortInUseError,
    PortOfPlantDeskError,
    ServerFailedError,
    ServerState,
    Starting,
    TooFewDescriptorsError,
)
from plantdesk.domain.validation import new_plant
from plantdesk.store import location_of
from plantdesk.store.sqlite.store import SqliteStore
from tests.api.client import one_answer
from tests.api.conftest import Serve
from tests.support.waiting import SECONDS

Recorder = SimpleQueue[ServerState]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(tmp_path / "plants.db")) as opened:
        yield opened


@pytest.fixture
def server(store: SqliteStore, tmp_path: Path) -> Iterator[Server]:
    made = Server(store, location_of(store.path), tmp_path / "run", check_interval=0.5)
    yield made
    made.stop()


@pytest.fixture
def recorder(server: Server) -> Recorder:
    """The states that the server reports."""
    states: Recorder = SimpleQueue()
    server.subscribe(states.put)
    return states


def start_server(server: Server, port: int = 0) -> On:
    server.start(port)
    state = server.wait_until_settled(SECONDS)
    assert isinstance(state, On)
    return state


def fail_to_start(server: Server, port: int = 0) -> Failed:
    server.start(port)
    state = server.wait_until_settled(SECONDS)
    assert isinstance(state, Failed)
    return state


def taken_port(stack: ExitStack, host: str = "127.0.0.1") -> int:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = stack.enter_context(socket.create_server((host, 0), family=family))
    port: int = listener.getsockname()[1]
    return port


# --- the states --------------------------------------------------------------------------------------------------


def test_states_are_reported_in_order(server: Server, recorder: Recorder) -> None:
    state = start_server(server)
    server.stop()
    assert state.url == f"http://127.0.0.1:{state.port}"
    assert [recorder.get(timeout=SECONDS) for _ in range(4)] == [Off(), Starting(0), state, Off()]
    assert server.state == Off()


def test_a_server_moves_to_another_port_or_stays_where_it_is(server: Server, recorder: Recorder) -> None:
    first = start_server(server)
    with ExitStack() as stack:
        port = taken_port(stack)
        with pytest.raises(PortInUseError) as caught:
            server.restart_on(port)
        assert server.state == first
        assert caught.value.free_port is not None
        server.restart_on(caught.value.free_port)
    assert server.wait_until_settled(SECONDS) == On(
        f"http://127.0.0.1:{caught.value.free_port}", caught.value.free_port
    )
    assert [recorder.get(timeout=SECONDS) for _ in range(3)] == [Off(), Starting(0), first]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", first.port), timeout=SECONDS)


def test_the_server_is_on_only_when_it_answers(server: Server, recorder: Recorder) -> None:
    answered = []

    def connect(state: ServerState) -> None:
        if isinstance(state, On):
            with socket.create_connection(("127.0.0.1", state.port), timeout=SECONDS) as connection:
                connection.sendall(b"GET /openapi.json HTTP/1.0\r\nHost: localhost\r\n\r\n")
                answered.append(connection.recv(12))

    server.subscribe(connect)
    start_server(server)
    assert answered == [b"HTTP/1.1 200"]
    assert recorder.get(timeout=SECONDS) == Off()


def test_start_and_stop_may_be_called_again(server: Server) -> None:
    server.stop()
    state = start_server(server)
    server.start(0)
    server.start(state.port)
    assert server.wait_until_settled(SECONDS) is state
    server.stop()
    server.stop()
    assert server.state == Off()
    server.start(state.port)  # the same port at once: what is left of the old connections does not hold it
    assert server.wait_until_settled(SECONDS) == state


@pytest.mark.parametrize(
    ("error", "expected"),
    [(OSError(errno.EMFILE, "Too many open files"), TooFewDescriptorsError), (ZeroDivisionError(), ServerFailedError)],
    ids=["files", "defect"],
)
def test_a_failed_start_is_reported_and_frees_the_port(
    server: Server, monkeypatch: pytest.MonkeyPatch, error: Exception, expected: type[Exception]
) -> None:
    with ExitStack() as stack:
        port = taken_port(stack)

    def fail() -> None:
        raise error

    with monkeypatch.context() as broken:
        broken.setattr("plantdesk.api.api_thread._create_loop", fail)
        state = fail_to_start(server, port)
    assert type(state.error) is expected
    start_server(server, port)


def test_a_listener_may_stop_the_server_or_fail(server: Server, recorder: Recorder) -> None:
    def stop(state: ServerState) -> None:
        if isinstance(state, On):
            server.stop()
            raise RuntimeError("a defect of the listener")  # noqa: TRY004

    server.subscribe(stop)
    server.start(0)
    assert [type(recorder.get(timeout=SECONDS)) for _ in range(4)] == [Off, Starting, On, Off]


def test_a_subscription_ends(server: Server, recorder: Recorder) -> None:
    late: Recorder = SimpleQueue()
    unsubscribe = server.subscribe(late.put)
    unsubscribe()
    start_server(server)
    assert recorder.get(timeout=SECONDS) == late.get(timeout=SECONDS) == Off()
    assert late.empty()


def test_it_may_be_called_by_several_threads(server: Server) -> None:
    def call(number: int) -> None:
        if number % 3:
            server.start(0)
        else:
            server.stop()

    before = set(threading.enumerate())
    threads = [threading.Thread(target=call, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    server.stop()
    assert server.state == Off()
    assert set(threading.enumerate()) <= before


# --- the truth about it ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_port_in_use_is_reported_with_a_free_one(server: Server, host: str) -> None:
    with ExitStack() as stack:
        port = taken_port(stack, host)
        state = fail_to_start(server, port)
        assert isinstance(state.error, PortInUseError)
        assert str(port) in str(state.error)
        free = state.error.free_port
        assert free is not None
        assert str(free) in str(state.error)
        assert start_server(server, free) == On(f"http://127.0.0.1:{free}", free)


@pytest.mark.parametrize("is_same", [True, False])
def test_the_plantdesk_that_has_the_port_is_named(store: SqliteStore, tmp_path: Path, *, is_same: bool) -> None:
    here, other = location_of(tmp_path / "plants.db"), location_of(tmp_path / "other.db")
    with ExitStack() as stack:
        first = Server(store, here if is_same else other, tmp_path / "run")
        second = Server(store, here, tmp_path / "run")
        for each in (first, second):
            stack.callback(each.stop)
        on = start_server(first)
        error = fail_to_start(second, on.port).error
        assert isinstance(error, PortOfPlantDeskError)
        assert error.is_same == is_same
        assert (here if is_same else other).url in str(error)
        with pytest.raises(PortOfPlantDeskError):
            second.restart_on(on.port)
        assert first.state == on


@pytest.mark.skipif(os.name != "posix", reason="Windows lets nobody remove a file that is open")
def test_an_unreadable_store_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "gone.db"
    with closing(SqliteStore(path)) as store:
        for file in tmp_path.glob("gone.db*"):
            file.unlink()
        server = Server(store, location_of(path), tmp_path / "run")
        assert str(fail_to_start(server).error)
        server.stop()


def test_an_unresponsive_server_is_reported_until_it_answers(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    api = serve(check_interval=0.2)
    recorder: Recorder = SimpleQueue()
    api.server.subscribe(recorder.put)
    on = recorder.get(timeout=SECONDS)
    go_on = threading.Event()
    # A defect that holds up the loop's thread.
    monkeypatch.setattr(plants, "new_plant", lambda values: go_on.wait(SECONDS) and new_plant(values))
    with api.opened() as connection:
        connection.sendall(api.whole({"id": 1, "name": "Fern"}))
        state = recorder.get(timeout=SECONDS)
        go_on.set()
        assert recorder.get(timeout=SECONDS) == on
    assert isinstance(state, Failed)
    assert isinstance(state.error, NotAnsweringError)


# --- where it listens --------------------------------------------------------------------------------------------


def test_it_answers_on_both_loopbacks_and_nowhere_else(server: Server) -> None:
    state = start_server(server)
    for host in ("127.0.0.1", "::1"):
        socket.create_connection((host, state.port), timeout=SECONDS).close()
    with pytest.raises(OSError):  # noqa: PT011  refused or out of reach, as the system likes
        socket.create_connection(("127.0.0.2", state.port), timeout=1).close()


@pytest.mark.timing
def test_a_response_on_a_kept_connection_does_not_wait_for_an_ack(serve: Serve) -> None:
    """Nagle's algorithm and delayed acknowledgements take 40 ms per response, except the first of a connection."""
    api = serve()
    request = api.whole({"id": 1, "name": "Fern"}, "Connection: keep-alive")
    kept: list[float] = []
    fresh: list[float] = []
    with api.opened() as connection:
        for _ in range(50):
            with api.opened() as another:
                for times, each in ((kept, connection), (fresh, another)):
                    began = time.monotonic()
                    each.sendall(request)
                    assert one_answer(each).status == 200
                    times.append(time.monotonic() - began)
    assert statistics.median(kept) < 5 * statistics.median(fresh)


# --- the file that scripts find it by ----------------------------------------------------------------------------


def test_the_runtime_file_exists_while_the_server_is_on(serve: Serve, tmp_path: Path) -> None:
    api = serve(runtime_folder=tmp_path / "run")
    (path,) = (tmp_path / "run").glob("*.json")
    content = json.loads(path.read_text())
    assert set(content) == {"url", "port", "socket", "pid", "started", "database", "version", "key"}
    assert (content["url"], content["port"], content["pid"]) == (f"http://127.0.0.1:{api.port}", api.port, os.getpid())
    assert content["database"] == str(api.path)
    assert api.token not in path.read_text()
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == 0o600
    api.server.stop()
    assert not (tmp_path / "run").exists()
