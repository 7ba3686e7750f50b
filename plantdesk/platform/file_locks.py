"""Exclusive locks of open files. A lock ends when the file is closed, or with the process."""

from __future__ import annotations

import errno
import sys
import time

#: Seconds between two attempts.
_RETRY_DELAY = 0.005

if sys.platform == "win32":
    import portalocker
    from portalocker.exceptions import AlreadyLocked, LockException

    def try_lock(handle: int) -> bool:
        """Lock a file; return False while another handle has the lock. Raises OSError if the drive has no locks."""
        try:
            portalocker.lock(handle, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
        except AlreadyLocked:
            return False
        except LockException as error:
            raise OSError(errno.ENOLCK, "The drive cannot lock files") from error
        return True
else:
    import fcntl  # portalocker does the same; its import takes twice as long as the start of Python

    def try_lock(handle: int) -> bool:
        """Lock a file; return False while another handle has the lock. Raises OSError if the drive has no locks."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        return True


def lock(handle: int, timeout: float) -> bool:
    """Lock a file; return False if another handle has the lock for `timeout` seconds. Raises OSError as `try_lock`."""
    deadline = time.monotonic() + timeout
    while not (is_locked := try_lock(handle)) and time.monotonic() <= deadline:
        time.sleep(_RETRY_DELAY)
    return is_locked
