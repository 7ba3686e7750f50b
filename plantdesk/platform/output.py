"""Writes the output of commands at once, and distinguishes its failures from other OSErrors."""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING

from plantdesk.domain.errors import PlantDeskError, without_controls

if TYPE_CHECKING:
    from typing import TextIO


class OutputError(PlantDeskError):
    """Standard output cannot be written."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"The output could not be written: {error.strerror or error}.")


class BrokenPipeOutputError(OutputError):
    """The reader of standard output has closed it."""


def report(text: str) -> None:
    """Print `text` on standard error. A failure is ignored: what the text reports is done all the same."""
    try:
        print(without_controls(text), file=sys.stderr)
    except OSError:
        _discard(sys.stderr)


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
        raise _failure(error) from error
    flush()


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def write_data(data: str | bytes) -> None:
    """Write a piece of a file, text in UTF-8, whatever the system's encoding and line breaks. Raises OutputError.

    On a terminal, spaces take the place of characters that could control it.
    """
    if isinstance(data, str):
        data = (without_controls(data) if is_terminal() else data).encode()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:  # closed, or shown in a message box
        raise OutputError(OSError(errno.EBADF, os.strerror(errno.EBADF)))
    try:
        buffer.write(data)
    except OSError as error:
        raise _failure(error) from error


def flush() -> None:
    """Flush standard output. Raises OutputError."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        raise _failure(error) from error


def _discard(stream: TextIO) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _failure(error: OSError) -> OutputError:
    """Return the failure, and discard further output: Python would retry at exit, and print a traceback."""
    _discard(sys.stdout)
    # Windows reports a closed pipe as EINVAL.
    is_gone = isinstance(error, BrokenPipeError) or (sys.platform == "win32" and error.errno == errno.EINVAL)
    return BrokenPipeOutputError(error) if is_gone else OutputError(error)
