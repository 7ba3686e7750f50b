"""Property: what is exported is imported as it was, but for blank names."""

import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plantdesk.cli.main import main
from plantdesk.domain.edits import Insert
from plantdesk.domain.records import FORM, LARGEST_ID, SMALLEST_ID
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import is_blank, new_plant
from plantdesk.store.sqlite.store import SqliteStore
from tests.support.cases import cases
from tests.support.waiting import SECONDS

TEXTS = st.text() | st.text(alphabet="\"',;\t|\r\n\0 =a'\ufeff\u2028\x1a")
PLANTS = st.lists(
    st.tuples(
        st.integers(SMALLEST_ID, LARGEST_ID),
        TEXTS.filter(lambda name: not is_blank(name)),
        st.none() | TEXTS,
        st.none() | TEXTS.filter(bool),
    ),
    unique_by=lambda plant: plant[0],
    min_size=1,
    max_size=8,
)


def stored(file: Path) -> list[tuple[int, str, str | None, str | None]]:
    with closing(SqliteStore(file)) as store, closing(store.reader()) as reader:
        return [(each.id, each.name, each.tag, each.note) for page in reader.pages(Selection()) for each in page]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "jsonl", "xlsx"])
@cases(30)
@given(plants=PLANTS)
def test_export_and_import_keep_every_plant(suffix: str, plants: list[tuple[int, str, str | None, str | None]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first, file, second = (Path(folder) / name for name in ("a.db", f"plants.{suffix}", "b.db"))
        with closing(SqliteStore(first)) as store:
            inserts = [
                Insert(new_plant({"id": plant_id, "name": name} | ({} if tag is None else {"tag": tag})), note)
                for plant_id, name, tag, note in plants
            ]
            store.apply(inserts, FORM).result(SECONDS)
        assert main(["export", str(file), "--database", str(first)]) == 0
        assert main(["import", str(file), "--database", str(second)]) == 0
        assert stored(second) == stored(first) == plants
