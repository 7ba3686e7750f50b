"""Signals that ask the program to end, as bytes of a socket."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager

#: A terminal that is closed sends SIGHUP; SIGBREAK is Ctrl+Break of Windows.
STOP_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK") if hasattr(signal, name)
)


@contextmanager
def signal_socket(*numbers: signal.Signals) -> Iterator[socket.socket]:
    """Yield a socket that receives one byte, the number, for each of these signals. Main thread.

    Python runs a handler between two of its instructions only: a handler that puts into a queue is too late if
    the signal arrives after the last instruction before the wait, and Qt's loop has no instructions at all. The
    C handler writes to this socket at once (`signal.set_wakeup_fd`).
    Ignored signals stay ignored: nohup and shells ignore them for processes that outlive the terminal.
    """
    receiver, sender = socket.socketpair()
    with closing(receiver), closing(sender):
        sender.setblocking(False)
        before = signal.set_wakeup_fd(sender.fileno())
        handled = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
        handlers = {number: signal.signal(number, _handled_by_socket) for number in handled}
        try:
            yield receiver
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(before)


def _handled_by_socket(_number: int, _frame: object) -> None:
    """Do nothing: the socket has the signal."""
