"""A file beside the store for tables that are computed for a change, whose writer reads them (`Writer.submit`)."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from plantdesk.domain.errors import StoreReadOnlyError
from plantdesk.store.sqlite.connections import translate_errors
from plantdesk.store.sqlite.files.atomic_file import locked_temporary_file

if TYPE_CHECKING:
    import sqlite3
    from contextlib import ExitStack
    from pathlib import Path

    from plantdesk.store.sqlite.files.store_file import StoreFile


def connect_with_table_file(file: StoreFile, stack: ExitStack) -> tuple[sqlite3.Connection, Path]:
    """Return a connection to the store and a new file, which it has as `other`; `stack` removes the file.

    Raises StoreError and OSError.
    """
    with translate_errors():
        try:
            temporary = stack.enter_context(locked_temporary_file(file.path))
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
