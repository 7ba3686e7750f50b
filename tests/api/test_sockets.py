"""The errors of bind(), on Linux and Windows."""

import errno
import socket
from contextlib import ExitStack

import pytest

from plantdesk.api import sockets
from plantdesk.domain.server_state import PortInUseError, PortReservedError, ServerFailedError
from tests.support.ports import free_port


def windows_error(number: int, code: int) -> OSError:
    """Return the error that Python raises on Windows, with `winerror`."""
    error = OSError(number, "An attempt was made to access a socket in a way forbidden by its access permissions")
    error.winerror = code  # type: ignore[attr-defined, unused-ignore]
    return error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.EADDRINUSE, "Address already in use"), PortInUseError),
        (windows_error(errno.EADDRINUSE, 10048), PortInUseError),
        (OSError(errno.EACCES, "Permission denied"), PortReservedError),
        (windows_error(errno.EACCES, 10013), PortReservedError),
        (windows_error(errno.EINVAL, 10013), PortReservedError),
        (OSError(errno.ENOBUFS, "No buffer space available"), ServerFailedError),
    ],
)
def test_each_error_has_its_own_message(
    error: OSError, expected: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    original = sockets._bind_and_listen  # noqa: SLF001
    free = free_port()  # else the message may name another user who has the port

    def refused(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
        if port == free:
            raise error
        return original(family, host, port)

    monkeypatch.setattr(sockets, "_bind_and_listen", refused)
    with pytest.raises(expected):
        sockets.listen(free)


@pytest.mark.parametrize("number", [errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT])
def test_without_ipv6_it_listens_on_ipv4(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    original = sockets._bind_and_listen  # noqa: SLF001

    def no_ipv6(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
        if family == socket.AF_INET6:
            raise OSError(number, "no IPv6 here")
        return original(family, host, port)

    monkeypatch.setattr(sockets, "_bind_and_listen", no_ipv6)
    with ExitStack() as stack:
        (only,) = [stack.enter_context(listener) for listener in sockets.listen(0)]
        assert only.getsockname()[0] == "127.0.0.1"
