"""The face of the store: what the ways in (API, window, command line) may ask of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future
    from pathlib import Path
    from typing import Self

    from plantdesk.errors import PlantDeskError
    from plantdesk.records import Changes, NewPlant, PlantRow, Source
    from plantdesk.store.queries import Reader
    from plantdesk.store.tokens import Tokens


class Store:
    """An open store. All methods may be called from any thread."""

    path: Path
    tokens: Tokens

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the store at `path`, make it when there is none, and bring its schema up to date.

        Raises StoreError: FolderMissingError, ForeignFileError, NewerStoreError, StoreDamagedError,
        StoreReadOnlyError, StoreBusyError, StoreUnreachableError. A refused file is left untouched.
        """

    def add(self, plant: NewPlant, source: Source) -> Future[PlantRow]:
        """Add one plant; the Future is done when the plant is durable.

        The same plant again changes nothing and gives the row that is there. The Future's exceptions are
        IdTakenError, TokenRefusedError (the source's token is no longer valid) and StoreError.
        """

    def add_each(self, entries: Sequence[tuple[NewPlant, Source]]) -> Future[list[PlantRow | PlantDeskError]]:
        """Add several plants that have nothing to do with each other; each has its own outcome, in the same order.

        The Future itself never fails. This is the way for many waiting requests: one commit and one wake-up for all.
        """

    def subscribe(self, listener: Callable[[Changes], None]) -> Callable[[], None]:
        """Call `listener` on the writer thread after each durable change, also those of other processes.

        Returns the function that ends the subscription. A listener must be quick and must not raise.
        """

    def reader(self) -> Reader:
        """Open a connection for reading, for one thread at a time; the caller closes it."""

    def close(self) -> None:
        """Write what is queued, end the writer thread and close the file. May be called again."""
