"""Functions of commands for the terminal: tables, JSON, times and progress; questions; signals that end a command."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.records import utc_time
from plantdesk.domain.texts import Text, shortened
from plantdesk.platform import output

#: Longer than any name of a file or token.
_MAX_CELL_LENGTH = 300
_TERMINATING_SIGNALS = ("SIGTERM", "SIGHUP")  # Windows has no SIGHUP


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows below a header, in aligned columns; control characters and line ends in cells are replaced."""
    table = [header, *([shortened(cell, _MAX_CELL_LENGTH) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in table]
    output.write("\n".join(lines))


def print_json(value: object) -> None:
    """Print `value` as JSON in ASCII, so that no text in it can control the terminal."""
    output.write(json.dumps(value, indent=2))


def format_local_time(timestamp: int) -> str:
    """Format milliseconds since 1970 as local time with minutes; as UTC if the system cannot convert them."""
    time = utc_time(timestamp)
    with contextlib.suppress(OSError, OverflowError):  # Windows: before 1970 and after 3000
        time = time.astimezone()
    return time.strftime("%Y-%m-%d %H:%M")


def format_iso_time(timestamp: int | None) -> str | None:
    """Format milliseconds since 1970 as UTC in ISO 8601; None stays None, for JSON."""
    return None if timestamp is None else utc_time(timestamp).isoformat(timespec="milliseconds")


class TerminalLine:
    """A line of progress on standard error, which overwrites itself. Shows nothing if that is no terminal."""

    def __init__(self) -> None:
        self.is_shown = sys.stderr is not None and sys.stderr.isatty()
        self._text = ""

    def show(self, text: str) -> None:
        """Write `text` over the text before, unless it is the same."""
        if self.is_shown and text != self._text:
            print(f"\r{text.ljust(len(self._text))}", end="", file=sys.stderr, flush=True)
            self._text = text

    def clear(self) -> None:
        """Overwrite the text with blanks, before other output or at the end."""
        if self._text:
            print("\r" + " " * len(self._text), end="\r", file=sys.stderr, flush=True)


def confirm(question: str, refusal: Text) -> None:
    """Ask `question` on the terminal. Raise PlantDeskError if the answer is not yes, or if nobody can answer.

    `refusal` begins the message of the error.
    """
    if sys.stdin is None or not sys.stdin.isatty():
        text = Text("{refusal}: no terminal to ask on. Add --yes to do it without asking.")
        raise PlantDeskError(text, refusal=refusal)
    try:
        answer = input(f"{question} [y/N] ")
    except EOFError:  # also from Windows' NUL, which it takes for a terminal
        text = Text("{refusal}: there was no answer. Add --yes to do it without asking.", refusal=refusal)
        raise PlantDeskError(text) from None
    if answer.strip().lower() not in {"y", "yes"}:
        raise PlantDeskError(Text("{refusal}."), refusal=refusal)


@contextmanager
def interrupt_on_termination() -> Iterator[None]:
    """Raise KeyboardInterrupt in the block for SIGTERM and SIGHUP; after the block, let the signal end the process."""
    received: list[int] = []
    known_signals = [getattr(signal, name) for name in _TERMINATING_SIGNALS if hasattr(signal, name)]
    default_signals = [number for number in known_signals if signal.getsignal(number) is signal.SIG_DFL]

    def interrupt(number: int, _frame: FrameType | None) -> None:
        if not received:  # a second one must not interrupt the cleaning up
            received.append(number)
            raise KeyboardInterrupt

    for number in default_signals:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in default_signals:
            signal.signal(number, signal.SIG_DFL)
        if received:
            signal.raise_signal(received[0])


@contextmanager
def interruptible(outcome: str) -> Iterator[None]:
    """Print `outcome` when Ctrl+C, or a signal of `interrupt_on_termination`, interrupts the block."""
    with interrupt_on_termination():
        try:
            yield
        except (KeyboardInterrupt, InterruptedError):
            output.report(f"plantdesk: Interrupted. {outcome}")
            raise
