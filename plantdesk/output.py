"""Writes the output of commands at once, and distinguishes its failures from other OSErrors."""

from __future__ import annotations

import errno
import os
import sys

from plantdesk.errors import PlantDeskError


class OutputError(PlantDeskError):
    """Standard output cannot be written."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"The output could not be written: {error.strerror or error}.")


class BrokenPipeOutputError(OutputError):
    """The reader of standard output has closed it."""


def write(text: str) -> None:
    """Print `text` and a line break, and flush. Raises OutputError."""
    try:
        print(text)
    except OSError as error:
        raise _failure(error) from error
    flush()


def write_data(text: str) -> None:
    """Write text of a file in UTF-8 as it is, whatever the system's encoding and line breaks. Raises OutputError."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.buffer.write(text.encode())
    except OSError as error:
        raise _failure(error) from error


def flush() -> None:
    """Flush standard output. Raises OutputError."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        raise _failure(error) from error


def _failure(error: OSError) -> OutputError:
    """Return the failure, and discard further output: Python would retry at exit, and print a traceback."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    # Windows reports a closed pipe as EINVAL.
    is_gone = isinstance(error, BrokenPipeError) or (sys.platform == "win32" and error.errno == errno.EINVAL)
    return BrokenPipeOutputError(error) if is_gone else OutputError(error)
