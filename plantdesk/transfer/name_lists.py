"""Reads a list of names: text with one on each line, or a table with a column of them, as of World Flora Online."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from plantdesk.transfer.columns import Columns, NoColumnError, layout_of, plain
from plantdesk.transfer.inputs import Reading, opened

if TYPE_CHECKING:
    from plantdesk.transfer.files import InputFile

#: The header of the column that says which names are in use, and what it says of those.
_STATUS = {"taxonomicstatus", "taxonomic status", "status"}
_ACCEPTED = {"accepted", "valid"}
#: The headers of a whole name, where others are of its parts.
_WHOLE_NAME = ("scientificname", "scientific name", "canonicalname")


def names_of(source: InputFile, progress: Callable[[int], None]) -> Iterator[str]:
    """Yield the names in a file; where it says which are accepted, only those. `progress` gets the bytes read since.

    Raises FileError, UnknownFormatError, NoColumnError and OSError.
    """
    with opened(source, Reading(), progress) as file:
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
