"""Taking connections as it is done on Windows, on the event loop that is Python's own wherever this runs."""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import TYPE_CHECKING

from typing_extensions import override

from plantdesk.api.accepting import Acceptor
from plantdesk.api.listening import listen

if TYPE_CHECKING:
    import pytest

RESET = struct.pack("ii", 1, 0)


class Greeter(asyncio.Protocol):
    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        transport.write(b"welcome")
        transport.close()


async def greeted(port: int) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    greeting = await reader.read()
    writer.close()
    await writer.wait_closed()
    return greeting


def test_clients_that_come_and_are_gone_keep_nobody_out() -> None:
    async def check() -> None:
        listener, *others = listen(0)
        port = listener.getsockname()[1]
        for other in others:
            other.close()
        with listener:
            acceptor = Acceptor(listener, Greeter)
            for _ in range(5):
                for _ in range(20):
                    with socket.create_connection(("127.0.0.1", port)) as gone:
                        gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                assert await asyncio.wait_for(greeted(port), 20) == b"welcome"
            acceptor.close()

    asyncio.run(check())


def test_a_failure_to_take_one_is_not_the_last_try(monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        loop = asyncio.get_running_loop()
        take, failures = loop.sock_accept, [ConnectionResetError(), OSError(24, "Too many open files")]

        async def accept(listener: socket.socket) -> tuple[socket.socket, object]:
            if failures:
                raise failures.pop()
            return await take(listener)

        monkeypatch.setattr(loop, "sock_accept", accept)
        listener, *others = listen(0)
        for other in others:
            other.close()
        with listener:
            acceptor = Acceptor(listener, Greeter)
            assert await asyncio.wait_for(greeted(listener.getsockname()[1]), 20) == b"welcome"
            acceptor.close()
        assert failures == []

    asyncio.run(check())
