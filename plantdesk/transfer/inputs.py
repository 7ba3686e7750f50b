"""Opens a file or pasted text by the reader of its format, and reads the first rows for a preview."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from io import StringIO
from typing import IO, NamedTuple

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.texts import Text
from plantdesk.store import plants_of_file
from plantdesk.transfer.columns import SAMPLE_ROWS, Columns, Layout
from plantdesk.transfer.delimited import ONE_COLUMN, DelimitedTable, Dialect
from plantdesk.transfer.files import InputFile
from plantdesk.transfer.formats import Format, find_format
from plantdesk.transfer.json_items import FileSyntaxError, Item, parse_array, parse_item
from plantdesk.transfer.name_parts import join_names
from plantdesk.transfer.tables import ObjectTable, StorePlants, Table
from plantdesk.transfer.text import MAX_PLANT_CHARACTERS, FileError, TextFile

#: The most characters of a cell in a `Sample`; an import reads all.
_MAX_SAMPLE_CELL_LENGTH = 200
#: A bullet or number of a pasted list, as in word processors and web pages.
_LIST_MARK = re.compile(r"\s*(?:[•◦▪‣·*–-]|[0-9]{1,3}[.)])\s+(?=\S)")


class ReadOptions(NamedTuple):
    """How to read a file; an option that is None is detected."""

    file_format: Format | None = None
    encoding: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    columns: Columns = Columns()
    #: Lines to skip before the header, such as a title.
    skipped_lines: int = 0
    #: Whether the file may be a list of names without a header, in which commas and quotes belong to the names.
    is_list: bool = False


class OpenInput(NamedTuple):
    """An open file and its table. `text` is None if it is no text file."""

    name: str
    file_format: Format
    table: Table
    text: TextFile | None = None

    @property
    def has_objects(self) -> bool:
        """Whether the rows are JSON objects; their members may differ."""
        return self.file_format in {Format.JSON, Format.JSON_LINES}

    @property
    def encoding(self) -> str | None:
        """The encoding after the first rows were read, None if the format has none."""
        return None if self.text is None or self.text.encoding is None else self.text.encoding.removesuffix("-sig")

    @property
    def doubtful_cell(self) -> str | None:
        """The first cell that another encoding would change, None if the encoding is certain."""
        return None if self.text is None else self.text.doubtful_cell

    @property
    def delimiter(self) -> str | None:
        """The delimiter of CSV or TSV; None for other formats and for a single column."""
        delimiter = None if self.dialect is None else self.dialect.delimiter
        return None if delimiter == ONE_COLUMN else delimiter

    @property
    def dialect(self) -> Dialect | None:
        """The dialect of CSV or TSV; None for other formats."""
        return self.table.dialect if isinstance(self.table, DelimitedTable) else None


@contextmanager
def open_input(
    source: InputFile, reading: ReadOptions, progress: Callable[[int], None] = lambda _size: None
) -> Iterator[OpenInput]:
    """Open a file; `progress` is called with the number of bytes of each read. Raises FileError and OSError."""
    if source.path is not None and source.path.is_dir():
        raise FileError(source.name, Text("It is a folder. Name the files in it instead."))
    file_format = (
        (reading.file_format or Format.CSV) if source.path is None else find_format(source.path, reading.file_format)
    )
    with ExitStack() as stack:
        if file_format is Format.STORE and source.path is not None:
            yield OpenInput(source.name, file_format, StorePlants(stack.enter_context(plants_of_file(source.path))))
            return
        stream: IO[bytes] = stack.enter_context(source.open())
        if file_format is Format.XLSX:
            from plantdesk.transfer.workbooks import WorkbookTable

            if not stream.seekable():
                copy = stack.enter_context(tempfile.TemporaryFile())
                shutil.copyfileobj(stream, copy)
                stream = copy
            table = WorkbookTable(stream, source.name, source.size, progress, reading.skipped_lines)
            yield OpenInput(source.name, file_format, table)
            return
        skipped = reading.skipped_lines
        text = TextFile(stream, source.name, progress, reading.encoding, skipped_lines=skipped)
        yield open_text(file_format, text, reading)


def open_text(file_format: Format, text: TextFile, reading: ReadOptions) -> OpenInput:
    """Return a text file with the table of its format, which has read the first lines. Raises FileError and OSError."""
    table: Table
    match file_format:
        case Format.JSON:
            table = ObjectTable(_read_array_items(text), is_array=True)
        case Format.JSON_LINES:
            table = ObjectTable(_read_json_lines(text), is_array=False)
        case _:
            delimiter = reading.delimiter or ("\t" if file_format is Format.TSV else None)
            table = DelimitedTable(text, delimiter, reading.quote, is_list=reading.is_list)
    return OpenInput(text.name, file_format, table, text)


def _read_json_lines(text: TextFile) -> Iterator[Item]:
    for number, line in text.read_lines():
        if not line.isspace():
            yield parse_item(line.rstrip("\r\n"), number)


def _read_array_items(text: TextFile) -> Iterator[Item]:
    try:
        yield from parse_array(text.read_pieces(), MAX_PLANT_CHARACTERS)
    except FileSyntaxError as error:
        raise text.make_error(error.reason, error.line) from None


class Sample(NamedTuple):
    """The first rows of a file, and how they were read."""

    file: OpenInput
    size: int
    layout: Layout
    rows: list[list[str | None]]
    #: Whether the user may say that the first row is a header, or a plant.
    has_choice_of_header: bool

    def columns(self, fields: Mapping[str, Sequence[int]], *, by_name: bool) -> Columns:
        """Return `fields`, as positions, for an import; as names with `by_name`, as other files may differ in order."""
        is_unique = len(set(self.layout.names)) == len(self.layout.names)
        by_name = (by_name and self.layout.has_header and is_unique) or self.file.has_objects
        names = self.layout.names
        chosen = {field: tuple(names[i] if by_name else i for i in positions) for field, positions in fields.items()}
        return Columns(chosen, only_chosen=True, has_header=self.layout.has_header)

    def example_name(self, columns: Sequence[int]) -> str:
        """Return the first name that is joined from these columns; an empty text if all are empty."""
        return next(filter(None, join_names(self.rows, self.layout.names, columns)), "")


def read_sample(source: InputFile, reading: ReadOptions) -> Sample:
    """Read the first rows of a file. Raises FileError, UnknownFormatError and OSError."""
    with open_input(source, reading) as file:
        batch = next(file.table.read_batches())
        batch = batch._replace(rows=batch.rows[: SAMPLE_ROWS + 1])
        layout = batch.find_layout(reading.columns)
        if not layout.names:
            raise PlantDeskError(Text("The file has no objects with members."))
        below = batch.rows_below_header(layout)
        rows = [[cell and cell[:_MAX_SAMPLE_CELL_LENGTH] for cell in row.cells] for row in below if row.error is None]
        return Sample(file, source.size, layout, rows, batch.names is None)


def pasted_file(name: str, text: str) -> InputFile:
    """Return pasted text as a file, without the bullets or numbers of a list."""
    return InputFile(name, text=_without_list_marks(text.strip("\r\n")))


def pasted_read_options(text: str) -> ReadOptions:
    """Return the options for pasted text: a table if it has tabs, otherwise perhaps a list of names."""
    return ReadOptions(columns=Columns(has_header=None), delimiter="\t" if "\t" in text else None, is_list=True)


def _without_list_marks(text: str) -> str:
    """Return a list without its bullets or numbers; the unchanged text if a line has none."""
    lines = [*StringIO(text, newline=None)]  # `splitlines` would keep other threads waiting
    is_list = all(map(_LIST_MARK.match, filter(str.strip, lines)))
    return "".join(_LIST_MARK.sub("", line, count=1) for line in lines) if is_list else text
