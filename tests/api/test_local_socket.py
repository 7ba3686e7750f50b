"""The Unix domain socket: the same API, for its owner only."""

import json
import os
import socket
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from plantdesk.domain.errors import ErrorNumber
from tests.api.client import Answer, Api, answers, runtime_of
from tests.api.conftest import Serve
from tests.support.waiting import SECONDS

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Python has no such sockets on Windows")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short path: that of a socket has at most about 100 bytes."""
    with tempfile.TemporaryDirectory() as short:
        yield Path(short) / "run"


@pytest.fixture
def api(serve: Serve, folder: Path) -> Api:
    return serve(runtime_folder=folder)


def path_of(api: Api, folder: Path) -> Path:
    return Path(runtime_of(api, folder).socket)


def exchange(path: Path, request: bytes) -> list[Answer]:
    with closing(socket.socket(socket.AF_UNIX)) as connection:
        connection.settimeout(SECONDS)
        connection.connect(str(path))
        connection.sendall(request)
        return answers(connection)


def test_it_takes_plants_as_the_port_does(api: Api, folder: Path) -> None:
    (answer,) = exchange(path_of(api, folder), api.whole({"id": 7, "name": "Fern"}))
    assert (answer.status, answer.json) == (200, {"name": "Fern"})
    assert api.stored() == {7: ("Fern", None)}


def test_it_refuses_what_the_port_refuses(api: Api, folder: Path) -> None:
    path = path_of(api, folder)
    assert exchange(path, api.whole({}, host="evil.example"))[0].number is ErrorNumber.HOST_REFUSED
    without_token = api.whole({}).replace(api.token.encode(), b"x")
    assert exchange(path, without_token)[0].number is ErrorNumber.TOKEN_REFUSED
    assert exchange(path, b"rubbish\r\n\r\n")[0].number is ErrorNumber.MALFORMED_HTTP


def test_only_its_owner_can_reach_it_and_it_ends_with_the_server(api: Api, folder: Path) -> None:
    assert stat.S_IMODE(path_of(api, folder).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    api.server.stop()
    assert not folder.exists()


def test_the_socket_of_a_killed_start_is_removed(serve: Serve, folder: Path) -> None:
    folder.mkdir()
    with closing(socket.socket(socket.AF_UNIX)) as killed, closing(socket.socket(socket.AF_UNIX)) as starting:
        killed.bind(str(folder / "killed.sock"))
        starting.bind(str(folder / "starting.sock"))
        starting.listen()
        killed.close()
        serve(runtime_folder=folder)
        assert not (folder / "killed.sock").exists()
        assert (folder / "starting.sock").exists()


def test_the_folder_is_made_private(serve: Serve, folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    serve(runtime_folder=folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_with_too_long_a_path_only_the_port_is_served(serve: Serve, tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 100)
    api = serve(runtime_folder=folder)
    assert runtime_of(api, folder).socket == ""
    assert json.loads(api.post({"id": 1, "name": "Fern"}).body) == {"name": "Fern"}
