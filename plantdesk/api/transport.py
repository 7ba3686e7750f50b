"""The transport of a connection: it lets the client read the last response before the connection ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from typing_extensions import override


class LingeringTransport(asyncio.Transport):
    """Wraps a transport: `close` ends the output, and the connection ends when the client closes, too.

    Closing both directions while there is unread input would reset the connection, and the client could lose the
    response (RFC 9112, section 9.6). `on_linger` is called when `close` has ended the output.
    """

    def __init__(self, transport: asyncio.Transport, on_linger: Callable[[], None]) -> None:
        super().__init__()
        self._transport = transport
        self._on_linger = on_linger
        #: Whether the output is closed, so that input is only discarded.
        self.is_lingering = False
        #: Whether the client has closed its output.
        self.has_client_closed = False

    @override
    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._transport.write(data)

    @override
    def is_closing(self) -> bool:
        return self.is_lingering or self._transport.is_closing()

    @override
    def close(self) -> None:
        if self.is_closing():
            return
        self.is_lingering = True
        if self.has_client_closed or not self._transport.can_write_eof():
            self._transport.close()
        else:
            self._transport.write_eof()
            self._on_linger()

    @override
    def abort(self) -> None:
        self._transport.abort()
