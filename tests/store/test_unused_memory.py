"""Freed memory is returned to the system."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from plantdesk.store.sqlite import idle_work

_SIZE = 100_000  # bytes: less than what glibc maps on its own
_COUNT = 500


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="malloc_trim is glibc's")
def test_what_was_freed_below_what_is_used_is_returned() -> None:
    blocks = [bytes([1]) * _SIZE for _ in range(_COUNT)]
    last = blocks.pop()
    blocks.clear()
    before = resident()
    idle_work.release()
    assert before - resident() > _SIZE * _COUNT // 2
    assert len(last) == _SIZE
