"""One request and its response: uvicorn's cycle, with the response in one write and none after a disconnect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typing_extensions import override
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from plantdesk.api.request_body import SMALL_BODY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from uvicorn._types import ASGI3Application, ASGIReceiveEvent, ASGISendEvent


class RequestCycle(RequestResponseCycle):
    """Passes one request to the application and its response to the connection."""

    _start: Any = None

    @override
    async def run_asgi(self, app: ASGI3Application) -> None:
        """Run the application. It answers its own failures, so an exception that it raises ends the connection."""
        try:
            await app(self.scope, self.receive, self.send)
        finally:
            if not self.response_complete and not self.disconnected:
                self.transport.abort()

    def add_body(self, body: bytes) -> None:
        """Buffer a part of the body, and pause reading where the buffer is large."""
        self.body += body
        if len(self.body) > HIGH_WATER_LIMIT:
            self.flow.pause_reading()
        self.message_event.set()

    def end_body(self) -> None:
        """Mark the body as complete."""
        self.more_body = False
        self.message_event.set()

    def disconnect(self) -> None:
        """Let the application see that the client is gone."""
        self.disconnected = True
        self.message_event.set()

    @override
    async def receive(self) -> ASGIReceiveEvent:
        """Return what is buffered of the body, and resume reading only where more of it is expected.

        uvicorn's method always resumes reading, and buffers whatever a client sends after this request.
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
        """Keep the head until the body follows, and write both at once. The application sends a body in one part."""
        if message["type"] != "http.response.body":
            self._start = message
            return
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        # Unread parts of this request must not be parsed as the next one.
        self.keep_alive = self.keep_alive and not self.more_body
        body = b"" if self.scope["method"] == "HEAD" else message.get("body", b"")
        headers = [*self.default_headers, *self._start["headers"]]
        self.transport.write(response(self._start["status"], headers, body, keep_alive=self.keep_alive))
        self.response_complete = True
        self.message_event.set()
        self.on_response()
        if len(body) > SMALL_BODY and self.flow.write_paused:
            await self.flow.drain()  # until then the response takes as much memory as the body did


def response(status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes, *, keep_alive: bool) -> bytes:
    """Return a response as bytes. The headers are PlantDesk's own, so they are not validated."""
    lines = b"".join([b"%b: %b\r\n" % header for header in headers])
    end = b"\r\n" if keep_alive else b"connection: close\r\n\r\n"
    return STATUS_LINE[status] + lines + end + body
