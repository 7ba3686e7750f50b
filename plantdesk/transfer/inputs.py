"""Opens the files of an import, each by the reader of its format."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.domain import strict_json
from plantdesk.transfer.columns import Columns
from plantdesk.transfer.delimited import DelimitedTable
from plantdesk.transfer.formats import Format, format_of
from plantdesk.transfer.markdown import MarkdownTable
from plantdesk.transfer.reading import RowReader
from plantdesk.transfer.stores import opened_store
from plantdesk.transfer.text import LONGEST, FileError, TextFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plantdesk.domain.import_batches import ImportBatch
    from plantdesk.transfer.reading import Refused
    from plantdesk.transfer.sources import Source
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


class Input(NamedTuple):
    """An open file: a table, or JSON objects and their lines. `text`, if it is a text file, has its encoding."""

    form: Format
    text: TextFile | None
    table: Table | None
    objects: Iterator[tuple[int, object]]


def _ignore(_size: int) -> None:
    """Report no progress."""


@contextmanager
def opened(source: Source, reading: Reading, progress: Callable[[int], None] = _ignore) -> Iterator[Input]:
    """Open a file; `progress` is called with the bytes that were read since. Raises FileError and OSError."""
    if source.path is not None and source.path.is_dir():
        raise FileError(source.name, "It is a folder. Name the files in it instead.")
    form = (reading.form or Format.CSV) if source.path is None else format_of(source.path, reading.form)
    with ExitStack() as stack:
        if form is Format.STORE and source.path is not None:
            yield Input(form, None, stack.enter_context(opened_store(source.path)), iter(()))
            return
        stream = stack.enter_context(source.opened())
        if form is Format.XLSX:
            from plantdesk.transfer.workbooks import opened_workbook

            book = opened_workbook(stream, source.name, source.size, progress, skipped=reading.skipped_lines)
            yield Input(form, None, stack.enter_context(book), iter(()))
            return
        skipped = reading.skipped_lines
        text = TextFile(stream, source.name, progress, reading.encoding, skipped_lines=skipped)
        yield _text_input(form, text, reading)


def _text_input(form: Format, text: TextFile, reading: Reading) -> Input:
    match form:
        case Format.JSON:
            items = strict_json.array_items(text.pieces(), LONGEST)
            return Input(form, text, None, _checked(items, text))
        case Format.JSON_LINES:
            return Input(form, text, None, _json_lines(text))
        case Format.MARKDOWN:
            return Input(form, text, MarkdownTable(text), iter(()))
        case _:
            delimiter = reading.delimiter or ("\t" if form is Format.TSV else None)
            return Input(form, text, DelimitedTable(text, delimiter, reading.quote), iter(()))


def _json_lines(text: TextFile) -> Iterator[tuple[int, object]]:
    for block in text.blocks():
        first = text.line - block.count("\n")
        for number, line in enumerate(block.split("\n"), first):
            if line and not line.isspace():
                yield number, strict_json.line_value(line.removesuffix("\r"))


def _checked(items: Iterator[tuple[int, object]], text: TextFile) -> Iterator[tuple[int, object]]:
    try:
        yield from items
    except strict_json.FileSyntaxError as error:
        raise text.error(error.reason, error.line) from None


def rows_of(
    file: Input, number: int, columns: Columns, refused: Callable[[Refused], None]
) -> tuple[RowReader, Iterator[ImportBatch]]:
    """Return a reader of a file, whose place in the import is `number`, and its plants, many at a time.

    `refused` gets the rows that are no plants. Reading them raises FileError, NoColumnError and OSError.
    """
    reader = RowReader(number, columns, refused)
    if file.table is None:
        return reader, reader.objects(file.objects, numbered=file.form is Format.JSON)
    return reader, reader.rows(file.table.batches(), file.table.layout)
