"""Reads a list of names: text with one on each line, or a table with a column of them, as of World Flora Online.

The tables of others also have names that are not in use, and some have the authors in the names: both are left out.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING

from plantdesk.domain.errors import BackupUnusableError, Text
from plantdesk.transfer.columns import Columns, NoColumnError, layout_of
from plantdesk.transfer.formats import PIPE, Format
from plantdesk.transfer.inputs import Reading, opened
from plantdesk.transfer.name_parts import plain, with_names
from plantdesk.transfer.text import GUESSED, FileError, UnknownEncodingError

if TYPE_CHECKING:
    from plantdesk.transfer.files import InputFile
    from plantdesk.transfer.inputs import Input
    from plantdesk.transfer.tables import Table

#: The headers of the column that says which names are in use, and what it says of those and of others.
_STATUS = {"taxonomicstatus", "taxonomic status", "taxon status", "status"}
_ACCEPTED = {"accepted", "valid", "provisionally accepted", "artificial hybrid"}
_OTHERS = {"synonym", "unchecked", "unplaced", "doubtful", "ambiguous", "homotypic synonym", "heterotypic synonym"}
#: What a column of kingdoms says of plants, fungi, and the brown algae and others among the Chromista.
_KINGDOMS = {"", "plantae", "fungi", "chromista"}
#: The headers of a whole name beside columns of its parts, and of the authors that it may end with.
_WHOLE_NAME = ("scientificname", "scientific name", "taxon name", "canonicalname")
_AUTHORS = ("scientificnameauthorship", "scientific name authorship", "taxon authors", "authorship")


def names_of(
    source: InputFile,
    progress: Callable[[int], None],
    form: Format | None = None,
    left_out: Callable[[int], None] = lambda _count: None,
) -> Iterator[str]:
    """Yield the names in a file; only the accepted ones, if it says which these are.

    If the table has a column `kingdom`, animals, bacteria and the like are left out as well.
    `progress` gets the bytes read since, `left_out` the number of names left out so far. The default format is that of
    the file's name, or text for a pipe. If a text proves only later not to be UTF-8, all its names are yielded again.
    Raises FileError, UnknownFormatError, NoColumnError and OSError.
    """
    path = source.path
    is_pipe = str(path) == PIPE
    if path is not None and not is_pipe and not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
        raise FileError(source.name, Text("It is not a regular file."))  # a pipe that nobody writes to never ends
    reading = Reading(Format.CSV if form is None and is_pipe else form, is_list=True)
    try:
        yield from _names(source, reading, progress, left_out)
    except UnknownEncodingError as error:
        if error.likely or is_pipe:
            raise
        yield from _names(source, reading._replace(encoding=GUESSED), lambda _count: progress(0), left_out)


def _names(
    source: InputFile, reading: Reading, progress: Callable[[int], None], left_out: Callable[[int], None]
) -> Iterator[str]:
    with _opened(source, reading, progress) as file:
        if file.table is None:
            for _, item in file.objects:
                if isinstance(item, dict) and isinstance(name := item.get("name"), str):
                    yield name
        else:
            yield from _names_of_table(file.table, source.name, left_out)


def _names_of_table(table: Table, file: str, left_out: Callable[[int], None]) -> Iterator[str]:
    batches = table.batches()
    first = next(batches)
    reader = _Reader(first.rows)
    has_names, defects = False, list[Text]()
    for batch in chain([first._replace(rows=first.rows[reader.first :])], batches):
        for name in reader.names(batch.rows):
            has_names = True
            yield name
        reader.left_out += len(batch.errors)
        left_out(reader.left_out)
        defects += [each.reason for each in batch.errors.values()][: not defects]
    if defects and not has_names:
        raise FileError(file, defects[0])


@contextmanager
def _opened(source: InputFile, reading: Reading, progress: Callable[[int], None]) -> Iterator[Input]:
    try:
        with opened(source, reading, progress) as file:
            yield file
    except BackupUnusableError:
        raise FileError(source.name, Text("It is a database, not a list of names. Save them as text or CSV.")) from None


class _Reader:
    """Takes the names from the rows of a table; the header is in its first rows."""

    def __init__(self, rows: Sequence[Sequence[str | None]]) -> None:
        layout = layout_of(rows, Columns(has_header=None))
        headers = [plain(each) for each in layout.names] if layout.has_header else []
        name = _first(headers, _WHOLE_NAME)
        name = layout.fields.get("name") if name is None else name
        if name is None:
            raise NoColumnError(layout.names)
        self._name, self._headers = name, layout.names
        self._name_parts = layout.name_parts if name in layout.name_parts else ()
        self._authors = _first(headers, _AUTHORS)
        status = next((at for at, each in enumerate(headers) if each in _STATUS), None)
        known = {(_cell(row, status) or "").casefold() for row in rows[layout.titles + 1 :]} & (_ACCEPTED | _OTHERS)
        #: Also None if the column has another status, such as that of the plants in a garden.
        self._status = status if known else None
        self._kingdom = _first(headers, ("kingdom",))
        #: The number of the row with the first name.
        self.first = layout.titles + layout.has_header
        #: The number of names that are not accepted, not of plants or fungi, or in rows that cannot be read.
        self.left_out = 0

    def names(self, rows: Sequence[Sequence[str | None]]) -> Iterator[str]:
        """Yield the names of rows, without their authors."""
        if self._name_parts:
            rows = with_names(rows, self._headers, self._name_parts, self._name)
        for row in rows:
            name = _cell(row, self._name)
            if name and not self._is_offered(row):
                self.left_out += 1
            elif name:
                authors = _cell(row, self._authors)
                yield name.removesuffix(f" {authors}") if authors else name

    def _is_offered(self, row: Sequence[str | None]) -> bool:
        status, kingdom = ((_cell(row, at) or "").casefold() for at in (self._status, self._kingdom))
        return (self._status is None or status in _ACCEPTED) and kingdom in _KINGDOMS


def _cell(row: Sequence[str | None], at: int | None) -> str | None:
    return row[at] if at is not None and at < len(row) else None


def _first(headers: Sequence[str], names: Sequence[str]) -> int | None:
    """Return the position of the first of these names that there is."""
    return next((headers.index(each) for each in names if each in headers), None)
