"""The log files of the window and of `serve`, and the text of a bug report.

Neither contains a token: the formatter masks whatever looks like one, also in tracebacks.
"""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import logging.handlers
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType

from plantdesk import __version__
from plantdesk.domain.errors import PlantDeskError
from plantdesk.platform import paths

_log = logging.getLogger(__name__)

TOKEN = re.compile(r"plantdesk_[A-Za-z0-9_-]{20,}")
MAX_BYTES = 1_000_000
BACKUP_COUNT = 3


class MaskingFormatter(logging.Formatter):
    """Masks everything that looks like a token in the formatted record."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as text, with its traceback."""
        return TOKEN.sub("plantdesk_…", super().format(record))


class PrivateRotatingFile(logging.handlers.RotatingFileHandler):
    """Creates log files with mode 0600. Drops records that cannot be written, as on a full disk."""

    def _open(self) -> TextIOWrapper:
        os.close(_open_private(self.baseFilename, os.O_CREAT | os.O_WRONLY))
        return super()._open()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  name given by logging
        """Drop the record on an OSError; report other errors as logging does."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)

    def close(self) -> None:
        """Close the file; drop records that cannot be flushed."""
        with contextlib.suppress(OSError):
            super().close()


@contextlib.contextmanager
def log_to(file: Path, *, console: bool = False) -> Iterator[None]:
    """Log to `file` during the block, including uncaught exceptions; with `console`, warnings also to standard error.

    Crashes of the interpreter go to `<name>-crash.log`, since faulthandler cannot write to a rotated file. If the
    folder is not writable, there is no log.
    """
    root = logging.getLogger()
    with contextlib.ExitStack() as stack:
        for handler in _create_handlers(file, console=console):
            stack.callback(handler.close)
            stack.callback(root.removeHandler, handler)
            root.addHandler(handler)
        stack.callback(root.setLevel, root.level)
        root.setLevel(logging.INFO)
        stack.push(_log_defect)
        stack.enter_context(_dump_crashes_to(file.with_name(f"{file.stem}-crash.log")))
        stack.enter_context(_log_uncaught_exceptions())
        yield


@contextlib.contextmanager
def report_defects_to(listener: Callable[[str], None]) -> Iterator[None]:
    """Call `listener` during the block with each logged error that has a traceback, masked, on its thread."""
    handler = _DefectHandler(listener)
    handler.setFormatter(MaskingFormatter("%(levelname)s %(threadName)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)


class _DefectHandler(logging.Handler):
    def __init__(self, listener: Callable[[str], None]) -> None:
        super().__init__(logging.ERROR)
        self._listener = listener

    def emit(self, record: logging.LogRecord) -> None:
        """Report a record with a traceback; others are not defects."""
        if record.exc_info and record.exc_info[0] is not None:
            self._listener(self.format(record))


def _log_defect(_kind: object, error: BaseException | None, _traceback: object) -> None:
    if isinstance(error, Exception) and not isinstance(error, PlantDeskError):  # the caller reports foreseeable errors
        _log.critical("Uncaught exception", exc_info=error)


def _create_handlers(file: Path, *, console: bool) -> Iterator[logging.Handler]:
    """Yield the handlers for standard error and for the file, as far as they can be written."""
    if console and sys.stderr is not None:  # a windowed program on Windows has no stderr
        handler = logging.StreamHandler()
        handler.setLevel(logging.WARNING)
        handler.setFormatter(MaskingFormatter("%(levelname)s: %(message)s"))
        yield handler
    with contextlib.suppress(OSError):
        paths.create_folder(file.parent)
        if file.exists() and not file.is_file():  # a named pipe would wait for a reader
            return
        rotating = PrivateRotatingFile(
            file,
            maxBytes=MAX_BYTES,
            backupCount=BACKUP_COUNT,
            encoding="utf-8",
            errors="backslashreplace",  # names of files may have bytes that are not UTF-8
        )
        rotating.setFormatter(MaskingFormatter("%(asctime)s %(levelname)s %(threadName)s %(name)s: %(message)s"))
        yield rotating


@contextlib.contextmanager
def _dump_crashes_to(file: Path) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            stream = stack.enter_context(open(file, "a", encoding="utf-8", opener=_open_private))
            faulthandler.enable(stream)
            stack.callback(faulthandler.disable)
        yield


@contextlib.contextmanager
def _log_uncaught_exceptions() -> Iterator[None]:
    """Log uncaught exceptions and warnings during the block, and call the previous hooks."""
    main_hook = sys.excepthook
    thread_hook = threading.excepthook

    def log_in_main(kind: type[BaseException], value: BaseException, traceback: TracebackType | None) -> None:
        if issubclass(kind, Exception):  # not Ctrl+C
            _log.critical("Uncaught exception", exc_info=(kind, value, traceback))
        main_hook(kind, value, traceback)

    def log_in_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            exc_info = (args.exc_type, args.exc_value, args.exc_traceback)
            _log.critical("Uncaught exception in a thread", exc_info=exc_info)
        thread_hook(args)

    sys.excepthook = log_in_main
    threading.excepthook = log_in_thread
    logging.captureWarnings(capture=True)
    try:
        yield
    finally:
        logging.captureWarnings(capture=False)
        sys.excepthook = main_hook
        threading.excepthook = thread_hook


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def bug_report(error: str) -> str:
    """Return the report of `error`, a masked log record with its traceback; the home folder becomes `~`."""
    rows = [("Time", datetime.now(UTC).isoformat(timespec="seconds")), *system_info()]
    lines = [f"{name}: {value}" for name, value in rows]
    return "\n".join([*lines, "", _without_home(error)])


def system_info() -> list[tuple[str, str]]:
    """Return names and values: the versions of PlantDesk, of the system and of the main libraries."""
    import platform
    import sqlite3

    return [
        ("PlantDesk", __version__),
        ("System", platform.platform()),
        ("Python", platform.python_version()),
        ("SQLite", sqlite3.sqlite_version),
        ("Libraries", _find_library_versions()),
    ]


def _without_home(text: str) -> str:
    try:
        return text.replace(str(paths.home_folder()), "~")
    except paths.NoHomeFolderError:
        return text


def _find_library_versions() -> str:
    """Return names and versions of the main libraries, as far as they have metadata."""
    from importlib import metadata

    versions = []
    for name in ("PySide6-Essentials", "psycopg", "starlette", "uvicorn"):
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:  # a frozen program has the metadata of some only
            continue
    return ", ".join(versions)
