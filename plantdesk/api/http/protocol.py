"""One connection: uvicorn's protocol on httptools, with what the contract asks for beyond it.

Error bodies for what the parser refuses, deadlines that no byte resets, a close that lets the client read the answer,
answers for clients that have already closed their side, targets in absolute form (RFC 9112, section 3.2.2), methods
that llhttp does not know, and requests that offer an upgrade. Everything here runs on the loop's thread.
"""

from __future__ import annotations

import asyncio
import itertools
import re
from math import inf
from typing import TYPE_CHECKING

import httptools
from typing_extensions import override
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from plantdesk.api.error_response import problem
from plantdesk.api.errors import BodyTooLargeError, MalformedHttpError, TooSlowError, refusal_in
from plantdesk.api.http.flow_control import AT_ONCE, Flow
from plantdesk.api.http.request_cycle import Cycle, response
from plantdesk.api.http.request_target import take_target

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application
    from uvicorn.config import Config
    from uvicorn.server import ServerState

    from plantdesk.api.limits import Limits
    from plantdesk.errors import PlantDeskError

_METHOD = re.compile(rb"(?:\r\n)*([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) ")
#: What llhttp is given to read in the place of a method that it does not know.
_STAND_IN = b"PATCH"
_BLANKS = b" \t"
#: Bytes parsed at once, and requests that may wait on one connection: a bound where a client sends thousands in one go.
_PIECE = 1024
_MOST_WAITING = 8
#: Bytes for each of which a body may have one more piece; none is parsed in less than a microsecond.
_PIECE_OF_BODY = 64
_ORDER = itertools.count()


