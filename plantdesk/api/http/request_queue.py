"""Pipelining: the requests of one connection, answered one at a time in their order (RFC 9112, section 9.3.2)."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plantdesk.api.http.request_cycle import RequestCycle

#: Requests that may wait on one connection: a client can send thousands in one segment.
_MAX_WAITING = 8


class RequestQueue:
    """`active` is being answered, `incoming` is being received; they may be the same."""

    def __init__(self) -> None:
        self.active: RequestCycle | None = None
        self.incoming: RequestCycle | None = None
        self._waiting: deque[RequestCycle] = deque()

    @property
    def is_full(self) -> bool:
        """Whether no further request is to be parsed now."""
        return len(self._waiting) >= _MAX_WAITING

    def add(self, cycle: RequestCycle) -> bool:
        """Add the request whose head is complete; return whether it is to be answered now."""
        self.incoming = cycle
        if self.active is not None:
            self._waiting.append(cycle)
            return False
        self.active = cycle
        return True

    def next(self) -> RequestCycle | None:
        """Return the request to answer next, None where none waits."""
        self.active = self._waiting.popleft() if self._waiting else None
        return self.active

    def drop_incoming(self) -> None:
        """Drop the request that is not complete, whether it waits or is being answered."""
        if self.incoming is None:
            return
        self.incoming.disconnect()
        if self.incoming is self.active:
            self.active = None
        else:
            self._waiting.pop()

    def drop_waiting(self) -> None:
        """Drop the requests that are not being answered."""
        self._waiting.clear()

    def disconnect(self) -> None:
        """Drop all requests: the connection is lost. Breaks their reference cycles with the connection."""
        if self.active is not None:
            self.active.disconnect()
        for cycle in self._waiting:
            cycle.disconnect()
        self._waiting.clear()
        self.active = self.incoming = None
