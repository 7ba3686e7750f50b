"""Shows the output of a program without standard streams in a message box.

Windows starts windowed programs with sys.stdout and sys.stderr set to None. On POSIX a shell can close them (`>&-`);
there is no message box there, and standard output cannot be written.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: Characters of the output that are kept: more than a message box can show, and `serve` may run for months.
_MAX_OUTPUT = 20_000
_STDOUT, _STDERR = 1, 2
#: Whether what is captured can be shown.
HAS_MESSAGE_BOX = sys.platform == "win32"
_MB_ICONERROR, _MB_ICONINFORMATION, _MB_SETFOREGROUND = 0x10, 0x40, 0x10000


class CapturedOutput(io.StringIO):
    """A stream that keeps the start of what is written to it."""

    def write(self, text: str) -> int:
        """Keep `text` up to the limit."""
        super().write(text[: max(_MAX_OUTPUT - self.tell(), 0)])
        return len(text)


class ClosedOutput(CapturedOutput):
    """Standard output where nobody reads it: as from a file on a full disk, its failure is known when it is flushed."""

    def flush(self) -> None:
        """Raise OSError if anything was written since the last one."""
        if self.tell():
            self.seek(0)
            self.truncate()
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    def fileno(self) -> int:
        """Return the descriptor, which leads to nothing."""
        return _STDOUT


def run(command: Callable[[], int], show: Callable[[str, int], None] | None = None) -> int:
    """Run `command`, `show` its output and exit code (default: `message_box`), and return the exit code."""
    _occupy_standard_descriptors()
    before = sys.stdout, sys.stderr
    captured = CapturedOutput()
    sys.stdout = sys.stdout or (captured if HAS_MESSAGE_BOX else ClosedOutput())
    sys.stderr = sys.stderr or captured
    try:
        code = command()
    except SystemExit as exiting:  # argparse: help and wrong usage
        code = exiting.code if isinstance(exiting.code, int) else int(exiting.code is not None)
    finally:
        sys.stdout, sys.stderr = before
    text = captured.getvalue().strip()
    if text:
        (show or message_box)(text, code)
    return code


def message_box(text: str, code: int) -> None:
    """Show `text` until the user closes the box; do nothing where the system has none."""
    if sys.platform == "win32":
        import ctypes

        icon = _MB_ICONERROR if code else _MB_ICONINFORMATION
        ctypes.windll.user32.MessageBoxW(None, text, "PlantDesk", icon | _MB_SETFOREGROUND)


def _occupy_standard_descriptors() -> None:
    """Keep files from being opened as descriptor 2, to which libraries write messages."""
    if os.name == "posix":
        while (descriptor := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
            pass
        os.close(descriptor)
