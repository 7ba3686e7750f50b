"""`POST /plants`: reads the body, and passes all plants that arrive in one turn of the event loop to the store.

A plant of 1 MiB takes about 10 MB while it is read, stored and answered, so two hundred at once would fill the memory.
Large bodies take turns; each must be sent quickly, since others wait for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from plantdesk.api.access_control import AuthorizedRequest
from plantdesk.api.errors import (
    BodyTooLargeError,
    ClientDisconnectedError,
    MethodNotAllowedError,
    RequestTimeoutError,
    TokenMissingError,
    WrongContentTypeError,
)
from plantdesk.api.limits import MAX_SMALL_BODY_BYTES, ConnectionLimits
from plantdesk.domain.activity import Activity
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.models import NewPlant, Plant
from plantdesk.domain.protocols import Outcome, ServedStore
from plantdesk.domain.records import PlantRow, Source
from plantdesk.domain.strict_json import parse_object
from plantdesk.domain.texts import Text, joined
from plantdesk.domain.validation import new_plant


class RequestBodies:
    """Receives the request bodies of one server, large ones one after another. Only for the event loop's thread."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._large_body_lock = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def receive(self, headers: dict[bytes, bytes], receive: Receive) -> AsyncIterator[bytearray]:
        """Yield a complete body. A large body is received when the block of the previous large one has ended.

        Raises BodyTooLargeError, RequestTimeoutError, ClientDisconnectedError.
        """
        # The parser lets only digits through; int() would refuse thousands of leading zeros.
        content_length = int(headers.get(b"content-length", b"").lstrip(b"0") or b"0")
        self._check_size(content_length)
        body = bytearray()
        if content_length <= MAX_SMALL_BODY_BYTES and await self._receive_up_to(receive, body, MAX_SMALL_BODY_BYTES):
            yield body
            return
        async with self._large_body_lock:
            try:
                async with asyncio.timeout(self._limits.large_body_timeout):
                    await self._receive_up_to(receive, body, self._limits.body)
            except TimeoutError:
                raise RequestTimeoutError(self._limits.large_body_timeout) from None
            self._check_size(len(body))
            yield body

    async def _receive_up_to(self, receive: Receive, body: bytearray, limit: int) -> bool:
        """Receive until the body is complete, or larger than `limit`; return whether it is complete."""
        has_more = True
        while has_more and len(body) <= limit:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnectedError
            body += message["body"]
            has_more = message["more_body"]
        return not has_more

    def _check_size(self, size: int) -> None:
        if size > self._limits.body:
            raise BodyTooLargeError(self._limits.body)


class BatchInserter:
    """Passes the plants of one turn of the event loop to the store as a batch. Only for the event loop's thread."""

    def __init__(self, store: ServedStore, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self._loop = loop
        self._batch: list[tuple[NewPlant, Source]] = []
        self._waiting: list[asyncio.Future[Outcome]] = []
        #: The futures of each batch that was passed to the store, by its number.
        self._submitted: dict[int, list[asyncio.Future[Outcome]]] = {}
        self._batch_numbers = itertools.count()

    async def add(self, plant: NewPlant, source: Source) -> PlantRow:
        """Return the plant's row when it is durable. Raises IdTakenError, TokenRefusedError, StoreError."""
        future: asyncio.Future[Outcome] = self._loop.create_future()
        if not self._batch:
            self._loop.call_soon(self._submit_batch)
        self._batch.append((plant, source))
        self._waiting.append(future)
        outcome = await future
        if isinstance(outcome, PlantDeskError):
            raise outcome
        return outcome

    def fail_waiting(self, error: PlantDeskError) -> None:
        """Let all calls of `add` that wait for the store raise `error`; the store may still add their plants."""
        for number, waiting in list(self._submitted.items()):
            self._resolve_batch(number, [error] * len(waiting))

    def _submit_batch(self) -> None:
        """Pass the plants that were added in this turn of the loop to the store."""
        batch = self._batch
        waiting = self._waiting
        self._batch = []
        self._waiting = []
        number = next(self._batch_numbers)
        self._submitted[number] = waiting

        def on_added(outcomes: list[Outcome]) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: no client is left
                self._loop.call_soon_threadsafe(self._resolve_batch, number, outcomes)

        self._store.add_each(batch, on_added)

    def _resolve_batch(self, number: int, outcomes: list[Outcome]) -> None:
        waiting = self._submitted.pop(number, None)
        if waiting is not None:  # otherwise, `fail_waiting` has resolved its futures
            for future, outcome in zip(waiting, outcomes, strict=True):
                if not future.done():  # otherwise, its request was cancelled
                    future.set_result(outcome)


class PlantsEndpoint:
    """The endpoint of `/plants`, as an ASGI application. Errors are raised; `Application` turns them into responses."""

    def __init__(self, inserter: BatchInserter, bodies: RequestBodies, activity: Activity) -> None:
        self._inserter = inserter
        self._bodies = bodies
        self._activity = activity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the plant in the request, and answer when it is durable. Raises PlantDeskError."""
        if scope["method"] != "POST":
            raise MethodNotAllowedError("POST")
        client: AuthorizedRequest = scope["client_access"]
        if client.source is None:
            raise TokenMissingError
        _check_content_type(client.headers)
        async with self._bodies.receive(client.headers, receive) as body:
            # A megabyte of nested lists takes 0.2 s: other requests must not wait for it.
            is_large = len(body) > MAX_SMALL_BODY_BYTES
            sent = await asyncio.to_thread(parse_object, body) if is_large else parse_object(body)
            scope["sent"] = sent
            row = await self._inserter.add(new_plant(sent), client.source)
            self._activity.record_added(client.source, row, is_new=row.source == client.source)
            response_body = Plant.model_construct(name=row.name, tag=row.tag).model_dump_json(exclude_none=True)
            await Response(response_body, media_type="application/json")(scope, receive, send)


def _check_content_type(headers: dict[bytes, bytes]) -> None:
    """Raise WrongContentTypeError unless the body is unencoded JSON, of any charset (RFC 8259, section 11)."""
    content_type = headers.get(b"content-type", b"")
    if content_type != b"application/json" and content_type.partition(b";")[0].strip().lower() != b"application/json":
        received = Text("Received “{kind}”.", kind=content_type.decode("latin-1")[:60])
        expected = Text("Send JSON with exactly one header “Content-Type: application/json”.")
        raise WrongContentTypeError(joined([expected, received if content_type else Text("The request has none.")]))
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise WrongContentTypeError(Text("Send the body as it is, without Content-Encoding."))
    if headers.get(b"transfer-encoding", b"chunked").lower() != b"chunked":
        raise WrongContentTypeError(Text("Send the body as it is: no Transfer-Encoding but chunked is understood."))
