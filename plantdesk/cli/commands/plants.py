"""`plantdesk add`, `list`, `get`, `edit` and `delete`: one plant, or those that a filter selects."""

from __future__ import annotations

import argparse
import csv
import itertools
import json
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import TypeVar

from plantdesk.cli.stores import (
    Filter,
    build_selection,
    format_command,
    open_existing_store,
    open_reader,
    open_store,
    parse_filter_options,
)
from plantdesk.cli.terminal import confirm, format_iso_time, format_local_time, print_json
from plantdesk.domain.edits import Applied, Delete, DeleteAll, Edit, Insert, Rewrite, edited
from plantdesk.domain.errors import UnknownPlantError
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.protocols import PlantReader
from plantdesk.domain.records import COMMAND, PlantRow, parse_id
from plantdesk.domain.rewriting import PlantTexts, RewriteRule, rewritten_plants
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import Selection
from plantdesk.domain.texts import Text, plants_text, printable, shortened
from plantdesk.domain.validation import check_name, new_plant, plant_fields, plant_to_add
from plantdesk.platform import output

_Item = TypeVar("_Item")
#: The number of plants that are printed together.
_BATCH_SIZE = 500
_MAX_SHOWN_LENGTH = 60
#: The most changes that a dry run prints.
_MAX_PREVIEWED_CHANGES = 20
_MAX_TITLE_LENGTH = 100
_FIELDS = ("id", "name", "tag", "note", "added_at", "source", "source_name")


def add(options: argparse.Namespace) -> int:
    """Add one plant and print its id. Raises InvalidPlantError, UnknownPlantError, IdTakenError, StoreError."""
    if options.name is None and options.like is None:
        options.parser.error(Text("give --name, or --like with the ID of a plant to copy"))
    typed_values = {"name": options.name, "tag": options.tag}
    values = {field: text for field, text in typed_values.items() if text is not None}
    if options.name is not None:
        check_name(options.name)
    plant_id = None if options.id is None else parse_id(options.id)
    if options.like is not None:
        plant_id = _add_copy(options, values, plant_id)
    else:
        with open_store(options.database) as store:
            if plant_id is None:
                added = store.add_as_next(plant_fields(values), COMMAND)
            else:
                added = store.add(new_plant({**values, "id": plant_id}), COMMAND)
            plant_id = added.result().id
    try:
        output.write(str(plant_id))
    except output.OutputError as error:
        # Not a failure: a script that retries would add the plant a second time.
        output.report(f"plantdesk: The plant was added with ID {plant_id}. {error}")
    return 0


def _add_copy(options: argparse.Namespace, values: dict[str, str], plant_id: int | None) -> int:
    """Add a copy of the plant --like, changed by `values`; return the id: `plant_id`, or the next one if it is None."""
    with open_existing_store(options.database) as store, closing(store.reader()) as reader:
        row = find_plant(reader, parse_id(options.like))
        texts = {"name": row.name, **({} if row.tag is None else {"tag": row.tag}), **values}
        (added,) = store.apply([Insert(plant_to_add(texts, plant_id), row.note)], COMMAND).result().added_ids
        return added


def list_plants(options: argparse.Namespace) -> int:
    """Print plants, newest first, while they are read. Raises StoreError, PlantDeskError for an unknown source."""
    requested = parse_filter_options(options)
    with open_reader(options.database) as reader:
        rows = reader.selected(build_selection(reader, requested), options.limit)
        if options.csv and not output.is_terminal():
            output.use_utf8()
        format_rows = _format_as_csv if options.csv else _format_as_text
        if options.json:
            format_rows = _format_as_json
        for text in format_rows(rows):
            output.write(text)
    return 0


def get(options: argparse.Namespace) -> int:
    """Print one plant. Raises InvalidPlantError, UnknownPlantError, StoreError."""
    with open_reader(options.database) as reader:
        row = find_plant(reader, parse_id(options.id))
    if options.json:
        print_json(plant_as_json(row))
        return 0
    source = f"{row.source.kind} {_shorten(row.source.label)}".rstrip()
    lines = [f"ID:    {row.id}", f"Name:  {printable(row.name)}"]
    lines += [f"Tag:   {printable(row.tag)}"] if row.tag is not None else []
    lines += [f"Added: {format_local_time(row.added_at)} by {source}"]
    lines += ["Note:", *(f"  {printable(line)}" for line in row.note.splitlines())] if row.note else []
    output.write("\n".join(lines))
    return 0


