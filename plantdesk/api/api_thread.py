"""The thread whose event loop runs the ASGI application of the API."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import replace
from functools import partial

from uvicorn.config import Config
from uvicorn.server import ServerState as UvicornState

from plantdesk.api.app import Application
from plantdesk.api.discovery import ServerIdentity
from plantdesk.api.limits import ConnectionLimits, compute_max_connections
from plantdesk.api.plants import BatchInserter
from plantdesk.api.protocol import HttpProtocol
from plantdesk.api.sockets import BACKLOG
from plantdesk.domain.activity import Activity
from plantdesk.domain.errors import StoreClosedError
from plantdesk.domain.protocols import ServedStore

#: Seconds for each step of closing connections after the shutdown timeout.
_CLOSE_TIMEOUT = 0.05


class ApiThread:
    """A thread that accepts connections on listening sockets and answers requests, from `start` to `stop`."""

    def __init__(
        self,
        sockets: Sequence[socket.socket],
        store: ServedStore,
        identity: ServerIdentity,
        limits: ConnectionLimits,
        activity: Activity,
    ) -> None:
        """Create the event loop, which does not run yet. Raises TooFewDescriptorsError."""
        self._sockets = sockets
        self._store = store
        self._identity = identity
        self._activity = activity
        self._limits = replace(limits, connections=compute_max_connections(limits.connections))
        self._loop = _create_loop()
        self._stopping = asyncio.Event()
        self._uvicorn_state = UvicornState()
        self._ready: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name="api", daemon=True)

    def start(self) -> None:
        """Start serving; return when connections are accepted. Raises any exception of the start."""
        self._thread.start()
        if self._ready.exception() is not None:
            self._thread.join()
        self._ready.result()

    def stop(self) -> None:
        """Finish the requests in progress within the shutdown timeout, and wait until the thread has ended."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    def _run(self) -> None:
        """Run the event loop to its end. An exception before it serves is raised by `start`."""
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as error:
            if self._ready.done():
                raise
            self._ready.set_exception(error)  # `start` raises it
        finally:
            self._loop.close()
            for listener in self._sockets:
                listener.close()

    async def _serve(self) -> None:
        """Accept connections on all sockets until `stop`, then close them."""
        with closing(self._store.tokens.open_lookup()) as lookup:
            inserter = BatchInserter(self._store, self._loop)
            app = Application(
                self._store, lookup, inserter, self._activity, identity=self._identity, limits=self._limits
            )
            config = Config(app, ws="none", lifespan="off", log_config=None, log_level="info", proxy_headers=False)
            new_protocol = partial(
                HttpProtocol, config, self._uvicorn_state, self._loop, limits=self._limits, activity=self._activity
            )
            servers = [await self._start_server(listener, new_protocol) for listener in self._sockets]
            self._ready.set_result(None)
            await self._stopping.wait()
            for server in servers:
                server.close()
            await self._close_connections(inserter)

    async def _start_server(self, listener: socket.socket, new_protocol: Callable[[], HttpProtocol]) -> asyncio.Server:
        if listener.family in {socket.AF_INET, socket.AF_INET6}:
            return await self._loop.create_server(new_protocol, sock=listener, backlog=BACKLOG)
        return await self._loop.create_unix_server(new_protocol, sock=listener, backlog=BACKLOG)

    async def _close_connections(self, inserter: BatchInserter) -> None:
        """Close idle connections at once, others after their response, and all after the shutdown timeout.

        Requests that the store has not answered by then get a 503: sending them again is safe.
        """
        for connection in self._list_connections():
            connection.shutdown()
        await self._wait_for_connections(self._limits.shutdown_timeout)
        inserter.fail_waiting(StoreClosedError())
        await self._wait_for_connections(_CLOSE_TIMEOUT)
        for connection in self._list_connections():
            connection.transport.abort()
        await self._wait_for_connections(_CLOSE_TIMEOUT)
        for task in self._uvicorn_state.tasks:  # there is no client to answer
            task.cancel()
        await asyncio.gather(*self._uvicorn_state.tasks, return_exceptions=True)

    async def _wait_for_connections(self, seconds: float) -> None:
        if lost := [connection.lost for connection in self._list_connections()]:
            await asyncio.wait(lost, timeout=seconds)

    def _list_connections(self) -> list[HttpProtocol]:
        return [connection for connection in self._uvicorn_state.connections if isinstance(connection, HttpProtocol)]


def _create_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:  # Windows: its usual loop stops accepting connections after one was aborted
        return asyncio.SelectorEventLoop()
    return uvloop.new_event_loop()
