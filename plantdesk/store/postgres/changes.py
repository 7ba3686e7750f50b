"""What a change of plants on a server does differently, in the caller's transaction.

That holds the lock on `state`, so other desks wait until the change is complete.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import func, select, update
from typing_extensions import override

from plantdesk.store.change_writer import PAGE, ChangeWriter
from plantdesk.store.models import PLANT, STATE
from plantdesk.store.postgres.database import runner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import ColumnElement, ScalarSelect, Update

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
    def expect_many(self) -> None:
        self.transaction.expect_many()

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
