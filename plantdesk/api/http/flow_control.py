"""Reads little at once, so that a client that sends all it can neither fills the memory nor delays the others.

One turn of the event loop parses about a millisecond's worth of input per connection.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from typing_extensions import override
from uvicorn.protocols.http.flow_control import FlowControl

#: Bytes. asyncio's own buffer holds 256 KiB, and is filled up to 32 times in one turn of the loop.
READ_SIZE = 4096
#: The same for input that is discarded.
_DISCARD_SIZE = 65_536
#: Seconds per open connection between two reads of discarded input: a single client that keeps sending soon reads its
#: response; two hundred of them take a small part of the loop's time.
_DISCARD_DELAY = 0.002


class Flow(FlowControl):
    """Pauses reading while enough input waits to be processed, and while it is another connection's turn."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(transport)
        self.transport = transport
        self._loop = loop
        self._has_yielded = False

    def yield_turn(self, seconds: float = 0) -> None:
        """Pause reading until the next turn of the loop, or for `seconds`."""
        if not self._has_yielded:
            self._has_yielded = True
            if not self.read_paused:
                self._transport.pause_reading()
            self._loop.call_later(seconds, self._end_pause)

    def discard(self, connections: int) -> None:
        """Pause reading after discarded input, the longer the more `connections` there are."""
        self.yield_turn(_DISCARD_DELAY * connections)

    @override
    def pause_reading(self) -> None:
        if not self.read_paused:
            self.read_paused = True
            if not self._has_yielded:
                self._transport.pause_reading()

    @override
    def resume_reading(self) -> None:
        if self.read_paused:
            self.read_paused = False
            if not self._has_yielded:
                self._transport.resume_reading()

    def _end_pause(self) -> None:
        self._has_yielded = False
        if not self.read_paused and not self._transport.is_closing():
            self._transport.resume_reading()


def with_small_reads(make: Callable[[], asyncio.Protocol]) -> Callable[[], asyncio.BaseProtocol]:
    """Return a protocol factory, for one loop, whose protocols receive at most `READ_SIZE` bytes at once."""
    factory: Callable[[], asyncio.BaseProtocol] = make
    if sys.platform != "win32":  # there the loop reads at most 64 KiB, and fills the buffer while others may use it
        factory = partial(_SmallReads, make, bytearray(READ_SIZE), bytearray(_DISCARD_SIZE))
    return factory


class _SmallReads(asyncio.BufferedProtocol):
    """Reads into buffers that all connections share, since each read is copied out at once."""

    def __init__(self, make: Callable[[], asyncio.Protocol], buffer: bytearray, discarded: bytearray) -> None:
        self._protocol: Any = make()
        self._buffer = buffer
        self._discarded = discarded

    @override
    def get_buffer(self, sizehint: int) -> bytearray:
        return self._discarded if self._protocol.ignores_input else self._buffer

    @override
    def buffer_updated(self, nbytes: int) -> None:
        if self._protocol.ignores_input:
            self._protocol.data_received(b"")
        else:
            self._protocol.data_received(bytes(memoryview(self._buffer)[:nbytes]))

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._protocol.connection_made(transport)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._protocol.connection_lost(exc)

    @override
    def eof_received(self) -> bool:
        return bool(self._protocol.eof_received())

    @override
    def pause_writing(self) -> None:
        self._protocol.pause_writing()

    @override
    def resume_writing(self) -> None:
        self._protocol.resume_writing()
