"""The thread with the event loop that serves the API."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from uvicorn.config import Config
from uvicorn.server import ServerState

from plantdesk.api.app import Application, make_application
from plantdesk.api.plants import BatchInserter
from plantdesk.api.protocol import HttpProtocol
from plantdesk.api.sockets import BACKLOG, WindowsAcceptor, free_descriptors, max_connections
from plantdesk.domain.errors import StoreClosedError

if TYPE_CHECKING:
    from typing import Protocol

    from plantdesk.api.discovery import ServerIdentity
    from plantdesk.api.limits import ConnectionLimits
    from plantdesk.domain.activity import Activity
    from plantdesk.domain.protocols import ServedStore

    class _Closable(Protocol):
        def close(self) -> None: ...


#: Duplicates of each listening socket, where at least so many descriptors are free. uvloop accepts one connection per
#: listener in a turn of its loop; with one listener, a client would wait for as many turns as connections came before.
_LISTENERS = 8
_MIN_FREE_FOR_LISTENERS = 400
#: Seconds for requests without a connection, where the shutdown timeout is over.
_MIN_TASK_TIMEOUT = 0.05
_POLL_INTERVAL = 0.01


class ApiThread:
    """Serves on listening sockets from `start` to `stop`."""

    def __init__(
        self,
        sockets: Sequence[socket.socket],
        store: ServedStore,
        identity: ServerIdentity,
        limits: ConnectionLimits,
        activity: Activity,
    ) -> None:
        """Raises TooFewDescriptorsError where the process may open too few connections."""
        self._sockets = sockets
        self._store = store
        self._identity = identity
        self._activity = activity
        free = free_descriptors()
        self._listeners = _LISTENERS if free >= _MIN_FREE_FOR_LISTENERS else 1
        self._limits = replace(limits, connections=min(limits.connections, max_connections(free)))
        self._loop = _new_loop()
        self._stopping = asyncio.Event()
        self._state = ServerState()
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="api", daemon=True)

    def start(self) -> None:
        """Start serving; return when connections are accepted. Raises what prevents it."""
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Send the responses that are due, within the shutdown timeout, and end the thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as error:  # noqa: BLE001  top of a thread: `start` raises it
            self._failure = error
        finally:
            self._loop.close()
            for listener in self._sockets:
                listener.close()
            self._ready.set()

    async def _serve(self) -> None:
        checker = self._store.tokens.checker()
        try:
            inserter = BatchInserter(self._store, self._loop)
            app = make_application(
                self._store, checker, inserter, self._activity, identity=self._identity, limits=self._limits
            )
            await self._serve_app(app, inserter)
        finally:
            checker.close()

    async def _serve_app(self, app: Application, inserter: BatchInserter) -> None:
        config = Config(app, ws="none", lifespan="off", log_config=None, server_header=False, proxy_headers=False)
        config.load()
        make = partial(
            HttpProtocol,
            config,
            self._state,
            self._loop,
            limits=self._limits,
            activity=self._activity,
            add_known=app.known_heads.add,
        )
        servers = [server for listener in self._sockets for server in await self._accept(listener, make)]
        self._ready.set()
        await self._stopping.wait()
        for server in servers:
            server.close()
        await self._close_connections(inserter)

    async def _accept(
        self, listener: socket.socket, protocol: Callable[[], asyncio.BaseProtocol]
    ) -> Sequence[_Closable]:
        servers: list[_Closable] = []
        if sys.platform == "win32":
            servers.append(WindowsAcceptor(listener, protocol))
        elif listener.family == socket.AF_UNIX:
            servers.append(await self._loop.create_unix_server(protocol, sock=listener, backlog=BACKLOG))
        else:
            duplicates = [listener.dup() for _ in range(self._listeners)]
            servers += [await self._loop.create_server(protocol, sock=each, backlog=BACKLOG) for each in duplicates]
        return servers

    async def _close_connections(self, inserter: BatchInserter) -> None:
        """Close idle connections at once, others after their response, and all after the shutdown timeout.

        What the store has not answered by then gets a 503: the same request again is safe.
        """
        deadline = self._loop.time() + self._limits.shutdown_timeout
        for connection in self._connections():
            connection.shutdown()
        await self._wait_for_connections(deadline)
        inserter.give_up(StoreClosedError())
        await self._wait_for_connections(self._loop.time() + _MIN_TASK_TIMEOUT)
        for connection in self._connections():
            connection.abort()
        if self._state.tasks:
            left = max(_MIN_TASK_TIMEOUT, deadline - self._loop.time())
            _, late = await asyncio.wait(list(self._state.tasks), timeout=left)
            for task in late:  # there is no client to answer
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _wait_for_connections(self, deadline: float) -> None:
        while self._connections() and self._loop.time() < deadline:  # noqa: ASYNC110  uvicorn has no event for it
            await asyncio.sleep(_POLL_INTERVAL)

    def _connections(self) -> list[HttpProtocol]:
        return [each for each in self._state.connections if isinstance(each, HttpProtocol)]


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:  # not available for Windows
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
