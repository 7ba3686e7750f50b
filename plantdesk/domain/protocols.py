"""The interfaces of an open store, the same for files and servers; `tests/store/contract` tests the implementations.

The interfaces for opening a store are in `locations`, those for its backups in `backups`.
"""

from __future__ import annotations

import builtins
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from typing import Protocol

from typing_extensions import override

from plantdesk.domain.duplicates import PlantGroups
from plantdesk.domain.edits import Applied, Edit, Undone
from plantdesk.domain.errors import PlantDeskError, StoreError, TokenRefusedError
from plantdesk.domain.events import EventPage
from plantdesk.domain.history import Change, HistoryEntry, HistorySummary, PlantChange
from plantdesk.domain.imports import ImportConflict, ImportCounts, ImportRow, OnConflict
from plantdesk.domain.models import NewPlant, Plant
from plantdesk.domain.records import Changes, Desk, NewToken, PlantRow, Source, TokenRow
from plantdesk.domain.selections import Counts, KnownName, Selection, View


class PlantReader(Protocol):
    """Reads a store. One thread at a time may use it, but any thread may interrupt it.

    Every method raises StoreError if the store cannot be read, and InterruptedError after `interrupt()`.
    """

    def pages(self, selection: Selection) -> Iterator[list[PlantRow]]:
        """Yield the plants of a set in insertion order, in pages of limited size."""

    def ids(self, view: View) -> Iterator[array[int]]:
        """Yield the ids of a view in its order, as `array('q')` chunks. The first is small, to be read soon."""

    def rows(self, ids: Sequence[int]) -> dict[int, PlantRow]:
        """Return the existing plants of `ids`, by id, in the order of `ids`."""

    def shortened_rows(self, ids: Sequence[int], longest: int) -> dict[int, PlantRow]:
        """Return the plants of `ids` as `rows` does, without notes, and with texts cut to `longest` characters."""

    def plant(self, plant_id: int) -> PlantRow | None:
        """Return the plant with this id; None if there is none."""

    def count(self) -> int:
        """Return the number of plants in the store."""

    def next_free_id(self) -> int:
        """Return the id after the largest one that a plant has, or had before it was deleted.

        Ids from 2^62 on do not count. If no id below them is left, return the smallest one that no plant has had.
        """

    def tag_counts(self) -> dict[str, int]:
        """Return the tags that plants have, sorted without regard to case and accents, and their numbers of plants."""

    def known_names(self, start: str, limit: int) -> list[KnownName]:
        """Return names that begin with `start`, both folded (`folding`), the most frequent first.

        In a large store only the plants with the largest ids are counted.
        """

    def near_names(self, name: str, limit: int) -> list[KnownName]:
        """Return names that are spelt alike (`domain.spelling`), the nearest first, then the most frequent.

        In a large store only the plants with the largest ids are compared, unless an index finds the candidates.
        """

    def find_first_by_name_start(self, view: View, start: str) -> int | None:
        """Return the id of the first plant in a view whose folded name begins with `start`, also folded; or None."""

    def names_in_use(self, names: Collection[str]) -> set[str]:
        """Return those of `names` that are names of plants in the store."""

    def duplicates(self, *, by_tag: bool) -> PlantGroups:
        """Return the groups of plants with the same `folding.alike_key`, sorted by it, each in the order of its ids."""

    def counts(self) -> Counts:
        """Return the numbers of plants by tag and source, and of those added today."""

    def sources(self) -> list[Source]:
        """Return all sources in the store, sorted by id, also those whose plants were all deleted."""

    def active_desks(self) -> list[Desk]:
        """Return the desks that have the shared store open, this one included; none for a file."""

    def count_selected(self, selection: Selection) -> int:
        """Return the number of plants that a selection selects now."""

    def selected(self, selection: Selection, limit: int | None = ...) -> Iterator[PlantRow]:
        """Yield at most `limit` plants of a set, newest first. They are read in pages, not in one snapshot."""

    def history(self, limit: int = ...) -> list[Change]:
        """Return the newest changes, at most `limit`, undos and redos among them, newest first."""

    def history_entries(
        self,
        limit: int = ...,
        before: int | None = None,
        text: str = "",
        source: Source | str | None = None,
        shown: Callable[[Change], str] | None = None,
    ) -> list[HistoryEntry]:
        """Return at most `limit` changes other than undos and redos, newest first, with a number below `before`.

        Each contains `text`: in its title, as `shown` returns it (default: in English), in one of its parameters, or in
        the name of one of its plants, as it was before or as the change added it. `source` is the source that made it,
        or the name of its desk.
        """

    def history_summary(self) -> HistorySummary:
        """Return a summary of all changes other than undos and redos."""

    def plant_history(self, plant_id: int, limit: int = ...) -> list[PlantChange]:
        """Return at most `limit` changes that led to the current state of a plant, newest first, if still stored.

        An undone change and its undo are not among them.
        """

    def events(self, since: str | None, limit: int = ...) -> EventPage:
        """Return about `limit` events since a position, in the order of commits; for None only the current position.

        Pages that are read one after the other contain each event once. Raises UnknownPositionError for a position of
        another store, OutdatedPositionError if changes since then are no longer stored.
        """

    def interrupt(self) -> None:
        """Interrupt the query that another thread runs on this reader; it raises InterruptedError there."""

    def close(self) -> None:
        """Close the connection. May be called again."""