def edit(options: argparse.Namespace) -> int:
    """Change a plant or, after a question if there are several, the plants that a filter selects.

    Raises InvalidPlantError, InvalidPatternError, UnknownPlantError, EditConflictError, StoreError; PlantDeskError for
    an unknown source, or if the user does not confirm.
    """
    rule = _parse_rule_options(options)
    if options.dry_run:
        with open_reader(options.database) as reader:
            _print_changes(reader, _build_edit_selection(reader, options), rule)
        return 0
    with open_existing_store(options.database) as store, closing(store.reader()) as reader:
        change: Edit
        if options.id is not None:
            row = find_plant(reader, parse_id(options.id))
            change = edited(row, **rule.apply(PlantTexts(row.name, row.tag, row.note))._asdict())
        else:
            change = Rewrite(_build_edit_selection(reader, options), rule)
            if not options.yes:
                _confirm_edit(reader.count_selected(change.plants))
        report_change(store.apply([change], COMMAND).result(), options.database)
    return 0


def _check_edit(options: argparse.Namespace) -> None:
    """Report contradictory options, or a search that selects all plants, as wrong usage (SystemExit)."""
    if options.replace and not options.replace[0]:
        options.parser.error(Text("OLD of --replace is empty: give the text that is to be replaced"))
    has_filter = _parse_edit_filter(options) != Filter()
    if has_filter is (options.id is not None):
        options.parser.error(Text("give either an ID, or --search, --tagged, --untagged, --from or --since"))
    _refuse_empty_search(options)


def _parse_rule_options(options: argparse.Namespace) -> RewriteRule:
    """Check the options of `edit`, and return the rule by which each selected plant is changed."""
    _check_edit(options)
    old, new = options.replace or ("", "")
    rule = RewriteRule(
        name=options.name,
        note=options.note,
        sets_tag=options.no_tag or options.tag is not None,
        tag=options.tag,
        fields=tuple(options.fields.split(",")),
        find=old,
        replacement=new,
        ignore_case=options.ignore_case,
        whole_words=options.whole_words,
        is_pattern=options.regex,
        tidies_blanks=options.tidy,
        quotes=options.quotes or "",
        prefix=options.prefix or "",
        suffix=options.suffix or "",
        note_line=options.note_append or "",
    )
    details = ("fields", "replacement", "ignore_case", "whole_words", "is_pattern")  # they alone change nothing
    if rule == RewriteRule(**{detail: getattr(rule, detail) for detail in details}):
        options.parser.error(Text("give what is to change, such as --name, --tag or --replace"))
    rule.check()
    if options.name is not None:
        check_name(options.name)
    return rule


def _parse_edit_filter(options: argparse.Namespace) -> Filter:
    """Return the filter of `edit`, by --tagged and --untagged, as --tag and --no-tag set the new tag there."""
    return parse_filter_options(options)._replace(tag=options.tagged, without_tag=options.untagged)


def _refuse_empty_search(options: argparse.Namespace) -> None:
    if options.search is not None and parse_search(options.search).is_everything:
        options.parser.error(Text("--search needs a word, since an empty one selects all plants"))


def _build_edit_selection(reader: PlantReader, options: argparse.Namespace) -> Selection:
    if options.id is None:
        return build_selection(reader, _parse_edit_filter(options))
    return Selection(ids=[find_plant(reader, parse_id(options.id)).id])


def _confirm_edit(count: int) -> None:
    if count > 1:
        confirm(f"Change up to {count:,} plants?", Text("None of the {count:,} plants was changed", count=count))


def _print_changes(reader: PlantReader, selection: Selection, rule: RewriteRule) -> None:
    """Print the first changes that a rule would make, and on standard error their number."""
    count = 0
    for row in reader.selected(selection):
        for _, name, tag, note in rewritten_plants(rule, [(row.id, row.name, row.tag, row.note)]):
            count += 1
            if count <= _MAX_PREVIEWED_CHANGES:
                texts = ((row.name, name), (row.tag, tag), (row.note, note))
                changes = [f"{quote(old)} -> {quote(new)}" for old, new in texts if old != new]
                output.write(f"{row.id:>8}  {', '.join(changes)}")
    output.report(f"{plants_text(count)} would change.")


def quote(text: str | None) -> str:
    """Return a text, shortened and in quotes, or “nothing” for None, as the dry runs print values."""
    return "nothing" if text is None else f"“{_shorten(text)}”"


