"""Imports into a file: the rows are collected in a file beside the store, which the writer attaches at the end."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from typing_extensions import override

from plantdesk.domain.errors import StoreReadOnlyError
from plantdesk.domain.records import Changes
from plantdesk.store.imports import StaleError, StoreImport
from plantdesk.store.sqlite.changes import SqliteChange
from plantdesk.store.sqlite.connections import transaction, translate_errors
from plantdesk.store.sqlite.database import runner
from plantdesk.store.sqlite.files.atomic_file import temporary_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from plantdesk.domain.edits import Applied
    from plantdesk.store.change_writer import ChangeWriter
    from plantdesk.store.sqlite.files.store_file import StoreFile
    from plantdesk.store.sqlite.writer import Writer


class SqliteImport(StoreImport):
    """An import into a SQLite store."""

    def __init__(self, file: StoreFile, writer: Writer) -> None:
        """Begin. Raises StoreError and OSError."""
        self._writer = writer
        with ExitStack() as stack, translate_errors():
            connection, self._temporary = _connect(file, stack)
            super().__init__(runner(connection))
            self._stack = stack.pop_all()

    @override
    def close(self) -> None:
        self._stack.close()

    @override
    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with translate_errors(), transaction(self._runner.connection, mode="DEFERRED"):
            yield

    @override
    def _write(self, step: Callable[[ChangeWriter], Applied]) -> Applied:
        def action(connection: sqlite3.Connection) -> tuple[Applied, Changes]:
            with self._using(connection):
                return step(SqliteChange(connection)), Changes(history=True, needs_reload=True)

        written = self._writer.submit(action, attached=self._temporary)
        try:
            return written.result()
        except sqlite3.IntegrityError as error:
            raise StaleError from error
        except KeyboardInterrupt:
            self.cancel()
            try:
                return written.result()  # it may have been committed already
            except InterruptedError:
                raise KeyboardInterrupt from None

    @override
    def _interrupt(self, connection: sqlite3.Connection) -> None:
        connection.interrupt()


def _connect(file: StoreFile, stack: ExitStack) -> tuple[sqlite3.Connection, Path]:
    """Return a connection to the store and a new file, which it has as `other`; `stack` removes the file.

    Raises StoreError and OSError.
    """
    with translate_errors():
        try:
            temporary = stack.enter_context(temporary_file(file.path))
        except OSError as error:
            if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
                raise StoreReadOnlyError from error
            raise
        connection = file.connect()
        stack.callback(connection.close)
        connection.execute("ATTACH ? AS other", (str(temporary),))
        for pragma in ("page_size = 32768", "journal_mode = OFF", "synchronous = OFF"):
            connection.execute(f"PRAGMA other.{pragma}")
    return connection, temporary
