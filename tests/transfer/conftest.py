"""Files to be imported, and what a store has afterwards."""

from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import openpyxl
import pytest

from plantdesk.cli.main import main
from plantdesk.domain.selections import Selection
from plantdesk.platform import paths
from plantdesk.store.sqlite.store import SqliteStore

Plants = list[tuple[int, str, str | None, str | None]]
#: Writes a file, and returns its name.
Write = Callable[..., str]
#: Writes a file, imports it with options, and returns all plants.
Imported = Callable[..., Plants]


def stored() -> Plants:
    with closing(SqliteStore(paths.database_file())) as store, closing(store.reader()) as reader:
        return [(each.id, each.name, each.tag, each.note) for page in reader.pages(Selection()) for each in page]


def import_files(*arguments: str) -> Plants:
    """Import files, and return all plants."""
    assert main(["import", *arguments]) == 0
    return stored()


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(content: str | bytes, name: str = "plants.csv") -> str:
        file = tmp_path / name
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(file)

    return write


@pytest.fixture
def imported(write: Write) -> Imported:
    def imported(content: str | bytes, *options: str, name: str = "plants.csv") -> Plants:
        return import_files(write(content, name), *options)

    return imported


def names_of(plants: Plants) -> list[str]:
    return [name for _, name, *_ in plants]


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
