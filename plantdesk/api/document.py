"""`GET /openapi.json`: the description of the interface, for everyone. Also how a server is told from others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from plantdesk.api.openapi import description
from plantdesk.api.probe import INSTANCE_HEADER
from plantdesk.api.refusals import MethodNotAllowedError

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


class Document:
    """The endpoint, as an ASGI application."""

    def __init__(self, instance: str) -> None:
        self._body = json.dumps(description(), indent=2, ensure_ascii=False).encode()
        self._headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(self._body)),
            (INSTANCE_HEADER.lower().encode(), instance.encode()),
        ]

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer with the description."""
        if scope["method"] not in {"GET", "HEAD"}:
            raise MethodNotAllowedError("GET, HEAD")
        await send({"type": "http.response.start", "status": 200, "headers": self._headers})
        await send({"type": "http.response.body", "body": self._body})
