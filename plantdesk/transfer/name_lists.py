"""Reads a list of names: text with one on each line, or a table with a column of them, as of World Flora Online."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from plantdesk.domain.errors import BackupUnusableError, Text
from plantdesk.transfer.columns import Columns, NoColumnError, layout_of, plain
from plantdesk.transfer.formats import PIPE
from plantdesk.transfer.inputs import Reading, opened
from plantdesk.transfer.text import FileError

if TYPE_CHECKING:
    from plantdesk.transfer.files import InputFile
    from plantdesk.transfer.formats import Format
    from plantdesk.transfer.inputs import Input

#: The header of the column that says which names are in use, and what it says of those.
_STATUS = {"taxonomicstatus", "taxonomic status", "status"}
_ACCEPTED = {"accepted", "valid"}
#: The headers of a whole name, where others are of its parts.
_WHOLE_NAME = ("scientificname", "scientific name", "canonicalname")


def names_of(source: InputFile, progress: Callable[[int], None], form: Format | None = None) -> Iterator[str]:
    """Yield the names in a file; where it says which are accepted, only those. `progress` gets the bytes read since.

    The format is that of the file's name if it is not given. Raises FileError, UnknownFormatError, NoColumnError and
    OSError.
    """
    path = source.path
    if path is not None and str(path) != PIPE and not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
        raise FileError(source.name, Text("It is not a regular file."))  # a pipe that nobody writes to never ends
    with _opened(source, Reading(form), progress) as file:
        if file.table is None:
            for _, item in file.objects:
                if isinstance(item, dict) and isinstance(name := item.get("name"), str):
                    yield name
            return
        reader: _Reader | None = None
        for batch in file.table.batches():
            rows = batch.by_row()
            if reader is None:
                reader = _Reader(rows)
                rows = rows[reader.first :]
            yield from reader.names(rows)


@contextmanager
def _opened(source: InputFile, reading: Reading, progress: Callable[[int], None]) -> Iterator[Input]:
    try:
        with opened(source, reading, progress) as file:
            yield file
    except BackupUnusableError:
        raise FileError(source.name, Text("It is a database, not a list of names. Save them as text or CSV.")) from None


class _Reader:
    """Takes the names from the rows of a table, whose header is in its first rows."""

    def __init__(self, rows: Sequence[Sequence[str | None]]) -> None:
        layout = layout_of(rows, Columns(has_header=None))
        headers = [plain(each) for each in layout.names] if layout.has_header else []
        whole = (headers.index(each) for each in _WHOLE_NAME if each in headers)
        name = next(whole, layout.fields.get("name"))
        if name is None:
            raise NoColumnError(layout.names)
        self._name = name
        self._status = next((at for at, each in enumerate(headers) if each in _STATUS), None)
        #: The number of the row with the first name.
        self.first = int(layout.has_header)

    def names(self, rows: Sequence[Sequence[str | None]]) -> Iterator[str]:
        """Yield the names of rows."""
        name, status = self._name, self._status
        for row in rows:
            if name < len(row) and (
                status is None or (status < len(row) and (row[status] or "").casefold() in _ACCEPTED)
            ):
                yield row[name] or ""
