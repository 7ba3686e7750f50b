from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from plantdesk.api.server import Server
from plantdesk.store import location_of
from plantdesk.store.sqlite.store import SqliteStore
from tests.api.client import Api

Serve = Callable[..., Api]


@pytest.fixture(scope="session")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A server that tests share: each uses its own ids and changes nothing else."""
    with ExitStack() as stack:
        yield _served(tmp_path_factory.mktemp("api") / "plants.db", stack)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start a server with its own store, in a file of its own or that is given; with the options of `Server`."""
    with ExitStack() as stack:
        yield lambda path=tmp_path / "plants.db", **options: _served(path, stack, **options)


def _served(path: Path, stack: ExitStack, **options: Any) -> Api:  # noqa: ANN401
    store = SqliteStore(path)
    stack.callback(store.close)
    server = Server(store, location_of(store.path), **{"runtime_folder": path.with_name("run"), **options})
    stack.callback(server.stop)
    server.start(0)
    return Api(store, server)
