"""One request of a connection: its limits, target and response, and the queue of those that are pipelined.

Runs on the thread of one event loop.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import httptools
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT

from plantdesk.api.errors import BodyTooLargeError, MalformedHttpError
from plantdesk.domain.errors import Text

if TYPE_CHECKING:
    from uvicorn._types import ASGIReceiveEvent, ASGISendEvent, HTTPScope

    from plantdesk.api.http.flow_control import Flow

    Headers = Iterable[tuple[bytes, bytes]]


#: Bytes up to which a body does not wait for its turn; hardly any plant has more.
SMALL_BODY = 65_536


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Sizes in bytes, times in seconds."""

    #: Largest body that is accepted.
    body: int = 1_048_576
    #: Bytes of the request line and the headers, to within what is parsed at once.
    headers: int = 65_536
    #: Header fields of a request; each takes about a microsecond, however short it is.
    fields: int = 200
    #: Chunks of a body, besides one for each 64 bytes.
    chunks: int = 1000
    #: Size of a request with the framing of its chunks and its trailers.
    message: int = 2_097_152
    #: Open connections; one more closes the one that has been idle for longest. Slow bodies may take half of them.
    connections: int = 1000
    #: Bodies over 64 KiB in memory at a time; others wait.
    large_bodies: int = 2
    #: For a body over 64 KiB to arrive, since others wait for it.
    large_body_timeout: float = 3.0
    #: From the first byte of a request (or from the connect) to its last, and for a client to read a response.
    request_timeout: float = 15.0
    #: Between two requests of a connection.
    keep_alive_timeout: float = 60.0
    #: For a client to read the last response and close.
    linger_timeout: float = 2.0
    #: For responses that are due when the server stops.
    shutdown_timeout: float = 1.5
    #: Between two checks of the timeouts above.
    deadline_interval: float = 1.0
    #: Between two requests by which the server checks itself, and for the response to each.
    check_interval: float = 5.0
    check_timeout: float = 3.0


#: A body may have one more chunk for each so many bytes; parsing a chunk takes about a microsecond.
_BYTES_PER_CHUNK = 64


class RequestSize:
    """Counts what is received of one request, and raises where it exceeds the limits."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self.reset()

    def reset(self) -> None:
        """Start counting for the next request."""
        self.are_headers_complete = False
        self._bytes = 0
        self._chunks = 0
        self._body_bytes = 0

    def add_bytes(self, count: int) -> None:
        """Count bytes as received, with all framing. Raises MalformedHttpError, BodyTooLargeError."""
        self._bytes += count
        if self._bytes > self._limits.headers and not self.are_headers_complete:
            raise MalformedHttpError(Text("its headers are too long"))
        if self._bytes > self._limits.message:
            raise BodyTooLargeError(self._limits.body)

    def check_fields(self, count: int) -> None:
        """Raise MalformedHttpError where there are more header fields than allowed."""
        if count > self._limits.fields:
            raise MalformedHttpError(Text("it has more than {count} header fields", count=self._limits.fields))

    def add_chunk(self, size: int) -> None:
        """Count a part of the body, as a rule one chunk. Raises MalformedHttpError where chunks are too small."""
        self._chunks += 1
        self._body_bytes += size
        if self._chunks > self._limits.chunks + self._body_bytes // _BYTES_PER_CHUNK:
            raise MalformedHttpError(Text("its chunks are too small"))


class Target(NamedTuple):
    """A parsed request target; `host` is that of one in absolute form."""

    path: str = ""
    raw_path: bytes = b""
    query: bytes = b""
    host: bytes | None = None


def set_target(scope: HTTPScope, headers: list[tuple[bytes, bytes]], target: bytes, *, is_connect: bool) -> None:
    """Set the path of `scope`; the host of a target in absolute form replaces the Host in `headers`.

    Raises MalformedHttpError, or an error of httptools where it cannot parse the target.
    """
    parsed = Target() if is_connect else _parsed(target)
    scope["path"], scope["raw_path"], scope["query_string"] = parsed.path, parsed.raw_path, parsed.query
    if parsed.host is not None:
        hosts = [index for index, field in enumerate(headers) if field[0] == b"host"]
        if len(hosts) == 1:  # a missing or repeated Host is refused later
            headers[hosts[0]] = (b"host", parsed.host)


@lru_cache(maxsize=16)
def _parsed(target: bytes) -> Target:
    url: Any = httptools.parse_url(target)  # parts may be None, which its stub does not say
    if url.fragment is not None or url.userinfo is not None:
        raise MalformedHttpError(Text("its target holds a fragment or a user"))
    raw_path = url.path or b"/"
    path = raw_path.decode("ascii")
    host = None if url.schema is None else _authority(url.schema, url.host, url.port)
    return Target(unquote(path) if "%" in path else path, raw_path, url.query or b"", host)


def _authority(scheme: bytes, host: bytes, port: int | None) -> bytes:
    if scheme.lower() != b"http":
        raise MalformedHttpError(Text("its target is not http"))
    name = b"[%b]" % host if b":" in host else host
    return name if port is None else b"%b:%d" % (name, port)


#: Headers of every response: browsers must not guess its type, frame it, pass it to another site, or cache it.
_SECURITY_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
]
_HEAD_ENDS = {True: b"\r\n", False: b"connection: close\r\n\r\n"}
_STATUS_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}


class Responses:
    """Formats responses. For the thread of one loop."""

    def __init__(self) -> None:
        self.renew_date()

    def renew_date(self) -> None:
        """Set the Date header to the present; to be called about once a second."""
        date = formatdate(time.time(), usegmt=True).encode()
        self._common = _lines([(b"date", date), *_SECURITY_HEADERS])
        self._json_start = _STATUS_LINES[200] + self._common + b"content-type: application/json\r\ncontent-length: "

    def format(self, status: int, headers: Headers, body: bytes, *, keep_alive: bool) -> bytes:
        """Return a response. The headers are PlantDesk's own, so they are not validated."""
        return _STATUS_LINES[status] + self._common + _lines(headers) + _HEAD_ENDS[keep_alive] + body

    def format_json(self, body: bytes, *, keep_alive: bool) -> bytes:
        """Return a response of status 200 with a body in JSON, as `format` does in three times the time."""
        return b"%b%d\r\n%b%b" % (self._json_start, len(body), _HEAD_ENDS[keep_alive], body)


