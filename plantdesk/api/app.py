"""The ASGI application: access control, routes, responses to errors, and the endpoint of the OpenAPI document."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Mapping

from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from plantdesk.api.access_control import PUBLIC_PATH, AuthorizedRequest, authorize
from plantdesk.api.discovery import NONCE_HEADER, PROOF_HEADER, ServerIdentity, compute_proof
from plantdesk.api.errors import (
    ClientDisconnectedError,
    MethodNotAllowedError,
    PathNotFoundError,
    Refusal,
    build_refusal,
)
from plantdesk.api.limits import ConnectionLimits
from plantdesk.api.openapi import build_openapi_document
from plantdesk.api.plants import BatchInserter, PlantsEndpoint, RequestBodies
from plantdesk.domain.activity import Activity
from plantdesk.domain.errors import StoreError
from plantdesk.domain.protocols import ServedStore, TokenEndedError, TokenLookup
from plantdesk.domain.records import Source

#: Seconds between two records of the use of a token: each is a write of its own.
_RECORD_INTERVAL = 60.0
_NONCE_PATTERN = re.compile(rb"[0-9a-f]{64}")


class Application:
    """The ASGI application: authorizes each request, passes it to its endpoint, and turns exceptions into responses."""

    def __init__(
        self,
        store: ServedStore,
        lookup: TokenLookup,
        inserter: BatchInserter,
        activity: Activity,
        *,
        identity: ServerIdentity,
        limits: ConnectionLimits,
    ) -> None:
        """Create the routes. `lookup` and `inserter` must belong to the thread that will run the application."""
        self._tokens = store.tokens
        self._lookup = lookup
        self._activity = activity
        self._use_recorded_at: dict[int, float] = {}
        plants = PlantsEndpoint(inserter, RequestBodies(limits), activity)
        self._routes = Router(
            [Route("/plants", plants), Route(PUBLIC_PATH, OpenApiEndpoint(identity))],
            redirect_slashes=False,
            default=_raise_not_found,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; raise nothing. Endpoints find its `AuthorizedRequest` in `scope["client_access"]`."""
        try:
            scope["client_access"] = authorize(scope, self._lookup)
            await self._routes(scope, receive, send)
        except (ClientDisconnectedError, asyncio.CancelledError):  # the server stops, and the client is gone
            pass
        except Exception as error:  # noqa: BLE001  top of a request: every failure gets an error response
            client: AuthorizedRequest | None = scope.get("client_access")
            source = None if client is None else client.source
            await self._refuse(error, source, scope.get("sent")).response(scope, receive, send)

    def _refuse(self, error: Exception, source: Source | None, sent: Mapping[str, object] | None) -> Refusal:
        """Record a refused request, and return its response; `source` and `sent` are None if they are not known."""
        if source is not None and not isinstance(error, StoreError):
            self._record_use(source)
        if isinstance(error, TokenEndedError):
            source = error.source
        refusal = build_refusal(error)
        self._activity.record_refused(refusal.number, refusal.message, source, sent)
        return refusal

    def _record_use(self, source: Source) -> None:
        """Have the store note, at most once a minute, that a refused request used a token; do not wait for it."""
        now = time.monotonic()
        if now - self._use_recorded_at.get(source.id, float("-inf")) >= _RECORD_INTERVAL:
            self._use_recorded_at[source.id] = now
            self._tokens.record_use(source)


async def _raise_not_found(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise PathNotFoundError


class OpenApiEndpoint:
    """The endpoint of the OpenAPI document, as an ASGI application."""

    def __init__(self, identity: ServerIdentity) -> None:
        self._identity = identity
        self._body = json.dumps(build_openapi_document(identity.port), indent=2, ensure_ascii=False).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the document and, if the request has a nonce, the proof that this server has its key."""
        if scope["method"] not in {"GET", "HEAD"}:
            raise MethodNotAllowedError("GET, HEAD")
        client: AuthorizedRequest = scope["client_access"]
        nonce = client.headers.get(NONCE_HEADER.lower().encode(), b"")
        response = Response(self._body, media_type="application/json")
        if _NONCE_PATTERN.fullmatch(nonce):
            response.headers[PROOF_HEADER] = compute_proof(self._identity, nonce).decode()
        await response(scope, receive, send)
