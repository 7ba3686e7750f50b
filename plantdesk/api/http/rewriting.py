"""Rewrites requests that llhttp does not parse as they are: unknown methods, and offers of an upgrade."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_METHOD = re.compile(rb"(?:\r\n)*([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) ")
#: A method that llhttp knows, in place of one that it does not.
KNOWN_METHOD = b"PATCH"


class Rewritten(NamedTuple):
    """A request with `KNOWN_METHOD` in place of `method`."""

    method: bytes
    data: bytes


def with_known_method(data: bytes) -> Rewritten | None:
    """Rewrite the method at the start of `data`; None where there is none."""
    found = _METHOD.match(data)
    return None if found is None else Rewritten(found[1], KNOWN_METHOD + b" " + data[found.end() :])


def without_upgrade(request_line: bytes, headers: Iterable[tuple[bytes, bytes]], rest: bytes) -> bytes:
    """Return a request without its Upgrade header: llhttp takes what follows for the other protocol.

    A server may ignore the offer (RFC 9110, section 7.8). Java's HttpClient makes it with each first request.
    """
    lines = [b"%b: %b\r\n" % header for header in headers if header[0] != b"upgrade"]
    return b"".join((request_line, b"\r\n", *lines, b"\r\n", rest))
