"""A log that lies where a store is to be, without the file that it belongs to.

SQLite would take it for the log of whatever file gets that name next (https://sqlite.org/howtocorrupt.html, section
1.4). It may hold the last plants of a file that was deleted or moved away, so it is set aside and never deleted.
"""

from __future__ import annotations

import contextlib
import logging
import time
from typing import TYPE_CHECKING

from plantdesk.store.backups import Backups

if TYPE_CHECKING:
    from pathlib import Path

_log = logging.getLogger(__name__)

#: What SQLite keeps beside a file in WAL mode: the log, and its index in shared memory.
BESIDE = ("-wal", "-shm")
#: Seconds after which a log is no longer that of a store which another process is just making.
_OLD = 2.0
_BETWEEN_LOOKS = 0.1


def set_stray_log_aside(path: Path) -> None:
    """Take away what lies beside the name `path` while no file has it. Raises OSError, StoreUnreachableError."""
    while not path.exists() and (age := _age(path.with_name(path.name + BESIDE[0]))) is not None:
        if age > _OLD:
            move_beside(path, Backups(path).place_for_damaged())
            _log.warning("A log without its file was set aside from %s", path)
        else:
            time.sleep(_BETWEEN_LOOKS)


def move_beside(path: Path, to: Path) -> None:
    """Move log and index of `path` to where those of `to` would be; who has them open goes on. Raises OSError."""
    for ending in BESIDE:
        with contextlib.suppress(FileNotFoundError):
            path.with_name(path.name + ending).rename(to.with_name(to.name + ending))


def _age(log: Path) -> float | None:
    try:
        return time.time() - log.stat().st_mtime
    except FileNotFoundError:
        return None
