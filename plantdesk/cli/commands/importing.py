"""`plantdesk import`: prints what files contain, and adds their plants."""

from __future__ import annotations

import argparse
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from plantdesk.cli.commands.export import parse_format_option
from plantdesk.cli.commands.plants import report_change
from plantdesk.cli.stores import open_store
from plantdesk.cli.terminal import TerminalLine, interrupt_on_termination, interruptible, print_json
from plantdesk.domain.edits import Applied
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.imports import ImportConflictError, OnConflict
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.texts import Text, joined, shortened
from plantdesk.platform import output
from plantdesk.store import location_of
from plantdesk.transfer.columns import Columns, NoColumnError
from plantdesk.transfer.files import check_target, input_file
from plantdesk.transfer.formats import STANDARD_STREAM, Format
from plantdesk.transfer.importing import (
    FileImport,
    ImportOptions,
    InvalidRowsError,
    NamesMissingError,
    Preview,
    reading_differences,
)
from plantdesk.transfer.inputs import OpenInput, ReadOptions
from plantdesk.transfer.reading import RowReader
from plantdesk.transfer.text import UnknownEncodingError

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
#: The most columns that are listed as not read.
_MAX_NAMED_COLUMNS = 10


def import_plants(options: argparse.Namespace) -> int:
    """Import files and print the counts; return the exit code, 1 if a row was left out.

    Raises FileError, NoColumnError, UnknownFormatError, InvalidRowsError, ImportConflictError, StoreError, OSError.
    """
    import_options = _parse_import_options(options)
    for file in _exclude_standard_input(options.files):
        file.stat()  # a missing file is refused before a database is created
    _check_rejects(options.rejects, options.files)
    line = TerminalLine()
    with (
        interrupt_on_termination(),
        _add_hints(),
        _open_target_store(options.database, dry_run=options.dry_run) as store,
        FileImport(store, import_options, partial(_show_progress, line)) as files_import,
    ):
        with interruptible("Nothing was imported."):
            preview = _read_and_compare(files_import, options.files, import_options, line)
            left_out = _count_left_out(preview, import_options)
            if options.rejects is not None and left_out:
                files_import.write_refused(options.rejects)
            _print_preview(preview, files_import, import_options)
            applied = _apply(preview, files_import, options)
        _report_result(applied, options)
    return 1 if left_out else 0


def _apply(preview: Preview, files_import: FileImport, options: argparse.Namespace) -> Applied | None:
    """Import the compared plants, except in a dry run. Print JSON if it is requested, even after a failure."""
    applied = None
    try:
        if not options.dry_run:
            applied = files_import.apply(skip_invalid=options.skip_invalid)
    finally:
        try:
            if options.json:
                _print_json(preview, files_import, applied)
        except output.OutputError as error:
            if applied is None:
                raise
            output.report(f"plantdesk: {error}")  # no failure: a script that retries would add the plants again
    return applied


def _report_result(applied: Applied | None, options: argparse.Namespace) -> None:
    if options.dry_run:
        output.report("Nothing was imported: it is a dry run.")
    elif applied is None or applied.change is None:
        output.report("Nothing to import.")
    else:
        report_change(applied, options.database)


def _parse_import_options(options: argparse.Namespace) -> ImportOptions:
    if len(dict(options.map)) < len(options.map):
        options.parser.error(Text("--map may name each field only once"))
    columns = Columns(dict(options.map), has_header=not options.no_header)
    read_options = ReadOptions(
        parse_format_option(options), options.encoding, columns=columns, skipped_lines=options.skip_lines
    )
    return ImportOptions(read_options, OnConflict(options.on_clash), options.skip_invalid, options.tag)


def _read_and_compare(
    files_import: FileImport, files: Sequence[Path], options: ImportOptions, line: TerminalLine
) -> Preview:
    try:
        files_import.read([input_file(file) for file in files])
        return files_import.compare(options.on_conflict)
    finally:
        line.clear()