class TokenEndedError(TokenRefusedError):
    """The token of `source` is no longer valid. Clients get the same answer as for an unknown token."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self.source = source


class TokenLookup(Protocol):
    """Finds the token of a request. Belongs to one thread."""

    def source(self, token: str) -> Source:
        """Return the source of the plants that the token adds.

        Raises TokenEndedError for a revoked or expired one, TokenRefusedError for an unknown one, and StoreError if
        the store cannot be read.
        """

    def close(self) -> None:
        """Close the connection."""


class ServedTokens(Protocol):
    """The tokens of a store, as far as the API needs them. All methods may be called from any thread."""

    def record_use(self, source: Source) -> Future[None]:
        """Record that the token of `source` was used now without adding a plant."""

    def open_lookup(self) -> TokenLookup:
        """Open a lookup with a connection of its own, for one thread; the caller closes it."""


class TokenStore(ServedTokens, Protocol):
    """Creates, lists and revokes the tokens of a store."""

    def create(self, name: str, expires_at: int | None = None, max_plants: int | None = None) -> Future[NewToken]:
        """Create a token; only its SHA-256 digest is stored.

        `expires_at` is in milliseconds since 1970, UTC; `max_plants` limits the plants that it may add in all.
        The Future's exceptions are InvalidTokenNameError (blank, too long, or in use) and StoreError.
        """

    def revoke(self, name: str) -> Future[None]:
        """Revoke the token of this name at once. The Future's exceptions are UnknownTokenError and StoreError."""

    def revoke_and_remove_plants(self, name: str, source: Source) -> Future[Applied]:
        """Revoke the token and delete the plants that it has added, in one transaction. The deletion can be undone.

        `source` is who asks for it, for the history.
        The Future's exceptions are UnknownTokenError and StoreError; then nothing has changed.
        """

    def list(self) -> builtins.list[TokenRow]:
        """Return the tokens that were not revoked, newest first. Raises StoreError."""


class PlantImport(Protocol):
    """An import: plants are collected in tables of their own, compared with the store, and added as one change.

    One thread at a time may use it, but any thread may cancel it. Only `apply` changes plants. Every method raises
    StoreError, and InterruptedError after `cancel`.
    """

    def add(self, rows: Sequence[ImportRow]) -> None:
        """Collect valid plants; call it with lists of limited size. A shared store raises NulRefusedError, too."""

    def compare(self, on_conflict: OnConflict, fields: Collection[str]) -> ImportCounts:
        """Compare all rows with the store. Plants keep their values of fields that are not in `fields`."""

    def conflicts(self) -> Iterator[ImportConflict]:
        """Yield the conflicting rows of the last `compare`, in their order."""

    def apply(self, label: str, progress: Callable[[int, int], None] | None = None) -> Applied:
        """Add the compared rows as one change, durably; `label` is the name of the import. Blocks.

        `progress` is called on the thread that writes, with the rows so far and all rows; it must be quick.
        KeyboardInterrupt leaves the store unchanged, unless all is written already. Raises ImportConflictError and
        StoreBusyError.
        """

    def cancel(self) -> None:
        """Interrupt the running call and refuse later ones; an `apply` that has written everything succeeds."""

    def close(self) -> None:
        """Discard the collected rows and close the connection of the import."""


