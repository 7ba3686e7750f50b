"""Reading the bodies of requests: each within its limit, and few large ones at a time.

A plant of 1 MiB takes some 10 MB while it is read, stored and answered, so that two hundred of them at once would fill
the memory. They get a place one after the other; who has one must send quickly, since others wait.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from plantdesk.api.errors import BodyTooLargeError, ClientGoneError, TooSlowError

if TYPE_CHECKING:
    from starlette.types import Receive

    from plantdesk.api.limits import Limits

#: Bytes up to which a body needs no place; hardly any plant has more.
SMALL = 65_536


class Bodies:
    """Makes the bodies of one server's requests. For the thread of one loop."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._places = asyncio.Semaphore(limits.large_bodies)

    def of(self, fields: dict[bytes, bytes], receive: Receive) -> Body:
        """Return the body of a request, nothing of it read; raises BodyTooLargeError when it is announced to be."""
        # The parser lets nothing but digits through, and zeros without end before them, which int() would refuse.
        announced = int(fields.get(b"content-length", b"").lstrip(b"0") or b"0")
        if announced > self._limits.body:
            raise BodyTooLargeError(self._limits.body)
        return Body(receive, announced, self._limits, self._places)


class Body:
    """The body of one request, to be closed when its plant needs no memory any more."""

    def __init__(self, receive: Receive, announced: int, limits: Limits, places: asyncio.Semaphore) -> None:
        self._receive = receive
        self._large = announced > SMALL
        self._limits = limits
        self._places = places
        self._has_place = False
        self._parts: list[bytes] = []
        self._size = 0
        self._more = True

    async def read(self) -> bytes:
        """Return the body when it is whole. Raises BodyTooLargeError, TooSlowError, ClientGoneError."""
        if not self._large:
            await self._take_in(SMALL)
        if self._more:
            await self._places.acquire()
            self._has_place = True
            await self._take_in_quickly()
        whole = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        self._parts.clear()
        return whole

    def close(self) -> None:
        """Give the place to the next one."""
        if self._has_place:
            self._has_place = False
            self._places.release()

    async def _take_in_quickly(self) -> None:
        try:
            async with asyncio.timeout(self._limits.large_within):
                await self._take_in(self._limits.body)
        except TimeoutError:
            raise TooSlowError(self._limits.large_within) from None

    async def _take_in(self, enough: int) -> None:
        """Read until the body is whole, or larger than `enough`."""
        while self._more and self._size <= enough:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGoneError
            self._parts.append(message["body"])
            self._size += len(message["body"])
            self._more = message["more_body"]
        if self._size > self._limits.body:
            raise BodyTooLargeError(self._limits.body)
