"""Limits on what llhttp accepts without limit: heads, trailers, and the number of chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk.api.errors import BodyTooLargeError, MalformedHttpError

if TYPE_CHECKING:
    from plantdesk.api.limits import Limits

#: A body may have one more chunk for each so many bytes; parsing a chunk takes about a microsecond.
_BYTES_PER_CHUNK = 64


class RequestSize:
    """Counts what is received of one request, and raises where it exceeds the limits."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.reset()

    def reset(self) -> None:
        """Start counting for the next request."""
        self.is_head_complete = False
        self._bytes = 0
        self._chunks = 0
        self._body_bytes = 0

    def add_bytes(self, count: int) -> None:
        """Count bytes as received, with all framing. Raises MalformedHttpError, BodyTooLargeError."""
        self._bytes += count
        if self._bytes > self._limits.head and not self.is_head_complete:
            raise MalformedHttpError("its head is too long")
        if self._bytes > self._limits.message:
            raise BodyTooLargeError(self._limits.body)

    def check_fields(self, count: int) -> None:
        """Raise MalformedHttpError where the head has more than the allowed fields."""
        if count > self._limits.fields:
            raise MalformedHttpError(f"its head has more than {self._limits.fields} fields")

    def add_chunk(self, size: int) -> None:
        """Count a part of the body, as a rule one chunk. Raises MalformedHttpError where chunks are too small."""
        self._chunks += 1
        self._body_bytes += size
        if self._chunks > self._limits.chunks + self._body_bytes // _BYTES_PER_CHUNK:
            raise MalformedHttpError("its chunks are too small")
