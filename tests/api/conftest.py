from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from plantdesk.api.server import Server
from plantdesk.store import location_of
from plantdesk.store.sqlite.store import Store
from tests.api.client import Api

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.api.http.requests import ConnectionLimits

    Serve = Callable[..., Api]


@pytest.fixture(scope="session")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A server that tests share: each uses its own ids and changes nothing else."""
    with ExitStack() as stack:
        yield _served(tmp_path_factory.mktemp("api") / "plants.db", stack)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start a server with its own store."""
    with ExitStack() as stack:
        yield lambda **options: _served(tmp_path / "plants.db", stack, **options)


def _served(
    path: Path, stack: ExitStack, *, limits: ConnectionLimits | None = None, runtime_folder: Path | None = None
) -> Api:
    store = Store(path)
    stack.callback(store.close)
    server = Server(store, location_of(store.path), limits=limits, runtime_folder=runtime_folder)
    stack.callback(server.stop)
    server.start(0)
    return Api(store, server)
