"""Freed memory is returned to the system."""

from __future__ import annotations

import os
import platform
import time
from contextlib import closing
from pathlib import Path

import pytest

from plantdesk.domain.edits import SetTag
from plantdesk.domain.models import NewPlant
from plantdesk.domain.records import FORM
from plantdesk.domain.selections import Selection
from plantdesk.store.sqlite import idle_work
from plantdesk.store.sqlite.store import Store
from tests.support.adding import add_each

_SIZE = 100_000  # bytes: less than what glibc maps on its own
_COUNT = 500


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.timing
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="malloc_trim is glibc's")
def test_what_was_freed_below_what_is_used_is_returned() -> None:
    blocks = [bytes([1]) * _SIZE for _ in range(_COUNT)]
    last = blocks.pop()
    blocks.clear()
    before = resident()
    idle_work.release()
    assert before - resident() > _SIZE * _COUNT // 2
    assert len(last) == _SIZE


@pytest.mark.timing
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="mallopt is glibc's")
def test_large_blocks_are_returned_at_once_however_large_others_were() -> None:
    idle_work.release()
    for _ in range(2):
        block, above = bytes([1]) * 20_000_000, bytes([1]) * _SIZE
        before = resident()
        del block
        assert before - resident() > 19_000_000
        assert len(above) == _SIZE


@pytest.mark.timing
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="malloc_trim is glibc's")
def test_a_store_at_rest_keeps_no_pages_of_a_large_change(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "plants.db")) as store:
        entries = [(NewPlant(id=number, name="x" * 1_000), FORM) for number in range(30_000)]
        for start in range(0, len(entries), 2_000):
            add_each(store, entries[start : start + 2_000])
        store.apply([SetTag(Selection(), "bed")], FORM).result()
        before = resident()
        while resident() > before - 20_000_000:
            time.sleep(0.05)
