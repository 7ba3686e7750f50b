"""Finds out that a store's files have changed: from their timestamps, or by waiting for Linux's inotify.

The timestamps cost an eighth of a query. The files are watched and not their folder, where other programs may write all
the time; of the folders only moves. Each watch is removed by its first event, so that this process's own commits under
load cost nothing.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from plantdesk.store.sqlite.files.file_lock import file_id

if TYPE_CHECKING:
    from pathlib import Path


# Of linux/inotify.h.
_MODIFY = 0x0000_0002
_ATTRIB = 0x0000_0004  # of a file that is open also that its name was removed or given to another one
_MOVE_SELF = 0x0000_0800
_ONESHOT = 0x8000_0000
#: Of an instance; 0 where there is no inotify.
_FLAGS = 0
if sys.platform == "linux":
    _FLAGS = os.O_CLOEXEC | os.O_NONBLOCK
#: Bytes of waiting events, of which only that there are any matters.
_BUFFER = 65536


class FileWatch:
    """Watches the file at `path`, its log, and whether the log's index stays. One thread; any may call `wake`."""

    def __init__(self, path: Path) -> None:
        self._files = [os.fsencode(name) for name in (path, f"{path}-wal")]
        self._others = [(os.fsencode(f"{path}-shm"), _ATTRIB | _MOVE_SELF)]
        self._others += [(os.fsencode(folder), _MOVE_SELF) for folder in path.parents]
        self._inotify: _Inotify | None = None
        self._is_waiting = False

    def arm(self) -> bool:
        """Watch for the next change of the files. False where that is impossible: then they are to be polled."""
        if not _FLAGS:
            return False
        try:
            self._inotify = self._inotify or _Inotify()
            self._inotify.drain()
            for file in self._files:
                self._inotify.add(file, _MODIFY | _ATTRIB | _MOVE_SELF | _ONESHOT)
        except (OSError, ImportError, AttributeError):  # such as a limit of the user; a Python without ctypes
            return False
        for other, events in self._others:
            with contextlib.suppress(OSError):  # one that may not be read
                self._inotify.add(other, events | _ONESHOT)
        return True

    def wait(self, is_idle: Callable[[], bool], timeout: float) -> bool:
        """Wait for a change since `arm`, or for `wake`; return whether none came within so many seconds.

        `is_idle` returns False where the reason for a `wake` came before.
        """
        if self._inotify is None:
            return False
        self._is_waiting = True
        try:
            return is_idle() and not self._inotify.is_ready(timeout)
        finally:
            self._is_waiting = False

    def wake(self) -> None:
        """End a present `wait`. Not after `close`."""
        if self._is_waiting and self._inotify is not None:
            self._is_waiting = False
            self._inotify.wake()

    def close(self) -> None:
        """Close the descriptors."""
        if self._inotify is not None:
            self._inotify.close()
            self._inotify = None


class _Inotify:
    """An instance of inotify, with a socket that ends a wait for its events."""

    def __init__(self) -> None:
        """Raises OSError; ImportError and AttributeError where Python or the C library lack what is needed."""
        import ctypes  # these take 4 ms, and a command is done before its store is watched
        import selectors
        import socket

        self._errno = ctypes.get_errno
        libc = ctypes.CDLL(None, use_errno=True)
        self._add_watch = libc.inotify_add_watch
        self._add_watch.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32]
        with contextlib.ExitStack() as stack:
            self._descriptor = self._checked(libc.inotify_init1(_FLAGS))
            stack.callback(os.close, self._descriptor)
            self._receiver, self._sender = map(stack.enter_context, socket.socketpair())
            self._selector = stack.enter_context(selectors.DefaultSelector())
            self._receiver.setblocking(False)
            for each in (self._descriptor, self._receiver):
                self._selector.register(each, selectors.EVENT_READ)
            self.close = stack.pop_all().close

    def add(self, path: bytes, events: int) -> None:
        """Watch a file or folder for the first of such events. Raises OSError."""
        self._checked(self._add_watch(self._descriptor, path, events))

    def drain(self) -> None:
        """Forget the events and calls of `wake` that came before."""
        with contextlib.suppress(BlockingIOError):
            self._receiver.recv(_BUFFER)
        with contextlib.suppress(BlockingIOError):
            os.read(self._descriptor, _BUFFER)

    def is_ready(self, timeout: float) -> bool:
        """Wait for an event or `wake`, so many seconds at most."""
        return bool(self._selector.select(timeout))

    def wake(self) -> None:
        """End a present or the next wait."""
        self._sender.send(b"\0")

    def _checked(self, result: int) -> int:
        if result < 0:
            raise OSError(self._errno(), "inotify")
        return result


#: Nanoseconds: what is written within it may have the same timestamp, as FAT counts two seconds.
_RECENT = 3_000_000_000
_IS_LAZY = os.name == "nt"


class LastWrite:
    """Compares the files under the names of a store with those of the last call. For one thread."""

    def __init__(self, path: Path) -> None:
        self._names = (str(path), f"{path}-wal")
        self._index = f"{path}-shm"
        self._seen: list[object] | None = None

    def may_be_new(self) -> bool:
        """Return False when nothing was written or replaced since the last call, which was long enough after a write.

        Always True on Windows, which updates timestamps when a file is closed.
        """
        if _IS_LAZY:
            return True
        try:
            stats = [os.stat(name) for name in self._names]  # noqa: PTH116  half the time of Path.stat
        except OSError:
            self._seen = None
            return True
        seen, self._seen = self._seen, [*map(_key, stats), file_id(self._index)]
        age = time.time_ns() - max(each.st_mtime_ns for each in stats)
        return seen is None or age < _RECENT or seen != self._seen


def _key(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_ino, status.st_dev, status.st_size, status.st_mtime_ns
