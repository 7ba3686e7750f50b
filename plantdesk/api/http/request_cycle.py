"""One request and its response: the ASGI connection that the application gets for it.

Not uvicorn's cycle, which resumes reading for each part of a body, writes head and body apart, and closes the
connection after the last response before the client has read it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT

from plantdesk.api.request_body import SMALL_BODY

if TYPE_CHECKING:
    from collections.abc import Callable

    from uvicorn._types import ASGI3Application, ASGIReceiveEvent, ASGISendEvent, HTTPScope

    from plantdesk.api.http.flow_control import Flow
    from plantdesk.api.http.responses import Responses


class RequestCycle:
    """Passes one request to the application and its response to the connection. For the thread of one loop."""

    def __init__(
        self,
        scope: HTTPScope,
        flow: Flow,
        responses: Responses,
        on_response: Callable[[], None],
        *,
        keep_alive: bool,
        expects_continue: bool,
    ) -> None:
        """`on_response` is called after the response; `expects_continue`: the client waits before it sends the body."""
        self.keep_alive = keep_alive
        self.is_answered = False
        self._scope = scope
        self._transport = flow.transport
        self._flow = flow
        self._responses = responses
        self._on_response = on_response
        self._expects_continue = expects_continue
        self._body = bytearray()
        self._more_body = True
        self._waiter: asyncio.Future[None] | None = None  # of the application, for more of the body
        self._is_disconnected = False
        self._start: Any = None

    async def run(self, app: ASGI3Application) -> None:
        """Run the application. It answers its own failures, so an exception that it raises ends the connection."""
        try:
            await app(self._scope, self.receive, self.send)
        finally:
            if not self.is_answered and not self._is_disconnected:
                self._transport.abort()

    def add_body(self, body: bytes) -> None:
        """Buffer a part of the body, and pause reading where the buffer is large."""
        self._body += body
        if len(self._body) > HIGH_WATER_LIMIT:
            self._flow.pause_reading()
        self._wake()

    def end_body(self) -> None:
        """Mark the body as complete."""
        self._more_body = False
        self._wake()

    def disconnect(self) -> None:
        """Let the application see that the client is gone."""
        self._is_disconnected = True
        self._wake()

    async def receive(self) -> ASGIReceiveEvent:
        """Return what is buffered of the body; wait, and resume reading, only where more of it is expected."""
        if self._expects_continue:
            self._expects_continue = False
            if not self._is_disconnected:  # as it may be before the application runs
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if self._more_body and not self._is_disconnected:
            self._flow.resume_reading()
            if not self._body:
                self._waiter = asyncio.get_running_loop().create_future()
                await self._waiter
        if self._is_disconnected:
            return {"type": "http.disconnect"}
        body, self._body = bytes(self._body), bytearray()
        return {"type": "http.request", "body": body, "more_body": self._more_body}

    async def send(self, message: ASGISendEvent) -> None:
        """Keep the head until the body follows, and write both at once. The application sends a body in one part."""
        if message["type"] != "http.response.body":
            self._start = message
            return
        if self._flow.write_paused and not self._is_disconnected:
            await self._flow.drain()
        if self._is_disconnected:
            return
        # Unread parts of this request must not be parsed as the next one.
        self.keep_alive = self.keep_alive and not self._more_body
        body = b"" if self._scope["method"] == "HEAD" else message["body"]
        start = self._start
        response = self._responses.format(start["status"], start["headers"], body, keep_alive=self.keep_alive)
        self._transport.write(response)
        self.is_answered = True
        self._on_response()
        if len(body) > SMALL_BODY and self._flow.write_paused:
            await self._flow.drain()  # until then the response takes as much memory as the body did

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
