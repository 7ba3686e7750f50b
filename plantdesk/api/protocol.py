"""HTTP/1.1 on one connection: uvicorn's httptools protocol, with what the API's contract demands beyond it.

It adds error bodies for malformed requests, limits of size and time, half-closed connections, a close that lets the
client read the response (RFC 9112, section 9.6), and targets in absolute form. It ignores offers of an upgrade. It
takes one request at a time: `Connection: close` in a response says that requests sent before it are not read.

It uses what uvicorn 0.54 does not document, so the requirement names this version. It runs on the event loop's thread.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from email.utils import formatdate
from functools import lru_cache
from types import SimpleNamespace
from typing import cast
from urllib.parse import urlsplit

import httptools
from typing_extensions import override
from uvicorn.config import Config
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from plantdesk.api.errors import MalformedHttpError, RequestTimeoutError, error_response
from plantdesk.api.limits import ConnectionLimits
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
_PIECE = 16_384
#: A smaller chunk counts as framing, too: parsing one takes about a microsecond.
_MIN_CHUNK = 64
#: Seconds per open connection between two reads from a client that sends all it can.
_PAUSE = 0.002


class HttpProtocol(HttpToolsProtocol):
    """Receives requests and sends responses on one connection."""

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
        self.access_log, self.last_event = False, time.monotonic()  # its connect, or its last response
        self._limits, self._activity = limits, activity
        self.timeout_keep_alive = limits.keep_alive_timeout  # type: ignore[assignment]  # whole seconds there
        self._is_receiving = False  # a request has begun and is not complete
        self._keep_alive: bool | None = None  # of the cycle, when its request is complete; None before its head is
        self._framing = 0  # bytes of the request that are not its body
        self._ignores_input = self._is_lingering = self._has_client_closed = False
        #: Is done when the connection is.
        self.lost: asyncio.Future[None] = loop.create_future()

    @property
    def is_served(self) -> bool:
        """Whether the response to a complete request is due."""
        return self._is_answering and not self._is_receiving

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        # Without uvicorn's method: it asks the system for addresses that nobody uses.
        self._raw = transport
        # For uvicorn's code, which closes after the last response.
        methods = {"write": transport.write, "abort": transport.abort, "is_closing": self._is_closing}
        self.transport = cast("asyncio.Transport", SimpleNamespace(**methods, close=self._linger))
        self.flow, self.scheme = FlowControl(transport), "http"
        self.connections.add(self)
        self._set_timeout(self._limits.request_timeout)
        if len(self.connections) > self._limits.connections:
            self._drop_most_idle()

    def _drop_most_idle(self) -> None:
        """Among the connections for which no response is due, abort the one that has had none for longest."""
        others = [each for each in self.connections if isinstance(each, HttpProtocol) and not each.is_served]
        dropped = min(others, key=lambda each: each.last_event, default=self)
        self.connections.discard(dropped)
        dropped.transport.abort()

    def _is_closing(self) -> bool:
        return self._is_lingering or self._raw.is_closing()

    @property
    def _is_answering(self) -> bool:
        return bool(self.cycle) and not (self.cycle.response_complete or self.cycle.disconnected)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._ignores_input = self._is_lingering = True
        self._set_timeout(None)
        super().connection_lost(exc)
        self.transport, self.cycle = self._raw, None  # type: ignore[assignment]  # they refer to this object
        self.lost.set_result(None)

    @override
    def eof_received(self) -> bool:  # type: ignore[override]  # uvicorn's returns nothing
        """Keep the connection open for a response that is due; refuse a request that is not complete."""
        self._has_client_closed = True
        if self._is_receiving and not self._ignores_input:
            self._refuse(MalformedHttpError(Text("it ended before it was whole")))
        self._ignores_input = True
        return self._is_answering

    @override
    def shutdown(self) -> None:
        """Send the response to a complete request, then close; drop a request that is not complete."""
        self._ignores_input = True
        if self.is_served:
            self.cycle.keep_alive = False
        elif not self._is_closing():
            self._raw.close()

    def _linger(self) -> None:
        """Close the output, and discard input until the client closes, too.

        Closing both at once with unread input would reset the connection, and the client could lose the response.
        """
        if self._is_closing():
            return
        self._ignores_input = self._is_lingering = True
        self._is_receiving = False
        self.flow.resume_reading()
        if self._has_client_closed or not self._raw.can_write_eof():
            self._raw.close()
        else:
            self._raw.write_eof()
            self._restart_timeout()

    def _set_timeout(self, seconds: float | None) -> None:
        if self.timeout_keep_alive_task is not None:
            self.timeout_keep_alive_task.cancel()
        handler = self.timeout_keep_alive_handler
        self.timeout_keep_alive_task = None if seconds is None else self.loop.call_later(seconds, handler)

    def _restart_timeout(self) -> None:
        if self._is_receiving or self.flow.write_paused:
            self._set_timeout(self._limits.request_timeout)
        elif self._is_lingering:
            self._set_timeout(self._limits.linger_timeout)
        else:
            self._set_timeout(None if self._is_answering else self._limits.keep_alive_timeout)

    @override
    def timeout_keep_alive_handler(self) -> None:
        """End what has taken the client too long: the one timeout of the connection."""
        if self._is_lingering or self.flow.write_paused:
            self._raw.abort()
        elif not (self._is_receiving or self._is_answering):
            self._raw.close()
        elif self.is_served or self.flow.read_paused:  # the rest waits to be read by PlantDesk
            self._restart_timeout()
        else:
            self._refuse(RequestTimeoutError(self._limits.request_timeout))

    @override
    def data_received(self, data: bytes) -> None:
        if self._ignores_input or len(data) >= _PIECE:
            self._raw.pause_reading()
            self.loop.call_later(_PAUSE * len(self.connections), self._read_on)
        for start in range(0, len(data), _PIECE):
            self._parse(data[start : start + _PIECE])

    def _read_on(self) -> None:
        if not (self.flow.read_paused or self._raw.is_closing()):
            self._raw.resume_reading()

    def _parse(self, data: bytes) -> None:
        if self._ignores_input:
            return
        try:
            self.parser.feed_data(data)
            self._count_framing(len(data))
        except httptools.HttpParserUpgrade as pause:
            self._parse(self._without_upgrade(data[pause.args[0] :]))
        except httptools.HttpParserError as error:
            if not self._ignores_input:
                self._refuse(error)
        except (MalformedHttpError, MemoryError) as error:
            self._refuse(error)

    def _without_upgrade(self, rest: bytes) -> bytes:
        """Return a request without its Upgrade header, to be parsed instead.

        A server may ignore the offer (RFC 9110, section 7.8). Java's HttpClient makes it with each first request, and
        llhttp takes its body for the other protocol.
        """
        line = b"%b %b HTTP/%b\r\n" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn's
        return line + _lines(header for header in self.headers if header[0] != b"upgrade") + b"\r\n" + rest

    def _count_framing(self, count: int) -> None:
        self._framing += count
        if self._is_receiving and self._framing > self._limits.framing:
            raise MalformedHttpError(Text("its headers are too long, or its chunks are too small"))

    @override
    def on_message_begin(self) -> None:
        if self._is_answering:
            self.cycle.keep_alive = False
            self._ignores_input = True
            raise httptools.HttpParserError("a request before the response to another")
        super().on_message_begin()
        self._is_receiving, self._keep_alive, self._framing = True, None, 0
        self._restart_timeout()

    @override
    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value.strip(b" \t"))  # llhttp keeps trailing blanks (RFC 9110, section 5.5)
        if len(self.headers) > self._limits.fields:
            raise MalformedHttpError(Text("it has more than {count} header fields", count=self._limits.fields))

    @override
    def on_headers_complete(self) -> None:
        version = self.parser.get_http_version()
        if self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT":
            return  # it is parsed again without the offer
        if version not in {"1.1", "1.0"}:
            raise MalformedHttpError(Text("version {version} is not supported", version=version))
        if version == "1.0":
            self.expect_100_continue = False  # such a client must not be sent 100 (RFC 9110, section 10.1.1)
            if any(name == b"transfer-encoding" for name, _ in self.headers):  # RFC 9112, section 6.1
                raise MalformedHttpError(Text("HTTP/1.0 has no Transfer-Encoding"))
        self.url = _origin_form(self.url, self.headers)
        self.server_state.default_headers = _default_headers(int(time.time()))
        super().on_headers_complete()
        self.headers = []  # of the trailer, which are no headers (RFC 9110, section 6.5.1)
        self._keep_alive = self.cycle.keep_alive
        self.cycle.keep_alive = False  # the unread rest of a request must not be parsed as the next one

    @override
    def on_body(self, body: bytes) -> None:
        self._count_framing(max(_MIN_CHUNK - len(body), 0) - len(body))
        super().on_body(body)

    @override
    def on_message_complete(self) -> None:
        if self._keep_alive is not None:  # else it offers an upgrade
            self._is_receiving = False
            self.cycle.keep_alive = self._keep_alive
            self._restart_timeout()
            super().on_message_complete()

    @override
    def on_response_complete(self) -> None:
        """Wait for the next request, unless the connection is closed."""
        self.last_event = time.monotonic()
        super().on_response_complete()
        if self._has_client_closed:
            self.transport.close()
        elif self.flow.write_paused:
            self._restart_timeout()

    def _refuse(self, error: Exception) -> None:
        """Answer the request that is received with an error, and ignore further input."""
        if self._is_answering:  # the application waits for its body
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if isinstance(error, httptools.HttpParserError):
            cause = error.__context__  # what a callback raised
            reason = Text("its target is not valid") if cause else Text("{reason}", reason=str(error))
            error = cause if isinstance(cause, PlantDeskError | MemoryError) else MalformedHttpError(reason)
        refusal = error_response(error)
        self._activity.record_refused(refusal.number, refusal.message)
        headers = [*_default_headers(int(time.time())), *refusal.headers, (b"connection", b"close")]
        self._raw.write(STATUS_LINE[refusal.status] + _lines(headers) + b"\r\n" + refusal.body)
        self.transport.close()


def _lines(headers: Iterable[Header]) -> bytes:
    return b"".join([b"%b: %b\r\n" % header for header in headers])


@lru_cache(maxsize=1)
def _default_headers(second: int) -> list[Header]:
    """Return the headers of every response at a second since 1970."""
    return [(b"date", formatdate(second, usegmt=True).encode()), *_SECURITY_HEADERS]


def _origin_form(target: bytes, headers: list[Header]) -> bytes:
    """Return the path and the query of a target; the host of one in absolute form replaces that in `headers`.

    Raises MalformedHttpError, or a ValueError (RFC 9112, section 3.2.2).
    """
    if b"://" not in target and b"#" not in target:
        return target
    scheme, host, path, query, fragment = urlsplit(target)
    if b"@" in host or fragment:
        raise MalformedHttpError(Text("its target holds a fragment or a user"))
    if scheme != b"http":
        raise MalformedHttpError(Text("its target is not http"))
    hosts = [index for index, header in enumerate(headers) if header[0] == b"host"]
    if len(hosts) == 1:  # a missing or repeated Host is refused later
        headers[hosts[0]] = (b"host", host)
    return (path or b"/") + (b"?" + query if query else b"")