def _exclude_standard_input(files: Sequence[Path]) -> list[Path]:
    return [file for file in files if str(file) != STANDARD_STREAM]


def _check_rejects(rejects: Path | None, files: Sequence[Path]) -> None:
    """Raise PlantDeskError if the file of --rejects is a stream, a database, or one of the imported files."""
    if rejects is None:
        return
    if str(rejects) == STANDARD_STREAM:
        raise PlantDeskError(Text("--rejects needs the name of a file."))
    check_target(rejects)
    if rejects.exists() and any(map(rejects.samefile, _exclude_standard_input(files))):
        raise PlantDeskError(Text("--rejects names a file that is imported. Choose another one."))


@contextmanager
def _add_hints() -> Iterator[None]:
    """Add to the message of an error in the block the option that would help."""
    try:
        yield
    except NoColumnError as error:
        hint = Text(
            "Use --map name=COLUMN, --no-header if the first row is a plant, or --skip-lines if the header is below it."
        )
        raise PlantDeskError(joined([error.text, hint])) from error
    except UnknownEncodingError as error:
        hint = Text("Use --encoding with its name, such as cp1252, cp1251 or shift_jis.")
        if error.likely:
            hint = Text("Use --encoding {encoding}.", encoding=error.likely[0])
        raise PlantDeskError(joined([error.text, hint])) from error
    except NamesMissingError as error:
        hint = Text("Use --map name=MEMBER with the member that is the name.")
        raise PlantDeskError(joined([error.text, hint])) from error
    except InvalidRowsError as error:
        raise PlantDeskError(joined([error.text, Text("Correct the file, or add --skip-invalid.")])) from error
    except ImportConflictError as error:
        raise PlantDeskError(joined([error.text, Text("Add --on-clash skip, new-id or replace.")])) from error


@contextmanager
def _open_target_store(database: StoreLocation, *, dry_run: bool) -> Iterator[PlantStore]:
    """Open or create the store; in a dry run, open an empty temporary store instead of creating one."""
    with ExitStack() as stack:
        if dry_run and not database.exists():
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            database = location_of(Path(folder) / database.name)
        yield stack.enter_context(open_store(database))


def _count_left_out(preview: Preview, options: ImportOptions) -> int:
    is_left_out = options.on_conflict in {OnConflict.REFUSE, OnConflict.SKIP}
    return preview.invalid + (preview.counts.conflicting if is_left_out else 0)


def _print_preview(preview: Preview, files_import: FileImport, options: ImportOptions) -> None:
    """Report how each file was read, the first refused rows, and the counts."""
    for reader in files_import.readers:
        output.report(_describe_reading(reader))
    new, unchanged, conflicting, _ = preview.counts
    for row in (*preview.invalid_rows, *preview.conflict_rows):
        name = shortened(files_import.find_file_name(row), 60)
        output.report(f"{name}, line {row.line:,}: {shortened(str(row.reason), 300)}")
    unlisted = preview.invalid + conflicting - len(preview.invalid_rows) - len(preview.conflict_rows)
    if unlisted:
        output.report(f"and {unlisted:,} more; --rejects FILE saves those that are left out")
    handling = f" ({options.on_conflict})" if conflicting else ""
    if conflicting and options.on_conflict is OnConflict.REPLACE:
        handling = " (replace; of several rows with one ID the last)"
    counts = f"{new:,} new, {unchanged:,} unchanged, {conflicting:,} clashing{handling}, {preview.invalid:,} invalid"
    if preview.blank:
        counts += f", {preview.blank:,} blank"
    output.report(counts)


def _describe_reading(reader: RowReader) -> str:
    """Return a line with the format, encoding, columns and changed values of a file, so that errors are noticed."""
    file = reader.file
    parts = [str(file.file_format).upper() if file.file_format is not Format.JSON_LINES else "JSON Lines"]
    parts += [
        *_describe_text_format(file),
        _describe_columns(reader),
        *_describe_codes(reader),
        *map(str, reading_differences([reader])),
    ]
    return f"{shortened(file.name, 60)}: {'; '.join(parts)}"


