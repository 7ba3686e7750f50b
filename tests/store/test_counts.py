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
    from plantdesk.domain.views import Counts
    from plantdesk.store.sqlite.store import Store


@pytest.fixture(autouse=True)
def plants(store: Store) -> None:
    for plant_id, tag in ((1, "hall"), (2, "hall"), (3, "attic")):
        store.add(new_plant({"id": plant_id, "name": "Fern", "tag": tag}), FORM).result(SECONDS)


def counts_after(store: Store, statement: str) -> Counts:
    with closing(sqlite3.connect(store.path)) as database, database:
        database.execute(statement)
    with closing(store.reader()) as reader:
        return reader.counts()


def test_plants_of_a_source_that_is_missing_are_counted(store: Store) -> None:
    counts = counts_after(store, "UPDATE plant SET source_id = 99 WHERE id < 3")
    assert {source.kind: count for source, count in counts.sources.items()} == {"other": 2, "form": 1}


def test_tags_that_read_the_same_are_counted_together(store: Store) -> None:
    counts = counts_after(store, "UPDATE plant SET tag = CAST(CASE id WHEN 1 THEN x'FF' ELSE x'FE' END AS TEXT)")
    assert counts.tags == {"\ufffd": 3}


def test_plants_of_yesterday_are_not_of_today(store: Store) -> None:
    counts = counts_after(store, "UPDATE plant SET added_at = added_at - 86400000 WHERE id = 1")
    assert (counts.today, counts.total) == (2, 3)
