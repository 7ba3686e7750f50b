"""`POST /plants`: reads the body, and passes the plant to the store with all that arrive in the same turn of the loop.

A plant of 1 MiB takes about 10 MB while it is read, stored and answered, so two hundred at once would fill the memory.
Large bodies take turns; each must be sent quickly, since others wait for it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, NamedTuple, Self

from plantdesk.api.errors import (
    BodyTooLargeError,
    ClientDisconnectedError,
    MethodNotAllowedError,
    RequestTimeoutError,
    TokenMissingError,
    WrongContentTypeError,
)
from plantdesk.api.limits import SMALL_BODY
from plantdesk.domain.errors import PlantDeskError, Text, TokenRefusedError, joined
from plantdesk.domain.strict_json import parse_object
from plantdesk.domain.validation import new_plant

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from plantdesk.api.access_control import Client
    from plantdesk.api.errors import ErrorResponse
    from plantdesk.api.limits import ConnectionLimits
    from plantdesk.api.protocol import HttpProtocol
    from plantdesk.domain.activity import Activity
    from plantdesk.domain.models import NewPlant
    from plantdesk.domain.protocols import ServedStore
    from plantdesk.domain.records import PlantRow, Source

    Outcome = PlantRow | PlantDeskError
    OnOutcome = Callable[[Outcome], object]
    Sent = Mapping[str, object]
    Refusal = Callable[[Exception, Source, Sent], Awaitable[ErrorResponse]]


#: Heads that are known at once; each has less than 1 KiB.
_MAX_HEADS = 1000
_HEAD_END = b"\r\n\r\n"


class RequestBodies:
    """Opens the bodies of one server's requests. For the thread of one loop."""

    def __init__(self, limits: ConnectionLimits) -> None:
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

    def __init__(
        self, receive: Receive, content_length: int, limits: ConnectionLimits, large_bodies: asyncio.Semaphore
    ) -> None:
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


