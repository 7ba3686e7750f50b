"""The sockets that the server listens on: loopback addresses and a Unix domain socket, never anything else."""

from __future__ import annotations

import contextlib
import errno
import socket
import sys
from pathlib import Path

from plantdesk import LARGEST_PORT
from plantdesk.api.discovery import find_foreign_owner
from plantdesk.domain.server_state import (
    PortInUseError,
    PortOfOtherUserError,
    PortReservedError,
    ServerError,
    ServerFailedError,
    TooFewDescriptorsError,
)
from plantdesk.domain.texts import Text

#: The most connections that wait to be accepted; the client of another one retries after a second.
BACKLOG = 1024
#: The size of a connection's receive buffer: it limits the bytes that are read at once.
_RECEIVE_BUFFER_BYTES = 65_536
#: The errors of bind() on a machine without IPv6.
_NO_IPV6 = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT}
_WSAEACCES = 10013
#: How many of the following ports are tried for a suggestion.
_NEARBY_PORT_COUNT = 20


def listen(port: int) -> list[socket.socket]:
    """Return sockets that listen on 127.0.0.1 and, if available, ::1, both on `port` (0: any free one).

    Raises PortTakenError, ServerFailedError.
    """
    try:
        return _listen_on_both(port)
    except OSError as error:
        raise _explain_listen_error(error, port) from error


def listen_on_path(path: Path) -> socket.socket | None:
    """Return a Unix domain socket that listens at `path`, mode 0600; None on Windows.

    Raises OSError, also for a path that is too long for a socket.
    """
    listener: socket.socket | None = None
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
    return listener


def _listen_on_both(port: int) -> list[socket.socket]:
    ipv4_listener = _bind_and_listen(socket.AF_INET, "127.0.0.1", port)
    try:
        return [ipv4_listener, _bind_and_listen(socket.AF_INET6, "::1", ipv4_listener.getsockname()[1])]
    except OSError as error:
        if error.errno in _NO_IPV6:
            return [ipv4_listener]
        ipv4_listener.close()
        raise


def _bind_and_listen(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    """Return a listening TCP socket that does not block. Raises OSError."""
    # asyncio sets TCP_NODELAY only if the protocol is given; without it a response on a kept connection waits 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform == "win32":
            # On Windows, SO_REUSEADDR would let another program listen on the same port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER_BYTES)
        listener.bind((host, port))
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener


def _explain_listen_error(error: OSError, port: int) -> ServerError:
    """Return the error that says why no server can listen on `port`."""
    if error.errno == errno.EADDRINUSE:
        owner = find_foreign_owner(port)
        if owner is not None:
            return PortOfOtherUserError(port, _find_free_port(port), owner)
        return PortInUseError(port, _find_free_port(port))
    if error.errno == errno.EACCES or getattr(error, "winerror", None) == _WSAEACCES:
        return PortReservedError(port, _find_free_port(port))
    if error.errno in {errno.EMFILE, errno.ENFILE}:
        return TooFewDescriptorsError()
    return ServerFailedError(Text("The server could not be started: {reason}."), reason=error.strerror or str(error))


def _find_free_port(taken_port: int) -> int | None:
    """Return one of the next ports, which are easy to remember, or any free one; None if there is none."""
    for port in (*range(taken_port + 1, min(taken_port + _NEARBY_PORT_COUNT, LARGEST_PORT) + 1), 0):
        with contextlib.suppress(OSError):
            sockets = _listen_on_both(port)
            free_port: int = sockets[0].getsockname()[1]
            for listener in sockets:
                listener.close()
            return free_port
    return None
