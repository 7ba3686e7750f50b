"""This process in the operating system: signals that end it, and access to its memory.

Core dumps and tracing are forbidden only in packaged programs: developers need core dumps and debuggers.
"""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

#: A terminal that is closed sends SIGHUP; SIGBREAK is Ctrl+Break of Windows.
STOP_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK") if hasattr(signal, name)
)
_PR_SET_DUMPABLE = 4


@contextmanager
def signal_socket(*numbers: signal.Signals) -> Iterator[socket.socket]:
    """Yield a socket that receives the number of each of these signals as a byte. For the main thread.

    Python runs a handler between two of its instructions only: a handler that puts into a queue is too late if
    the signal arrives after the last instruction before the wait, and Qt's loop has no instructions at all. The
    C handler writes to this socket at once (`signal.set_wakeup_fd`).
    Ignored signals stay ignored: nohup and shells ignore them for processes that outlive the terminal.
    """
    receiver, sender = socket.socketpair()
    with closing(receiver), closing(sender):
        sender.setblocking(False)
        previous_descriptor = signal.set_wakeup_fd(sender.fileno())
        watched = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
        handlers = {number: signal.signal(number, _do_nothing) for number in watched}
        try:
            yield receiver
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(previous_descriptor)


def _do_nothing(_number: int, _frame: object) -> None:
    """Do nothing: the socket receives the signal."""


def forbid_core_dumps() -> None:
    """Write no core dump of this process and its children: tokens and plants would be in it."""
    if sys.platform != "win32" and getattr(sys, "frozen", False):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


def forbid_tracing() -> None:
    """Deny ptrace and /proc/PID/mem to other programs of the user (Linux).

    Not for the window: desktop portals refuse a process that they cannot inspect.
    """
    if sys.platform == "linux" and getattr(sys, "frozen", False):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
