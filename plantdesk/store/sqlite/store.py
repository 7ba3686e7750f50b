"""The store in a file as API, window and command line use it, and its writer thread, which only `close` ends."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from queue import Empty

from typing_extensions import override

from plantdesk.domain.errors import DiskReserveError, OutOfMemoryError, StoreDamagedError, StoreError
from plantdesk.domain.protocols import PlantImport
from plantdesk.domain.records import Changes
from plantdesk.platform.atomic_files import remove_abandoned
from plantdesk.store.base import AddResult, BaseStore, WriterThread
from plantdesk.store.change_writer import ChangeWriter
from plantdesk.store.rows import read_changes_since
from plantdesk.store.sqlite.backups import FileBackups
from plantdesk.store.sqlite.changes import SqliteChangeWriter, SqliteImport, add_group
from plantdesk.store.sqlite.database import runner_of
from plantdesk.store.sqlite.files.disk import is_disk_low
from plantdesk.store.sqlite.files.store_file import StoreFile
from plantdesk.store.sqlite.reader import SqliteReader
from plantdesk.store.sqlite.transactions import POLL_INTERVAL, SqliteTransactions
from plantdesk.store.write_queue import AddJob, Entries, Job, WriteJob

_log = logging.getLogger(__name__)


class SqliteWriter(WriterThread):
    """The writer thread of a file, with the only connection of this process that writes to it."""

    def __init__(
        self, file: StoreFile, publish: Callable[[Changes], None], report_health: Callable[[StoreError | None], None]
    ) -> None:
        """`publish` and `report_health` are called on the thread. Raises StoreError."""
        super().__init__(report_health)
        self._file = file
        self._publish = publish
        self._transactions = SqliteTransactions(file, publish, self._health)
        self._unsaved_error: StoreError | None = None

    @override
    def close(self) -> None:
        """Close; raises UnsavedError if the file was replaced and its content could not be saved."""
        super().close()
        if self._unsaved_error is not None:
            raise self._unsaved_error

    # --- on the writer thread ---

    @override
    def _run(self) -> None:
        try:
            while (job := self._next_job()) is not None:
                if isinstance(job, AddJob):
                    self._publish(Changes(self._add_jobs(self._queue.take_group(job)).added))
                elif isinstance(job, WriteJob):
                    self._run_write(job)
                others_wait = isinstance(job, WriteJob) and not self._queue.is_empty()  # perhaps for seconds
                if not others_wait:
                    self._transactions.checkpoint_if_due()
        finally:
            self._queue.end()
            try:
                self._transactions.close()
            except StoreError as error:
                self._unsaved_error = error
            self._file.close()

    def _next_job(self) -> Job | None:
        """Wait for the next job, None at the end; meanwhile look for commits of others, and maintain the file."""
        polls = 0
        while True:
            try:
                return self._queue.next_job(POLL_INTERVAL)
            except Empty:
                polls += 1
            try:
                self._transactions.work_idly(polls, self._queue.is_empty)
            except Exception:  # noqa: BLE001  a defect must not end the thread: writers would wait for ever
                _log.exception("the store could not be polled")

    @override
    def _add_in_transaction(self, entries: Entries) -> AddResult:
        refusal = DiskReserveError() if is_disk_low(self._file.path.parent) else None
        with self._transactions.durable_transaction() as connection:
            return add_group(connection.sqlite, entries, token_refusal=refusal)

    def _run_write(self, job: WriteJob) -> None:
        """Run a write, answer its Future, and publish the changes."""
        try:
            with self._transactions.attached_file(job.attached), self._transactions.durable_transaction() as connection:
                before = connection.counters
                result = job.action(SqliteChangeWriter(connection.sqlite))
                changes = read_changes_since(runner_of(connection.sqlite), before.seq, before.change)
        except Exception as error:  # noqa: BLE001  the caller's, whatever it is: it asked for the action
            job.fail(OutOfMemoryError() if isinstance(error, MemoryError) else error)
            return
        job.future.set_result(result)
        has_history = connection.counters.change > before.change
        self._publish(changes._replace(history_changed=has_history, tokens_changed=job.changes_tokens))


class SqliteStore(BaseStore):
    """An open store in a file. All methods may be called from any thread."""

    _writer: SqliteWriter

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """Open the store at `path`, create it if there is none, and bring its schema up to date.

        A file that cannot be written to is opened for reading, and tried again until it can be. `create` makes a new
        store even if backups show that there was one. A refused file is left untouched.

        Raises StoreError: FolderMissingError, ForeignFileError, StoreTooNewError, StoreDamagedError, StoreGoneError,
        StoreReadOnlyError (a new store could not be made, or one of an older PlantDesk could not be updated),
        StoreBusyError, StoreUnreachableError.
        """
        super().__init__()
        self.file = StoreFile(path, create=create)
        self.path = self.file.path
        try:
            self.file.refuse_outdated()
            self._writer = SqliteWriter(self.file, self._publish, self._health_listeners.notify)
            self._writer.start()
        except StoreError:
            self.file.close()
            raise
        remove_abandoned(self.path.parent)

    @property
    @override
    def desk(self) -> str:
        return ""

    @override
    def new_import(self) -> PlantImport:
        return SqliteImport(self.file, self._writer)

    def _report_damage(self, error: StoreDamagedError) -> None:
        """Notify the health listeners of damage that a reader has found."""

        def action(_writer: ChangeWriter) -> None:
            raise error

        self._writer.submit(action)

    @override
    def reader(self) -> SqliteReader:
        return SqliteReader(self.file, self._report_damage)

    @override
    def _back_up_if_due(self) -> None:
        FileBackups(self.path, self.file).make_if_due()

    @override
    def close(self) -> None:
        self._writer.close()
