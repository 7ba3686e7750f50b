"""Changes of plants on a server: edits, edits of whole sets, and undo, in the caller's transaction.

That holds the lock on `state`, so other desks wait until the change is complete.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, update
from typing_extensions import override

from plantdesk.domain.edits import DeleteAll, MergePlants, MergeTags, RenameTag, Rewrite, SetTag
from plantdesk.domain.errors import NothingToUndoError, Text, shortened
from plantdesk.store.change_writer import PAGE, ChangeWriter
from plantdesk.store.changes import make_change
from plantdesk.store.models import PLANT, STATE
from plantdesk.store.postgres.database import runner
from plantdesk.store.undo import redo_target, take_back, undo_target

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import ColumnElement, ScalarSelect, Update

    from plantdesk.domain.edits import Applied, Edit, Undone
    from plantdesk.domain.history import Change
    from plantdesk.domain.records import Source
    from plantdesk.store.change_writer import Extent
    from plantdesk.store.postgres.connections import Transaction


class PostgresChange(ChangeWriter):
    """A change on a server."""

    def __init__(self, transaction: Transaction) -> None:
        super().__init__(runner(transaction.connection), transaction.last_change + 1)
        self.transaction, self.desk = transaction, transaction.desk

    @property
    @override
    def last_seq(self) -> int:
        return self.transaction.last_seq

    @override
    def next_seq(self, count: int = 1) -> int:
        return self.transaction.next_seq(count)

    @override
    def complete(self, extent: Extent, largest_id: ScalarSelect[int]) -> Update:
        self.transaction.last_change = self.number
        self.transaction.plants += extent.growth
        self.transaction.has_changed = True
        return update(STATE).values(last_id=func.greatest(STATE.c.last_id, largest_id))

    @override
    def choose(self, condition: ColumnElement[bool]) -> ColumnElement[bool]:
        """Join a part of the statement itself, which takes no round trip of its own."""
        return PLANT.c.id == select(PLANT.c.id).where(condition).cte("chosen").c.id

    @override
    @contextmanager
    def many(self, plants: int) -> Iterator[None]:
        """Keep the server, which knows nothing of the rows of this transaction yet, from comparing each with each."""
        execute = self.transaction.connection.execute
        if plants > PAGE:
            execute("SET LOCAL enable_nestloop = off")
        yield
        if plants > PAGE:
            execute("SET LOCAL enable_nestloop TO DEFAULT")


def apply(
    transaction: Transaction, edits: Sequence[Edit], source: Source, parameters: dict[str, Any] | None = None
) -> Applied:
    """Make one change of `edits` as `make_change` does.

    Raises EditConflictError, IdTakenError, SelectionChangedError and NulRefusedError; then nothing may be committed.
    """
    if any(map(_may_be_large, edits)):
        transaction.expect_many()
    return make_change(PostgresChange(transaction), edits, source, parameters)


def undo(transaction: Transaction, change: Change | int | None, source: Source) -> Undone:
    """Take back a change, or that of this number, by default the latest that is not undone, if it is this desk's.

    Raises NothingToUndoError and UndoConflictError.
    """
    target = undo_target(runner(transaction.connection), change)
    return _take_back(transaction, target if change is not None else _own(transaction, target), source)


def redo(transaction: Transaction, source: Source) -> Undone:
    """Take back the latest undo that is not taken back, as `undo` does."""
    return _take_back(transaction, _own(transaction, redo_target(runner(transaction.connection))), source)


def _take_back(transaction: Transaction, change: Change, source: Source) -> Undone:
    if change.plants > PAGE:
        transaction.expect_many()
    return take_back(PostgresChange(transaction), change, source)


def _may_be_large(edit: Edit) -> bool:
    match edit:
        case SetTag() | DeleteAll():
            return edit.plants.ids is None or len(edit.plants.ids) > PAGE
    return isinstance(edit, RenameTag | MergeTags | MergePlants | Rewrite)


def _own(transaction: Transaction, latest: Change) -> Change:
    """Return the latest change where this desk made it: another's is only taken back by its number."""
    if latest.desk not in {"", transaction.desk}:
        reason = Text("{desk} has made this: {title}. To undo it all the same, type `plantdesk undo {number}`.")
        raise NothingToUndoError(reason, title=latest.title, desk=shortened(latest.desk), number=latest.number)
    return latest