def delete(options: argparse.Namespace) -> int:
    """Delete plants by id or by filter, after a question if there are several.

    Raises InvalidPlantError, UnknownPlantError, EditConflictError, SelectionChangedError, StoreError; PlantDeskError
    for an unknown source, or if the user does not confirm.
    """
    requested = parse_filter_options(options)
    if bool(options.ids) == (requested != Filter()):
        options.parser.error(Text("give either IDs, or --search, --tag, --no-tag, --from or --since"))
    _refuse_empty_search(options)
    with open_existing_store(options.database) as store, closing(store.reader()) as reader:
        edits: list[Edit]
        if options.ids:
            rows = find_plants(reader, options.ids)
            edits = [Delete(row.id, row.version, row.name) for row in rows]
            count = len(rows)
        else:
            selection = build_selection(reader, requested)
            count = reader.count_selected(selection)
            edits = [DeleteAll(selection, None if options.yes else count)]
        if count > 1 and not options.yes:
            confirm(f"Delete {count:,} plants?", Text("None of the {count:,} plants was deleted", count=count))
        report_change(store.apply(edits, COMMAND).result(), options.database)
    return 0


def report_change(applied: Applied, database: StoreLocation) -> None:
    """Print on standard error the title of the change, and the command that undoes it."""
    if applied.change is None:
        output.report("Nothing to change.")
    else:
        title = shortened(str(applied.change.title), _MAX_TITLE_LENGTH)
        output.report(f"{title}. To undo it, type: {format_command(database, f'undo {applied.change.number}')}")


def find_plant(reader: PlantReader, plant_id: int) -> PlantRow:
    """Return the plant with an id. Raises UnknownPlantError and StoreError."""
    row = reader.plant(plant_id)
    if row is None:
        raise UnknownPlantError(plant_id)
    return row


def find_plants(reader: PlantReader, ids: Iterable[str]) -> list[PlantRow]:
    """Parse the typed `ids`, and return each plant once. Raises InvalidPlantError, UnknownPlantError, StoreError."""
    return [find_plant(reader, plant_id) for plant_id in dict.fromkeys(map(parse_id, ids))]


def _format_as_text(rows: Iterator[PlantRow]) -> Iterator[str]:
    for batch in batched(rows):
        yield "\n".join(format_plant_line(row) for row in batch)


def format_plant_line(row: PlantRow) -> str:
    """Return id, name and tag of a plant on one line, shortened, as `plantdesk list` prints it."""
    tag = "" if row.tag is None else f"  [{_shorten(row.tag)}]"
    return f"{row.id:>8}  {_shorten(row.name)}{tag}"


def _format_as_json(rows: Iterator[PlantRow]) -> Iterator[str]:
    is_first = True
    for batch in batched(rows):
        lines = ",\n".join(json.dumps(plant_as_json(row)) for row in batch)
        yield f"[\n{lines}" if is_first else f",\n{lines}"
        is_first = False
    yield "[]" if is_first else "]"


def _format_as_csv(rows: Iterator[PlantRow]) -> Iterator[str]:
    """Yield plants as CSV; on a terminal without characters that could control it."""
    yield ",".join(_FIELDS)
    is_on_terminal = output.is_terminal()
    for batch in batched(rows):
        lines = _CsvLines()
        for row in batch:
            members = plant_as_json(row)
            values = [members[field] for field in _FIELDS]
            csv.writer(lines).writerow(
                [printable(value) if is_on_terminal and isinstance(value, str) else value for value in values]
            )
        yield "\n".join(lines)


class _CsvLines(list[str]):
    """A file for `csv.writer`: it collects lines and removes CRLF. With another line end, CR or LF were not quoted."""

    def write(self, line: str) -> None:
        self.append(line.removesuffix("\r\n"))


def batched(rows: Iterator[_Item]) -> Iterator[list[_Item]]:
    """Yield the items in lists of at most `_BATCH_SIZE`, each of which is printed by one call."""
    while batch := list(itertools.islice(rows, _BATCH_SIZE)):
        yield batch


def plant_as_json(row: PlantRow) -> dict[str, object]:
    """Return a plant as a JSON object; the members `_FIELDS` are also the columns of CSV."""
    kind = str(row.source.kind)
    label = row.source.label or None
    values = (row.id, row.name, row.tag, row.note, format_iso_time(row.added_at), kind, label)
    return dict(zip((*_FIELDS, "source_kind"), (*values, kind), strict=True))


def _shorten(text: str) -> str:
    return shortened(text, _MAX_SHOWN_LENGTH)
