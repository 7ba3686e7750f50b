"""Standard output of the commands: written at once, and its failures distinguished from all others."""

from __future__ import annotations

import errno
import os
import sys

from plantdesk.errors import PlantDeskError


class OutputError(PlantDeskError):
    """Standard output cannot be written to."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"The output could not be written: {error.strerror or error}.")


class ReaderGoneError(OutputError):
    """Whatever read standard output has closed it."""


def write(text: str) -> None:
    """Print `text` and a line break, all the way to where standard output goes. Raises OutputError."""
    try:
        print(text)
    except OSError as error:
        raise _failure(error) from error
    flush()


def flush() -> None:
    """Write out what `print` has kept back. Raises OutputError."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        raise _failure(error) from error


def _failure(error: OSError) -> OutputError:
    """Return the failure, and print nothing more: Python would try again at its end, and report it badly."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    # Windows calls a reader that is gone an invalid argument, of no file.
    is_gone = isinstance(error, BrokenPipeError) or (sys.platform == "win32" and error.errno == errno.EINVAL)
    return ReaderGoneError(error) if is_gone else OutputError(error)
