"""The ASGI application: access control, routes, and what answers with errors."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from starlette.routing import Match, Route, Router
from typing_extensions import override

from plantdesk.api.access_control import AccessControl, TokenUsage
from plantdesk.api.discovery import NONCE_HEADER, PROOF_HEADER, proof
from plantdesk.api.errors import (
    ClientDisconnectedError,
    MethodNotAllowedError,
    PathNotFoundError,
    error_response,
    json_headers,
)
from plantdesk.api.openapi import description
from plantdesk.api.plants import KnownHeads, PlantsEndpoint, RequestBodies, send_response
from plantdesk.domain.errors import StoreError, TokenRefusedError
from plantdesk.domain.protocols import TokenEndedError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from plantdesk.api.access_control import Client
    from plantdesk.api.discovery import ServerIdentity
    from plantdesk.api.errors import ErrorResponse
    from plantdesk.api.limits import ConnectionLimits
    from plantdesk.api.plants import BatchInserter
    from plantdesk.domain.activity import Activity
    from plantdesk.domain.protocols import ServedStore, TokenLookup
    from plantdesk.domain.records import Source


DOCUMENT_PATH = "/openapi.json"


class Refusals:
    """Makes responses of errors, and records them: the one place that does."""

    def __init__(self, token_usage: TokenUsage, activity: Activity) -> None:
        self._token_usage = token_usage
        self._activity = activity

    def response(self, error: Exception, source: Source | None, sent: Mapping[str, object] | None) -> ErrorResponse:
        """Return the response to a request, of which `source` and `sent` are known or None."""
        if source is not None and not isinstance(error, StoreError):
            self._token_usage.record(source)
        if isinstance(error, TokenRefusedError):
            source = error.source if isinstance(error, TokenEndedError) else source
        answer = error_response(error)
        self._activity.record_refused(answer.number, answer.message, source, sent)
        return answer


class Application:
    """Answers every request. Raises nothing."""

    def __init__(
        self, access_control: AccessControl, routes: ASGIApp, refusals: Refusals, known_heads: KnownHeads
    ) -> None:
        self._access_control = access_control
        self._routes = routes
        self._refusals = refusals
        #: Adds plants without being called.
        self.known_heads = known_heads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; the endpoints find its `Client` in the scope."""
        try:
            scope["client_access"] = self._access_control.authorize(scope)
            await self._routes(scope, receive, send)
        except (ClientDisconnectedError, asyncio.CancelledError):  # the server stops, and the client is gone
            pass
        except Exception as error:  # noqa: BLE001  top of a request: every failure gets an error response
            client: Client | None = scope.get("client_access")
            source = None if client is None else client.source
            answer = self._refusals.response(error, source, scope.get("sent"))
            await send_response(send, answer.status, answer.headers, answer.body)


def make_application(
    store: ServedStore,
    checker: TokenLookup,
    inserter: BatchInserter,
    activity: Activity,
    *,
    identity: ServerIdentity,
    limits: ConnectionLimits,
) -> Application:
    """Return the application; `checker` and `inserter` belong to the thread that will serve it."""
    refusals = Refusals(TokenUsage(store.tokens), activity)
    known_heads = KnownHeads(inserter, activity, refusals.response)
    routes = Router(
        [
            _ExactRoute("/plants", PlantsEndpoint(inserter, RequestBodies(limits), activity, known_heads)),
            _ExactRoute(DOCUMENT_PATH, OpenApiEndpoint(identity)),
        ],
        redirect_slashes=False,
        default=_not_found,
    )
    return Application(AccessControl(checker, public_path=DOCUMENT_PATH), routes, refusals, known_heads)


class _ExactRoute(Route):
    """A route whose path must be equal: Starlette's own pattern also matches a trailing line break, and is slower."""

    @override
    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return Match.FULL if scope["path"] == self.path else Match.NONE, {}


async def _not_found(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise PathNotFoundError


_NONCE = re.compile(rb"[0-9a-f]{64}")


class OpenApiEndpoint:
    """The endpoint, as an ASGI application."""

    def __init__(self, identity: ServerIdentity) -> None:
        self._identity = identity
        self._body = json.dumps(description(identity.port), indent=2, ensure_ascii=False).encode()

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Send the document."""
        if scope["method"] not in {"GET", "HEAD"}:
            raise MethodNotAllowedError("GET, HEAD")
        client: Client = scope["client_access"]
        proof_header = self._proof(client.fields.get(NONCE_HEADER.lower().encode(), b""))
        await send_response(send, 200, [*json_headers(self._body), *proof_header], self._body)

    def _proof(self, nonce: bytes) -> list[tuple[bytes, bytes]]:
        if not _NONCE.fullmatch(nonce):
            return []
        return [(PROOF_HEADER.lower().encode(), proof(self._identity, nonce))]
