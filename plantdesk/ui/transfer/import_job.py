"""An import in the background: files are read and compared with the store, then written on request."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QLocale, QObject, Signal

from plantdesk.domain.edits import Applied
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.imports import OnConflict
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.texts import Text
from plantdesk.transfer.files import InputFile
from plantdesk.transfer.importing import FileImport, ImportOptions, Preview
from plantdesk.ui.background import Task
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.texts import translate, translated

#: The least number of seconds between two reports of progress.
_REPORT_INTERVAL_SECONDS = 0.1
#: The most refused rows of each kind that the window lists.
MAX_LISTED = 500


class ImportProgress(NamedTuple):
    """The number of rows so far, of all rows, and the fraction that is done (0 to 1); None if unknown."""

    rows: int
    total: int | None
    fraction: float | None


class ImportJob(QObject):
    """An import. It lives on the GUI thread; its work runs on a thread of its own until the job ends."""

    #: (progress) Files are being read, or plants written.
    progressed = Signal(object)
    #: (preview) Reading has ended; the job waits for `apply`.
    compared = Signal(object)
    #: (error) The job has ended without an import.
    failed = Signal(object)
    #: The job has ended.
    ended = Signal()
    #: (path) The file of `save_refused` is written.
    refused_saved = Signal(object)
    #: (error) The file of `save_refused` could not be written.
    refused_not_saved = Signal(object)

    def __init__(self, bridge: Bridge, store: PlantStore, sources: Sequence[InputFile], options: ImportOptions) -> None:
        super().__init__(bridge)
        self._bridge = bridge
        self._store = store
        self.sources = sources
        self.options = options
        self.preview: Preview | None = None
        self.is_cancelled = False
        #: The result of `apply`, after which refused rows can still be saved. An exception if nothing was written.
        self.written: Future[Applied] = Future()
        #: The number of rows that `apply` has left out.
        self.left_out_count = 0
        self._file_import: FileImport | None = None
        self._steps: queue.SimpleQueue[Callable[[FileImport], None] | None] = queue.SimpleQueue()
        self._task = bridge.long_tasks.run(self, self._run, self._on_ended, self._on_failed, progress=self._on_progress)

    @property
    def names(self) -> str:
        """The names of the files, joined by commas."""
        return ", ".join(source.name for source in self.sources)

    def apply(self, on_conflict: OnConflict, *, skip_invalid: bool) -> None:
        """Write the rows, once reading has ended, on the job's thread; `written` gets the result."""

        def run(files_import: FileImport) -> None:
            preview = files_import.compare(on_conflict)
            skipped = preview.counts.conflicting if on_conflict is OnConflict.SKIP else 0
            self.left_out_count = preview.invalid + skipped
            report = Reporter(self._task.report).report_rows
            self.written.set_result(files_import.apply(skip_invalid=skip_invalid, progress=report))

        self._steps.put(run)

    def save_refused(self, file: Path) -> None:
        """Write invalid and conflicting rows to a CSV file; emits `refused_saved` or `refused_not_saved`."""

        def run(files_import: FileImport) -> None:
            try:
                files_import.write_refused(file)
            except (PlantDeskError, OSError) as error:
                self._bridge.call(self, self.refused_not_saved.emit, error)
            else:
                self._bridge.call(self, self.refused_saved.emit, file)

        self._steps.put(run)

    def end(self) -> None:
        """Let the job end after the steps that were requested; then it emits `ended`."""
        self._steps.put(None)

    def cancel(self) -> None:
        """Let the job end as soon as possible; nothing is imported, unless all is written already."""
        self.is_cancelled = True
        self._steps.put(None)
        files_import = self._file_import
        if files_import is not None:
            files_import.cancel()

    def close(self) -> None:
        """Cancel the job, and block until it does not use the store any more; emits no signal."""
        self._task.cancel()
        self.cancel()
        self._task.wait()

    # --- on the thread of the task ---

    def _run(self, task: Task) -> None:
        """Read and compare the files, then take the steps that the dialog requests. On the job's thread."""
        report = Reporter(task.report).report_bytes
        try:
            with FileImport(self._store, self.options, report, listed=MAX_LISTED) as files_import:
                self._file_import = files_import
                if self.is_cancelled:
                    return
                files_import.read(self.sources)
                task.report(files_import.compare(OnConflict.REFUSE))
                while (step := self._steps.get()) is not None:
                    step(files_import)
        except InterruptedError:
            pass
        finally:
            self._file_import = None
            if not self.written.done():
                self.written.set_exception(InterruptedError())

    # --- on the GUI thread ---

    def _on_progress(self, progress: ImportProgress | Preview) -> None:
        if isinstance(progress, ImportProgress):
            self.progressed.emit(progress)
        else:
            self.preview = progress
            self.compared.emit(progress)

    def _on_ended(self, _nothing: None) -> None:
        self.ended.emit()
        self.deleteLater()

    def _on_failed(self, error: Exception) -> None:
        self.failed.emit(error)
        self.deleteLater()


class Reporter:
    """Reports progress at most ten times a second, on any thread."""

    def __init__(self, report: Callable[[ImportProgress], None]) -> None:
        self._report = report
        self._reported_at = time.monotonic()

    def report_bytes(self, rows: int, done: int, size: int) -> None:
        """Report the number of read rows, and `done` of `size` bytes; `size` is 0 if it is unknown."""
        self._report_soon(ImportProgress(rows, None, min(done / size, 1) if size else None))

    def report_rows(self, done: int, rows: int) -> None:
        """Report that `done` of `rows` rows are written."""
        self._report_soon(ImportProgress(done, rows, done / rows))

    def _report_soon(self, progress: ImportProgress) -> None:
        now = time.monotonic()
        if now - self._reported_at >= _REPORT_INTERVAL_SECONDS:
            self._reported_at = now
            self._report(progress)


def progress_text(progress: ImportProgress) -> str:
    """Return the number of read rows, and of all rows if it is known."""
    if not progress.total:
        return translated(Text("{count:,} rows", one="1 row", count=progress.rows))
    rows, total = map(QLocale().toString, (progress.rows, progress.total))
    return translate("Transfer", "{rows} of {total} plants").format(rows=rows, total=total)
