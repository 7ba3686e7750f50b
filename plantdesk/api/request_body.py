"""Reads request bodies within their limit, and few large ones at a time.

A plant of 1 MiB takes about 10 MB while it is read, stored and answered, so two hundred at once would fill the memory.
Large bodies take turns; each must be sent quickly, since others wait for it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

from plantdesk.api.errors import BodyTooLargeError, ClientDisconnectedError, RequestTimeoutError

if TYPE_CHECKING:
    from starlette.types import Receive

    from plantdesk.api.limits import Limits

#: Bytes up to which a body does not wait for its turn; hardly any plant has more.
SMALL_BODY = 65_536


class RequestBodies:
    """Opens the bodies of one server's requests. For the thread of one loop."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._large_bodies = asyncio.Semaphore(limits.large_bodies)

    def open(self, fields: dict[bytes, bytes], receive: Receive) -> RequestBody:
        """Return the unread body of a request. Raises BodyTooLargeError by its Content-Length."""
        # The parser lets only digits through; int() would refuse thousands of leading zeros.
        content_length = int(fields.get(b"content-length", b"").lstrip(b"0") or b"0")
        if content_length > self._limits.body:
            raise BodyTooLargeError(self._limits.body)
        return RequestBody(receive, content_length, self._limits, self._large_bodies)


class RequestBody:
    """The body of one request, as a context manager: it ends when the plant no longer takes memory."""

    def __init__(self, receive: Receive, content_length: int, limits: Limits, large_bodies: asyncio.Semaphore) -> None:
        self._receive = receive
        self._is_large = content_length > SMALL_BODY
        self._limits = limits
        self._large_bodies = large_bodies
        self._has_turn = False
        self._body = bytearray()
        self._more = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Let the next large body be read."""
        if self._has_turn:
            self._large_bodies.release()

    async def read(self) -> bytearray:
        """Return the complete body. Raises BodyTooLargeError, RequestTimeoutError, ClientDisconnectedError."""
        if not self._is_large:
            await self._receive_parts(SMALL_BODY)
        if self._more:
            await self._large_bodies.acquire()
            self._has_turn = True
            await self._receive_rest()
        return self._body

    async def _receive_rest(self) -> None:
        try:
            async with asyncio.timeout(self._limits.large_body_timeout):
                await self._receive_parts(self._limits.body)
        except TimeoutError:
            raise RequestTimeoutError(self._limits.large_body_timeout) from None

    async def _receive_parts(self, limit: int) -> None:
        """Receive until the body is complete, or larger than `limit`."""
        while self._more and len(self._body) <= limit:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnectedError
            self._body += message["body"]
            self._more = message["more_body"]
        if len(self._body) > self._limits.body:
            raise BodyTooLargeError(self._limits.body)
