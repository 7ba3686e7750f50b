"""The log files of a long-running PlantDesk (the window, `serve`), from which a defect can be told later.

No token ever stands in them: whatever looks like one is masked in the finished line, tracebacks included.
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
from typing import TYPE_CHECKING

from plantdesk import paths
from plantdesk.errors import PlantDeskError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import TextIOWrapper
    from pathlib import Path
    from types import TracebackType

logger = logging.getLogger(__name__)

TOKEN = re.compile(r"plantdesk_[A-Za-z0-9_-]{20,}")
LARGEST = 1_000_000
KEPT = 3


class MaskingFormatter(logging.Formatter):
    """A line with everything that looks like a token masked, wherever in the record it came from."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the finished line, or lines with a traceback."""
        return TOKEN.sub("plantdesk_…", super().format(record))


class PrivateRotatingFile(logging.handlers.RotatingFileHandler):
    """A log file that only its owner may read, from its first byte, and each that follows it.

    What cannot be written, as on a full disk, is lost: no log is worth a failure of the program.
    """

    def _open(self) -> TextIOWrapper:
        os.close(_private(self.baseFilename, os.O_CREAT | os.O_WRONLY))
        return super()._open()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  logging's own name
        """Drop the record; anything but a fault of the disk is a defect, to be shown as logging does."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)

    def close(self) -> None:
        """Close the file; what cannot be flushed is lost."""
        with contextlib.suppress(OSError):
            super().close()


@contextlib.contextmanager
def writing_to(file: Path, *, console: bool = False) -> Iterator[None]:
    """Log to `file`, and what nobody catches, until the end of the block.

    With `console`, warnings go to standard error as well. Beside `file` stands `<name>-crash.log`, for what kills
    the interpreter itself: a rotated file could not be written from there. Where the folder cannot be created or
    written to, there is no log.
    """
    handlers = list(_handlers(file, console=console))
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.INFO)
    for handler in handlers:
        root.addHandler(handler)
    try:
        with _crashes_to(file.with_name(f"{file.stem}-crash.log")), _hooks():
            yield
    except PlantDeskError:  # foreseeable, and told by whoever catches it
        raise
    except Exception:
        logger.critical("Uncaught exception", exc_info=True)
        raise
    finally:
        root.setLevel(level)
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()


@contextlib.contextmanager
def telling(listener: Callable[[str], None]) -> Iterator[None]:
    """Call `listener` with each logged error that has a cause, masked, on the thread that logged it."""
    handler = _Telling(listener)
    handler.setFormatter(MaskingFormatter("%(levelname)s %(threadName)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)


class _Telling(logging.Handler):
    def __init__(self, listener: Callable[[str], None]) -> None:
        super().__init__(logging.ERROR)
        self._listener = listener

    def emit(self, record: logging.LogRecord) -> None:
        """Tell of a record with a traceback; the others are no defects."""
        if record.exc_info and record.exc_info[0] is not None:
            self._listener(self.format(record))


def _handlers(file: Path, *, console: bool) -> Iterator[logging.Handler]:
    if console and sys.stderr is not None:  # a windowed program on Windows has none
        handler = logging.StreamHandler()
        handler.setLevel(logging.WARNING)
        handler.setFormatter(MaskingFormatter("%(levelname)s: %(message)s"))
        yield handler
    with contextlib.suppress(OSError):
        paths.create_folder(file.parent)
        rotating = PrivateRotatingFile(file, maxBytes=LARGEST, backupCount=KEPT, encoding="utf-8")
        rotating.setFormatter(MaskingFormatter("%(asctime)s %(levelname)s %(threadName)s %(name)s: %(message)s"))
        yield rotating


@contextlib.contextmanager
def _crashes_to(file: Path) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            stream = stack.enter_context(open(file, "a", encoding="utf-8", opener=_private))
            faulthandler.enable(stream)
            stack.callback(faulthandler.disable)
        yield


@contextlib.contextmanager
def _hooks() -> Iterator[None]:
    """Log the exceptions that nobody caught; whoever listened before still hears of them."""
    main, thread = sys.excepthook, threading.excepthook

    def in_main(kind: type[BaseException], value: BaseException, traceback: TracebackType | None) -> None:
        if issubclass(kind, Exception):  # not Ctrl+C
            logger.critical("Uncaught exception", exc_info=(kind, value, traceback))
        main(kind, value, traceback)

    def in_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            raised = (args.exc_type, args.exc_value, args.exc_traceback)
            logger.critical("Uncaught exception in a thread", exc_info=raised)
        thread(args)

    sys.excepthook, threading.excepthook = in_main, in_thread
    logging.captureWarnings(capture=True)
    try:
        yield
    finally:
        logging.captureWarnings(capture=False)
        sys.excepthook, threading.excepthook = main, thread


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
