"""Counts of what another program has written to the file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from plantdesk.domain.records import FORM
from plantdesk.domain.validation import new_plant
from tests.support.waiting import SECONDS

if TYPE_CHECKING:
    from plantdesk.store.sqlite.store import Store


@pytest.fixture(autouse=True)
def plants(store: Store) -> None:
    for plant_id, tag in ((1, "hall"), (2, "hall"), (3, "attic")):
        store.add(new_plant({"id": plant_id, "name": "Fern", "tag": tag}), FORM).result(SECONDS)


@pytest.mark.parametrize(
    ("change", "sources", "tags", "today"),
    [
        ("source_id = 99 WHERE id < 3", {"other": 2, "form": 1}, {"hall": 2, "attic": 1}, 3),
        ("tag = CAST(CASE id WHEN 1 THEN x'FF' ELSE x'FE' END AS TEXT)", {"form": 3}, {"\ufffd": 3}, 3),
        ("added_at = added_at - 86400000 WHERE id = 1", {"form": 3}, {"hall": 2, "attic": 1}, 2),
    ],
    ids=["of a source that is missing", "with tags that read the same", "of yesterday"],
)
def test_counts_of_plants_that_another_program_has_changed(
    store: Store, change: str, sources: dict[str, int], tags: dict[str, int], today: int
) -> None:
    with closing(sqlite3.connect(store.path)) as database, database:
        database.execute(f"UPDATE plant SET {change}")
    with closing(store.reader()) as reader:
        counts = reader.counts()
    found = {source.kind: count for source, count in counts.sources.items()}
    assert (found, counts.tags, counts.today, counts.total) == (sources, tags, today, 3)
