from __future__ import annotations

import os
import signal
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.support.clients import CONNECTIONS, posting_to, serving

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path


KILLS = int(os.environ.get("PLANTDESK_KILLS", "2"))


@pytest.fixture
def process(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    with serving(tmp_path / "plants.db") as started:
        yield started


def stored(folder: Path) -> set[int]:
    with closing(sqlite3.connect(folder / "plants.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return {plant_id for (plant_id,) in connection.execute("SELECT id FROM plant")}


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 on Windows")
def test_every_plant_that_got_its_200_outlives_a_kill(tmp_path: Path) -> None:
    """One store, killed again and again at no particular moment; PLANTDESK_KILLS sets how often."""
    acknowledged: set[int] = set()
    for number in range(KILLS):
        with serving(tmp_path / "plants.db") as process:
            clients = posting_to(process, first=number * 1_000_000)
            clients.wait_for_enough()
            process.kill()
            clients.join()
        acknowledged |= clients.acknowledged
        found = stored(tmp_path)
        assert acknowledged <= found
        assert len(found - acknowledged) <= CONNECTIONS * (number + 1)  # those whose answer was on its way


def test_every_plant_that_was_stored_by_an_orderly_end_got_its_200(
    process: subprocess.Popen[str], tmp_path: Path
) -> None:
    clients = posting_to(process)
    clients.wait_for_enough()
    assert process.stdin is not None
    process.stdin.close()  # asks it to end
    assert process.wait(20) == 0
    clients.join()
    assert stored(tmp_path) == clients.acknowledged