def _lines(headers: Headers) -> bytes:
    return b"".join([b"%b: %b\r\n" % header for header in headers])


class WholeRequest(NamedTuple):
    """The bytes of a request that came in one segment."""

    data: bytes
    keep_alive: bool


class KnownRequest:
    """A request that is answered without the application, in place of a `RequestCycle`."""

    __slots__ = ("keep_alive",)

    def __init__(self, *, keep_alive: bool) -> None:
        self.keep_alive = keep_alive

    def disconnect(self) -> None:
        """Do nothing: its plant is on the way to the store."""


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

    async def run(self, app: Callable[..., Awaitable[None]]) -> None:
        """Run the application. It answers its own failures, so an exception that it raises ends the connection."""
        try:
            await app(self._scope, self.receive, self.send)
        finally:
            if not self.is_answered and not self._is_disconnected:
                self._transport.abort()

    def note_whole(self, data: bytes) -> None:
        """Let the application see all bytes of the request, which came at once."""
        self._scope["whole_request"] = WholeRequest(data, self.keep_alive)  # type: ignore[typeddict-unknown-key]

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
        """Keep the headers until the body follows, and write both at once. The application sends a body in one part."""
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


#: Requests that may wait on one connection: a client can send thousands in one segment.
_MAX_WAITING = 8


class RequestQueue:
    """`active` is being answered, `incoming` is being received; they may be the same."""

    def __init__(self) -> None:
        self.active: RequestCycle | KnownRequest | None = None
        self.incoming: RequestCycle | None = None
        self._waiting: deque[RequestCycle] = deque()

    @property
    def is_full(self) -> bool:
        """Whether no further request is to be parsed now."""
        return len(self._waiting) >= _MAX_WAITING

    def add(self, cycle: RequestCycle) -> bool:
        """Add the request whose headers are complete; return whether it is to be answered now."""
        self.incoming = cycle
        if self.active is not None:
            self._waiting.append(cycle)
            return False
        self.active = cycle
        return True

    def next(self) -> RequestCycle | None:
        """Return the request to answer next, None where none waits."""
        self.active = following = self._waiting.popleft() if self._waiting else None
        return following

    def drop_incoming(self) -> None:
        """Drop the request that is not complete, whether it waits or is being answered."""
        if self.incoming is None:
            return
        self.incoming.disconnect()
        if self.incoming is self.active:
            self.active = None
        else:
            self._waiting.pop()

    def drop_waiting(self) -> None:
        """Drop the requests that are not being answered."""
        self._waiting.clear()

    def disconnect(self) -> None:
        """Drop all requests: the connection is lost. Breaks their reference cycles with the connection."""
        if self.active is not None:
            self.active.disconnect()
        for cycle in self._waiting:
            cycle.disconnect()
        self._waiting.clear()
        self.active = self.incoming = None
