"""Reads a list of names: one on each line, or a table with a column of names, such as that of World Flora Online.

Names that a table says are not in use, and authors at the end of names, are left out.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator, Sequence

from plantdesk.domain.errors import BackupUnusableError
from plantdesk.domain.texts import Text
from plantdesk.transfer.columns import Columns, Layout, NoColumnError
from plantdesk.transfer.files import InputFile
from plantdesk.transfer.formats import STANDARD_STREAM, Format
from plantdesk.transfer.inputs import ReadOptions, open_input
from plantdesk.transfer.known_names import KnownNames, NamesListInfo
from plantdesk.transfer.name_parts import normalize_header
from plantdesk.transfer.tables import Row
from plantdesk.transfer.text import DEFAULT_ENCODING, FileError, UnknownEncodingError

#: Headers of the status, which says whether a name is in use.
_STATUS_HEADERS = ("taxonomicstatus", "taxonomic status", "taxon status", "status")
#: Statuses of names in use.
_ACCEPTED_STATUSES = {"accepted", "valid", "provisionally accepted", "artificial hybrid"}
#: Statuses of other names.
_OTHER_STATUSES = {
    "synonym",
    "unchecked",
    "unplaced",
    "doubtful",
    "ambiguous",
    "homotypic synonym",
    "heterotypic synonym",
}
#: Kingdoms of offered names: plants, fungi, and Chromista, such as brown algae.
_KINGDOMS = {"", "plantae", "fungi", "chromista"}
#: Headers of a whole name beside columns of its parts.
_WHOLE_NAME_HEADERS = ("scientificname", "scientific name", "taxon name", "canonicalname")
#: Headers of the authors at the end of a name.
_AUTHOR_HEADERS = ("scientificnameauthorship", "scientific name authorship", "taxon authors", "authorship")


def replace_list(
    known: KnownNames, source: InputFile, progress: Callable[[int], None], file_format: Format | None = None
) -> tuple[NamesListInfo, int]:
    """Replace the list by the names in a file (see `read_names`); return its info, and the number of names left out.

    Raises the exceptions of `read_names` and `KnownNames.replace`; then the list is unchanged.
    """
    left_out = 0

    def record_left_out(count: int) -> None:
        nonlocal left_out
        left_out = count

    return known.replace(read_names(source, progress, file_format, record_left_out), source.name), left_out


def read_names(
    source: InputFile,
    progress: Callable[[int], None],
    file_format: Format | None = None,
    report_left_out: Callable[[int], None] = lambda _count: None,
) -> Iterator[str]:
    """Yield the names in a file, without those of another status or kingdom if it has such columns.

    `progress` is called with the number of bytes of each read, `report_left_out` with the number of names left out so
    far. The default format is that of the file's name, or text for a pipe. All names are yielded a second time if a
    byte far into the text shows that it is not UTF-8. Raises FileError, UnknownFormatError, NoColumnError and OSError.
    """
    path = source.path
    is_pipe = str(path) == STANDARD_STREAM
    if path is not None and not is_pipe and not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
        raise FileError(source.name, Text("It is not a regular file."))  # a pipe that nobody writes to never ends
    reading = ReadOptions(Format.CSV if file_format is None and is_pipe else file_format, is_list=True)
    try:
        yield from _read_list(source, reading, progress, report_left_out)
    except BackupUnusableError:
        raise FileError(source.name, Text("It is a database, not a list of names. Save them as text or CSV.")) from None
    except UnknownEncodingError as error:
        if error.likely or is_pipe:
            raise
        yield from _read_list(
            source, reading._replace(encoding=DEFAULT_ENCODING), lambda _count: progress(0), report_left_out
        )


def _read_list(
    source: InputFile, reading: ReadOptions, progress: Callable[[int], None], report_left_out: Callable[[int], None]
) -> Iterator[str]:
    """Yield the names of a list in one encoding, and call the functions as `read_names` says."""
    columns = None
    count = 0
    has_names = False
    with open_input(source, reading, progress) as file:
        for batch in file.table.read_batches():
            rows = batch.rows
            if batch.names or (batch.names is None and columns is None):
                layout = batch.find_layout(Columns(has_header=None))
                rows = batch.rows_below_header(layout)
                columns = _NameColumns(layout, rows)
            for name in columns.extract_names(rows) if columns else ():
                if name is None:
                    count += 1
                else:
                    has_names = True
                    yield name
            report_left_out(count)
            error = next((row.error for row in rows if row.error is not None), None)
            if error is not None and not has_names:
                raise FileError(source.name, error)


class _NameColumns:
    """The columns of a table that say the name, its authors, and whether it is offered: status and kingdom."""

    def __init__(self, layout: Layout, rows: Sequence[Row]) -> None:
        """Find the columns by their headers. Raises NoColumnError."""
        headers = [*map(normalize_header, layout.names)]
        whole_name = _find_position(headers, _WHOLE_NAME_HEADERS)
        if whole_name is not None and whole_name not in layout.name_parts:
            layout = layout._replace(fields={"name": whole_name}, name_parts=())
        if "name" not in layout.fields:
            raise NoColumnError(layout.names)
        self._layout = layout
        self._authors_column = _find_position(headers, _AUTHOR_HEADERS)
        self._kingdom_column = _find_position(headers, ("kingdom",))
        status = _find_position(headers, _STATUS_HEADERS)
        known = {_read_cell(row, status).casefold() for row in rows} & (_ACCEPTED_STATUSES | _OTHER_STATUSES)
        #: The column of the status. None if it has other values, such as the state of plants in a garden.
        self._status_column = status if known else None

    def extract_names(self, rows: Sequence[Row]) -> Iterator[str | None]:
        """Yield the names in rows, without authors; None for one that is left out or cannot be read."""
        for row, name in zip(rows, self._layout.read_row_names(row.cells for row in rows), strict=True):
            if row.error is not None or (name and not self._is_offered(row)):
                yield None
            elif name:
                authors = _read_cell(row, self._authors_column)
                yield name.removesuffix(f" {authors}") if authors else name

    def _is_offered(self, row: Row) -> bool:
        """Return whether a name is accepted, and is of a plant or fungus."""
        status = self._status_column
        is_accepted = status is None or _read_cell(row, status).casefold() in _ACCEPTED_STATUSES
        return is_accepted and _read_cell(row, self._kingdom_column).casefold() in _KINGDOMS


def _read_cell(row: Row, position: int | None) -> str:
    return (row.cells[position] or "") if position is not None and position < len(row.cells) else ""


def _find_position(headers: Sequence[str], names: Sequence[str]) -> int | None:
    """Return the position in `headers` of the first of the `names` that is there, or None."""
    return next((headers.index(name) for name in names if name in headers), None)
