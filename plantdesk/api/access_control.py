"""Who gets in: Host, Origin and token are looked at before anything else, so that who may not write learns nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.api.errors import HostRefusedError, OriginRefusedError, TokenMissingError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import Scope

    from plantdesk.records import Source
    from plantdesk.store import TokenChecker

#: An exact list of names keeps pages out that rebind their own name to this machine; the port says nothing.
_HOST = re.compile(rb"(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]{0,5})?", re.IGNORECASE)


class Visitor(NamedTuple):
    """A request that was let in: its header fields, and who sent it (None for a document that is no secret)."""

    fields: dict[bytes, bytes]
    source: Source | None


class Gate:
    """Lets requests in. To be used on the thread that made `checker`."""

    def __init__(self, checker: TokenChecker, *, open_path: str) -> None:
        """Need no token for reading `open_path`."""
        self._checker = checker
        self._open_path = open_path

    def admit(self, scope: Scope) -> Visitor:
        """Return whom the request is from.

        Raises HostRefusedError, OriginRefusedError, TokenMissingError, TokenRefusedError, StoreError, in this order.
        """
        fields = single_fields(scope["headers"])
        if not _HOST.fullmatch(fields.get(b"host", b"")):
            raise HostRefusedError
        # Browsers say where a request comes from; “none” is what a user has typed, and other programs say nothing.
        if b"origin" in fields or fields.get(b"sec-fetch-site", b"none") != b"none":
            raise OriginRefusedError
        if scope["path"] == self._open_path and scope["method"] in {"GET", "HEAD"}:
            return Visitor(fields, None)
        return Visitor(fields, self._checker.source(_token(fields)))


def single_fields(headers: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Return the header fields by name; repeated ones are joined by commas (RFC 9110, section 5.3).

    A Host, Authorization or Content-Type that came twice is thereby none that is valid.
    """
    headers = list(headers)
    fields = dict(headers)
    if len(fields) != len(headers):
        values: dict[bytes, list[bytes]] = {}
        for name, value in headers:  # once over: a head may hold ten thousand fields
            values.setdefault(name, []).append(value)
        fields = {name: b", ".join(each) for name, each in values.items()}
    return fields


def _token(fields: dict[bytes, bytes]) -> str:
    scheme, _, token = fields.get(b"authorization", b"").partition(b" ")
    token = token.strip(b" ")
    if scheme.lower() != b"bearer" or not token:
        raise TokenMissingError
    return token.decode("latin-1")
