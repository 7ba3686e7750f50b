"""Whether the store can be written to, according to the last attempt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk.domain.errors import StoreClosedError, StoreDamagedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from plantdesk.domain.errors import StoreError

    HealthListener = Callable[["StoreError | None"], None]


class Health:
    """Reports when writes begin to fail, fail for another reason, and succeed again. Belongs to one thread."""

    def __init__(self, notify: HealthListener) -> None:
        self._notify = notify
        self._trouble: StoreError | None = None

    @property
    def trouble(self) -> StoreError | None:
        """The error of the last attempt, until one succeeds. May be read by any thread."""
        return self._trouble

    @property
    def is_well(self) -> bool:
        """Whether nothing has failed since the last success."""
        return self._trouble is None

    @property
    def is_damaged(self) -> bool:
        """Whether SQLite found the file malformed; a single successful write does not end that."""
        return isinstance(self._trouble, StoreDamagedError)

    def failed(self, error: StoreError) -> None:
        """Record the error of a write."""
        known = self._trouble is not None and str(self._trouble) == str(error)
        if not known and not isinstance(error, StoreClosedError):
            self._trouble = error
            self._notify(error)

    def succeeded(self) -> None:
        """Record that a write is durable."""
        if not self.is_damaged:
            self.healed()

    def healed(self) -> None:
        """Record that the whole file was checked, or that another one was opened."""
        if self._trouble is not None:
            self._trouble = None
            self._notify(None)
