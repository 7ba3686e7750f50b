"""What changes of plants and imports on a server do differently.

The transaction of a change holds the lock on `state`, so other desks wait until it is complete. The rows of an import
are copied into temporary tables of a connection of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import psycopg
from sqlalchemy import func, select, update
from typing_extensions import override

from plantdesk.store.change_writer import PAGE, ChangeWriter
from plantdesk.store.imports import StoreImport
from plantdesk.store.models import PLANT, STATE
from plantdesk.store.postgres.connections import translate_errors
from plantdesk.store.postgres.database import runner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import ColumnElement, ScalarSelect, Update

    from plantdesk.domain.edits import Applied
    from plantdesk.store.change_writer import Extent
    from plantdesk.store.postgres.connections import Connection, Transaction
    from plantdesk.store.postgres.transactions import Transactions
    from plantdesk.store.postgres.writer import Writer


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
        self.grew(extent.growth)
        return update(STATE).values(last_id=func.greatest(STATE.c.last_id, largest_id))

    @override
    def choose(self, condition: ColumnElement[bool]) -> ColumnElement[bool]:
        """Join a part of the statement itself, which takes no round trip of its own."""
        return PLANT.c.id == select(PLANT.c.id).where(condition).cte("chosen").c.id

    @override
    def grew(self, plants: int) -> None:
        self.transaction.plants += plants
        self.transaction.has_changed = True

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


class PostgresImport(StoreImport):
    """An import into a shared store."""

    def __init__(self, transactions: Transactions, writer: Writer) -> None:
        """Begin; `transactions` have a connection for this import alone. Raises StoreError."""
        self._transactions, self._writer = transactions, writer
        with translate_errors():
            super().__init__(runner(transactions.open()))

    @override
    def close(self) -> None:
        self._runner.connection.close()

    @override
    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with translate_errors(), self._runner.connection.transaction():
            yield

    @override
    def _write(self, step: Callable[[ChangeWriter], Applied]) -> Applied:
        connection = self._runner.connection
        try:
            with self._using(connection), translate_errors():
                applied = self._transactions.write(lambda transaction: step(PostgresChange(transaction)))
                with suppress(psycopg.Error):  # it is only for the plans of later queries
                    connection.execute("ANALYZE plant, before_image")
                return applied
        finally:
            self._writer.poll()

    @override
    def _interrupt(self, connection: Connection) -> None:
        threading.Thread(target=_cancel, args=(connection,), name="query-cancel", daemon=True).start()


def _cancel(connection: Connection) -> None:
    with suppress(psycopg.Error):
        connection.cancel_safe(timeout=2)