#: A plant to add, and where it comes from.
Entry = tuple[NewPlant, Source]
#: The result of an entry: the plant's row, or why it was refused.
Outcome = PlantRow | PlantDeskError


class ServedStore(Protocol):
    """A store, as far as the API needs it: a PlantStore, or a substitute while none is open. Thread-safe."""

    @property
    def tokens(self) -> ServedTokens:
        """The tokens of the store."""

    def add_each(self, entries: Sequence[Entry], done: Callable[[list[Outcome]], None]) -> None:
        """Add several independent plants in one commit, then call `done` with the outcome of each, in the same order.

        `done` is called once, on a thread of the store (on the caller's if the store is closed), and must return soon.
        """


class PlantStore(ServedStore, Protocol):
    """An open store. All methods may be called from any thread."""

    @property
    @override
    def tokens(self) -> TokenStore:
        """The tokens of the store."""

    @property
    def desk(self) -> str:
        """The name of this desk in the history of a shared store; empty for a store of one computer."""

    @property
    def write_error(self) -> StoreError | None:
        """The error that prevents adding plants, as far as is known: StoreReadOnlyError for a read-only store."""

    @property
    def change_error(self) -> StoreError | None:
        """The error that prevents changing and deleting plants: `write_error`, or a missing right."""

    def add(self, plant: NewPlant, source: Source) -> Future[PlantRow]:
        """Add one plant; the Future is done when the plant is durable.

        Adding the same plant again succeeds and changes nothing, so that a script may retry; but from the form it is an
        IdTakenError. The Future's other exceptions are TokenRefusedError (the source's token is no longer valid),
        TokenUsedUpError and StoreError.
        """

    def add_as_next(self, fields: Plant, source: Source) -> Future[PlantRow]:
        """Add a plant with the next free id. The Future's exceptions are StoreError and NulRefusedError (server)."""

    def apply(self, edits: Sequence[Edit], source: Source) -> Future[Applied]:
        """Change plants: all `edits` in one transaction, as one change of the history, or none of them.

        The Future's exceptions are EditConflictError and SelectionChangedError (something has changed since the user
        saw it), IdTakenError, StoreError, those of the rule of a Rewrite, and NulRefusedError of a shared store.
        """

    def undo(self, change: Change | int | None, source: Source) -> Future[Undone]:
        """Undo a change, given itself or by its number, by another change; None is the latest one that is not undone.

        Plants that were changed since stay as they are. The Future's exceptions are NothingToUndoError,
        UndoConflictError (nothing could be undone) and StoreError.
        """

    def redo(self, source: Source) -> Future[Undone]:
        """Redo the change that the latest undo has undone. The Future has the exceptions of `undo`."""

    def new_import(self) -> PlantImport:
        """Begin an import; the caller closes it. Raises StoreError."""

    def subscribe(self, listener: Callable[[Changes], None]) -> Callable[[], None]:
        """Call `listener` on the writer thread after each durable change, also by other processes.

        Returns the function that ends the subscription. A listener must be quick and must not raise.
        """

    def subscribe_health(self, listener: Callable[[StoreError | None], None]) -> Callable[[], None]:
        """Call `listener` with an error that prevents adding plants, and with None when it is over.

        It is called on the writer thread, and also now, on this thread, if there is such an error. The store is tried
        again every two seconds. Returns the function that ends the subscription. A listener must be quick and must not
        raise.
        """

    def reader(self) -> PlantReader:
        """Open a connection for reading, for one thread at a time; the caller closes it. Raises StoreError."""

    def begin_backups(self, on_outcome: Callable[[StoreError | None], object] | None = None) -> Callable[[], None]:
        """Make automatic backups from now on. The returned function ends that, and waits two seconds at most.

        `on_outcome` is called on the thread of the backups after each attempt, with its error, or None.
        """

    def begin_closing(self) -> None:
        """Prepare for `close`: calls that wait for an unresponsive server fail after some seconds."""
        return

    def close(self) -> None:
        """Write the queued plants and changes, end the writer thread and close the store. May be called again.

        Raises StoreError if the store's file is gone, and its committed content could not be saved as a backup.
        """
