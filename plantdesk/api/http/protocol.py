"""HTTP/1.1 on one connection: uvicorn's httptools protocol, with what the API's contract demands beyond it.

Error bodies for malformed requests, deadlines, a close that lets the client read the response, half-closed connections,
targets in absolute form (RFC 9112, section 3.2.2), unknown methods, and offers of an upgrade. All of it runs on the
event loop's thread.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Awaitable, Callable, Iterable
from math import inf
from typing import TYPE_CHECKING, NamedTuple, cast

import httptools
from typing_extensions import override
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from plantdesk.api.errors import MalformedHttpError, RequestTimeoutError, error_response, parser_error
from plantdesk.api.http.flow_control import READ_SIZE, Flow
from plantdesk.api.http.requests import KnownRequest, RequestCycle, RequestQueue, RequestSize, set_target
from plantdesk.domain.errors import OutOfMemoryError, PlantDeskError, Text

if TYPE_CHECKING:
    import asyncio

    from uvicorn._types import HTTPScope
    from uvicorn.config import Config
    from uvicorn.server import ServerState

    from plantdesk.api.http.requests import ConnectionLimits, Responses
    from plantdesk.domain.activity import Activity


_METHOD = re.compile(rb"(?:\r\n)*([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) ")
#: A method that llhttp knows, in place of one that it does not.
KNOWN_METHOD = b"PATCH"


class Rewritten(NamedTuple):
    """A request with `KNOWN_METHOD` in place of `method`."""

    method: bytes
    data: bytes


def with_known_method(data: bytes) -> Rewritten | None:
    """Rewrite the method at the start of `data`; None where there is none."""
    found = _METHOD.match(data)
    return None if found is None else Rewritten(found[1], KNOWN_METHOD + b" " + data[found.end() :])


def without_upgrade(request_line: bytes, headers: Iterable[tuple[bytes, bytes]], rest: bytes) -> bytes:
    """Return a request without its Upgrade header: llhttp takes what follows for the other protocol.

    A server may ignore the offer (RFC 9110, section 7.8). Java's HttpClient makes it with each first request.
    """
    lines = [b"%b: %b\r\n" % header for header in headers if header[0] != b"upgrade"]
    return b"".join((request_line, b"\r\n", *lines, b"\r\n", rest))


class Deadlines:
    """The deadlines of one connection, in the time of its event loop; `inf` means none."""

    def __init__(self, loop: asyncio.AbstractEventLoop, limits: ConnectionLimits) -> None:
        self._loop = loop
        self._limits = limits
        self._due = inf  # of a request, of an idle connection, or of a client that has its last response
        self._linger_end = inf
        self._write_due = inf

    def start_request(self) -> None:
        """Start the timeout of a request, unless a deadline is set."""
        if self._due == inf:
            self.restart_request()

    def restart_request(self) -> None:
        """Give the client the whole timeout of a request from now on."""
        self._due = self._loop.time() + self._limits.request_timeout

    def start_keep_alive(self) -> None:
        """Start the timeout of an idle connection."""
        self._due = self._loop.time() + self._limits.keep_alive_timeout

    def start_lingering(self) -> None:
        """Start the timeout of a client that has been sent the last response."""
        self._due = self._loop.time() + self._limits.linger_timeout
        self._linger_end = self._loop.time() + self._limits.request_timeout

    def clear(self) -> None:
        """Set no deadline for input."""
        self._due = inf

    def start_writing(self) -> None:
        """Start the timeout of a client that does not read its response."""
        self._write_due = self._loop.time() + self._limits.request_timeout

    def clear_writing(self) -> None:
        """Set no deadline for output."""
        self._write_due = inf

    def has_expired(self, now: float) -> bool:
        """Whether the client has not sent, or closed, in time."""
        return now >= self._due

    def has_write_expired(self, now: float) -> bool:
        """Whether the client has not read in time."""
        return now >= self._write_due

    def has_linger_expired(self, now: float) -> bool:
        """Whether a client that reads its last response slowly has had the longest time for it."""
        return now >= self._linger_end


_BLANKS = b" \t"
#: Bytes parsed at once: a bound where a client sends thousands of requests in one segment.
_PARSE_SIZE = 1024
#: Counts what happens on all connections, to find the one that has been idle for longest.
_events = itertools.count()


class ServerParts(NamedTuple):
    """What all connections of a server share.

    `add_known` takes a request that need not be parsed, and calls `begin_known`; it returns False for any other.
    """

    limits: ConnectionLimits
    responses: Responses
    activity: Activity
    add_known: Callable[[bytes, HttpProtocol], bool]


class HttpProtocol(HttpToolsProtocol):
    """Receives requests and sends responses on one connection."""

    flow: Flow

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        loop: asyncio.AbstractEventLoop,
        server: ServerParts,
    ) -> None:
        super().__init__(config, server_state, {}, loop)
        self.access_log = False
        self.ignores_input = False
        self.last_event = 0
        self._limits = server.limits
        self._responses = server.responses
        self._activity = server.activity
        self._add_known = server.add_known
        self._deadlines = Deadlines(loop, server.limits)
        self._requests = RequestQueue()
        self._size = RequestSize(server.limits)
        self._is_receiving = False  # a request has begun and is not complete
        self._unknown_method: bytes | None = None
        self._begun = 0  # requests on this connection
        self._unparsed = b""  # input, while enough requests wait
        self._has_client_closed = False
        self._refusal: PlantDeskError | None = None  # to be sent after the responses to complete requests
        self._is_lingering = False  # the last response is sent

    # --- connection ---

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Without uvicorn's method: it asks the system for addresses that nobody uses.
        self.transport = cast("asyncio.Transport", transport)
        self.flow = Flow(self.transport, self.loop)
        self.scheme = "http"
        self.connections.add(self)
        self.last_event = next(_events)
        self._deadlines.start_request()
        if len(self.connections) > self._limits.connections:
            self._drop_most_idle()

    @property
    def is_answering(self) -> bool:
        """Whether a request is being answered."""
        return self._requests.active is not None

    @property
    def is_awaiting_body(self) -> bool:
        """Whether the request that is being answered has not arrived whole: its client may take its time."""
        return self._is_receiving and self.is_answering and self._requests.incoming is self._requests.active

    def _drop_most_idle(self) -> None:
        """Abort the connection that has been idle for longest; this one where all are being answered.

        Of those that send a body, the oldest goes first while they are more than half: else slow ones would leave no
        place for others.
        """
        others = [each for each in self.connections if isinstance(each, HttpProtocol)]
        sending = [each for each in others if each.is_awaiting_body]
        idle = [each for each in others if not each.is_answering]
        candidates = sending if 2 * len(sending) > len(others) else idle or sending
        dropped = min(candidates, key=lambda each: each.last_event, default=self)
        self.connections.discard(dropped)
        dropped.transport.abort()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._requests.disconnect()
        self.ignores_input = True
        self.connections.discard(self)
        self.flow.resume_writing()  # for whoever waits for it
        del self.parser  # it refers to its protocol

    @override
    def eof_received(self) -> bool:  # type: ignore[override]  # uvicorn's returns nothing
        """Keep the connection open for responses that are due; refuse a request that is not complete."""
        if self._is_lingering:
            return False
        self._has_client_closed = True
        if self._unparsed and not self.ignores_input:
            return True
        self._end_input()
        return self.is_answering or self._is_lingering

    def _end_input(self) -> None:
        if self._is_receiving:
            self._refuse(MalformedHttpError(Text("it ended before it was whole")))
        self.ignores_input = True

    @override
    def pause_writing(self) -> None:
        super().pause_writing()
        self._deadlines.start_writing()

    @override
    def resume_writing(self) -> None:
        super().resume_writing()
        self._deadlines.clear_writing()

    @override
    def shutdown(self) -> None:
        """Answer complete requests, then close; drop a request that is not complete."""
        if self._is_lingering:
            return
        self.ignores_input = True
        if self._is_receiving:
            self._drop_request()
        if not self.is_answering:
            self.transport.close()

    def check_deadlines(self, now: float) -> None:
        """End what has taken the client too long; called about once a second."""
        if self._deadlines.has_write_expired(now):
            self.transport.abort()
        elif self._deadlines.has_expired(now):
            self._on_deadline(now)

    def _on_deadline(self, now: float) -> None:
        if self._is_lingering:
            # A client may still be reading; one that does not read at all exceeds the write deadline.
            if not self.transport.get_write_buffer_size() or self._deadlines.has_linger_expired(now):
                self.transport.abort()
        elif not self._is_receiving:
            self.ignores_input = True
            self.transport.close()
        elif self.flow.read_paused:  # the rest waits to be read by PlantDesk
            self._deadlines.restart_request()
        else:
            self._refuse(RequestTimeoutError(self._limits.request_timeout))

    # --- input ---

    @override
    def data_received(self, data: bytes) -> None:
        if self.ignores_input:
            self.flow.discard(len(self.connections))
            return
        if len(data) >= READ_SIZE:
            self.flow.yield_turn()
        if self._unparsed or len(data) > _PARSE_SIZE:
            self._unparsed += data
            self._parse_pieces()
        elif self._is_receiving or self.is_answering or self.flow.write_paused or not self._add_known(data, self):
            self._parse(data)
            self._set_deadline()

    def _parse_pieces(self) -> None:
        """Parse unparsed input piece by piece, until enough requests wait."""
        data, start = self._unparsed, 0
        while start < len(data) and not self.ignores_input and not self._requests.is_full:
            self._parse(data[start : start + _PARSE_SIZE])
            start += _PARSE_SIZE
        self._unparsed = b"" if self.ignores_input else data[start:]
        if self._unparsed:
            self.flow.pause_reading()
        elif self._has_client_closed and not self.ignores_input:
            self._end_input()
        self._set_deadline()

    def _set_deadline(self) -> None:
        if self._is_receiving:
            self._deadlines.start_request()

    def _parse(self, data: bytes) -> None:
        is_rewritten = False
        try:
            while data and not self.ignores_input:
                data = self._feed(data, is_rewritten=is_rewritten)
                is_rewritten = True
        except PlantDeskError as error:
            self._refuse(error)
        except MemoryError:
            self._refuse(OutOfMemoryError())

    def _feed(self, data: bytes, *, is_rewritten: bool) -> bytes:
        """Parse `data`; return input to parse instead of it, as a rule none. Raises PlantDeskError."""
        was_receiving, begun = self._is_receiving, self._begun
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserInvalidMethodError as error:
            # Only a method at the start of the data is known to be the unknown one.
            is_at_start = not (is_rewritten or was_receiving) and self._begun == begun + 1
            rewritten = with_known_method(data) if is_at_start else None
            if rewritten is None:
                raise parser_error(error) from None
            self._restart_parser(rewritten.method)
            return rewritten.data
        except httptools.HttpParserUpgrade as pause:
            return self._ignore_upgrade(data[pause.args[0] :])
        except httptools.HttpParserError as error:
            raise parser_error(error) from None
        if self._is_receiving:
            self._size.add_bytes(len(data) if was_receiving else 0)
            self._size.check_fields(len(self.headers))
        elif not was_receiving and self._begun == begun + 1 and self._requests.incoming is not None:
            self._requests.incoming.note_whole(data)
        return b""

    def _restart_parser(self, unknown_method: bytes | None) -> None:
        self._unknown_method = unknown_method
        self._is_receiving = False
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)

    def _ignore_upgrade(self, rest: bytes) -> bytes:
        """Return the request to parse instead of one that offers an upgrade; nothing for CONNECT."""
        if self.scope["method"] == "CONNECT":
            self.ignores_input = True
            return b""
        method = self.scope["method"].encode() if self._unknown_method is None else KNOWN_METHOD
        line = b"%b %b HTTP/%b" % (method, self.url, self.parser.get_http_version().encode())
        self._restart_parser(self._unknown_method)
        return without_upgrade(line, self.headers, rest)

    # --- callbacks of the parser ---

    @override
    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.last_event = next(_events)
        self._begun += 1
        self._is_receiving = True
        self._requests.incoming = None
        self._size.reset()
        self._deadlines.clear()

    @override
    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.lower(), value.strip(_BLANKS)))  # llhttp keeps trailing blanks (RFC 9110, 5.5)

    @override
    def on_headers_complete(self) -> None:
        self._size.are_headers_complete = True
        self._size.check_fields(len(self.headers))
        parser, scope, headers = self.parser, self.scope, self.headers
        method = self._unknown_method or parser.get_method()
        scope["method"] = method.decode("ascii")
        if parser.should_upgrade() and method != b"CONNECT":
            return
        self._unknown_method = None
        self.headers = []  # of the trailer, which are no headers (RFC 9110, section 6.5.1)
        version = parser.get_http_version()
        if version not in {"1.1", "1.0"}:
            raise MalformedHttpError(Text("version {version} is not supported", version=version))
        scope["http_version"] = version
        set_target(scope, headers, self.url, is_connect=method == b"CONNECT")
        is_1_1 = version == "1.1"
        self._add_request(
            keep_alive=is_1_1 and parser.should_keep_alive(),
            # An HTTP/1.0 client must not be sent 100 Continue (RFC 9110, section 10.1.1).
            expects_continue=is_1_1 and dict(headers).get(b"expect", b"").lower() == b"100-continue",
        )

    @override
    def on_body(self, body: bytes) -> None:
        self._size.add_chunk(len(body))
        incoming = self._requests.incoming
        if incoming is not None and not incoming.is_answered:
            incoming.add_body(body)

    @override
    def on_message_complete(self) -> None:
        self._is_receiving = False
        self._deadlines.clear()
        if self._requests.incoming is not None:
            self._requests.incoming.end_body()

    def _new_cycle(self, scope: HTTPScope, *, keep_alive: bool, expects_continue: bool) -> RequestCycle:
        return RequestCycle(
            scope,
            self.flow,
            self._responses,
            self.on_response_complete,
            keep_alive=keep_alive,
            expects_continue=expects_continue,
        )

    def _add_request(self, *, keep_alive: bool, expects_continue: bool) -> None:
        cycle = self._new_cycle(self.scope, keep_alive=keep_alive, expects_continue=expects_continue)
        if self._requests.add(cycle):
            self._start(cycle)
        else:
            self.flow.pause_reading()

    # --- requests that are not parsed ---

    def begin_known(self, *, keep_alive: bool) -> KnownRequest:
        """Begin a request of which `answer_known` or `refuse_known` is called later."""
        self._requests.active = request = KnownRequest(keep_alive=keep_alive)
        self._deadlines.clear()
        self.last_event = next(_events)
        return request

    def answer_known(self, request: KnownRequest, body: bytes) -> None:
        """Send the response with a body in JSON, unless the client is gone."""
        if self._requests.active is request:
            self.transport.write(self._responses.format_json(body, keep_alive=request.keep_alive))
            self.on_response_complete()

    def refuse_known(self, request: KnownRequest, scope: HTTPScope, app: Callable[..., Awaitable[None]]) -> None:
        """Let an application send the response, also where the client is gone, as it may record what it answers."""
        cycle = self._new_cycle(scope, keep_alive=request.keep_alive, expects_continue=False)
        cycle.end_body()
        if self._requests.active is request:
            self._requests.active = cycle
        else:
            cycle.disconnect()
        self._start(cycle, app)

    # --- output ---

    def _start(self, cycle: RequestCycle, app: Callable[..., Awaitable[None]] | None = None) -> None:
        task = self.loop.create_task(cycle.run(app or self.app))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    @override
    def on_response_complete(self) -> None:
        """Start the next request, wait for one, or end the connection."""
        answered = self._requests.active
        if answered is not None and not answered.keep_alive:
            self._requests.active = None
            self._end()
        elif (following := self._requests.next()) is not None:
            self._start(following)
            if self._unparsed:
                self._parse_pieces()
        elif self._refusal is not None:
            self._send_refusal(self._refusal)
        elif self.ignores_input:
            self._end()
        else:
            self.flow.resume_reading()
            self.last_event = next(_events)
            if not self._is_receiving:
                self._deadlines.start_keep_alive()

    def _refuse(self, error: PlantDeskError) -> None:
        """Ignore further input, answer the complete requests, and then send `error`."""
        self.ignores_input = True
        if self._is_receiving:
            self._drop_request()
        if self.is_answering:
            self._refusal = error
        else:
            self._send_refusal(error)

    def _drop_request(self) -> None:
        self._is_receiving = False
        self._requests.drop_incoming()

    def _send_refusal(self, error: PlantDeskError) -> None:
        refusal = error_response(error)
        self._activity.record_refused(refusal.number, refusal.message)
        response = self._responses.format(refusal.status, refusal.headers, refusal.body, keep_alive=False)
        self.transport.write(response)
        self._end()

    def _end(self) -> None:
        """Close the write side, and discard input until the client closes, too (RFC 9112, section 9.6).

        Closing both at once with unread input would reset the connection, and the client could lose the response.
        """
        self.ignores_input = self._is_lingering = True
        self._requests.drop_waiting()
        self._deadlines.start_lingering()
        self.flow.resume_reading()
        if self.transport.can_write_eof() and not self._has_client_closed:
            self.transport.write_eof()
        else:
            self.transport.close()
