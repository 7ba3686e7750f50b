"""HTTP/1.1 on one connection: uvicorn's httptools protocol, extended by what the API's contract demands beyond it.

It adds error bodies for malformed requests, limits of size and time, half-closed connections, and targets in absolute
form. It ignores Upgrade headers. Pipelined requests are not read: if a client sends a request before it has the
response to another, that response has `Connection: close`.

It uses undocumented parts of uvicorn 0.54, so the requirement names this version. It runs on the event loop's thread.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from email.utils import formatdate
from functools import lru_cache
from urllib.parse import urlsplit

import httptools
from typing_extensions import override
from uvicorn.config import Config
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from plantdesk.api.errors import MalformedHttpError, RequestTimeoutError, build_refusal
from plantdesk.api.limits import ConnectionLimits
from plantdesk.api.transport import LingeringTransport
from plantdesk.domain.activity import Activity
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.texts import Text

Header = tuple[bytes, bytes]

#: Headers of every response: browsers must not guess its type, frame it, pass it to another site, or cache it.
_SECURITY_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
]
#: Bytes that are parsed before sizes are checked.
_PARSED_AT_ONCE = 16_384
#: A smaller chunk counts as overhead, by what it lacks: parsing one takes about a microsecond.
_MIN_CHUNK_BYTES = 64
#: Seconds, for each open connection, between two reads from a client that sends as fast as it can.
_READ_PAUSE_PER_CONNECTION = 0.002


class HttpProtocol(HttpToolsProtocol):
    """Receives requests and sends responses on one connection.

    uvicorn's timer for idle connections, `timeout_keep_alive_task`, is the timer for all time limits of a client.
    An exception of a parser's callback is the `__context__` of the HttpParserError that `feed_data` raises.
    """

    transport: LingeringTransport

    def __init__(
        self,
        config: Config,
        state: ServerState,
        loop: asyncio.AbstractEventLoop,
        *,
        limits: ConnectionLimits,
        activity: Activity,
    ) -> None:
        super().__init__(config, state, {}, loop)
        self.access_log = False
        self.timeout_keep_alive = limits.keep_alive_timeout  # type: ignore[assignment]  # uvicorn has whole seconds
        self._limits = limits
        self._activity = activity
        #: When the connection was made, or its last response was sent.
        self.idle_since = time.monotonic()
        self._is_receiving = False  # a request has begun and is not complete
        self._offers_upgrade = False
        self._is_kept_alive = False  # whether the connection stays open after the response
        self._overhead_bytes = 0  # bytes of the request that are not its body
        self._ignores_input = False
        #: Is done when the connection has ended.
        self.lost: asyncio.Future[None] = loop.create_future()

    @property
    def _is_responding(self) -> bool:
        """Whether a request has been received, at least its headers, and its response is not complete."""
        return bool(self.cycle) and not (self.cycle.response_complete or self.cycle.disconnected)

    @property
    def is_busy(self) -> bool:
        """Whether a whole request has been received, and its response is not complete."""
        return self._is_responding and not self._is_receiving

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        # Does not call uvicorn's method, which asks the system for addresses that nobody uses.
        self._raw_transport = transport
        self.transport = LingeringTransport(transport, self._on_linger)
        self.flow = FlowControl(transport)
        self.scheme = "http"
        self.connections.add(self)
        self._set_timer(self._limits.request_timeout)
        if len(self.connections) > self._limits.connections:
            self._abort_most_idle()

    def _abort_most_idle(self) -> None:
        """Abort the connection that has been idle for longest, among those that are not `is_busy`."""
        idle = [other for other in self.connections if isinstance(other, HttpProtocol) and not other.is_busy]
        aborted = min(idle, key=lambda other: other.idle_since, default=self)
        self.connections.discard(aborted)
        aborted.transport.abort()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._ignores_input = True
        self._set_timer(None)
        super().connection_lost(exc)
        self.transport = self.cycle = None  # type: ignore[assignment]  # they refer to this object
        self.lost.set_result(None)

    @override
    def eof_received(self) -> bool:  # type: ignore[override]  # uvicorn's returns nothing
        """Refuse an incomplete request; return whether the connection stays open to send a response."""
        self.transport.has_client_closed = True
        if self._is_receiving and not self._ignores_input:
            self._refuse(MalformedHttpError(Text("it ended before it was whole")))
        self._ignores_input = True
        return self._is_responding

    @override
    def shutdown(self) -> None:
        """Send the response to a complete request, then close; drop an incomplete request."""
        self._ignores_input = True
        if self.is_busy:
            self.cycle.keep_alive = False
        elif not self.transport.is_closing():
            self._raw_transport.close()

    def _on_linger(self) -> None:
        self._ignores_input = True
        self._is_receiving = False
        self.flow.resume_reading()
        self._restart_timer()

    def _set_timer(self, seconds: float | None) -> None:
        if self.timeout_keep_alive_task is not None:
            self.timeout_keep_alive_task.cancel()
        handler = self.timeout_keep_alive_handler
        self.timeout_keep_alive_task = None if seconds is None else self.loop.call_later(seconds, handler)

    def _restart_timer(self) -> None:
        """Limit the time until the client sends or reads more; set no limit while it waits for a response."""
        if self._is_receiving or self.flow.write_paused:
            self._set_timer(self._limits.request_timeout)
        elif self.transport.is_lingering:
            self._set_timer(self._limits.linger_timeout)
        else:
            self._set_timer(None if self._is_responding else self._limits.keep_alive_timeout)

    @override
    def timeout_keep_alive_handler(self) -> None:
        """End a request or connection if its client was too slow; wait on if PlantDesk was."""
        is_input_awaited = not (self.is_busy or self.flow.read_paused)  # otherwise, the delay is PlantDesk's
        if self.transport.is_lingering or self.flow.write_paused:
            self.transport.abort()
        elif not (self._is_receiving or self._is_responding):
            self._raw_transport.close()
        elif is_input_awaited:
            self._refuse(RequestTimeoutError(self._limits.request_timeout))
        else:
            self._restart_timer()

    @override
    def data_received(self, data: bytes) -> None:
        if self._ignores_input or len(data) >= _PARSED_AT_ONCE:
            self._raw_transport.pause_reading()
            self.loop.call_later(_READ_PAUSE_PER_CONNECTION * len(self.connections), self._end_read_pause)
        for start in range(0, len(data), _PARSED_AT_ONCE):
            self._parse(data[start : start + _PARSED_AT_ONCE])

    def _end_read_pause(self) -> None:
        if not (self._raw_transport.is_closing() or self.flow.read_paused):
            self._raw_transport.resume_reading()

    def _parse(self, data: bytes) -> None:
        """Pass bytes to the parser; answer a malformed request with an error."""
        if self._ignores_input:
            return
        try:
            self.parser.feed_data(data)
            self._count_overhead(len(data))
        except httptools.HttpParserUpgrade as upgrade:
            self._parse(self._restart_without_upgrade(data[upgrade.args[0] :]))
        except httptools.HttpParserError as error:
            if not self._ignores_input:
                self._refuse(_find_cause(error))
        except (MalformedHttpError, MemoryError) as error:
            self._refuse(error)

    def _restart_without_upgrade(self, rest: bytes) -> bytes:
        """Create a new parser, and return the bytes to feed it: the request without its Upgrade header, then `rest`.

        A server may ignore that header (RFC 9110, section 7.8). Java's HttpClient sends it with its first request, and
        llhttp takes the body of such a request for data of the other protocol.
        """
        line = b"%b %b HTTP/%b\r\n" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does
        headers = [(name, value) for name, value in self.headers if name != b"upgrade"]
        return line + _format_headers(headers) + b"\r\n" + rest

    def _count_overhead(self, size: int) -> None:
        self._overhead_bytes += size
        if self._is_receiving and self._overhead_bytes > self._limits.overhead:
            raise MalformedHttpError(Text("its headers are too long, or its chunks are too small"))

    def _refuse(self, error: Exception) -> None:
        """Answer the current request with an error, and ignore further input."""
        if self._is_responding:  # the application waits for its body
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        number, message, response = build_refusal(error)
        self._activity.record_refused(number, message)
        headers = [*_build_default_headers(int(time.time())), *response.raw_headers, (b"connection", b"close")]
        self.transport.write(STATUS_LINE[number.status] + _format_headers(headers) + b"\r\n" + bytes(response.body))
        self.transport.close()

    @override
    def on_message_begin(self) -> None:
        if self._is_responding:
            self.cycle.keep_alive = False
            self._ignores_input = True
            raise httptools.HttpParserError("a request before the response to another")
        super().on_message_begin()
        self._is_receiving = True
        self._offers_upgrade = False
        self._overhead_bytes = 0
        self._restart_timer()

    @override
    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value.strip(b" \t"))  # llhttp keeps trailing blanks (RFC 9110, section 5.5)
        if len(self.headers) > self._limits.headers:
            raise MalformedHttpError(Text("it has more than {count} header fields", count=self._limits.headers))

    @override
    def on_headers_complete(self) -> None:
        self._offers_upgrade = self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT"
        if self._offers_upgrade:
            return  # it is parsed again without the offer
        self._check_version(self.parser.get_http_version())
        self.url = _to_origin_form(self.url, self.headers)
        self.server_state.default_headers = _build_default_headers(int(time.time()))
        super().on_headers_complete()
        self.headers = []  # the fields of the trailer are no headers (RFC 9110, section 6.5.1)
        self._is_kept_alive = self.cycle.keep_alive
        self.cycle.keep_alive = False  # the unread rest of a request must not be parsed as the next one

    def _check_version(self, version: str) -> None:
        if version not in {"1.1", "1.0"}:
            raise MalformedHttpError(Text("version {version} is not supported", version=version))
        if version == "1.0":
            self.expect_100_continue = False  # such a client must not be sent 100 (RFC 9110, section 10.1.1)
            if any(name == b"transfer-encoding" for name, _ in self.headers):  # RFC 9112, section 6.1
                raise MalformedHttpError(Text("HTTP/1.0 has no Transfer-Encoding"))

    @override
    def on_body(self, body: bytes) -> None:
        self._overhead_bytes -= len(body)  # `_parse` counts all bytes
        self._count_overhead(max(_MIN_CHUNK_BYTES - len(body), 0))
        super().on_body(body)

    @override
    def on_message_complete(self) -> None:
        if self._offers_upgrade:
            return
        self._is_receiving = False
        self.cycle.keep_alive = self._is_kept_alive
        self._restart_timer()
        super().on_message_complete()

    @override
    def on_response_complete(self) -> None:
        """Wait for the next request, or close the connection if the client has closed its side."""
        self.idle_since = time.monotonic()
        super().on_response_complete()
        if self.transport.has_client_closed:
            self.transport.close()
        elif self.flow.write_paused:
            self._restart_timer()


def _find_cause(error: httptools.HttpParserError) -> Exception:
    """Return the error to answer with: a foreseen one that a callback raised, otherwise the parser's."""
    cause = error.__context__
    if isinstance(cause, PlantDeskError | MemoryError):
        return cause
    return MalformedHttpError(Text("its target is not valid") if cause else Text("{reason}", reason=str(error)))


def _format_headers(headers: Sequence[Header]) -> bytes:
    return b"".join([b"%b: %b\r\n" % header for header in headers])


@lru_cache(maxsize=1)
def _build_default_headers(second: int) -> list[Header]:
    """Return the headers that every response has, for the time in seconds since 1970."""
    return [(b"date", formatdate(second, usegmt=True).encode()), *_SECURITY_HEADERS]


def _to_origin_form(target: bytes, headers: list[Header]) -> bytes:
    """Return the path and the query of a target. The host of an absolute target replaces the Host in `headers`.

    Raises MalformedHttpError, or a ValueError (RFC 9112, section 3.2.2).
    """
    if b"://" not in target and b"#" not in target:
        return target
    scheme, host, path, query, fragment = urlsplit(target)
    if b"@" in host or fragment:
        raise MalformedHttpError(Text("its target holds a fragment or a user"))
    if scheme != b"http":
        raise MalformedHttpError(Text("its target is not http"))
    positions = [index for index, (name, _) in enumerate(headers) if name == b"host"]
    if len(positions) == 1:  # a missing or repeated Host is refused later
        headers[positions[0]] = (b"host", host)
    return (path or b"/") + (b"?" + query if query else b"")
