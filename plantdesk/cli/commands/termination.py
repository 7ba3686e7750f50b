"""Lets a command that is terminated remove its drafts first, as Ctrl+C does, and report that it did nothing."""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_NAMES = ("SIGTERM", "SIGHUP")  # Windows has no SIGHUP


@contextmanager
def cleaned_up_when_terminated() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise KeyboardInterrupt in the block, and end the process behind it as they do."""
    received: list[int] = []
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    changed = [each for each in numbers if signal.getsignal(each) is signal.SIG_DFL]

    def interrupt(number: int, _frame: FrameType | None) -> None:
        if not received:  # a second one must not interrupt the cleaning up
            received.append(number)
            raise KeyboardInterrupt

    for number in changed:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)
        if received:
            signal.raise_signal(received[0])


@contextmanager
def reported_when_interrupted(outcome: str) -> Iterator[None]:
    """Print `outcome` when the block is interrupted, by Ctrl+C or a signal."""
    try:
        yield
    except (KeyboardInterrupt, InterruptedError):
        print(f"plantdesk: Interrupted. {outcome}", file=sys.stderr)
        raise
