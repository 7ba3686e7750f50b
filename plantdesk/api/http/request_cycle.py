"""One request and its answer: uvicorn's, but with the whole answer in one write and none of it after a disconnect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typing_extensions import override
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from plantdesk.api.request_body import SMALL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from uvicorn._types import ASGI3Application, ASGIReceiveEvent, ASGISendEvent


class Cycle(RequestResponseCycle):
    """Carries one request to the application and its answer back to the connection."""

    _start: Any = None

    @override
    async def run_asgi(self, app: ASGI3Application) -> None:
        """Run the application; it answers its own failures, so what it raises ends the connection."""
        try:
            await app(self.scope, self.receive, self.send)
        finally:
            if not self.response_complete and not self.disconnected:
                self.transport.abort()

    @override
    async def receive(self) -> ASGIReceiveEvent:
        """Return what has come of the body, and ask for more of it only where there is more.

        uvicorn's own goes on reading in any case, and thus takes in whatever a client sends behind this request.
        """
        if self.more_body or self.disconnected:
            return await super().receive()
        if self.waiting_for_100_continue:
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.waiting_for_100_continue = False
        self.message_event.clear()
        body, self.body = bytes(self.body), bytearray()
        return {"type": "http.request", "body": body, "more_body": False}

    @override
    async def send(self, message: ASGISendEvent) -> None:
        """Keep the head until the body comes, then write both at once; bodies come in one piece here."""
        if message["type"] == "http.response.start":
            self._start = message
            return
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        # Unread parts of this request must not be taken for the next one.
        self.keep_alive = self.keep_alive and not self.more_body
        body: bytes = b"" if self.scope["method"] == "HEAD" else message["body"]  # type: ignore[typeddict-item]
        headers = [*self.default_headers, *self._start["headers"]]
        self.transport.write(response(self._start["status"], headers, body, keep_alive=self.keep_alive))
        self.response_complete = True
        self.message_event.set()
        self.on_response()
        if len(body) > SMALL and self.flow.write_paused:
            await self.flow.drain()  # until then it takes as much memory as the body did


def response(status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes, *, keep_alive: bool) -> bytes:
    """Return an answer as it goes over the wire. The headers are our own words, so they are not looked at again."""
    lines = b"".join([b"%b: %b\r\n" % header for header in headers])
    end = b"\r\n" if keep_alive else b"connection: close\r\n\r\n"
    return STATUS_LINE[status] + lines + end + body