class PlantProtocol(HttpToolsProtocol):
    """Speaks HTTP/1.1 on one connection."""

    flow: Flow
    cycle: Cycle  #: the one begun last; None before the first

    def __init__(
        self, config: Config, server_state: ServerState, loop: asyncio.AbstractEventLoop, limits: Limits
    ) -> None:
        super().__init__(config, server_state, {}, loop)
        self.access_log = False
        self._limits = limits
        self._active: Cycle | None = None
        self._method: bytes | None = None
        # Of the request that is coming in: is there one, is its head whole, its cycle then, and its bytes so far.
        self._receiving = False
        self._head_done = False
        self._incoming: Cycle | None = None
        self._size = 0
        self._pieces = self._body = 0  # of its body: how many chunks, as a rule, and how many bytes
        self._begun = 0  # requests on this connection
        self._held = b""  # what came and is not parsed yet, because enough requests wait
        self._ended = False  # the client has closed its side
        self.deaf = False  # takes nothing more in
        self._refusal: PlantDeskError | None = None  # to be told once all that came before it is answered
        self._lingering = False  # the last answer is out
        # The times (of the loop) by which the client must have done its part.
        self._due = self._stalled = self._linger_until = inf
        self._last_did = 0  # something, in the order of all that connections do

    # --- the connection ------------------------------------------------------------------------------------------

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow = Flow(transport, self.loop)
        self._last_did = next(_ORDER)
        self._due = self.loop.time() + self._limits.request
        if len(self.connections) > self._limits.connections:
            self._make_room()

    def _make_room(self) -> None:
        """Give up the connection that has been without a whole request for longest; this one, where all have one."""
        others = [each for each in self.connections if isinstance(each, PlantProtocol) and each._active is None]  # noqa: SLF001
        longest = min(others, key=lambda each: each._last_did, default=self)  # noqa: SLF001
        self.connections.discard(longest)
        longest.transport.abort()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        for cycle in (self._active, *(cycle for cycle, _ in self.pipeline)):
            if cycle is not None:
                cycle.disconnected = True
                cycle.message_event.set()
        self.pipeline.clear()
        self.deaf = True
        super().connection_lost(exc)
        self.cycle = self._incoming = self._active = None  # type: ignore[assignment]  # circles cost memory until collected

    @override
    def eof_received(self) -> bool:  # type: ignore[override]
        """Keep the connection for the answers that are due; tell a client that stopped halfway."""
        if self._lingering:
            return False
        self._ended = True
        if self._held and not self.deaf:
            return True
        self._take_end()
        return self._active is not None or self._lingering

    def _take_end(self) -> None:
        if self._receiving:
            self._refuse(MalformedHttpError("it ended before it was whole"))
        self.deaf = True

    @override
    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self.loop.time() + self._limits.request

    @override
    def resume_writing(self) -> None:
        super().resume_writing()
        self._stalled = inf

    @override
    def shutdown(self) -> None:
        """Give the answers that are due, and close; a request that is not whole is given up."""
        if self._lingering:
            return
        self.deaf = True
        if self._receiving:
            self._give_up_request()
        if self._active is None:
            self.transport.close()

    # --- the clock -----------------------------------------------------------------------------------------------

    def look_at_clock(self, now: float) -> None:
        """End what takes the client too long; to be called every now and then."""
        if now >= self._stalled:
            self.transport.abort()
        elif now >= self._due:
            self._overdue(now)

    def _overdue(self, now: float) -> None:
        if self._lingering:
            # A client may still be reading; one that reads nothing at all is found by _stalled.
            if not self.transport.get_write_buffer_size() or now >= self._linger_until:
                self.transport.abort()
        elif not self._receiving:
            self.deaf = True
            self.transport.close()
        elif self.flow.read_paused:  # it is for us to read on
            self._due = now + self._limits.request
        else:
            self._refuse(TooSlowError(self._limits.request))

    # --- what comes in -------------------------------------------------------------------------------------------

    @override
    def data_received(self, data: bytes) -> None:
        if self.deaf:
            self.flow.ignore(len(self.connections))
            return
        if len(data) >= AT_ONCE:
            self.flow.let_others()
        if self._held or len(data) > _PIECE:
            self._held += data
            self._take_held()
        else:
            self._feed(data)
            self._set_deadline()

    def _take_held(self) -> None:
        """Parse what is held, piece by piece, until enough requests wait."""
        held, start = self._held, 0
        while start < len(held) and not self.deaf and len(self.pipeline) < _MOST_WAITING:
            self._feed(held[start : start + _PIECE])
            start += _PIECE
        self._held = b"" if self.deaf else held[start:]
        if self._held:
            self.flow.pause_reading()
        elif self._ended and not self.deaf:
            self._take_end()
        self._set_deadline()

    def _set_deadline(self) -> None:
        if self._receiving and self._due == inf:
            self._due = self.loop.time() + self._limits.request

    def _feed(self, data: bytes) -> None:
        as_it_came = True
        while data and not self.deaf:
            data = self._parsed(data, as_it_came=as_it_came)
            as_it_came = False

    def _parsed(self, data: bytes, *, as_it_came: bool) -> bytes:
        """Return what is to be parsed next in the place of `data`, nothing as a rule."""
        went_on, begun = self._receiving, self._begun
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserInvalidMethodError as error:
            # Only where the method stands at the very start of the data is it known to be this one.
            found = _METHOD.match(data) if as_it_came and not went_on and self._begun == begun + 1 else None
            if found is not None:
                self._begin_anew(found[1])
                return _STAND_IN + b" " + data[found.end() :]
            self._refuse(MalformedHttpError(str(error)))
        except httptools.HttpParserUpgrade as pause:
            return self._without_upgrade(data[pause.args[0] :])
        except httptools.HttpParserError as error:
            self._refuse(refusal_in(error))
        else:
            self._check_size(len(data), went_on=went_on)
        return b""

    def _check_size(self, size: int, *, went_on: bool) -> None:
        """Bound what llhttp would take without end: heads, trailers, and the framing of chunks."""
        if not self._receiving:
            return
        self._size += size if went_on else 0
        if self._size > self._limits.head and not self._head_done:
            self._refuse(MalformedHttpError("its head is too long"))
        elif self._size > self._limits.message:
            self._refuse(BodyTooLargeError(self._limits.body))

    def _begin_anew(self, method: bytes | None = None) -> None:
        self._method = method
        self._receiving = False
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)

    def _without_upgrade(self, rest: bytes) -> bytes:
        """Return a request that offers an upgrade as if it did not: llhttp takes its body for the new protocol.

        A server may ignore the offer (RFC 9110, section 7.8), and Java's HttpClient makes it with each first request.
        """
        if self.scope["method"] == "CONNECT":
            self.deaf = True
            return b""
        method = self.scope["method"].encode() if self._method is None else _STAND_IN
        version = self.parser.get_http_version().encode()
        self._begin_anew(self._method)
        lines = [b"%b: %b\r\n" % header for header in self.headers if header[0] != b"upgrade"]
        start = b"%b %b HTTP/%b\r\n" % (method, self.url, version)
        return b"".join((start, *lines, b"\r\n", rest))

    # --- the parser's callbacks ----------------------------------------------------------------------------------

    @override
    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._begun += 1
        self._last_did = next(_ORDER)
        self._receiving = True
        self._head_done = False
        self._incoming = None
        self._size = self._pieces = self._body = 0
        self._due = inf

    @override
    def on_header(self, name: bytes, value: bytes) -> None:
        if self._head_done:  # trailers are no headers (RFC 9110, section 6.5.1)
            return
        super().on_header(name, value.strip(_BLANKS))  # llhttp leaves those behind the value (RFC 9110, section 5.5)
        if len(self.headers) > self._limits.fields:
            raise MalformedHttpError(f"its head has more than {self._limits.fields} fields")

    @override
    def on_headers_complete(self) -> None:
        self._head_done = True
        method = self._method or self.parser.get_method()
        self.scope["method"] = method.decode("ascii")
        if self.parser.should_upgrade() and method != b"CONNECT":
            return
        self._method = None
        version = self.parser.get_http_version()
        if version not in {"1.1", "1.0"}:
            raise MalformedHttpError(f"version {version} is not spoken here")
        self.scope["http_version"] = version
        take_target(self.scope, self.url, connecting=method == b"CONNECT")  # type: ignore[arg-type]
        self._begin_cycle(keep_alive=version == "1.1" and self.parser.should_keep_alive())

    @override
    def on_body(self, body: bytes) -> None:
        self._pieces += 1
        self._body += len(body)
        if self._pieces > self._limits.pieces + self._body // _PIECE_OF_BODY:
            raise MalformedHttpError("its chunks are too small")
        if self._incoming is not None and not self._incoming.response_complete:
            super().on_body(body)

    @override
    def on_message_complete(self) -> None:
        self._receiving = False
        self._due = inf
        if self._incoming is not None:
            self._incoming.more_body = False
            self._incoming.message_event.set()

    def _begin_cycle(self, *, keep_alive: bool) -> None:
        self.cycle = self._incoming = Cycle(
            scope=self.scope,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=False,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            # A client of HTTP/1.0 may not be told to go on (RFC 9110, section 10.1.1).
            expect_100_continue=self.expect_100_continue and self.scope["http_version"] == "1.1",
            keep_alive=keep_alive,
            on_response=self.on_response_complete,
        )
        if self._active is not None:
            self.flow.pause_reading()
            self.pipeline.appendleft((self.cycle, self.app))
        else:
            self._start_asgi_task(self._incoming, self.app)

    # --- what goes out -------------------------------------------------------------------------------------------

    @override
    def _start_asgi_task(self, cycle: Cycle, app: ASGI3Application) -> None:  # type: ignore[override]
        self._active = cycle
        task = self.loop.create_task(cycle.run_asgi(app))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    @override
    def on_response_complete(self) -> None:
        """Go on to the next request, or to waiting for one, or to the end."""
        answered, self._active = self._active, None
        if answered is not None and not answered.keep_alive:
            self._end()
        elif self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())  # type: ignore[arg-type]
            if self._held:
                self._take_held()
        elif self._refusal is not None:
            self._write_refusal(self._refusal)
        elif self.deaf:
            self._end()
        else:
            self.flow.resume_reading()
            self._last_did = next(_ORDER)
            if not self._receiving:
                self._due = self.loop.time() + self._limits.keep_alive

    def _refuse(self, error: PlantDeskError) -> None:
        """Take nothing more in, answer what came whole before, and then this."""
        self.deaf = True
        if self._receiving:
            self._give_up_request()
        if self._active is not None:
            self._refusal = error
        else:
            self._write_refusal(error)

    def _give_up_request(self) -> None:
        """Take back the request that is not whole, wherever it is by now."""
        self._receiving = False
        if self._incoming is None:
            return
        self._incoming.disconnected = True
        self._incoming.message_event.set()
        if self._incoming is self._active:
            self._active = None
        else:
            self.pipeline.popleft()

    def _write_refusal(self, error: PlantDeskError) -> None:
        answer = problem(error)
        headers = [*self.server_state.default_headers, *answer.headers]
        self.transport.write(response(answer.status, headers, answer.body, keep_alive=False))
        self._end()

    def _end(self) -> None:
        """Close our side, and let the client read before the other is closed, too (RFC 9112, section 9.6).

        Closing at once with unread input would reset the connection, and the client would lose the answer.
        """
        self.deaf = self._lingering = True
        self.pipeline.clear()
        self._due = self.loop.time() + self._limits.linger
        self._linger_until = self.loop.time() + self._limits.request
        self.flow.resume_reading()
        if self.transport.can_write_eof() and not self._ended:
            self.transport.write_eof()
        else:
            self.transport.close()
