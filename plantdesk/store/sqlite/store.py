"""The store as API, window and command line use it. Methods import what a command that adds a plant does not need."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from typing_extensions import override

from plantdesk.domain.errors import StoreError
from plantdesk.store.base import WrittenStore
from plantdesk.store.sqlite.backups.jobs import AutomaticBackups
from plantdesk.store.sqlite.backups.restoring import FileBackups
from plantdesk.store.sqlite.changes import SqliteImport
from plantdesk.store.sqlite.files.atomic_file import remove_old_temporary_files
from plantdesk.store.sqlite.files.store_file import StoreFile
from plantdesk.store.sqlite.queries import Reader
from plantdesk.store.sqlite.writer import Writer

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.domain.errors import StoreDamagedError
    from plantdesk.domain.protocols import PlantImport
    from plantdesk.store.change_writer import ChangeWriter


class Store(WrittenStore):
    """An open store. All methods may be called from any thread."""

    _writer: Writer

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """Open the store at `path`, make it when there is none, and bring its schema up to date.

        One that may not be written to is opened for reading; it is tried again until it can be. `create` makes a new
        store even if backups show that there was one. A refused file is left untouched.

        Raises StoreError: FolderMissingError, ForeignFileError, StoreTooNewError, StoreDamagedError, StoreGoneError,
        StoreReadOnlyError (a new store could not be made, or one of an older PlantDesk could not be updated),
        StoreBusyError, StoreUnreachableError.
        """
        super().__init__()
        self.file = StoreFile(path, create=create)
        self.path = self.file.path
        try:
            self.file.refuse_outdated()
            self._writer = Writer(self.file, self._listeners.notify, self._health_listeners.notify)
        except StoreError:
            self.file.close()
            raise
        remove_old_temporary_files(self.path.parent, self.path.name)

    @property
    @override
    def desk(self) -> str:
        return ""

    @override
    def new_import(self) -> PlantImport:
        return SqliteImport(self.file, self._writer)

    def _report_damage(self, error: StoreDamagedError) -> None:
        """Notify the health listeners of damage that a reader has found."""

        def action(_writer: ChangeWriter) -> None:
            raise error

        self._writer.submit(action)

    @override
    def reader(self) -> Reader:
        return Reader(self.file, self._report_damage)

    @override
    def begin_backups(self, on_outcome: Callable[[StoreError | None], object] | None = None) -> Callable[[], None]:
        return AutomaticBackups(FileBackups(self.path, self.file).make_if_due, on_outcome).close

    @override
    def close(self) -> None:
        self._writer.close()
