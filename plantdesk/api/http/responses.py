"""Responses as bytes, with the headers that each of them has."""

from __future__ import annotations

import time
from email.utils import formatdate
from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    Headers = Iterable[tuple[bytes, bytes]]

#: Headers of every response: browsers must not guess its type, frame it, pass it to another site, or cache it.
_SECURITY_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
]
_STATUS_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}


class Responses:
    """Formats responses. For the thread of one loop."""

    def __init__(self) -> None:
        self.renew_date()

    def renew_date(self) -> None:
        """Set the Date header to the present; to be called about once a second."""
        date = formatdate(time.time(), usegmt=True).encode()
        self._common = _lines([(b"date", date), *_SECURITY_HEADERS])

    def format(self, status: int, headers: Headers, body: bytes, *, keep_alive: bool) -> bytes:
        """Return a response. The headers are PlantDesk's own, so they are not validated."""
        end = b"\r\n" if keep_alive else b"connection: close\r\n\r\n"
        return _STATUS_LINES[status] + self._common + _lines(headers) + end + body


def _lines(headers: Headers) -> bytes:
    return b"".join([b"%b: %b\r\n" % header for header in headers])
