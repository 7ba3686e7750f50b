"""Several processes that change one store at once."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

from plantdesk.domain.selections import Selection
from tests.store.test_backups import until

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.domain.records import Changes, PlantRow
    from plantdesk.store.sqlite.store import Store


def _content(store: Store) -> dict[int, PlantRow]:
    with closing(store.reader()) as reader:
        return {row.id: row for row in reader.selected(Selection())}


def test_a_listener_follows_what_other_processes_change(store: Store, path: Path) -> None:
    seen: dict[int, PlantRow] = {}

    def follow(changes: Changes) -> None:
        if changes.needs_reload:
            seen.clear()
            seen.update(_content(store))
        seen.update((row.id, row) for row in (*changes.added, *changes.updated))
        for plant_id in changes.removed:
            seen.pop(plant_id, None)

    store.subscribe(follow)
    command = [sys.executable, "-m", "tests.support.changing", str(path)]
    others = [subprocess.Popen([*command, str(seed), "150"], stdout=subprocess.PIPE, text=True) for seed in range(1, 4)]
    printed = [other.communicate(timeout=120)[0] for other in others]
    assert [other.returncode for other in others] == [0, 0, 0]
    until(lambda: seen == _content(store))
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        kept = {plant_id for (plant_id,) in database.execute("SELECT plant_id FROM before_image")}
    acknowledged = {int(line) for output in printed for line in output.split()}
    assert acknowledged
    assert acknowledged <= seen.keys() | kept
