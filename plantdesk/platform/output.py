"""Standard output and error of the commands, and of a program without them.

Windows starts windowed programs with sys.stdout and sys.stderr set to None: a message box shows their output. On POSIX
a shell can close them (`>&-`); there is no message box there, and standard output cannot be written.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Callable
from typing import TextIO

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.texts import Text, without_controls

#: The most characters of output to keep: more than a message box can show. `serve` may run for months.
_MAX_CAPTURED_LENGTH = 20_000
_STDOUT = 1
_STDERR = 2
#: Whether the captured output can be shown.
HAS_MESSAGE_BOX = sys.platform == "win32"
_MB_ICONERROR = 0x10
_MB_ICONINFORMATION = 0x40
_MB_SETFOREGROUND = 0x10000


class OutputError(PlantDeskError):
    """Standard output cannot be written."""

    text = Text("The output could not be written: {reason}.")

    def __init__(self, error: OSError) -> None:
        super().__init__(reason=error.strerror or str(error))


class BrokenPipeOutputError(OutputError):
    """The reader of standard output has closed it."""


def report(text: str) -> None:
    """Print `text` on standard error. Ignores failures: the work that the text reports is done either way."""
    try:
        print(without_controls(text), file=sys.stderr)
    except OSError:
        _discard_output(sys.stderr)


def use_utf8() -> None:
    """Write UTF-8 and unchanged line breaks from now on, for a program that reads standard output."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", newline="\n")


def write(text: str) -> None:
    """Print `text` and a line break, and flush. Raises OutputError."""
    try:
        print(without_controls(text) if is_terminal() else text)
    except OSError as error:
        raise _to_output_error(error) from error
    flush()


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def has_reader() -> bool:
    """Return False if the reader of standard output, a pipe, has closed it. Windows shows that only on writing."""
    is_closed = False
    if sys.platform != "win32":
        import select

        poller = select.poll()
        with contextlib.suppress(OSError, ValueError):  # it is shown in another way
            poller.register(sys.stdout.fileno(), 0)
            is_closed = any(events & select.POLLERR for _, events in poller.poll(0))
    return not is_closed


def write_data(data: str | bytes) -> None:
    """Write a piece of a file: text is UTF-8 with its own line breaks on every system. Raises OutputError.

    On a terminal, spaces replace characters that could control it.
    """
    if isinstance(data, str):
        data = (without_controls(data) if is_terminal() else data).encode()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:  # closed, or shown in a message box
        raise OutputError(OSError(errno.EBADF, os.strerror(errno.EBADF)))
    try:
        buffer.write(data)
    except OSError as error:
        raise _to_output_error(error) from error


def flush() -> None:
    """Flush standard output, if there is one. After a failure, discard further output and raise OutputError."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        raise _to_output_error(error) from error


def _discard_output(stream: TextIO) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _to_output_error(error: OSError) -> OutputError:
    """Return the error to raise, and discard further output: Python would retry at exit, and print a traceback."""
    _discard_output(sys.stdout)
    # Windows reports a closed pipe as EINVAL.
    is_gone = isinstance(error, BrokenPipeError) or (sys.platform == "win32" and error.errno == errno.EINVAL)
    return BrokenPipeOutputError(error) if is_gone else OutputError(error)


class CapturedOutput(io.StringIO):
    """A stream that keeps the first `_MAX_CAPTURED_LENGTH` characters, to be shown when the program ends."""

    def write(self, text: str) -> int:
        """Keep `text` up to the limit."""
        super().write(text[: max(_MAX_CAPTURED_LENGTH - self.tell(), 0)])
        return len(text)


class ClosedOutput(CapturedOutput):
    """Replaces a standard output that the shell has closed: as on a full disk, `flush` raises an error."""

    def flush(self) -> None:
        """Raise OSError if anything was written since the last flush."""
        if self.tell():
            self.seek(0)
            self.truncate()
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    def fileno(self) -> int:
        """Return descriptor 1, which `_occupy_standard_descriptors` has connected to the null device."""
        return _STDOUT


def run_without_console(command: Callable[[], int], show: Callable[[str, int], None] | None = None) -> int:
    """Run `command`, `show` its output and exit code (default: `show_message_box`), and return the exit code."""
    _occupy_standard_descriptors()
    previous_streams = sys.stdout, sys.stderr
    captured = CapturedOutput()
    sys.stdout = sys.stdout or (captured if HAS_MESSAGE_BOX else ClosedOutput())
    sys.stderr = sys.stderr or captured
    try:
        code = command()
    except SystemExit as exiting:  # argparse: help and wrong usage
        if isinstance(exiting.code, int):
            code = exiting.code
        elif exiting.code is None:
            code = 0
        else:
            code = 1
    finally:
        sys.stdout, sys.stderr = previous_streams
    text = captured.getvalue().strip()
    if text:
        (show or show_message_box)(text, code)
    return code


def show_message_box(text: str, code: int) -> None:
    """Show `text` until the user closes the box; do nothing if the system has none."""
    if sys.platform == "win32":
        import ctypes

        icon = _MB_ICONERROR if code else _MB_ICONINFORMATION
        ctypes.windll.user32.MessageBoxW(None, text, "PlantDesk", icon | _MB_SETFOREGROUND)


def _occupy_standard_descriptors() -> None:
    """Open the null device as closed descriptors up to 2: libraries would write messages into a file opened as 2."""
    if os.name == "posix":
        while (descriptor := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
            pass
        os.close(descriptor)
