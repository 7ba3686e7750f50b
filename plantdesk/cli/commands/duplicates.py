"""`plantdesk duplicates` and `merge`: find plants that are alike, and make one of several plants."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import chain, groupby, islice, repeat
from operator import itemgetter

from plantdesk.cli.commands.plants import batched, find_plant, format_plant_line, plant_as_json, quote, report_change
from plantdesk.cli.stores import open_existing_store, open_reader
from plantdesk.cli.terminal import confirm
from plantdesk.domain.duplicates import KeepRule, PlantGroups, intentional_groups, merge_pages, unmerged_text
from plantdesk.domain.edits import MergePlants
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.protocols import PlantReader
from plantdesk.domain.records import COMMAND, MAX_NOTE_BYTES, PlantRow, parse_id
from plantdesk.domain.texts import Text, comma_list
from plantdesk.platform import output

#: A plant, and the number of its group.
Member = tuple[int, PlantRow]

#: The number of plants that are read together.
_PAGE_SIZE = 500
#: The most groups that a dry run prints.
_MAX_PREVIEWED_GROUPS = 20
#: The most ids that it prints of each group.
_MAX_PREVIEWED_IDS = 10


def duplicates(options: argparse.Namespace) -> int:
    """Print the groups of plants that are alike or, with --merge, merge each group. Raises PlantDeskError."""
    _check_options(options)
    with open_reader(options.database) as reader:
        groups = reader.duplicates(by_tag=options.by == "name-tag")
        if not options.merge:
            format_members = _format_as_json if options.json else _format_as_text
            for batch in batched(format_members(_read_members(reader, groups))):
                output.write("\n".join(batch))
        intentional = intentional_groups(groups, reader.rows) if options.merge and not options.all else set()
    if options.merge and groups.sizes:
        _merge_groups(groups, intentional, options)
    elif not options.json:
        _report_count(groups)
    return 0


def _report_count(groups: PlantGroups) -> None:
    count = len(groups.sizes)
    text = Text(
        "{plants:,} plants in {count:,} groups.",
        one="{plants:,} plants in 1 group.",
        plants=len(groups.ids),
        count=count,
    )
    output.report(str(text) if count else "No two plants are alike.")


def _check_options(options: argparse.Namespace) -> None:
    if not options.merge and any((options.keep, options.all, options.yes, options.dry_run)):
        options.parser.error(Text("--keep, --all, --yes and --dry-run have no effect without --merge"))
    if options.merge and options.json:
        options.parser.error(Text("--json has no effect with --merge"))


def _merge_groups(groups: PlantGroups, intentional: set[int], options: argparse.Namespace) -> None:
    """Merge the groups except the `intentional` ones, which seem to be wanted, and report how many these are."""
    if len(intentional) < len(groups.sizes):
        _merge(MergePlants(groups.without(intentional), KeepRule(options.keep or KeepRule.LOWEST_ID)), options)
    _report_intentional(sum(groups.sizes[group] for group in intentional), len(intentional))


def merge(options: argparse.Namespace) -> int:
    """Merge plants into the one of --into. Raises InvalidPlantError, UnknownPlantError, other PlantDeskErrors."""
    into = parse_id(options.into)
    ids = set(map(parse_id, options.ids))
    if into in ids:
        options.parser.error(Text("plant {id} is the one that stays: name only the others before --into", id=into))
    with open_reader(options.database) as reader:
        rows = [find_plant(reader, plant_id) for plant_id in sorted({*ids, into})]
    edit = MergePlants(PlantGroups.of([rows]), KeepRule.LOWEST_ID, frozenset({into}))
    if not any(page.deleted for page in merge_pages(*edit, lambda _ids: {row.id: row for row in rows})):
        text = Text("The notes of these plants are too long together. A note may have {bytes:,} bytes.")
        raise PlantDeskError(text, bytes=MAX_NOTE_BYTES)
    _merge(edit, options)
    return 0


def _merge(edit: MergePlants, options: argparse.Namespace) -> None:
    """Merge and report, after a question if several plants are removed; in a dry run only print the effect."""
    groups = len(edit.groups.sizes)
    removed = len(edit.groups.ids) - groups
    if options.dry_run:
        with open_reader(options.database) as reader:
            _report_unmerged(removed - _print_merges(reader, edit))
        return
    if removed > 1 and not options.yes:
        others = "one" if groups == 1 else f"{groups:,} others"
        text = Text("None of the {count:,} plants was merged", count=removed)
        confirm(f"Merge {removed:,} plants into {others}?", text)
    with open_existing_store(options.database) as store:
        applied = store.apply([edit], COMMAND).result()
    if applied.change is None:
        text = Text(
            "None of the {count:,} plants was merged: they have changed meanwhile, or their notes are too long "
            "together.",
            one="The plant was not merged: it has changed meanwhile, or the notes are too long together.",
        )
        raise PlantDeskError(text, count=removed)
    report_change(applied, options.database)
    _report_unmerged(removed - applied.change.parameters["merged"])


def _report_intentional(plants: int, groups: int) -> None:
    if groups:
        why = "they were added together, or have the same name, tag and note. --all merges them as well."
        output.report(f"{plants:,} plants in {groups:,} group{'s' if groups > 1 else ''} stay: {why}")


def _report_unmerged(count: int) -> None:
    if count:
        output.report(str(unmerged_text(count)))


def _print_merges(reader: PlantReader, edit: MergePlants) -> int:
    """Print what the first groups would become; report and return how many plants would be removed."""
    previewed = edit._replace(groups=edit.groups.without(range(_MAX_PREVIEWED_GROUPS, len(edit.groups.sizes))))
    removed_ids = set[int]()
    notes = dict[int, str | None]()
    for page in merge_pages(*previewed, reader.rows):
        removed_ids.update(page.deleted)
        notes.update((plant_id, note) for plant_id, _, _, note in page.changed)
    ids = iter(previewed.groups.ids)
    for size in previewed.groups.sizes:
        group = [*islice(ids, size)]
        remaining = [plant_id for plant_id in group if plant_id not in removed_ids] if removed_ids & {*group} else []
        for row in reader.rows(remaining).values():
            note = f"; note {quote(row.note)} -> {quote(notes[row.id])}" if row.id in notes else ""
            others = comma_list([plant_id for plant_id in group if plant_id != row.id], _MAX_PREVIEWED_IDS)
            output.write(f"{format_plant_line(row)}  takes in {others}{note}")
    return _report_preview(sum(len(page.deleted) for page in merge_pages(*edit, reader.rows)))


def _report_preview(count: int) -> int:
    output.report(f"{count:,} plants would be merged into others." if count != 1 else "1 plant would be merged.")
    return count


def _read_members(reader: PlantReader, groups: PlantGroups) -> Iterator[Member]:
    """Yield the plants of all groups, read page by page, since one group may have a million."""
    numbers = chain.from_iterable(repeat(number, size) for number, size in enumerate(groups.sizes))
    for start in range(0, len(groups.ids), _PAGE_SIZE):
        ids = groups.ids[start : start + _PAGE_SIZE].tolist()
        rows = reader.rows(ids)
        yield from ((number, rows[key]) for number, key in zip(numbers, ids, strict=False) if key in rows)


def _format_as_text(members: Iterator[Member]) -> Iterator[str]:
    last_number = 0
    for number, row in members:
        yield format_plant_line(row) if number == last_number else f"\n{format_plant_line(row)}"
        last_number = number


def _format_as_json(members: Iterator[Member]) -> Iterator[str]:
    is_first_group = True
    for _, group in groupby(members, key=itemgetter(0)):
        separator = '[\n{"plants": [\n' if is_first_group else ',\n{"plants": [\n'
        for _, row in group:
            yield f"{separator}{json.dumps(plant_as_json(row))}"
            separator = ","
        yield "]}"
        is_first_group = False
    yield "[]" if is_first_group else "]"
