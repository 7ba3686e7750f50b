"""Files to be imported, and what a store has afterwards."""

from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import openpyxl
import pytest

from plantdesk.domain.selections import Selection
from plantdesk.platform import paths
from plantdesk.store.sqlite.store import Store

Write = Callable[..., str]

Plants = list[tuple[int, str, str | None, str | None]]


def stored() -> Plants:
    with closing(Store(paths.database_file())) as store, closing(store.reader()) as reader:
        return [(each.id, each.name, each.tag, each.note) for page in reader.pages(Selection()) for each in page]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(content: str | bytes, name: str = "plants.csv") -> str:
        file = tmp_path / name
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(file)

    return write


def write_workbook(file: Path, rows: Iterable[Iterable[object]], formats: dict[str, str] | None = None) -> str:
    """Write a workbook of one sheet, some cells of which have a number format."""
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in rows:
        book.active.append(list(row))
    for cell, number_format in (formats or {}).items():
        book.active[cell].number_format = number_format
    book.save(file)
    return str(file)
