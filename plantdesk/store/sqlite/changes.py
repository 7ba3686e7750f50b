"""What changes of plants and imports in a file do differently.

The rows of an import are collected in a file beside the store, which the writer attaches at the end.
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, Select, Update, delete, exists, func, select, update
from typing_extensions import override

from plantdesk.domain.edits import Applied
from plantdesk.domain.errors import StoreReadOnlyError
from plantdesk.store.base import WriterThread
from plantdesk.store.change_writer import LARGE_CHANGE, ChangeWriter, Extent
from plantdesk.store.imports import StaleError, StoreImport
from plantdesk.store.models import BEFORE_IMAGE, PLANT, STORE
from plantdesk.store.rows import NO_ROOM
from plantdesk.store.sqlite.connections import transaction, translate_errors
from plantdesk.store.sqlite.database import runner_of
from plantdesk.store.sqlite.files.disk import temporary_file
from plantdesk.store.sqlite.files.store_file import StoreFile
from plantdesk.store.sqlite.numbers import last_seq, position
from plantdesk.store.undo import FORMER, VERSION_BEFORE

_LARGEST_SEQ = select(func.coalesce(func.max(PLANT.c.seq), 0)).scalar_subquery()
_KEEP_SEQ = update(STORE).where(STORE.c.last_seq < _LARGEST_SEQ).values(last_seq=_LARGEST_SEQ)


class SqliteChange(ChangeWriter):
    """A change in a file."""

    def __init__(self, connection: sqlite3.Connection, number: int | None = None) -> None:
        """Begin a change, or go on with that of a number."""
        if number is None:
            runner_of(connection).run(_KEEP_SEQ)  # no `seq` of a plant that the change deletes is used again
            number = position(connection).change + 1
        super().__init__(runner_of(connection), number)
        self._connection = connection

    @property
    @override
    def last_seq(self) -> int:
        return last_seq(self._connection)

    @override
    def next_seq(self, count: int = 1) -> int:
        return self.last_seq + 1

    @override
    def complete(self, extent: Extent, largest_id: ScalarSelect[int]) -> Update:
        last = func.min(func.max(STORE.c.last_id, func.coalesce(largest_id, 0)), NO_ROOM - 1)
        return update(STORE).values(last_id=last)

    @override
    def delete(self, condition: ColumnElement[bool]) -> None:
        """Delete the plants of a condition. If these are all, omit the condition: SQLite then frees whole pages."""
        count = self.runner.run(self.images(condition, deletes=True)).rowcount
        is_all = count > LARGE_CHANGE and self.runner.run(select(func.count()).select_from(PLANT)).fetchone() == (
            count,
        )
        self.runner.run(delete(PLANT) if is_all else delete(PLANT).where(condition))

    @override
    def before_return(self, undone: int, back: Select[Any]) -> None:
        """Give plants a new sequence number if theirs is taken, which a restored backup may cause."""
        taken = back.where(exists().where(PLANT.c.seq == FORMER.c.seq, PLANT.c.id != FORMER.c.plant_id))
        if not self.runner.run(select(taken.exists())).fetchone()[0]:
            return
        place = func.row_number().over(order_by=FORMER.c.seq).label("place")
        moved = taken.with_only_columns(FORMER.c.plant_id, place).subquery()
        image, at_end = BEFORE_IMAGE.c, update(BEFORE_IMAGE).values(seq=moved.c.place + self.last_seq)
        self.runner.run(at_end.where(image.change == undone, image.plant_id == moved.c.plant_id))
        is_own = (image.change == self.number) & (image.plant_id == FORMER.c.plant_id)
        self.runner.run(update(BEFORE_IMAGE).values(after=VERSION_BEFORE).where(is_own, FORMER.c.change == undone))


class SqliteImport(StoreImport):
    """An import into a SQLite store."""

    def __init__(self, file: StoreFile, writer: WriterThread) -> None:
        """Begin. Raises StoreError and OSError."""
        self._writer = writer
        with ExitStack() as stack, translate_errors():
            connection, self._temporary = _connect(file, stack)
            super().__init__(runner_of(connection))
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
        def action(writer: ChangeWriter) -> Applied:
            with self._using(writer.runner.connection):
                return step(writer)

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
