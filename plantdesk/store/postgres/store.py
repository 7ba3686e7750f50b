"""The shared store as API, window and command line use it; the writer thread of its desk; imports.

While the server does not answer, writes fail at once, and the thread tries again to connect.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty
from typing import Any, TypeVar
from uuid import UUID

import psycopg
from typing_extensions import override

from plantdesk.domain.edits import Applied
from plantdesk.domain.errors import StoreError
from plantdesk.domain.records import Changes
from plantdesk.store.base import AddResult, BaseStore, WriterThread
from plantdesk.store.change_writer import ChangeWriter
from plantdesk.store.imports import StoreImport
from plantdesk.store.postgres.address import Address
from plantdesk.store.postgres.administration import create_tables
from plantdesk.store.postgres.connections import connect
from plantdesk.store.postgres.copies import SharedBackups
from plantdesk.store.postgres.database import runner_of
from plantdesk.store.postgres.desks import CommitListener
from plantdesk.store.postgres.errors import RightsMissingError, ServerUnreachableError, StandbyError, translate_errors
from plantdesk.store.postgres.reader import PostgresReader, ReadConnection
from plantdesk.store.postgres.transactions import OutcomeUnknownError, PostgresTransactions
from plantdesk.store.write_queue import AddJob, Entries, Job, PollJob, WriteJob

_log = logging.getLogger(__name__)
_Result = TypeVar("_Result")

#: Seconds between two attempts to write to a store that cannot be written to.
_RETRY_DELAY = 1.0
#: Seconds between two prunings, and between opening and the first one.
_PRUNE_INTERVAL = 600.0
#: Seconds for which the thread waits for a job before it checks whether something else is due.
_IDLE_INTERVAL = 5.0
#: Seconds between two checks that the server answers, while the store is being closed.
_CLOSE_INTERVAL = 3.0


class PostgresWriter(WriterThread):
    """The writer thread of a shared store, which has the connection of all ordinary writes; an import has its own."""

    def __init__(
        self,
        transactions: PostgresTransactions,
        publish: Callable[[Changes], None],
        report_health: Callable[[StoreError | None], None],
        may_wait: Callable[[], bool],
    ) -> None:
        """Check whether the store can be written to. The functions are called on the thread.

        `may_wait` returns whether a write with an unknown outcome waits until the server can be asked; else it fails.
        """
        super().__init__(report_health)
        self._transactions = transactions
        self._publish = publish
        self._may_wait = may_wait
        #: Writes with an unknown outcome, each with the key of its commit and its result.
        self._unsettled: list[tuple[WriteJob, UUID, Any]] = []
        self._is_poll_queued = False
        self._retry_at = 0.0
        self._prune_at = time.monotonic() + _PRUNE_INTERVAL
        self._run_quietly(transactions.check_writable)

    def poll(self) -> None:
        """Queue a poll for the commits of other desks; listeners get them soon. May be called by any thread."""
        if not self._is_poll_queued:
            self._is_poll_queued = True
            self._queue.put(PollJob())

    # --- on the writer thread ---

    @override
    def _run(self) -> None:
        try:
            while (job := self._next_job()) is not None:
                if isinstance(job, AddJob):
                    self._report_added(self._add_jobs(self._queue.take_group(job)))
                elif isinstance(job, WriteJob):
                    self._write(job)
                else:
                    self._is_poll_queued = False
                    self._run_quietly(self._poll)
        finally:
            for job, _, _ in self._unsettled:
                job.fail(OutcomeUnknownError())
            self._queue.end()
            self._transactions.close()

    def _next_job(self) -> Job | None:
        """Wait for the next job, None at the end; prune while idle. While writes fail, return a PollJob each second."""
        while True:
            with contextlib.suppress(Empty):
                return self._queue.next_job(_IDLE_INTERVAL if self.write_error is None else _RETRY_DELAY)
            if self.write_error is not None:
                return PollJob()
            if time.monotonic() >= self._prune_at:
                has_more = self._run_quietly(self._transactions.prune)
                self._prune_at = 0 if has_more else time.monotonic() + _PRUNE_INTERVAL

    def _report_added(self, result: AddResult) -> None:
        if result.position is not None:
            changes = self._transactions.count_own_commit(result)
            if changes is None:
                self.poll()
            else:
                self._run_quietly(lambda: self._publish(changes))

    @override
    def _add_in_transaction(self, entries: Entries) -> AddResult:
        return self._run_watched(lambda: self._transactions.add(entries))

    def _write(self, job: WriteJob) -> None:
        """Run a write and answer its Future; keep it for `_settle` if the outcome is unknown, and it may wait."""
        try:
            result = self._run_watched(lambda: self._settle_and_write(job))
        except OutcomeUnknownError as error:
            if error.pending is None or not self._may_wait():
                job.fail(error)
            else:
                self._unsettled.append((job, *error.pending))
            return
        except Exception as error:  # noqa: BLE001  the caller's, whatever it is: it asked for the action
            job.fail(error)
            return
        job.future.set_result(result)
        self._run_quietly(self._poll)

    def _poll(self) -> None:
        self._settle()
        self._publish(self._transactions.poll())
        if self.write_error is not None or self._transactions.refusal is not None:
            self._transactions.check_writable()

    def _settle_and_write(self, job: WriteJob) -> object:
        self._settle()
        return self._transactions.write(job.action, changes_tokens=job.changes_tokens)

    def _settle(self) -> None:
        """Resolve the writes with an unknown outcome, without repeating them. Raises OutcomeUnknownError."""
        while self._unsettled:
            job, key, result = self._unsettled[0]
            position = self._transactions.settle(key)
            del self._unsettled[0]
            if position is None:
                job.fail(ServerUnreachableError())
            else:
                job.future.set_result(result)

    def _run_watched(self, step: Callable[[], _Result]) -> _Result:
        """Run a step and record the health of the store; fail at once while the server does not answer."""
        if isinstance(self.write_error, ServerUnreachableError) and time.monotonic() < self._retry_at:
            raise ServerUnreachableError from self.write_error  # this was not sent: its own outcome is known
        try:
            result = step()
        except StoreError as error:
            if type(error) is RightsMissingError:  # for one change: adding may be allowed
                raise
            self._retry_at = time.monotonic() + _RETRY_DELAY / 2
            if isinstance(error, StandbyError):  # another server of the address may take writes by now
                self._transactions.close()
            self._health.record(error)
            raise
        self._health.record(None)
        return result

    def _run_quietly(self, step: Callable[[], _Result]) -> _Result | None:
        """Run a step for which nobody waits: log or record what it raises, so that the thread goes on."""
        try:
            return self._run_watched(step)
        except StoreError:
            pass  # the health has it
        except Exception:  # noqa: BLE001  a defect
            _log.exception("the shared store could not be polled")
        return None


class PostgresStore(BaseStore):
    """An open shared store. All methods may be called from any thread."""

    _writer: PostgresWriter
    _first_backup = 60.0  # until then a window reads what it shows

    def __init__(self, address: Address, *, create: bool = False) -> None:
        """Open the store; `create` makes its tables if the database has none. Raises StoreError."""
        super().__init__()
        self._address = address
        if create:
            create_tables(address)
        self._read_connection = ReadConnection(address)
        self._transactions = PostgresTransactions(address)
        self._lock = threading.Lock()
        self._closer: threading.Thread | None = None
        self._closed = threading.Event()
        self._listener: CommitListener | None = None  # commands need none, and wait for no lost answer
        self._writer = PostgresWriter(
            self._transactions, self._publish, self._health_listeners.notify, lambda: self._listener is not None
        )
        self._writer.start()

    @property
    @override
    def desk(self) -> str:
        return self._address.desk

    @property
    @override
    def change_error(self) -> StoreError | None:
        return self.write_error or self._transactions.missing_rights

    @override
    def new_import(self) -> PostgresImport:
        return PostgresImport(PostgresTransactions(self._address, is_large=True), self._writer)

    @override
    def subscribe(self, listener: Callable[[Changes], None]) -> Callable[[], None]:
        with self._lock:
            if self._listener is None:
                self._listener = CommitListener(self._address, self._writer.poll, lambda: self._transactions.backend)
        return super().subscribe(listener)

    @override
    def reader(self) -> PostgresReader:
        return PostgresReader(self._read_connection)

    @override
    def _back_up_if_due(self) -> None:
        SharedBackups(self._address).make_if_due()

    @override
    def begin_closing(self) -> None:
        with self._lock:
            if self._closer is None:
                self._closer = threading.Thread(target=self._abandon_if_silent, name="store-closing", daemon=True)
                self._closer.start()

    @override
    def close(self) -> None:
        self.begin_closing()
        with self._lock:
            if self._listener is not None:
                self._listener.end()
        self._writer.close()
        if self._listener is not None:
            self._listener.close()
        self._read_connection.close()
        self._closed.set()

    def _abandon_if_silent(self) -> None:
        """End queries that take long. End writes only if the server does not answer: else it finishes them."""
        while not self._closed.wait(_CLOSE_INTERVAL):
            self._read_connection.abandon()
            try:
                connect(self._address, "closing").close()
            except ServerUnreachableError:
                self._transactions.abandon()
                return
            except StoreError:
                pass  # it answers


class PostgresImport(StoreImport):
    """An import into a shared store."""

    def __init__(self, transactions: PostgresTransactions, writer: PostgresWriter) -> None:
        """Create the import's tables by `transactions`, which no one else may use. Raises StoreError."""
        self._transactions = transactions
        self._writer = writer
        with translate_errors():
            super().__init__(runner_of(transactions.open_connection()))

    @override
    def close(self) -> None:
        self._runner.driver.close()

    @override
    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with translate_errors(), self._runner.driver.transaction():
            yield

    @override
    def _write(self, step: Callable[[ChangeWriter], Applied]) -> Applied:
        connection = self._runner.driver
        try:
            with self._interruptible(connection), translate_errors():
                applied = self._transactions.write(step)
                with suppress(psycopg.Error):  # it is only for the plans of later queries
                    connection.execute("ANALYZE plant, before_image")
                return applied
        finally:
            self._writer.poll()
