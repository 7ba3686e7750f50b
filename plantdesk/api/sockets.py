"""The sockets that the server listens on: loopback addresses and a Unix domain socket, never anything else.

On Windows a thread accepts connections. Also here: how many connections the limit on open files allows.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import select
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from plantdesk import LARGEST_PORT
from plantdesk.api.discovery import foreign_owner
from plantdesk.domain.errors import Text
from plantdesk.domain.server_state import (
    PortInUseError,
    PortOfOtherUserError,
    PortReservedError,
    ServerError,
    ServerFailedError,
    TooFewDescriptorsError,
)

if TYPE_CHECKING:
    import asyncio


#: Descriptors of stdin, stdout and stderr, where the open ones cannot be counted.
_STANDARD = 3
#: Descriptors that database, window and event loop need, and the fewest with which they work.
_RESERVED = 200
_MIN_RESERVED = 16
#: With fewer connections a server is of no use.
_MIN_CONNECTIONS = 8


def free_descriptors() -> int:
    """Return how many descriptors may still be opened; `sys.maxsize` where there is no limit."""
    if sys.platform != "win32":
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if limit != resource.RLIM_INFINITY:
            return limit - _open_descriptors()
    return sys.maxsize


def max_connections(free: int) -> int:
    """Return how many connections leave enough of `free` descriptors. Raises TooFewDescriptorsError."""
    found = max(free - _RESERVED, (free - _MIN_RESERVED) * 2 // 3)
    if found < _MIN_CONNECTIONS:
        raise TooFewDescriptorsError
    return found


def _open_descriptors() -> int:
    with contextlib.suppress(OSError):  # no /dev, or no descriptor left to list it with
        return len(list(Path("/dev/fd").iterdir()))
    return _STANDARD


#: Connections that wait to be accepted; the client of one more retries after a second.
BACKLOG = 1024
#: Bytes of each connection: the most that is read at once.
_RECEIVE_BUFFER = 65_536
#: The errors of bind() on a machine without IPv6.
_NO_IPV6 = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT}
_WSAEACCES = 10013
_NEARBY = 20


def listen(port: int) -> list[socket.socket]:
    """Return sockets that listen on 127.0.0.1 and, where available, ::1, both on `port` (0: any free one).

    Raises PortTakenError, ServerFailedError.
    """
    try:
        return _listen(port)
    except OSError as error:
        raise _server_error(error, port) from error


def local_sockets(path: Path) -> list[socket.socket]:
    """Return a Unix domain socket that listens at `path`, mode 0600; none on Windows.

    Raises OSError, also for a path that is too long for a socket.
    """
    found: list[socket.socket] = []
    if sys.platform != "win32":
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind(str(path))
            path.chmod(0o600)
            listener.listen(BACKLOG)
            listener.setblocking(False)
        except OSError:
            listener.close()
            raise
        found.append(listener)
    return found


def _listen(port: int) -> list[socket.socket]:
    if port:
        return _listen_on_both(port)
    for _ in range(_NEARBY):  # a port that is free on 127.0.0.1 may be in use on ::1
        try:
            return _listen_on_both(0)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
    return _listen_on_both(0)


def _listen_on_both(port: int) -> list[socket.socket]:
    first = _bound(socket.AF_INET, "127.0.0.1", port)
    try:
        return [first, _bound(socket.AF_INET6, "::1", first.getsockname()[1])]
    except OSError as error:
        if error.errno in _NO_IPV6:
            return [first]
        first.close()
        raise


def _bound(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    # asyncio sets TCP_NODELAY only where the protocol is given; without it a response on a kept connection waits 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform == "win32":
            # There, SO_REUSEADDR would let another program listen on the same port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
        listener.bind((host, port))
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener


def _server_error(error: OSError, port: int) -> ServerError:
    if error.errno == errno.EADDRINUSE:
        owner = foreign_owner(port)
        if owner is not None:
            return PortOfOtherUserError(port, _free_port(port), owner)
        return PortInUseError(port, _free_port(port))
    if error.errno == errno.EACCES or getattr(error, "winerror", None) == _WSAEACCES:
        return PortReservedError(port, _free_port(port))
    if error.errno in {errno.EMFILE, errno.ENFILE}:
        return TooFewDescriptorsError()
    return ServerFailedError(Text("The server could not be started: {reason}."), reason=error.strerror or str(error))


def _free_port(taken: int) -> int | None:
    for port in _candidates(taken):
        try:
            sockets = _listen_on_both(port)
        except OSError:
            continue
        found: int = sockets[0].getsockname()[1]
        for listener in sockets:
            listener.close()
        return found
    return None


def _candidates(taken: int) -> Iterator[int]:
    """Yield the next ports, which are easy to remember, then 0: any that the system chooses."""
    yield from range(taken + 1, min(taken + _NEARBY, LARGEST_PORT) + 1)
    yield 0


_log = logging.getLogger(__name__)

#: Seconds until the next try where accept() fails, as without a free handle.
_RETRY_DELAY = 0.1


class WindowsAcceptor:
    """Accepts connections of one listening socket until `close`. Construct it on the loop's thread."""

    def __init__(self, listener: socket.socket, protocol: Callable[[], asyncio.BaseProtocol]) -> None:
        self._listener = listener
        self._protocol = protocol
        import asyncio  # `info` does not need it

        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[object]] = set()
        self._stop_receiver, self._stop_sender = socket.socketpair()
        self._thread = threading.Thread(target=self._accept, name="api-accept", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop accepting; the listening socket can be closed afterwards."""
        self._stop_sender.close()
        self._thread.join()
        self._stop_receiver.close()

    def _accept(self) -> None:
        while self._stop_receiver not in select.select([self._listener, self._stop_receiver], [], [])[0]:
            try:
                connection, _ = self._listener.accept()
            except (BlockingIOError, ConnectionError):  # the client is gone
                continue
            except OSError as error:
                _log.debug("A connection could not be accepted: %s", error)
                select.select([self._stop_receiver], [], [], _RETRY_DELAY)
            else:
                connection.setblocking(False)
                self._loop.call_soon_threadsafe(self._connect, connection)

    def _connect(self, connection: socket.socket) -> None:
        task = self._loop.create_task(self._serve(connection))
        self._tasks.add(task)  # the loop keeps only a weak reference
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):  # the client is gone
            await self._loop.connect_accepted_socket(self._protocol, connection)
