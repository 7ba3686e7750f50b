"""A thread with one read connection, which answers the window's queries of the store."""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import TYPE_CHECKING

from plantdesk.errors import PlantDeskError, StoreUnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from plantdesk.store import Reader, Store

    Job = Callable[[Reader, "Run"], None]
    Failed = Callable[[PlantDeskError], None]

_log = logging.getLogger(__name__)


#: An interrupt has no effect before SQLite begins the query, so it is repeated until the job ends.
_INTERRUPT_INTERVAL = 0.02


class Run:
    """One run of a job, which checks `cancelled` between its queries."""

    def __init__(self) -> None:
        self.cancelled = False


class ReaderThread:
    """Runs jobs one after the other. Each job delivers its result itself, by a signal; no Qt object is used here.

    `failed` is called on this thread with what the job raised. The next job then gets a new connection.
    """

    def __init__(self, name: str, store: Store) -> None:
        self._store = store
        self._changed = threading.Condition()
        self._jobs: deque[tuple[Job, Failed]] = deque()
        self._run: Run | None = None
        self._reader: Reader | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def submit(self, job: Job, failed: Failed) -> None:
        """Run `job` after those that wait."""
        with self._changed:
            self._jobs.append((job, failed))
            self._changed.notify()

    def submit_alone(self, job: Job, failed: Failed) -> None:
        """Run `job` instead of those that wait and of the one that runs."""
        with self._changed:
            self._cancel()
            self._jobs.append((job, failed))
            self._changed.notify()

    def close(self) -> None:
        """End the running job and the thread. May be called again."""
        with self._changed:
            self._closed = True
            self._cancel()
            self._changed.notify()
        self._thread.join()

    def _cancel(self) -> None:
        self._jobs.clear()
        if self._run is not None:
            self._run.cancelled = True
            self._interrupt(self._run)

    def _interrupt(self, run: Run) -> None:
        # Under the lock that also hands out jobs, so that an interrupt never meets a later job.
        with self._changed:
            if self._run is not run:
                return
            if self._reader is not None:
                self._reader.interrupt()
        again = threading.Timer(_INTERRUPT_INTERVAL, self._interrupt, (run,))
        again.daemon = True
        again.start()

    def _work(self) -> None:
        while (next_one := self._next()) is not None:
            self._perform(*next_one)
        self._close_reader()

    def _next(self) -> tuple[Job, Failed, Run] | None:
        with self._changed:
            self._run = None
            self._changed.wait_for(lambda: self._jobs or self._closed)
            if self._closed:
                return None
            self._run = Run()
            return *self._jobs.popleft(), self._run

    def _perform(self, job: Job, failed: Failed, run: Run) -> None:
        try:
            job(self._open(), run)
        except InterruptedError:
            pass
        except PlantDeskError as error:
            self._close_reader()
            failed(error)
        except Exception:  # noqa: BLE001 - the top of a thread: a defect must not end it silently
            _log.exception("A job of %s failed", self._thread.name)
            self._close_reader()
            failed(StoreUnreachableError("The plants cannot be read. PlantDesk's log has the cause."))

    def _open(self) -> Reader:
        if self._reader is None:
            reader = self._store.reader()
            with self._changed:
                self._reader = reader
        return self._reader

    def _close_reader(self) -> None:
        with self._changed:
            reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()
