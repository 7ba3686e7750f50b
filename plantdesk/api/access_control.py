"""Checks Host, Origin and token before anything else of a request, so that an unauthorized client learns nothing.

Responses to invalid tokens are delayed, the longer the more of them arrive; valid tokens never are.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.api.errors import HostRefusedError, OriginRefusedError, TokenMissingError

if TYPE_CHECKING:
    from starlette.types import Scope

    from plantdesk.domain.protocols import ServedTokens, TokenLookup
    from plantdesk.domain.records import Source


#: Invalid tokens without a delay, as of a script with an old token, and how many are forgotten per second.
_FREE_FAILURES = 50
_FORGOTTEN_PER_SECOND = 5.0
#: Seconds that each further invalid token adds to the delay, and the longest delay.
_DELAY_STEP = 0.02
_MAX_DELAY = 1.0
#: Responses delayed at a time, so that clients that connect and leave do not fill the memory.
_MAX_DELAYED = 1000


class InvalidTokenThrottle:
    """Counts invalid tokens on all connections. For the thread of one loop.

    Not per client: on this machine all have the same address, and can open connections at will.
    """

    def __init__(self) -> None:
        self._count = 0.0
        self._counted_at = time.monotonic()
        self._delayed = 0

    async def delay(self) -> None:
        """Count one invalid token, and wait for the delay that is due."""
        seconds = self._count_one()
        if seconds > 0 and self._delayed < _MAX_DELAYED:
            self._delayed += 1
            try:
                await asyncio.sleep(seconds)
            finally:
                self._delayed -= 1

    def _count_one(self) -> float:
        now = time.monotonic()
        forgotten = (now - self._counted_at) * _FORGOTTEN_PER_SECOND
        self._counted_at = now
        max_count = _FREE_FAILURES + _MAX_DELAY / _DELAY_STEP  # bounded, so that a flood is soon forgotten
        self._count = min(max(0.0, self._count - forgotten) + 1, max_count)
        return (self._count - _FREE_FAILURES) * _DELAY_STEP


#: An exact list of names refuses pages that rebind their own name to this machine (DNS rebinding). Any port will do.
_HOST = re.compile(rb"(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]{0,5})?", re.IGNORECASE)
#: Seconds between two records of the same token: each is a write of its own.
_RECORD_INTERVAL = 60.0


class Client(NamedTuple):
    """The sender of an authorized request: its header fields, and its token's source (None for a public document)."""

    fields: dict[bytes, bytes]
    source: Source | None


class AccessControl:
    """Authorizes requests. For the thread that made `checker`."""

    def __init__(self, checker: TokenLookup, *, public_path: str) -> None:
        """`public_path` can be read without a token."""
        self._checker = checker
        self._public_path = public_path

    def authorize(self, scope: Scope) -> Client:
        """Return the client of a request.

        Raises HostRefusedError, OriginRefusedError, TokenMissingError, TokenRefusedError, StoreError, in this order.
        """
        fields = combined_fields(scope["headers"])
        if not _HOST.fullmatch(fields.get(b"host", b"")):
            raise HostRefusedError
        # Browsers send Sec-Fetch-Site: “none” for an address that the user typed. Other programs do not send it.
        if b"origin" in fields or fields.get(b"sec-fetch-site", b"none") != b"none":
            raise OriginRefusedError
        if scope["path"] == self._public_path and scope["method"] in {"GET", "HEAD"}:
            return Client(fields, None)
        return Client(fields, self._checker.source(_bearer_token(fields)))


class TokenUsage:
    """Records when a token was last used for a refused request; the store does so for added plants. For one thread."""

    def __init__(self, tokens: ServedTokens) -> None:
        self._tokens = tokens
        self._recorded: dict[int, float] = {}

    def record(self, source: Source) -> None:
        """Record, without waiting for the write, that the token of `source` was used now."""
        now = time.monotonic()
        if now - self._recorded.get(source.id, float("-inf")) >= _RECORD_INTERVAL:
            self._recorded[source.id] = now
            self._tokens.used(source)


def combined_fields(headers: Sequence[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
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
