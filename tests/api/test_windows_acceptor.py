"""`WindowsAcceptor` on asyncio's own event loop, on any system."""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import closing

from typing_extensions import override

from plantdesk.api.sockets import WindowsAcceptor, listen

RESET = struct.pack("ii", 1, 0)


class Greeter(asyncio.Protocol):
    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        transport.write(b"welcome")
        transport.close()


class Faulty(socket.socket):
    """A listening socket whose first calls of accept() fail."""

    failures: list[OSError]

    @override
    def accept(self) -> tuple[socket.socket, object]:
        if self.failures:
            raise self.failures.pop()
        return super().accept()


def one_listener() -> socket.socket:
    listener, *others = listen(0)
    for other in others:
        other.close()
    return listener


async def greeted(port: int) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    greeting = await reader.read()
    writer.close()
    await writer.wait_closed()
    return greeting


def test_aborted_connections_do_not_stop_it() -> None:
    async def check() -> None:
        with one_listener() as listener, closing(WindowsAcceptor(listener, Greeter)):
            port = listener.getsockname()[1]
            for _ in range(5):
                for _ in range(20):
                    with socket.create_connection(("127.0.0.1", port)) as gone:
                        gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                assert await asyncio.wait_for(greeted(port), 20) == b"welcome"

    asyncio.run(check())


def test_a_failed_accept_is_retried() -> None:
    async def check() -> None:
        with Faulty(fileno=one_listener().detach()) as listener:
            listener.failures = [ConnectionResetError(), OSError(24, "Too many open files")]
            with closing(WindowsAcceptor(listener, Greeter)):
                assert await asyncio.wait_for(greeted(listener.getsockname()[1]), 20) == b"welcome"
            assert listener.failures == []

    asyncio.run(check())
