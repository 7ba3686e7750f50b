"""`GET /openapi.json`: the OpenAPI document, without a token, and the proof of the server's identity."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from plantdesk.api.discovery.server_identity import NONCE_HEADER, PROOF_HEADER, proof
from plantdesk.api.errors import MethodNotAllowedError
from plantdesk.api.openapi import description

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from plantdesk.api.access_control import Client
    from plantdesk.api.discovery.server_identity import Identity

_NONCE = re.compile(rb"[0-9a-f]{64}")


class OpenApiEndpoint:
    """The endpoint, as an ASGI application."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity
        self._body = json.dumps(description(), indent=2, ensure_ascii=False).encode()
        self._headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(self._body)),
        ]

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Send the document."""
        if scope["method"] not in {"GET", "HEAD"}:
            raise MethodNotAllowedError("GET, HEAD")
        client: Client = scope["client_access"]
        headers = [*self._headers, *self._proof(client.fields.get(NONCE_HEADER.lower().encode(), b""))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": self._body})

    def _proof(self, nonce: bytes) -> list[tuple[bytes, bytes]]:
        if not _NONCE.fullmatch(nonce):
            return []
        return [(PROOF_HEADER.lower().encode(), proof(self._identity, nonce))]
