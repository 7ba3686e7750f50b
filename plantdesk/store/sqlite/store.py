"""The store as API, window and command line use it."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING

from plantdesk.errors import PlantDeskError
from plantdesk.listeners import Listeners
from plantdesk.records import Changes
from plantdesk.store.sqlite.changes import apply, redo, undo
from plantdesk.store.sqlite.connections import driver_connection
from plantdesk.store.sqlite.files.store_file import StoreFile
from plantdesk.store.sqlite.inserts import add_as_next
from plantdesk.store.sqlite.queries import Reader
from plantdesk.store.sqlite.tokens import Tokens
from plantdesk.store.sqlite.writer import Writer

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from sqlmodel import Session

    from plantdesk.errors import StoreDamagedError, StoreError
    from plantdesk.records import ChangeKind, NewPlant, PlantFields, PlantRow, Source
    from plantdesk.store.edits import Applied, Edit, Undone
    from plantdesk.store.sqlite.connections import Progress


class Store:
    """An open store. All methods may be called from any thread."""

    def __init__(self, path: Path, *, create: bool = False, progress: Progress | None = None) -> None:
        """Open the store at `path`, make it when there is none, and bring its schema up to date.

        One that may not be written to is opened for reading; it is tried again until it can be. `create` makes a new
        store even where backups show that there was one. `progress` is called, on this thread, with the share that is
        done of a migration. Raises StoreError: FolderMissingError, ForeignFileError,
        NewerStoreError, StoreDamagedError, StoreGoneError, StoreReadOnlyError (a new store could not be made),
        StoreBusyError, StoreUnreachableError. A refused file is left untouched.
        """
        self.file = StoreFile(path, create=create, progress=progress)
        self.path = self.file.path
        self._listeners: Listeners[Changes] = Listeners()
        self._health_listeners: Listeners[StoreError | None] = Listeners()
        self._writer = Writer(self.file, self._listeners.notify, self._health_listeners.notify)
        self.tokens = Tokens(self.file, self._writer)

    @property
    def trouble(self) -> StoreError | None:
        """What keeps the store from taking plants, as far as is known: StoreReadOnlyError for a read-only one."""
        return self._writer.trouble

    def add(self, plant: NewPlant, source: Source) -> Future[PlantRow]:
        """Add one plant; the Future is done when the plant is durable.

        The same plant again changes nothing and gives the row that is there, so that a script may retry; for the form
        the id is taken. The Future's exceptions are IdTakenError, TokenRefusedError (the
        source's token is no longer valid) and StoreError.
        """
        added: Future[PlantRow] = Future()

        def pass_on(outcomes: Future[list[PlantRow | PlantDeskError]]) -> None:
            (outcome,) = outcomes.result()
            if isinstance(outcome, PlantDeskError):
                added.set_exception(outcome)
            else:
                added.set_result(outcome)

        self.add_each([(plant, source)]).add_done_callback(pass_on)
        return added

    def add_each(self, entries: Sequence[tuple[NewPlant, Source]]) -> Future[list[PlantRow | PlantDeskError]]:
        """Add several plants that have nothing to do with each other; each has its own outcome, in the same order.

        The Future itself never fails. This is the way for many waiting requests: one commit and one wake-up for all.
        """
        return self._writer.add(entries)

    def add_as_next(self, fields: PlantFields, source: Source) -> Future[PlantRow]:
        """Add a plant under the next free id, which is found and taken in one transaction.

        The Future's exceptions are StoreError.
        """

        def action(session: Session) -> tuple[PlantRow, Changes]:
            row = add_as_next(driver_connection(session.connection()), fields, source)
            return row, Changes((row,))

        return self._writer.do(action)

    def apply(
        self, edits: Sequence[Edit], source: Source, *, title: str | None = None, kind: ChangeKind | None = None
    ) -> Future[Applied]:
        """Change plants: all `edits` in one transaction, as one change of the history, or none of them.

        `title` names the change for the user, by default after its edits. The Future's exceptions are EditConflictError
        (a plant has changed since the user saw it), IdTakenError and StoreError.
        """

        def action(session: Session) -> tuple[Applied, Changes]:
            applied = apply(session, edits, source, title=title, kind=kind)
            return applied, Changes(history=applied.change is not None)

        return self._writer.do(action)

    def undo(self, number: int | None, source: Source) -> Future[Undone]:
        """Take back the change of this number, by default the latest that is not undone, in a change of its own.

        Plants that something else has changed since are left as they are. The Future's exceptions are
        NothingToUndoError, UndoConflictError (nothing could be taken back) and StoreError.
        """
        return self._take_back(lambda connection: undo(connection, number, source))

    def redo(self, source: Source) -> Future[Undone]:
        """Take back the latest undo that is in force. The Future's exceptions are those of `undo`."""
        return self._take_back(lambda connection: redo(connection, source))

    def _take_back(self, undone: Callable[[sqlite3.Connection], Undone]) -> Future[Undone]:
        def action(session: Session) -> tuple[Undone, Changes]:
            return undone(driver_connection(session.connection())), Changes(history=True)

        return self._writer.do(action)

    def subscribe(self, listener: Callable[[Changes], None]) -> Callable[[], None]:
        """Call `listener` on the writer thread after each durable change, also those of other processes.

        Returns the function that ends the subscription. A listener must be quick and must not raise.
        """
        return self._listeners.add(listener)

    def subscribe_health(self, listener: Callable[[StoreError | None], None]) -> Callable[[], None]:
        """Call `listener` on the writer thread with what keeps the store from taking plants, then None when it does.

        It is called at once, on this thread, where the store is in trouble already. A store in trouble is tried again
        every two seconds. Returns the function that ends the subscription. A listener must be quick and must not raise.
        """
        unsubscribe = self._health_listeners.add(listener)
        if self.trouble is not None:
            listener(self.trouble)
        return unsubscribe

    def report_damage(self, error: StoreDamagedError) -> None:
        """Notify the health listeners of damage that a reader has found."""

        def action(_session: Session) -> tuple[None, Changes]:
            raise error

        self._writer.do(action)

    def reader(self) -> Reader:
        """Open a connection for reading, for one thread at a time; the caller closes it. Raises StoreError."""
        return Reader(self.file)

    def close(self) -> None:
        """Write what is queued, end the writer thread and close the file. May be called again."""
        self._writer.close()
