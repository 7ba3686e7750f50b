"""Whether the server gets on with what it was asked.

A process of the server that is stopped answers nobody, while its system keeps the connection alive: no timeout of libpq
or of the server ends that wait. Another connection sees whether the process still does anything.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from plantdesk.domain.errors import StoreError
from plantdesk.store.postgres.connections import ServerUnreachableError, connect, execute, translate_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plantdesk.store.postgres.address import Address

#: Seconds between two checks, and those without a sign of work after which a change is given up: to read and sort
#: millions of plants takes less.
INTERVAL, MAX_PAUSE = 3.0, 60.0
#: Bytes of the server's log that are a sign: what other desks add meanwhile writes less, and a large change more.
MIN_LOG = 1_000_000
#: What each process does and waits for, and those that help it; a process at work waits for the disk now and then.
_SIGNS = """
    SELECT CASE WHEN pg_is_in_recovery() THEN 0 ELSE pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint END,
           (SELECT array_agg(ROW(pid, state, query_start, wait_event)::text ORDER BY pid)
            FROM pg_stat_activity WHERE pid = ANY(%(backends)s) OR leader_pid = ANY(%(backends)s))"""


def is_stalled(
    address: Address, backends: Callable[[], list[int]], ended: threading.Event, *, max_pause: float, max_silence: float
) -> bool:
    """Wait until processes of the server show no sign of work for `max_pause` seconds; False if `ended` is set before.

    Also True where the server cannot be asked for `max_silence` seconds. Raises StoreError for another reason.
    """
    log, seen = 0, None
    worked = answered = time.monotonic()
    while not ended.wait(INTERVAL):
        now = time.monotonic()
        with suppress(ServerUnreachableError):
            now_log, now_seen = _signs(address, backends())
            answered = now
            if now_seen != seen or now_log - log >= MIN_LOG:
                log, seen, worked = now_log, now_seen, now
        if now - worked >= max_pause or now - answered > max_silence:
            return True
    return False


def _signs(address: Address, backends: list[int]) -> Sequence[Any]:
    with closing(connect(address, "progress")) as connection, translate_errors():
        return execute(connection, _SIGNS, {"backends": backends}).fetchone() or (0, None)


@contextmanager
def given_up(address: Address, backend: Callable[[], int], abandon: Callable[[], object]) -> Iterator[None]:
    """Call `abandon` on another thread where a process of the server does nothing any more during the block."""
    ended = threading.Event()

    def watch() -> None:
        with suppress(StoreError):  # of a server that answers: its own timeouts count
            if is_stalled(address, lambda: [backend()], ended, max_pause=MAX_PAUSE, max_silence=MAX_PAUSE):
                abandon()

    threading.Thread(target=watch, name="store-progress", daemon=True).start()
    try:
        yield
    finally:
        ended.set()