class BatchInserter:
    """Adds plants for one event loop; all methods are for its thread."""

    def __init__(self, store: ServedStore, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self._loop = loop
        self._batch: list[tuple[NewPlant, Source]] = []
        self._waiting: list[OnOutcome] = []
        #: What waits for the batches that the store has.
        self._sent: dict[int, list[OnOutcome]] = {}

    async def add(self, plant: NewPlant, source: Source) -> PlantRow:
        """Return the plant's row when it is durable. Raises IdTakenError, TokenRefusedError, StoreError."""
        future: asyncio.Future[Outcome] = self._loop.create_future()
        self.submit(plant, source, partial(_resolve, future))
        return _row(await future)

    def submit(self, plant: NewPlant, source: Source, on_outcome: OnOutcome) -> None:
        """Add a plant; `on_outcome` gets its row when it is durable, or one of the errors that `add` raises."""
        if not self._batch:
            self._loop.call_soon(self._submit)
        self._batch.append((plant, source))
        self._waiting.append(on_outcome)

    def _submit(self) -> None:
        batch, waiting = self._batch, self._waiting
        self._batch, self._waiting = [], []
        sent = id(waiting)
        self._sent[sent] = waiting

        def on_added(outcomes: list[Outcome]) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: no client is left
                self._loop.call_soon_threadsafe(self._pass_on, sent, outcomes)

        self._store.add_each(batch, on_added)

    def give_up(self, error: PlantDeskError) -> None:
        """Pass on an error to all that wait for the store, which may still add their plants."""
        for sent, waiting in list(self._sent.items()):
            self._pass_on(sent, [error] * len(waiting))

    def _pass_on(self, sent: int, outcomes: list[Outcome]) -> None:
        waiting = self._sent.pop(sent, None)
        if waiting is not None:  # else it was given up
            for on_outcome, outcome in zip(waiting, outcomes, strict=True):
                on_outcome(outcome)


def _row(outcome: Outcome) -> PlantRow:
    if isinstance(outcome, PlantDeskError):
        raise outcome
    return outcome


def _resolve(future: asyncio.Future[Outcome], outcome: Outcome) -> None:
    if not future.done():
        future.set_result(outcome)


class _Head(NamedTuple):
    """What the head of a request says: the bytes of its body, whose token it has, and whether the connection stays."""

    length: int
    source: Source
    keep_alive: bool


class KnownHeads:
    """Adds the plants of requests whose head, byte for byte, an earlier request had that has added a plant.

    A script sends the same head with each of its plants. The same bytes say the same, so they are neither parsed nor
    routed again, and Host, Origin and content type are not checked again: half of the work for a plant. Whether the
    token is still valid the store finds in the transaction that adds the plant. For the thread of one loop.
    """

    def __init__(self, inserter: BatchInserter, activity: Activity, refusal: Refusal) -> None:
        self._inserter = inserter
        self._activity = activity
        self._refusal = refusal
        self._heads: dict[bytes, _Head] = {}

    def remember(self, request: bytes, client: Client, *, keep_alive: bool) -> None:
        """Know the head of a request that has added a plant, if its length frames the body and nothing else is due."""
        head, _, body = request.partition(_HEAD_END)
        is_framed = client.fields.get(b"content-length") == b"%d" % len(body) and b"expect" not in client.fields
        if client.source is not None and is_framed:
            if len(self._heads) >= _MAX_HEADS:
                self._heads.clear()
            self._heads[head] = _Head(len(body), client.source, keep_alive)

    def add(self, data: bytes, connection: HttpProtocol) -> bool:
        """Add the plant of a request, which is answered when it is durable; False where it is not so simple."""
        head, _, body = data.partition(_HEAD_END)
        known = self._heads.get(head)
        if known is None or known.length != len(body):
            return False
        try:
            sent = parse_object(body)
            plant = new_plant(sent)
        except PlantDeskError:  # the application finds it again, after it has checked the token
            return False
        connection.begin_known(keep_alive=known.keep_alive)

        def on_outcome(outcome: Outcome) -> None:
            if isinstance(outcome, PlantDeskError):
                if isinstance(outcome, TokenRefusedError):
                    self._heads.pop(head, None)
                task = asyncio.ensure_future(self._refuse(connection, outcome, known.source, sent))
                connection.tasks.add(task)
                task.add_done_callback(connection.tasks.discard)
            else:
                self._activity.record_added(known.source, outcome, is_new=outcome.source == known.source)
                body = _plant_json(outcome)
                connection.answer_known(200, _headers(body), body)

        self._inserter.submit(plant, known.source, on_outcome)
        return True

    async def _refuse(self, connection: HttpProtocol, error: PlantDeskError, source: Source, sent: Sent) -> None:
        answer = await self._refusal(error, source, sent)
        connection.answer_known(answer.status, answer.headers, answer.body)


class PlantsEndpoint:
    """The endpoint, as an ASGI application. Errors are raised; `Application` turns them into responses."""

    def __init__(
        self, inserter: BatchInserter, bodies: RequestBodies, activity: Activity, known_heads: KnownHeads
    ) -> None:
        self._inserter = inserter
        self._bodies = bodies
        self._activity = activity
        self._known_heads = known_heads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the plant in the request, and answer when it is durable. Raises PlantDeskError."""
        if scope["method"] != "POST":
            raise MethodNotAllowedError("POST")
        client: Client = scope["client_access"]
        if client.source is None:
            raise TokenMissingError
        _check_content_type(client.fields)
        with self._bodies.open(client.fields, receive) as body:
            read = await body.read()
            # A megabyte of nested lists takes 0.2 s, which other requests must not wait for.
            sent = await asyncio.to_thread(parse_object, read) if len(read) > SMALL_BODY else parse_object(read)
            scope["sent"] = sent
            row = await self._inserter.add(new_plant(sent), client.source)
            self._activity.record_added(client.source, row, is_new=row.source == client.source)
            if "whole_request" in scope:
                request, keep_alive = scope["whole_request"]
                self._known_heads.remember(request, client, keep_alive=keep_alive)
            await _send_plant(send, row)


def _check_content_type(fields: dict[bytes, bytes]) -> None:
    """Accept only unencoded JSON. The charset parameter has no meaning (RFC 8259, section 11)."""
    kind = fields.get(b"content-type", b"")
    if kind != b"application/json" and kind.partition(b";")[0].strip().lower() != b"application/json":
        received = Text("Received “{kind}”.", kind=kind.decode("latin-1")[:60])
        expected = Text("Send JSON with exactly one header “Content-Type: application/json”.")
        raise WrongContentTypeError(joined([expected, received if kind else Text("The request has none.")]))
    if fields.get(b"content-encoding", b"identity").lower() != b"identity":
        raise WrongContentTypeError(Text("Send the body as it is, without Content-Encoding."))
    if fields.get(b"transfer-encoding", b"chunked").lower() != b"chunked":
        raise WrongContentTypeError(Text("Send the body as it is: no Transfer-Encoding but chunked is understood."))


async def _send_plant(send: Send, row: PlantRow) -> None:
    body = _plant_json(row)
    await send({"type": "http.response.start", "status": 200, "headers": _headers(body)})
    await send({"type": "http.response.body", "body": body})


def _headers(body: bytes) -> list[tuple[bytes, bytes]]:
    return [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]


def _plant_json(row: PlantRow) -> bytes:
    """Return the body of the response. Formatted here: an encoder takes ten times as long for two strings."""
    name = encode_basestring(row.name)
    if row.tag is None:
        return f'{{"name":{name}}}'.encode()
    return f'{{"name":{name},"tag":{encode_basestring(row.tag)}}}'.encode()
