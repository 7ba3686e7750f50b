"""The sockets that the server listens on: the loopback of this machine, a Unix domain socket, nothing else, ever."""

from __future__ import annotations

import errno
import socket
import sys
from typing import TYPE_CHECKING

from plantdesk.api.port_owners import foreign_owner
from plantdesk.server_state import (
    PortInUseError,
    PortOfOtherUserError,
    PortReservedError,
    ServerError,
    ServerFailedError,
    TooFewDescriptorsError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Connections that wait to be taken; one more would try again after a second.
BACKLOG = 1024
#: What tells that there is no IPv6 on this machine.
_NO_ADDRESS = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT}
_NEIGHBOURS = 20
_HIGHEST = 65535


def listen(port: int) -> list[socket.socket]:
    """Return sockets that listen on 127.0.0.1 and, where there is one, ::1, both on `port` (0: any free one).

    Raises PortTakenError, ServerFailedError.
    """
    try:
        return _listen(port)
    except OSError as error:
        raise _told(error, port) from error


def local_sockets(path: Path) -> list[socket.socket]:
    """Return a Unix domain socket that listens at `path`, mode 0600; none on Windows.

    Raises OSError, also for a path that is too long for one.
    """
    if sys.platform == "win32":
        return []
    else:  # noqa: RET505  mypy takes what follows such a return for unreachable there
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind(str(path))
            path.chmod(0o600)
            listener.listen(BACKLOG)
            listener.setblocking(False)
        except OSError:
            listener.close()
            raise
        return [listener]


def _listen(port: int) -> list[socket.socket]:
    if port:
        return _on_both(port)
    for _ in range(_NEIGHBOURS):  # what is free on 127.0.0.1 need not be so on ::1
        try:
            return _on_both(0)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
    return _on_both(0)


def _on_both(port: int) -> list[socket.socket]:
    first = _bound(socket.AF_INET, "127.0.0.1", port)
    try:
        return [first, _bound(socket.AF_INET6, "::1", first.getsockname()[1])]
    except OSError as error:
        if error.errno in _NO_ADDRESS:
            return [first]
        first.close()
        raise


def _bound(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    # With the protocol named, asyncio sets TCP_NODELAY; without it each answer on a kept connection waits 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform == "win32":
            # There, SO_REUSEADDR would let another program listen on the same port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener


def _told(error: OSError, port: int) -> ServerError:
    if error.errno == errno.EADDRINUSE:
        owner = foreign_owner(port)
        if owner is not None:
            return PortOfOtherUserError(port, _free_port(port), owner)
        return PortInUseError(port, _free_port(port))
    if error.errno == errno.EACCES or getattr(error, "winerror", None) == 10013:  # noqa: PLR2004  WSAEACCES
        return PortReservedError(port, _free_port(port))
    if error.errno in {errno.EMFILE, errno.ENFILE}:
        return TooFewDescriptorsError()
    return ServerFailedError(f"The server could not be started: {error.strerror or error}.")


def _free_port(taken: int) -> int | None:
    for port in _candidates(taken):
        try:
            sockets = _on_both(port)
        except OSError:
            continue
        found: int = sockets[0].getsockname()[1]
        for listener in sockets:
            listener.close()
        return found
    return None


def _candidates(taken: int) -> Iterator[int]:
    """Yield the ports nearby first, since they are easily kept in mind; then whatever the system gives."""
    yield from range(taken + 1, min(taken + _NEIGHBOURS, _HIGHEST) + 1)
    yield 0
