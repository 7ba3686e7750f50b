"""A program without standard streams: what it says is shown in a message box, for nobody could read it otherwise.

Windows starts windowed programs so, and there sys.stdout and sys.stderr are None. A POSIX shell can do it, too (`>&-`);
whoever typed that wanted no answer.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: What is kept of the output, in characters. A message box holds no more for reading, and `serve` may run for months.
_KEPT = 20_000
_ERROR_ICON, _INFORMATION_ICON, _IN_FRONT = 0x10, 0x40, 0x10000


class Answer(io.StringIO):
    """A stream that keeps the beginning of what is written to it."""

    def write(self, text: str) -> int:
        """Keep `text` while there is room."""
        super().write(text[: max(_KEPT - self.tell(), 0)])
        return len(text)


def run(command: Callable[[], int], show: Callable[[str, int], None] | None = None) -> int:
    """Run `command` with streams that are kept, `show` what it said with its exit code, and return that code.

    An exception goes on as it is. Without `show`, it is the system's message box.
    """
    _take_the_first_descriptors()
    before = sys.stdout, sys.stderr
    answer = Answer()
    sys.stdout = sys.stdout or answer
    sys.stderr = sys.stderr or answer
    try:
        code = command()
    except SystemExit as leaving:  # argparse's help and wrong usage
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    finally:
        sys.stdout, sys.stderr = before
    said = answer.getvalue().strip()
    if said:
        (show or message_box)(said, code)
    return code


def message_box(text: str, code: int) -> None:
    """Show `text` until the person closes it; nothing where the system has no box to show."""
    if sys.platform == "win32":
        import ctypes

        icon = _ERROR_ICON if code else _INFORMATION_ICON
        ctypes.windll.user32.MessageBoxW(None, text, "PlantDesk", icon | _IN_FRONT)


def _take_the_first_descriptors() -> None:
    """Let no file get the number of a standard stream: what a library prints to “2” would be written into it."""
    if os.name == "posix":
        while (taken := os.open(os.devnull, os.O_RDWR)) <= 2:  # noqa: PLR2004 - standard error
            pass
        os.close(taken)
