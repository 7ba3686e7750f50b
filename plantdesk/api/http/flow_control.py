"""How much is read at once: little, so that who sends all he can neither fills the memory nor keeps others waiting.

Whatever a turn of the loop has to parse for one connection takes about a millisecond at most.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

from typing_extensions import override
from uvicorn.protocols.http.flow_control import FlowControl

if TYPE_CHECKING:
    from collections.abc import Callable

#: Bytes. The loop's own buffer would hand over 256 KiB, and up to 32 times in one turn.
AT_ONCE = 4096
#: The same of what nobody hears.
_DROPPED_AT_ONCE = 65_536
#: Seconds for each connection that there is, between two reads of what is dropped: alone, a client that sends on soon
#: comes to read its answer; two hundred of them together take a small part of the loop's time.
_DROP_PAUSE = 0.002


class Flow(FlowControl):
    """Pauses reading for two reasons: there is enough to do, or it is the others' turn."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(transport)
        self._loop = loop
        self._others_turn = False

    def let_others(self, seconds: float = 0) -> None:
        """Read no more in this turn of the loop, or for longer."""
        if not self._others_turn:
            self._others_turn = True
            if not self.read_paused:
                self._transport.pause_reading()
            self._loop.call_later(seconds, self._go_on)

    def ignore(self, connections: int) -> None:
        """Drop what came, and read on after a while, which is the longer the more `connections` there are."""
        self.let_others(_DROP_PAUSE * connections)

    @override
    def pause_reading(self) -> None:
        if not self.read_paused:
            self.read_paused = True
            if not self._others_turn:
                self._transport.pause_reading()

    @override
    def resume_reading(self) -> None:
        if self.read_paused:
            self.read_paused = False
            if not self._others_turn:
                self._transport.resume_reading()

    def _go_on(self) -> None:
        self._others_turn = False
        if not self.read_paused and not self._transport.is_closing():
            self._transport.resume_reading()


def reading_little(make: Callable[[], asyncio.Protocol]) -> Callable[[], asyncio.BaseProtocol]:
    """Return a maker of protocols, for one loop, that are handed over little at once."""
    if sys.platform == "win32":
        return make  # its loop hands over 64 KiB at most, and fills the buffer while others may use it
    else:  # noqa: RET505  mypy takes what follows such a return for unreachable there
        buffer, bin_ = bytearray(AT_ONCE), bytearray(_DROPPED_AT_ONCE)
        return lambda: _ReadingLittle(make(), buffer, bin_)


class _ReadingLittle(asyncio.BufferedProtocol):
    """A protocol's ear: what comes goes through a buffer that all share, since each read is taken out at once."""

    def __init__(self, protocol: asyncio.Protocol, buffer: bytearray, bin_: bytearray) -> None:
        self._buffer = buffer
        self._bin = bin_
        self._protocol: Any = protocol
        # What they are called with goes straight on.
        self.connection_made = protocol.connection_made  # type: ignore[method-assign]
        self.connection_lost = protocol.connection_lost  # type: ignore[method-assign]
        self.eof_received = protocol.eof_received  # type: ignore[method-assign]
        self.pause_writing = protocol.pause_writing  # type: ignore[method-assign]
        self.resume_writing = protocol.resume_writing  # type: ignore[method-assign]

    @override
    def get_buffer(self, sizehint: int) -> bytearray:
        return self._bin if self._protocol.deaf else self._buffer

    @override
    def buffer_updated(self, nbytes: int) -> None:
        if self._protocol.deaf:
            self._protocol.data_received(b"")
        else:
            self._protocol.data_received(bytes(memoryview(self._buffer)[:nbytes]))
