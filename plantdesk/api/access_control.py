"""Checks Host, Origin and token before anything else of a request, so that an unauthorized client learns nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from starlette.types import Scope

from plantdesk.api.errors import HostRefusedError, OriginRefusedError, TokenMissingError
from plantdesk.domain.protocols import TokenLookup
from plantdesk.domain.records import Source

#: An exact list of names refuses pages that rebind their own name to this machine (DNS rebinding). Any port will do.
_HOST = re.compile(rb"(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]{0,5})?", re.IGNORECASE)

#: Can be read without a token.
PUBLIC_PATH = "/openapi.json"


class Client(NamedTuple):
    """The sender of an authorized request: its header fields, and its token's source (None for a public document)."""

    fields: dict[bytes, bytes]
    source: Source | None


def authorized(scope: Scope, checker: TokenLookup) -> Client:
    """Return the client of a request. For the thread of `checker`.

    Raises HostRefusedError, OriginRefusedError, TokenMissingError, TokenRefusedError, StoreError, in this order.
    """
    fields = _combined_fields(scope["headers"])
    if not _HOST.fullmatch(fields.get(b"host", b"")):
        raise HostRefusedError
    # Browsers send Sec-Fetch-Site: “none” for an address that the user typed. Other programs do not send it.
    if b"origin" in fields or fields.get(b"sec-fetch-site", b"none") != b"none":
        raise OriginRefusedError
    if scope["path"] == PUBLIC_PATH and scope["method"] in {"GET", "HEAD"}:
        return Client(fields, None)
    return Client(fields, checker.source(_bearer_token(fields)))


def _combined_fields(headers: Sequence[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Return the header fields by name; repeated ones are joined by commas (RFC 9110, section 5.3).

    That makes a repeated Host, Authorization or Content-Type invalid.
    """
    fields = dict(headers)
    if len(fields) != len(headers):
        values: dict[bytes, list[bytes]] = {}
        for name, value in headers:  # in one pass: a request may have ten thousand fields
            values.setdefault(name, []).append(value)
        fields = {name: b", ".join(each) for name, each in values.items()}
    return fields


def _bearer_token(fields: dict[bytes, bytes]) -> str:
    scheme, _, token = fields.get(b"authorization", b"").partition(b" ")
    token = token.strip(b" ")
    if scheme.lower() != b"bearer" or not token:
        raise TokenMissingError
    return token.decode("latin-1")
