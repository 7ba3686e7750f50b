"""The times by which a client must send, read or close. Received bytes do not extend them."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

    from plantdesk.api.limits import Limits


class Deadlines:
    """The deadlines of one connection, in the time of its event loop; `inf` means none."""

    def __init__(self, loop: asyncio.AbstractEventLoop, limits: Limits) -> None:
        self._loop = loop
        self._limits = limits
        self._due = inf  # of a request, of an idle connection, or of a client that has its last response
        self._linger_end = inf
        self._write_due = inf

    def start_request(self) -> None:
        """Start the timeout of a request, unless a deadline is set."""
        if self._due == inf:
            self.restart_request()

    def restart_request(self) -> None:
        """Give the client the whole timeout of a request from now on."""
        self._due = self._loop.time() + self._limits.request_timeout

    def start_keep_alive(self) -> None:
        """Start the timeout of an idle connection."""
        self._due = self._loop.time() + self._limits.keep_alive_timeout

    def start_lingering(self) -> None:
        """Start the timeout of a client that has been sent the last response."""
        self._due = self._loop.time() + self._limits.linger_timeout
        self._linger_end = self._loop.time() + self._limits.request_timeout

    def clear(self) -> None:
        """Set no deadline for input."""
        self._due = inf

    def start_writing(self) -> None:
        """Start the timeout of a client that does not read its response."""
        self._write_due = self._loop.time() + self._limits.request_timeout

    def clear_writing(self) -> None:
        """Set no deadline for output."""
        self._write_due = inf

    def has_expired(self, now: float) -> bool:
        """Whether the client has not sent, or closed, in time."""
        return now >= self._due

    def has_write_expired(self, now: float) -> bool:
        """Whether the client has not read in time."""
        return now >= self._write_due

    def has_linger_expired(self, now: float) -> bool:
        """Whether a client that reads its last response slowly has had the longest time for it."""
        return now >= self._linger_end
