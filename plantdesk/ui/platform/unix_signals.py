"""SIGTERM and SIGINT, which quit the window program in order."""

from __future__ import annotations

import signal
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

from PySide6.QtCore import QSocketNotifier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def quit_on_signals(leave: Callable[[], object]) -> Iterator[None]:
    """Let the signals call `leave` in the event loop; main thread.

    Python runs signal handlers only between two of its instructions, and Qt's loop has none: the wake-up socket does.
    A signal that was ignored at the start stays ignored: a shell sets this for background jobs.
    """
    receiver, sender = socket.socketpair()
    receiver.setblocking(False)
    sender.setblocking(False)
    notifier = QSocketNotifier(receiver.fileno(), QSocketNotifier.Type.Read)
    notifier.activated.connect(leave)
    before = signal.set_wakeup_fd(sender.fileno())
    requested = [each for each in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(each) is not signal.SIG_IGN]
    handlers = {number: signal.signal(number, _wake_only) for number in requested}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(before)
        notifier.setEnabled(False)
        receiver.close()
        sender.close()


def _wake_only(_number: int, _frame: object) -> None:
    """Do nothing: the wake-up socket has the signal."""
