"""The shared store as API, window and command line use it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from typing_extensions import override

from plantdesk.domain.errors import StoreError
from plantdesk.store.base import WrittenStore
from plantdesk.store.postgres.backups import SharedBackups
from plantdesk.store.postgres.connections import ServerUnreachableError, connect
from plantdesk.store.postgres.desks import create_tables, desk_name
from plantdesk.store.postgres.imports import PostgresImport
from plantdesk.store.postgres.listening import CommitListener
from plantdesk.store.postgres.reader import PostgresReader, ReadConnection
from plantdesk.store.postgres.transactions import Transactions
from plantdesk.store.postgres.writer import Writer
from plantdesk.store.sqlite.backups.jobs import AutomaticBackups

if TYPE_CHECKING:
    from plantdesk.domain.records import Changes
    from plantdesk.store.postgres.address import Address

#: Seconds after the opening, at which a window reads what it shows.
_FIRST_BACKUP = 60.0


#: Seconds between two checks, while the store is being closed, that the server answers.
_CLOSE_INTERVAL = 3.0


class PostgresStore(WrittenStore):
    """An open store. All methods may be called from any thread."""

    _writer: Writer

    def __init__(self, address: Address, *, create: bool = False) -> None:
        """Open the store; `create` makes its tables if the database has none. Raises StoreError."""
        super().__init__()
        self._address = address
        self._desk = desk_name(address)
        if create:
            create_tables(address)
        self._reads = ReadConnection(address)
        self._transactions = Transactions(address, self._desk)
        self._lock = threading.Lock()
        self._closing: threading.Thread | None = None
        self._closed = threading.Event()
        self._listener: CommitListener | None = None  # commands need none, and wait for no lost answer
        self._writer = Writer(
            self._transactions,
            self._listeners.notify,
            self._health_listeners.notify,
            lambda: self._listener is not None,
        )

    @property
    @override
    def desk(self) -> str:
        return self._desk

    @property
    @override
    def change_error(self) -> StoreError | None:
        return self.write_error or self._transactions.missing_rights

    @override
    def new_import(self) -> PostgresImport:
        return PostgresImport(Transactions(self._address, self._desk, is_large=True), self._writer)

    @override
    def subscribe(self, listener: Callable[[Changes], None]) -> Callable[[], None]:
        with self._lock:
            if self._listener is None:
                self._listener = CommitListener(
                    self._address, self._desk, self._writer.poll, lambda: self._transactions.backend
                )
        return super().subscribe(listener)

    @override
    def reader(self) -> PostgresReader:
        return PostgresReader(self._reads)

    @override
    def begin_backups(self, on_outcome: Callable[[StoreError | None], object] | None = None) -> Callable[[], None]:
        return AutomaticBackups(SharedBackups(self._address).make_if_due, on_outcome, first=_FIRST_BACKUP).close

    @override
    def begin_closing(self) -> None:
        with self._lock:
            if self._closing is None:
                self._closing = threading.Thread(target=self._abandon_if_silent, name="store-closing", daemon=True)
                self._closing.start()

    @override
    def close(self) -> None:
        self.begin_closing()
        with self._lock:
            if self._listener is not None:
                self._listener.end()
        self._writer.close()
        if self._listener is not None:
            self._listener.close()
        self._reads.close()
        self._closed.set()

    def _abandon_if_silent(self) -> None:
        """End queries that take long. End writes only if the server does not answer: else it finishes them."""
        while not self._closed.wait(_CLOSE_INTERVAL):
            self._reads.abandon()
            try:
                connect(self._address, "closing").close()
            except ServerUnreachableError:
                self._transactions.abandon()
                return
            except StoreError:
                pass  # it answers
