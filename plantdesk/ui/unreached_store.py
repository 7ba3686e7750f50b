"""A substitute for a store whose server does not answer, so that the API can answer with the reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.protocols import Entry, Outcome
from plantdesk.domain.records import Source


class UnreachedStore:
    """A ServedStore for a server that does not answer: each request fails with the reason. It is its own `tokens`."""

    def __init__(self, reason: PlantDeskError) -> None:
        #: What is answered; any thread may read it.
        self.reason = reason

    @property
    def tokens(self) -> UnreachedStore:
        """The tokens; none of them can be looked up."""
        return self

    def checker(self) -> UnreachedStore:
        """Return the lookup of tokens: this object."""
        return self

    def source(self, token: str) -> Source:  # noqa: ARG002  nobody knows it
        """Raise the reason."""
        raise self.reason.with_traceback(None)

    def record_use(self, source: Source) -> Future[None]:  # noqa: ARG002  nobody got in
        """Fail with the reason."""
        failed: Future[None] = Future()
        failed.set_exception(self.reason)
        return failed

    def add_each(self, entries: Sequence[Entry], done: Callable[[list[Outcome]], None]) -> None:
        """Fail with the reason."""
        done([self.reason] * len(entries))

    def close(self) -> None:
        """Do nothing: no connection is open."""
