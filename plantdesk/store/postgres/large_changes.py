"""Changes of many plants: all rows are written without the lock on `state`, so that all desks add plants meanwhile.

It is taken for the last step. Where somebody else has made a change by then, all is written once more, in the end under
the lock.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, TypeVar

from sqlalchemy import select
from typing_extensions import override

from plantdesk.domain.edits import Applied, DeleteAll, MergePlants, MergeTags, RenameTag, Rewrite, SetTag, Undone
from plantdesk.domain.errors import NothingToUndoError, StoreBusyError
from plantdesk.store.change_writer import PAGE, Extent
from plantdesk.store.changes import finish_written, make_edit
from plantdesk.store.models import PLANT
from plantdesk.store.postgres.changes import PostgresChange
from plantdesk.store.postgres.connections import LONG, Transaction, execute, translate_errors
from plantdesk.store.postgres.database import runner
from plantdesk.store.rewriting import ComputedEdit
from plantdesk.store.undo import bring_back, record_undo, undo_target

if TYPE_CHECKING:
    from plantdesk.domain.edits import Edit
    from plantdesk.domain.history import Change
    from plantdesk.domain.records import Source
    from plantdesk.store.postgres.connections import Connection
    from plantdesk.store.postgres.transactions import Transactions
    from plantdesk.store.postgres.writer import Writer

    SetEdit = SetTag | DeleteAll | RenameTag | MergeTags | MergePlants | Rewrite

_Result = TypeVar("_Result")

#: How often all is written without the lock.
_MAX_TRIES = 3


class StaleError(Exception):
    """Somebody else has made a change meanwhile."""


class _NeedsLockError(Exception):
    """The change needs new sequence numbers, which only the lock gives."""


class _ChangeAhead(PostgresChange):
    """A change that does not hold the lock on `state`."""

    def __init__(self, connection: Connection) -> None:
        _, seq, change = runner(connection).database.state(runner(connection))
        super().__init__(Transaction(connection, seq, change, ""))

    @override
    def next_seq(self, count: int = 1) -> int:
        """Raise _NeedsLockError: plants return under new ids, as others have theirs."""
        raise _NeedsLockError


class LargeChange(ABC, Generic[_Result]):
    """One change on a connection of its own. Belongs to one thread, which it blocks."""

    def __init__(self, transactions: Transactions, writer: Writer, source: Source) -> None:
        """`transactions` have a connection for this change alone."""
        self._transactions, self._writer, self._source = transactions, writer, source
        self._number = self._seq = 0
        self._extent = Extent(0, 0)

    def run(self) -> _Result:
        """Make the change. Raises what it raises under the lock, and StoreError."""
        connection = self._transactions.open()
        try:
            with self._transactions.watched():
                return self._run(connection)
        finally:
            connection.close()
            self._writer.poll()

    def _run(self, connection: Connection) -> _Result:
        connection.limit = LONG
        with translate_errors():
            # Another desk that changes these plants holds the lock on `state`: shorter than the server's
            # deadlock_timeout, so that it is this one that gives way.
            connection.execute("SET statement_timeout = '1h'; SET lock_timeout = '300ms'")
            self._compute(connection)
        with suppress(_NeedsLockError):
            for _ in range(_MAX_TRIES):
                # Perhaps somebody else adds a plant with the id of one that returns: NothingToUndoError.
                with suppress(StaleError, StoreBusyError, NothingToUndoError):
                    return self._transactions.write(self._finish_unless_stale, before=self._write_ahead)
        with translate_errors():
            connection.execute("SET lock_timeout = '5s'")
        return self._transactions.write(self._at_once)

    def _compute(self, connection: Connection) -> None:
        """Prepare, in transactions of its own."""

    @abstractmethod
    def _write(self, change: PostgresChange) -> None:
        """Write all rows, as a rule in a transaction that does not hold the lock."""

    @abstractmethod
    def _finish(self, change: PostgresChange) -> _Result:
        """Make the entry of the change, under the lock."""

    def _write_ahead(self, connection: Connection) -> None:
        self._write_all(_ChangeAhead(connection))

    def _write_all(self, change: PostgresChange) -> None:
        self._number, self._seq = change.number, change.last_seq
        self._write(change)
        self._extent = change.extent()

    def _at_once(self, transaction: Transaction) -> _Result:
        change = PostgresChange(transaction)
        self._write_all(change)
        return self._finish(change)

    def _finish_unless_stale(self, transaction: Transaction) -> _Result:
        change = PostgresChange(transaction)
        if change.number != self._number:
            raise StaleError
        return self._finish(change)


class LargeEdit(LargeChange[Applied]):
    """An edit of a set of plants."""

    def __init__(self, transactions: Transactions, writer: Writer, edit: SetEdit, source: Source) -> None:
        super().__init__(transactions, writer, source)
        self._edit, self._computed = edit, ComputedEdit(edit) if isinstance(edit, Rewrite) else None

    @override
    def _compute(self, connection: Connection) -> None:
        """Compute texts. Raises InvalidPlantError, InvalidPatternError, UnknownPositionError, NulRefusedError."""
        if self._computed is not None:
            with connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                self._computed.compute(_ChangeAhead(connection))

    @override
    def _write(self, change: PostgresChange) -> None:
        if self._computed is not None:
            self._computed.write(change)
        else:
            make_edit(change, self._edit, self._source)

    @override
    def _finish(self, change: PostgresChange) -> Applied:
        left = self._added(change) if self._computed is None else self._computed.left(change)
        written = finish_written(change, self._edit, self._source, self._extent, left)
        return Applied.without(set() if self._computed is None else self._computed.skipped, written)

    def _added(self, change: PostgresChange) -> set[int]:
        """Return the plants that were added meanwhile, unless the edit names those that it changes."""
        if change.last_seq == self._seq or isinstance(self._edit, MergePlants):
            return set()
        added = select(PLANT.c.id).where(PLANT.c.seq > self._seq, PLANT.c.change != change.number)
        return {plant_id for (plant_id,) in change.runner.run(added).fetchall()}


class LargeUndo(LargeChange[Undone]):
    """An undo or redo of a change."""

    def __init__(self, transactions: Transactions, writer: Writer, undone: Change, source: Source) -> None:
        super().__init__(transactions, writer, source)
        self._undone = undone

    @override
    def _write(self, change: PostgresChange) -> None:
        self._outcome = bring_back(change, undo_target(change.runner, self._undone))

    @override
    def _finish(self, change: PostgresChange) -> Undone:
        return record_undo(change, self._undone, self._source, self._outcome, self._extent)


def may_be_large(edit: Edit) -> bool:
    """Whether an edit may change very many plants."""
    match edit:
        case SetTag() | DeleteAll():
            return edit.plants.ids is None or len(edit.plants.ids) > PAGE
        case MergePlants():
            return len(edit.groups.ids) > PAGE
    return isinstance(edit, RenameTag | MergeTags)


def is_large_store(transaction: Transaction) -> bool:
    """Whether a set of plants may have very many."""
    (plants,) = execute(transaction.connection, "SELECT plants FROM state").fetchone() or (0,)
    return bool(plants > PAGE)
