"""Pseudo-terminals, at which programs ask and print as at a user's. Tests that need one are skipped on Windows."""

import os
import subprocess
from collections.abc import Callable
from contextlib import suppress
from typing import Self

import pytest

from tests.support.waiting import SECONDS


class Terminal:
    """A pseudo-terminal. `end` is the descriptor for programs, which they get as standard input, output or both."""

    def __init__(self) -> None:
        try:
            self._keyboard, self.end = pytest.importorskip("pty").openpty()
        except OSError as error:
            pytest.skip(f"no pseudo-terminal here: {error}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        for descriptor in (self._keyboard, self.end):
            with suppress(OSError):  # closed by `printed`
                os.close(descriptor)

    def type(self, text: str) -> None:
        """Press the keys of a text."""
        os.write(self._keyboard, text.encode())

    def read_until(self, text: str) -> str:
        """Wait for a text; return what is printed up to there, and perhaps some more."""
        found = b""
        while text.encode() not in found:
            found += os.read(self._keyboard, 65_536)
        return found.decode()

    def printed(self) -> str:
        """Return what else is printed until the last program has ended; no other can follow."""
        os.close(self.end)
        found = b""
        with suppress(OSError):  # Linux: at the end
            while piece := os.read(self._keyboard, 65_536):
                found += piece
        return found.decode()


def agree_at_terminal(command: list[str], meanwhile: Callable[[], None]) -> tuple[int, str]:
    """Run a command at a terminal, do something while it asks, and agree; return its exit code and what it printed."""
    with Terminal() as terminal:
        ends = {"stdin": terminal.end, "stdout": terminal.end, "stderr": terminal.end}
        with subprocess.Popen(command, **ends) as process:
            printed = terminal.read_until("[y/N]")
            meanwhile()
            terminal.type("y\n")
            printed += terminal.printed()
            return process.wait(SECONDS), printed
