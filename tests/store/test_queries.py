from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from plantdesk.domain.records import COMMAND, FORM
from plantdesk.domain.search import parse_search
from plantdesk.domain.validation import new_plant
from plantdesk.domain.views import View
from tests.support.waiting import SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.store.sqlite.store import Store


@pytest.mark.parametrize("text", ["", "x", "-y"])
def test_a_large_view_comes_in_chunks_of_which_the_first_is_small(store: Store, path: Path, text: str) -> None:
    store.add(new_plant({"id": 0, "name": "x"}), FORM).result(SECONDS)
    with closing(sqlite3.connect(path)) as other, other:
        other.execute(
            """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
               INSERT INTO plant (id, name, searched_name, seq, added_at, source_id)
               SELECT i, 'x', 'x', i + 1, 0, 1 FROM n"""
        )
    with closing(store.reader()) as reader:
        chunks = list(reader.ids(View(parse_search(text))))
    assert len(chunks[0]) < 1000
    assert [plant_id for chunk in chunks for plant_id in chunk] == list(range(60000, -1, -1))


def test_a_running_question_can_be_interrupted(store: Store) -> None:
    reader = store.reader()
    started = threading.Event()

    def go_on_for_ever() -> int:
        started.set()
        return 1

    reader._connection.create_function("going", 0, go_on_for_ever)  # noqa: SLF001  shows that the query runs

    def interrupt() -> None:
        started.wait(SECONDS)
        reader.interrupt()

    threading.Thread(target=interrupt).start()
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + going() FROM n) SELECT count(*) FROM n"
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        reader._connection.execute(endless).fetchall()  # noqa: SLF001
    assert reader.count() == 0
    reader.close()
    reader.close()


def test_two_sources_are_found_if_there_are_two(store: Store) -> None:
    with closing(store.reader()) as reader:
        assert reader.two_sources() == []
        for plant_id, source, expected in ((1, FORM, [FORM]), (2, FORM, [FORM]), (3, COMMAND, [FORM, COMMAND])):
            store.add(new_plant({"id": plant_id, "name": "Aloe"}), source).result(SECONDS)
            assert reader.two_sources() == [each.id for each in expected]