def _describe_text_format(file: OpenInput) -> Iterator[str]:
    """Yield the encoding and the delimiter, if the format of the file has them."""
    if file.doubtful_cell is not None:
        yield f"{file.encoding}, a guess, as in “{file.doubtful_cell}”: --encoding sets another"
    elif file.encoding is not None:
        yield file.encoding
    if file.delimiter is not None:
        yield f"delimiter {_DELIMITERS.get(file.delimiter, file.delimiter)}"


def _describe_columns(reader: RowReader) -> str:
    """Return the fields with their columns if these have other names, then the columns that are ignored."""
    fields = [field for field, name in reader.columns.items() if name == field]
    others = {field: f"from {_join_quoted([name])}" for field, name in reader.columns.items() if name != field}
    if reader.name_columns:
        others["name"] = f"put together from {_join_quoted(reader.name_columns, ' + ')}"
    text = ", ".join([*fields, *map(" ".join, others.items())]) or "no plant"
    more = " and more" if len(reader.ignored) > _MAX_NAMED_COLUMNS else ""
    return f"{text}; not read: {_join_quoted([*reader.ignored][:_MAX_NAMED_COLUMNS])}{more}" if reader.ignored else text


def _join_quoted(names: Sequence[str], separator: str = ", ") -> str:
    return separator.join(f"“{shortened(name, 30)}”" for name in names)


def _describe_codes(reader: RowReader) -> Iterator[str]:
    """Yield a text if the column of IDs holds codes, not numbers; it names the option that keeps them as notes."""
    if reader.layout.codes:
        column, _, example = reader.layout.codes
        note = reader.columns.get("note")
        place = "" if note is None else f", in place of “{shortened(note, 30)}”"
        map_option = f"--map {shlex.quote(f'note={column}')} keeps them in the note{place}"
        yield f"{column}: codes such as {shortened(example, 30)}, not numbers: new IDs; {map_option}"


def _print_json(preview: Preview, files_import: FileImport, applied: Applied | None) -> None:
    listed = (*preview.invalid_rows, *preview.conflict_rows)
    rows = [{"file": files_import.find_file_name(row), "line": row.line, "reason": str(row.reason)} for row in listed]
    change = None if applied is None or applied.change is None else applied.change.number
    plants = 0 if applied is None else applied.plants
    new, unchanged, conflicting, _ = preview.counts
    counts = {"new": new, "unchanged": unchanged, "clashing": conflicting, "invalid": preview.invalid}
    files = [_file_as_json(reader) for reader in files_import.readers]
    print_json({**counts, "blank": preview.blank, "imported": plants, "change": change, "rows": rows, "files": files})


def _file_as_json(reader: RowReader) -> dict[str, object]:
    codes = reader.layout.codes
    return {
        "file": reader.file.name,
        "format": reader.file.file_format,
        "encoding": reader.file.encoding,
        "encoding_guessed": reader.file.doubtful_cell is not None,
        "doubtful_cell": reader.file.doubtful_cell,
        "delimiter": reader.file.delimiter,
        "columns": reader.columns,
        "ignored": [*reader.ignored],
        "other_tables": reader.file.table.other_tables,
        "title_rows": reader.layout.title_rows,
        "leading_zeros": reader.leading_zeros,
        "codes": None if codes is None else {"column": codes.column, "example": codes.example},
    }


def _show_progress(line: TerminalLine, rows: int, bytes_read: int, total_bytes: int) -> None:
    """Show the fraction of the files that is read, or for a pipe of unknown size the number of rows."""
    line.show(f"Reading: {min(bytes_read / total_bytes, 1):.0%}" if total_bytes else f"Reading: {rows:,} rows")
