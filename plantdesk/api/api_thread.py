"""The event loop that serves the interface, and its thread."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
import time
from dataclasses import replace
from email.utils import formatdate
from typing import TYPE_CHECKING

from uvicorn.config import Config
from uvicorn.server import ServerState

from plantdesk.api.app import Application, application
from plantdesk.api.batch_inserter import Intake
from plantdesk.api.file_descriptors import free_descriptors
from plantdesk.api.http.flow_control import reading_little
from plantdesk.api.http.protocol import PlantProtocol
from plantdesk.api.sockets import BACKLOG
from plantdesk.server_state import TooFewDescriptorsError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from plantdesk.api.discovery.server_identity import Identity
    from plantdesk.api.limits import Limits
    from plantdesk.store import Store

    class _Closable(Protocol):
        def close(self) -> None: ...


#: Descriptors that the program may need besides those of connections: generously, and at least (its loop, its store).
_OTHER_DESCRIPTORS = 200
_MIN_OTHER_DESCRIPTORS = 16
#: Free descriptors from which each listening socket gets several, and connections without which a server is of no use.
_PLENTY = 400
_MIN_CONNECTIONS = 8
#: Descriptors of each listening socket. On each, uvloop takes one connection in a turn of its loop, and those of a good
#: client should not wait for as many turns as two hundred others have opened before.
_EARS = 8
#: Headers of every answer: no browser may guess its type, show it in a frame, hand it to another site, or keep it.
_SAFE_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
]
#: Seconds for requests that nobody waits for any more, where the limits' grace is over.
_LAST_LOOK = 0.05


class Service:
    """Serves on sockets that listen already, from `start` to `stop`, on a thread of its own."""

    def __init__(self, sockets: Sequence[socket.socket], store: Store, identity: Identity, limits: Limits) -> None:
        """Prepare to serve. Raises TooFewDescriptorsError where too few connections could be taken."""
        self._sockets = sockets
        self._store = store
        self._identity = identity
        free = free_descriptors()
        self._ears = _EARS if free >= _PLENTY else 1
        self._limits = replace(limits, connections=min(limits.connections, _max_connections(free)))
        self._loop = _new_loop()
        self._stopping = asyncio.Event()
        self._state = ServerState()
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="api", daemon=True)

    def start(self) -> None:
        """Begin to serve; returns when connections are taken. Raises what kept it from that."""
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Give the answers that are due, within the limits' grace, and end the thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as error:  # noqa: BLE001  the top of the thread: `start` raises it where it is seen
            self._failure = error
        finally:
            self._loop.close()
            for listener in self._sockets:
                listener.close()
            self._ready.set()

    async def _serve(self) -> None:
        checker = self._store.tokens.checker()
        try:
            intake = Intake(self._store, self._loop)
            app = application(self._store, checker, intake, identity=self._identity, limits=self._limits)
            await self._serve_app(app)
        finally:
            checker.close()

    async def _serve_app(self, app: Application) -> None:
        config = Config(app, ws="none", lifespan="off", log_config=None, server_header=False, proxy_headers=False)
        config.load()
        self._look_at_clock()
        make = reading_little(lambda: PlantProtocol(config, self._state, self._loop, self._limits))
        servers = [server for listener in self._sockets for server in await self._taking(listener, make)]
        self._ready.set()
        await self._stopping.wait()
        for server in servers:
            server.close()
        await self._let_go()

    async def _taking(
        self, listener: socket.socket, protocol: Callable[[], asyncio.BaseProtocol]
    ) -> Sequence[_Closable]:
        if sys.platform == "win32":
            from plantdesk.api.http.windows_acceptor import Acceptor

            return [Acceptor(listener, protocol)]
        else:  # noqa: RET505  mypy takes what follows such a return for unreachable there
            if listener.family == socket.AF_UNIX:
                return [await self._loop.create_unix_server(protocol, sock=listener, backlog=BACKLOG)]
            ears = [listener.dup() for _ in range(self._ears)]
            return [await self._loop.create_server(protocol, sock=ear, backlog=BACKLOG) for ear in ears]

    def _look_at_clock(self) -> None:
        """Renew the Date that answers carry, and let each connection look whether its client takes too long."""
        self._state.default_headers = [(b"date", formatdate(time.time(), usegmt=True).encode()), *_SAFE_HEADERS]
        now = self._loop.time()
        for connection in self._connections():
            connection.look_at_clock(now)
        self._clock = self._loop.call_later(self._limits.tick, self._look_at_clock)

    async def _let_go(self) -> None:
        """End all connections: the idle at once, others when they have their answer, all after the limits' grace."""
        deadline = self._loop.time() + self._limits.grace
        for connection in self._connections():
            connection.shutdown()
        while self._connections() and self._loop.time() < deadline:  # noqa: ASYNC110  uvicorn tells nobody of their end
            await asyncio.sleep(0.01)
        for connection in self._connections():
            connection.transport.abort()
        self._clock.cancel()
        if self._state.tasks:
            left = max(_LAST_LOOK, deadline - self._loop.time())
            _, late = await asyncio.wait(list(self._state.tasks), timeout=left)
            for task in late:  # the store may write their plants all the same; nobody is left to be told
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _connections(self) -> list[PlantProtocol]:
        return [each for each in self._state.connections if isinstance(each, PlantProtocol)]


def _max_connections(free: int) -> int:
    """Return how many connections leave enough descriptors to the database, the window, and those that come."""
    found = max(free - _OTHER_DESCRIPTORS, (free - _MIN_OTHER_DESCRIPTORS) * 2 // 3)
    if found < _MIN_CONNECTIONS:
        raise TooFewDescriptorsError
    return found


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:  # there is none for Windows
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
