"""`plantdesk export` and `labels`: write plants to a file."""

from __future__ import annotations

import argparse

from plantdesk.cli.commands.plants import find_plants
from plantdesk.cli.stores import Filter, build_selection, open_reader, parse_filter_options
from plantdesk.cli.terminal import interruptible
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.records import PlantRow
from plantdesk.domain.texts import Text, plants_text
from plantdesk.platform import output
from plantdesk.transfer.files import is_replaced
from plantdesk.transfer.formats import EXPORT_FORMATS, Format, find_format
from plantdesk.transfer.writing import write_plants


def export_plants(options: argparse.Namespace) -> int:
    """Write plants in insertion order to a file; an existing file is replaced after the last plant is written.

    Raises UnknownFormatError, other PlantDeskErrors, OSError.
    """
    file = options.file
    requested = parse_filter_options(options)
    file_format = find_format(file, parse_format_option(options), EXPORT_FORMATS)
    outcome = "No file was written." if is_replaced(file) else "The output is incomplete."
    with interruptible(outcome), open_reader(options.database) as reader:
        count = write_plants(file, file_format, reader, build_selection(reader, requested), lambda _count: None)
    output.report(f"Exported {plants_text(count)}.")
    return 0


def parse_format_option(options: argparse.Namespace) -> Format | None:
    """Return the format that --format names; None without it, as the file's name then decides."""
    return None if options.format is None else Format(options.format)


def labels(options: argparse.Namespace) -> int:
    """Write labels of plants, as the window prints them, to a PDF file; replace an existing one.

    Raises UnknownPlantError, MissingLibrariesError, other PlantDeskErrors, OSError.
    """
    from plantdesk.platform import display

    display.use_offscreen()
    from plantdesk.ui.labels.painting import SHEETS, LabelContent, LabelJob, write_pdf

    sheets = [sheet for sheet in SHEETS if options.sheet.casefold() in sheet.name.casefold()]
    if not sheets:
        names = "; ".join(sheet.name for sheet in SHEETS)
        options.parser.error(Text("there is no sheet “{sheet}”; known are: {names}", sheet=options.sheet, names=names))
    sheet = sheets[0]
    content = LabelContent(tag=not options.line, id=not options.line, line=options.line)
    if content.unknown_field:
        known = Text("{field} is not known in --line; it may have {{name}}, {{tag}}, {{id}} and {{note}}")
        options.parser.error(known.filled(field=content.unknown_field))
    if not 1 <= options.start <= sheet.label_count:
        options.parser.error(Text("--start: this sheet has the labels 1 to {count}", count=sheet.label_count))
    with interruptible("No file was written."):
        rows = _read_selected_rows(options)
        if not rows:
            raise PlantDeskError(Text("No plant is selected, so no labels were written."))
        job = LabelJob(sheet, rows, content, options.start - 1)
        write_pdf(options.file, job)
    count = "1 label" if len(rows) == 1 else f"{len(rows):,} labels"
    output.report(f"Wrote {count} on {'1 sheet' if job.pages == 1 else f'{job.pages:,} sheets'}, {sheet.name}.")
    return 0


def _read_selected_rows(options: argparse.Namespace) -> list[PlantRow]:
    requested = parse_filter_options(options)
    if options.ids and requested != Filter():
        options.parser.error(Text("give either IDs, or --search, --tag, --no-tag, --from or --since"))
    with open_reader(options.database) as reader:
        if options.ids:
            return find_plants(reader, options.ids)
        return [row for page in reader.pages(build_selection(reader, requested)) for row in page]
