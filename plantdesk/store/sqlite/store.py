"""The store as API, window and command line use it. Methods import what a command that adds a plant does not need."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent import futures
from concurrent.futures import Future
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from typing_extensions import override

from plantdesk.domain.errors import StoreClosedError, StoreError
from plantdesk.domain.records import Changes
from plantdesk.store.base import WrittenStore, running_future
from plantdesk.store.sqlite.files.atomic_file import remove_abandoned_temporary_files
from plantdesk.store.sqlite.files.store_file import StoreFile
from plantdesk.store.sqlite.inserts import add_as_next
from plantdesk.store.sqlite.writer import Writer

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from plantdesk.domain.edits import Applied, Edit, Undone
    from plantdesk.domain.errors import StoreDamagedError
    from plantdesk.domain.history import Change
    from plantdesk.domain.models import Plant
    from plantdesk.domain.protocols import PlantImport
    from plantdesk.domain.records import PlantRow, Source
    from plantdesk.store.sqlite.connections import Progress
    from plantdesk.store.sqlite.queries import Reader
    from plantdesk.store.sqlite.tokens import Tokens


_Result = TypeVar("_Result")


class Store(WrittenStore):
    """An open store. All methods may be called from any thread."""

    _writer: Writer

    def __init__(self, path: Path, *, create: bool = False, progress: Progress | None = None) -> None:
        """Open the store at `path`, make it when there is none, and bring its schema up to date.

        One that may not be written to is opened for reading; it is tried again until it can be. `create` makes a new
        store even where backups show that there was one. `progress` is called, on this thread, with the fraction
        that is done of a migration. Raises StoreError: FolderMissingError, ForeignFileError,
        StoreTooNewError, StoreDamagedError, StoreGoneError, StoreReadOnlyError (a new store could not be made, or one
        of an older PlantDesk not be updated),
        StoreBusyError, StoreUnreachableError. A refused file is left untouched.
        """
        super().__init__()
        self._edits_lock = threading.Lock()
        self._has_ended_edits = False
        #: The latest one of those that `_after_edits` has started or will start.
        self._latest_edit: Future[Any] = Future()
        self._latest_edit.set_result(None)
        self.file = StoreFile(path, create=create, progress=progress)
        self.path = self.file.path
        try:
            self.file.refuse_outdated()
            self._writer = Writer(self.file, self._listeners.notify, self._health_listeners.notify)
        except StoreError:
            self.file.close()
            raise
        remove_abandoned_temporary_files(self.path)

    @property
    @override
    def desk(self) -> str:
        return ""

    @cached_property
    @override
    def tokens(self) -> Tokens:
        from plantdesk.store.sqlite.tokens import Tokens  # imports OpenSSL

        return Tokens(self.file, self._writer)

    @override
    def add_as_next(self, fields: Plant, source: Source) -> Future[PlantRow]:
        def action(connection: sqlite3.Connection) -> tuple[PlantRow, Changes]:
            row = add_as_next(connection, fields, source)
            return row, Changes((row,))

        return self._writer.submit(action)

    @override
    def apply(self, edits: Sequence[Edit], source: Source) -> Future[Applied]:
        from plantdesk.domain.edits import MergePlants, Rewrite
        from plantdesk.store.sqlite.changes import apply

        match edits:
            case [Rewrite() | MergePlants() as edit]:
                from plantdesk.store.sqlite.rewriting import Rewriting

                run = Rewriting(self.file, self._writer, edit, source).run
                return self._after_edits(lambda: self._compute(run))

        def action(connection: sqlite3.Connection) -> tuple[Applied, Changes]:
            applied = apply(connection, edits, source)
            return applied, Changes(history=applied.change is not None)

        return self._writer.submit(action)

    @override
    def undo(self, change: Change | int | None, source: Source) -> Future[Undone]:
        from plantdesk.store.sqlite.changes import undo

        return self._take_back(lambda connection: undo(connection, change, source))

    @override
    def redo(self, source: Source) -> Future[Undone]:
        from plantdesk.store.sqlite.changes import redo

        return self._take_back(lambda connection: redo(connection, source))

    def _take_back(self, undone: Callable[[sqlite3.Connection], Undone]) -> Future[Undone]:
        def action(connection: sqlite3.Connection) -> tuple[Undone, Changes]:
            return undone(connection), Changes(history=True)

        return self._after_edits(lambda: self._writer.submit(action))

    @override
    def new_import(self) -> PlantImport:
        from plantdesk.store.sqlite.imports import SqliteImport

        return SqliteImport(self.file, self._writer)

    def _report_damage(self, error: StoreDamagedError) -> None:
        """Notify the health listeners of damage that a reader has found."""

        def action(_connection: sqlite3.Connection) -> tuple[None, Changes]:
            raise error

        self._writer.submit(action)

    @override
    def reader(self) -> Reader:
        from plantdesk.store.sqlite.queries import Reader

        return Reader(self.file, self._report_damage)

    @override
    def begin_backups(self, on_outcome: Callable[[StoreError | None], object] | None = None) -> Callable[[], None]:
        from plantdesk.store.sqlite.backups.jobs import AutomaticBackups, back_up_by_settings

        return AutomaticBackups(partial(back_up_by_settings, self.file), on_outcome).close

    @cached_property
    def _edits(self) -> futures.ThreadPoolExecutor:
        """The thread for edits that are computed before they are written."""
        return futures.ThreadPoolExecutor(max_workers=1, thread_name_prefix="store-edits")

    def _compute(self, edit: Callable[[], _Result]) -> Future[_Result]:
        """Run an edit, or an undo, on the thread of such edits, after those that wait."""
        with self._edits_lock:
            if not self._has_ended_edits:
                return self._edits.submit(edit)
        closed: Future[_Result] = Future()
        closed.set_exception(StoreClosedError())
        return closed

    def _after_edits(self, start: Callable[[], Future[_Result]]) -> Future[_Result]:
        """Start a computed edit or an undo after those that have begun: it may be an undo of one of these."""
        started: Future[_Result] = running_future()
        with self._edits_lock:
            latest, self._latest_edit = self._latest_edit, started
        latest.add_done_callback(lambda _latest: start().add_done_callback(partial(_pass_on, started)))
        return started

    def _end_edits(self) -> None:
        """Wait for the edits that were begun, and begin no more."""
        with self._edits_lock:
            self._has_ended_edits = True
        if "_edits" in vars(self):
            self._edits.shutdown()

    @override
    def close(self) -> None:
        self._end_edits()
        self._writer.close()


def _pass_on(to: Future[Any], done: Future[Any]) -> None:
    """Pass the outcome of a Future on to another one."""
    if (error := done.exception()) is not None:
        to.set_exception(error)
    else:
        to.set_result(done.result())
