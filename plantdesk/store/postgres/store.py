"""The shared store as API, window and command line use it."""

from __future__ import annotations

import platform
import threading
from typing import TYPE_CHECKING

from typing_extensions import override

from plantdesk.domain.locations import ReadOnlyPlants
from plantdesk.store.base import WrittenStore
from plantdesk.store.postgres.adding import add_as_next
from plantdesk.store.postgres.changes import apply, redo, undo
from plantdesk.store.postgres.connections import connect, translate_errors
from plantdesk.store.postgres.imports import PostgresImport
from plantdesk.store.postgres.listening import CommitListener
from plantdesk.store.postgres.reader import PostgresReader, ReadConnection
from plantdesk.store.postgres.schema import check_version, migrate, version_of
from plantdesk.store.postgres.tokens import Tokens
from plantdesk.store.postgres.transactions import Transactions
from plantdesk.store.postgres.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

    from plantdesk.domain.edits import Applied, Edit, Undone
    from plantdesk.domain.history import Change
    from plantdesk.domain.records import Changes, PlantRow, Source
    from plantdesk.domain.selections import Selection
    from plantdesk.domain.validation import PlantFields
    from plantdesk.store.postgres.address import Address


class PostgresStore(WrittenStore):
    """An open store. All methods may be called from any thread."""

    _writer: Writer

    def __init__(self, address: Address, *, create: bool = False) -> None:
        """Open the store; `create` makes its tables where the database has none. Raises StoreError."""
        super().__init__()
        self._address = address
        if create:
            create_tables(address)
        self._reads = ReadConnection(address)
        self._transactions = Transactions(address, platform.node())
        self._writer = Writer(
            self._transactions, self._listeners.notify, self._health_listeners.notify, self._reconnect
        )
        self._lock = threading.Lock()
        self._listener: CommitListener | None = None  # commands need none
        self._tokens = Tokens(self._writer, self._reads, self.subscribe)

    @property
    @override
    def tokens(self) -> Tokens:
        return self._tokens

    @override
    def add_as_next(self, fields: PlantFields, source: Source) -> Future[PlantRow]:
        return self._writer.submit(lambda transaction: add_as_next(transaction, fields, source))

    @override
    def apply(self, edits: Sequence[Edit], source: Source) -> Future[Applied]:
        return self._writer.submit(lambda transaction: apply(transaction, edits, source))

    @override
    def undo(self, change: Change | int | None, source: Source) -> Future[Undone]:
        return self._writer.submit(lambda transaction: undo(transaction, change, source))

    @override
    def redo(self, source: Source) -> Future[Undone]:
        return self._writer.submit(lambda transaction: redo(transaction, source))

    @override
    def new_import(self) -> PostgresImport:
        return PostgresImport(Transactions(self._address, platform.node(), reconnects=False), self._writer)

    @override
    def subscribe(self, listener: Callable[[Changes], None]) -> Callable[[], None]:
        with self._lock:
            if self._listener is None:
                self._listener = CommitListener(self._address, self._writer.poll, lambda: self._transactions.backend)
        return super().subscribe(listener)

    @override
    def reader(self) -> PostgresReader:
        return PostgresReader(self._reads)

    @override
    def prepare_views(self) -> None:
        """The indexes are the server's."""

    @override
    def close(self) -> None:
        self._writer.close()
        with self._lock:
            if self._listener is not None:
                self._listener.close()
        self._reads.close()

    def _reconnect(self) -> None:
        if self._listener is not None:
            self._listener.drop()
        self._reads.drop()


class ReadOnlyPostgresStore(ReadOnlyPlants):
    """A store that is only read, on one connection."""

    def __init__(self, address: Address) -> None:
        """Open the store. Raises StoreError."""
        self._reads = ReadConnection(address)
        try:
            check_version(self._reads.ask(self, version_of), address.name, address.server)
        except BaseException:
            self._reads.close()
            raise

    @override
    def reader(self) -> PostgresReader:
        return PostgresReader(self._reads)

    @override
    def pages(self, selection: Selection) -> Iterator[list[PlantRow]]:
        return self.reader().pages(selection)

    @override
    def close(self) -> None:
        self._reads.close()


def create_tables(address: Address) -> None:
    """Make the tables of a store, or bring them up to date. Raises StoreError."""
    with connect(address, "migration") as connection, translate_errors(address):
        migrate(connection)
