"""Checks Host, Origin and token before anything else of a request, so that an unauthorized client learns nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from starlette.types import Scope

from plantdesk.api.errors import HostRefusedError, OriginRefusedError, TokenMissingError
from plantdesk.domain.protocols import TokenLookup
from plantdesk.domain.records import Source

#: The accepted names in Host, with any port: others may be rebound to this machine by a web page (DNS rebinding).
_HOST = re.compile(rb"(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]{0,5})?", re.IGNORECASE)

#: The path that can be read without a token.
PUBLIC_PATH = "/openapi.json"


class AuthorizedRequest(NamedTuple):
    """The headers of an authorized request, and the source that its token identifies (None for `PUBLIC_PATH`)."""

    headers: dict[bytes, bytes]
    source: Source | None


def authorize(scope: Scope, lookup: TokenLookup) -> AuthorizedRequest:
    """Check a request; return its headers and the source of its token. Call it on the thread that opened `lookup`.

    The first failed check raises, in this order: HostRefusedError, OriginRefusedError, TokenMissingError,
    TokenRefusedError, StoreError.
    """
    headers = _combine_headers(scope["headers"])
    if not _HOST.fullmatch(headers.get(b"host", b"")):
        raise HostRefusedError
    # Browsers send Sec-Fetch-Site: “none” for an address that the user typed. Other programs do not send it.
    if b"origin" in headers or headers.get(b"sec-fetch-site", b"none") != b"none":
        raise OriginRefusedError
    if scope["path"] == PUBLIC_PATH and scope["method"] in {"GET", "HEAD"}:
        return AuthorizedRequest(headers, None)
    return AuthorizedRequest(headers, lookup.source(_parse_bearer_token(headers)))


def _combine_headers(fields: Sequence[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Return the headers by name; the values of repeated ones are joined by commas (RFC 9110, section 5.3).

    Joining makes a repeated Host, Authorization or Content-Type invalid.
    """
    headers: dict[bytes, bytes] = {}
    for name, value in fields:
        headers[name] = headers[name] + b", " + value if name in headers else value
    return headers


def _parse_bearer_token(headers: dict[bytes, bytes]) -> str:
    scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
    token = token.strip(b" ")
    if scheme.lower() != b"bearer" or not token:
        raise TokenMissingError
    return token.decode("latin-1")
