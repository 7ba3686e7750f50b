"""Whether the store can be written to, as far as the last attempt told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk.errors import StoreClosedError, StoreDamagedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from plantdesk.errors import StoreError

    Tell = Callable[["StoreError | None"], None]


class Health:
    """Tells when a store gets into trouble, or into another kind, and when it is well again. One thread uses it."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._trouble: StoreError | None = None

    @property
    def trouble(self) -> StoreError | None:
        """What the last attempt failed with, until one succeeds. Any thread may ask."""
        return self._trouble

    @property
    def is_well(self) -> bool:
        """Whether nothing has failed since the last success."""
        return self._trouble is None

    @property
    def is_damaged(self) -> bool:
        """Whether SQLite found the file malformed; that one write succeeds then says nothing about the next."""
        return isinstance(self._trouble, StoreDamagedError)

    def failed(self, error: StoreError) -> None:
        """Note what a write failed with."""
        known = self._trouble is not None and str(self._trouble) == str(error)
        if not known and not isinstance(error, StoreClosedError):
            self._trouble = error
            self._tell(error)

    def succeeded(self) -> None:
        """Note that a write is durable."""
        if not self.is_damaged:
            self.healed()

    def healed(self) -> None:
        """Note that the whole file is well, or another one."""
        if self._trouble is not None:
            self._trouble = None
            self._tell(None)
