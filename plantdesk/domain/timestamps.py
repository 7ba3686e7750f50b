"""Times as the store keeps them: milliseconds since 1970, UTC."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

#: What Python's datetime supports: the years 1 to 9999.
EARLIEST, LATEST = -62_135_596_800_000, 253_402_300_799_999
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def now_ms() -> int:
    """Return the current time."""
    return time.time_ns() // 1_000_000


def utc_time(timestamp: int) -> datetime:
    """Return the time in UTC, or the nearest one that Python supports: another program may have written any number."""
    # Windows has no datetime.fromtimestamp() for times before 1970 and after 3000.
    return _EPOCH + timedelta(milliseconds=max(EARLIEST, min(LATEST, timestamp)))
