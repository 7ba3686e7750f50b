"""Imports into a shared store: the rows are copied into temporary tables of a connection of their own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import psycopg
from typing_extensions import override

from plantdesk.store.imports import StoreImport
from plantdesk.store.postgres.connections import translate_errors
from plantdesk.store.postgres.database import runner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plantdesk.domain.edits import Applied
    from plantdesk.store.change_writer import ChangeWriter
    from plantdesk.store.postgres.transactions import Transactions
    from plantdesk.store.postgres.writer import Writer


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
                applied = self._transactions.write(step)
                with suppress(psycopg.Error):  # it is only for the plans of later queries
                    connection.execute("ANALYZE plant, before_image")
                return applied
        finally:
            self._writer.poll()
