"""The writer thread of a file: jobs are written in one transaction, made durable, and only then answered.

The thread ends only by `close`; what a job raises goes to its Future.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from queue import Empty
from typing import TYPE_CHECKING

from typing_extensions import override

from plantdesk.domain.errors import DiskReserveError, OutOfMemoryError, StoreError
from plantdesk.domain.records import Changes
from plantdesk.store.sqlite.changes import SqliteChange
from plantdesk.store.sqlite.files.disk_space import is_low
from plantdesk.store.sqlite.inserts import add_group
from plantdesk.store.sqlite.numbers import count_plants, skip_plants
from plantdesk.store.sqlite.transactions import POLL_INTERVAL, Transactions
from plantdesk.store.write_queue import AddJob, Health, Outcome, WriteJob, WriterThread

if TYPE_CHECKING:
    from plantdesk.store.sqlite.files.store_file import StoreFile
    from plantdesk.store.write_queue import Entries, Job

_log = logging.getLogger(__name__)


#: Commits that a change of very many plants counts for, so that its log is moved at once.
_LARGE = 1000


class Writer(WriterThread):
    """The thread with the only connection that writes."""

    def __init__(
        self, file: StoreFile, publish: Callable[[Changes], None], report_health: Callable[[StoreError | None], None]
    ) -> None:
        """Start the thread; `publish` and `report_health` are called on it. Raises StoreError."""
        self._file = file
        health = Health(report_health)
        self._transactions = Transactions(file, publish, health)
        self._unsaved: StoreError | None = None
        super().__init__(health)

    @override
    def close(self) -> None:
        """Close; raises UnsavedError if the file was replaced and its content could not be saved."""
        super().close()
        if self._unsaved is not None:
            raise self._unsaved

    # --- on the writer thread ---

    @override
    def _run(self) -> None:
        try:
            while (job := self._next_job()) is not None:
                if isinstance(job, AddJob):
                    self._transactions.notify(Changes(self._add_group(self._queue.group(job)).added))
                elif isinstance(job, WriteJob):
                    self._run_write(job)
                has_waited = isinstance(job, WriteJob) and not self._queue.is_empty()  # perhaps for seconds
                if not has_waited:
                    self._transactions.checkpoint_if_due()
        finally:
            self._end()

    def _end(self) -> None:
        self._queue.end()
        try:
            self._transactions.close()
        except StoreError as error:
            self._unsaved = error
        self._file.close()

    def _next_job(self) -> Job | None:
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
    def _add_together(self, entries: Entries) -> Outcome:
        refusal = DiskReserveError() if is_low(self._file.path.parent) else None
        with self._transactions.durable() as connection:
            outcome = add_group(connection.sqlite, entries, token_refusal=refusal)
        rows = outcome.added
        connection.committed(len(rows) // 20, sum(len(row.name) + len(row.tag or "") for row in rows))
        return outcome

    def _run_write(self, job: WriteJob) -> None:
        try:
            with self._transactions.attached(job.attached), self._transactions.durable() as connection:
                count_plants(connection.sqlite)
                result = job.action(SqliteChange(connection.sqlite))
                skip_plants(connection.sqlite)
                changes = connection.tracker.own_changes()._replace(tokens=job.changes_tokens)
        except Exception as error:  # noqa: BLE001  the caller's, whatever it is: it asked for the action
            job.fail(OutOfMemoryError() if isinstance(error, MemoryError) else error)
            return
        connection.committed(_LARGE if changes.needs_reload else 0)
        job.future.set_result(result)
        self._transactions.notify(changes)
