"""Opens the files of an import, each by the reader of its format, and reads their beginning for a preview."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.domain import strict_json
from plantdesk.domain.errors import PlantDeskError, Text
from plantdesk.store import plants_of_file
from plantdesk.transfer.columns import SAMPLED, Columns, Layout, layout_of
from plantdesk.transfer.delimited import DelimitedTable, Dialect
from plantdesk.transfer.formats import Format, format_of
from plantdesk.transfer.name_parts import with_names
from plantdesk.transfer.reading import RowReader, layout_of_objects, text_of
from plantdesk.transfer.tables import StorePlants
from plantdesk.transfer.text import LONGEST, FileError, TextFile

if TYPE_CHECKING:
    from plantdesk.domain.imports import ImportRow
    from plantdesk.transfer.files import InputFile
    from plantdesk.transfer.reading import Refused
    from plantdesk.transfer.tables import Table


class Reading(NamedTuple):
    """How files are read; what is None is detected."""

    form: Format | None = None
    encoding: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    columns: Columns = Columns()
    #: Lines before the header, such as a title.
    skipped_lines: int = 0
    #: Whether lines without a header may be names, with commas and quotes that belong to them.
    is_list: bool = False


class Input(NamedTuple):
    """An open file: a table, or JSON objects and their lines. `text`, if it is a text file, has its encoding."""

    form: Format
    text: TextFile | None
    table: Table | None
    objects: Iterator[strict_json.Item]


def _ignore(_size: int) -> None:
    """Report no progress."""


@contextmanager
def opened(source: InputFile, reading: Reading, progress: Callable[[int], None] = _ignore) -> Iterator[Input]:
    """Open a file; `progress` is called with the bytes that were read since. Raises FileError and OSError."""
    if source.path is not None and source.path.is_dir():
        raise FileError(source.name, Text("It is a folder. Name the files in it instead."))
    form = (reading.form or Format.CSV) if source.path is None else format_of(source.path, reading.form)
    with ExitStack() as stack:
        if form is Format.STORE and source.path is not None:
            yield Input(form, None, StorePlants(stack.enter_context(plants_of_file(source.path))), iter(()))
            return
        stream = stack.enter_context(source.opened())
        if form is Format.XLSX:
            from plantdesk.transfer.workbooks import opened_workbook

            book = opened_workbook(stream, source.name, source.size, progress, skipped=reading.skipped_lines)
            yield Input(form, None, stack.enter_context(book), iter(()))
            return
        skipped = reading.skipped_lines
        text = TextFile(stream, source.name, progress, reading.encoding, skipped_lines=skipped)
        yield text_input(form, text, reading)


def text_input(form: Format, text: TextFile, reading: Reading) -> Input:
    """Return the reader of an open text file. Raises FileError and OSError."""
    match form:
        case Format.JSON:
            items = strict_json.array_items(text.pieces(), LONGEST)
            return Input(form, text, None, _checked(items, text))
        case Format.JSON_LINES:
            return Input(form, text, None, _json_lines(text))
        case _:
            delimiter = reading.delimiter or ("\t" if form is Format.TSV else None)
            return Input(form, text, DelimitedTable(text, delimiter, reading.quote, is_list=reading.is_list), iter(()))


def _json_lines(text: TextFile) -> Iterator[strict_json.Item]:
    for number, line in text.lines():
        if not line.isspace():
            yield number, strict_json.line_value(line.rstrip("\r\n"))


def _checked(items: Iterator[strict_json.Item], text: TextFile) -> Iterator[strict_json.Item]:
    try:
        yield from items
    except strict_json.FileSyntaxError as error:
        raise text.error(error.reason, error.line) from None


def rows_of(
    file: Input, number: int, columns: Columns, refused: Callable[[Refused], None]
) -> tuple[RowReader, Iterator[list[ImportRow]]]:
    """Return a reader of the file with this `number` in the import, and the file's plants, many at a time.

    `refused` is that of RowReader. Reading the plants raises FileError, NoColumnError and OSError.
    """
    reader = RowReader(number, columns, refused)
    if file.table is None:
        return reader, reader.objects(file.objects, numbered=file.form is Format.JSON)
    return reader, reader.rows(file.table.batches(), file.table.layout)


#: Characters of a cell.
_LONGEST = 200


class Sample(NamedTuple):
    """How a file is read, and its first rows. `dialect` and `encoding` are None if the format has none."""

    form: Format
    size: int
    encoding: str | None
    #: The first cell with letters that depend on the encoding, if that is a guess.
    doubtful_cell: str | None
    dialect: Dialect | None
    layout: Layout
    rows: list[list[str | None]]
    #: Whether the first row may be either a header or a plant.
    has_choice_of_header: bool

    def columns(self, fields: Mapping[str, Sequence[int]], *, by_name: bool) -> Columns:
        """Return the columns of an import with these positions of fields; set `by_name` if several files are read."""
        is_unique = len(set(self.layout.names)) == len(self.layout.names)
        by_name = (by_name and self.layout.has_header and is_unique) or self.form in {Format.JSON, Format.JSON_LINES}
        chosen = {field: tuple(self.layout.names[at] if by_name else at for at in ats) for field, ats in fields.items()}
        return Columns(chosen, only=True, has_header=self.layout.has_header)

    def example_name(self, columns: Sequence[int]) -> str:
        """Return the first name that is put together from these columns; an empty text if all are empty."""
        rows = with_names(self.rows, self.layout.names, columns, columns[0])
        return next((name for row in rows if (name := row[columns[0]])), "")


def read_sample(source: InputFile, reading: Reading) -> Sample:
    """Read the first rows of a file. Raises FileError, UnknownFormatError and OSError."""
    with opened(source, reading) as file:
        layout, rows = _of_objects(file) if file.table is None else _of_table(file.table, reading.columns)
        dialect = file.table.dialect if isinstance(file.table, DelimitedTable) else None
        shown = [[None if cell is None else cell[:_LONGEST] for cell in row] for row in rows]
        has_choice = file.table is not None and file.table.layout is None
        encoding = None if file.text is None else file.text.encoding
        doubtful = None if file.text is None else file.text.doubtful_cell
        return Sample(file.form, source.size, encoding, doubtful, dialect, layout, shown, has_choice)


def _of_table(table: Table, columns: Columns) -> tuple[Layout, Sequence[Sequence[str | None]]]:
    rows = next(table.batches()).rows[: SAMPLED + 1]
    layout = layout_of(rows, columns, table.layout)
    return layout, rows[layout.titles + layout.has_header :]


def _of_objects(file: Input) -> tuple[Layout, list[list[str | None]]]:
    objects = [item for _, item in itertools.islice(file.objects, SAMPLED) if isinstance(item, dict)]
    layout = layout_of_objects(objects, Columns())
    if not layout.names:
        raise PlantDeskError(Text("The file has no objects with members."))
    return layout, [[_text(item.get(name)) for name in layout.names] for item in objects]


def _text(value: object) -> str | None:
    return None if value is None else text_of(value)
