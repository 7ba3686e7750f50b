"""`plantdesk history`, `undo` and `redo`: the changes of plants."""

from __future__ import annotations

import argparse
from contextlib import closing

from plantdesk.cli.stores import command_line, open_existing_store, open_reader
from plantdesk.cli.terminal import iso_time, local_time, print_json, print_table
from plantdesk.domain.edits import Undone
from plantdesk.domain.errors import NothingToUndoError, PlantDeskError, UndoConflictError
from plantdesk.domain.history import Change
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import COMMAND
from plantdesk.domain.selections import Selection
from plantdesk.domain.texts import Text, comma_list, joined, plants_text, shortened
from plantdesk.platform import output

#: The most ids of skipped plants that are printed.
_MAX_IDS = 10


def list_changes(options: argparse.Namespace) -> int:
    """Print the newest changes, of all or since a time, as a table or in JSON. Raises StoreError."""
    with open_reader(options.database) as reader:
        changes = [change for change in reader.history(options.limit) if change.made_at >= (options.since or 0)]
    if options.json:
        print_json([_change_json(change) for change in changes])
    elif changes:
        print_table(("NUMBER", "TIME", "BY", "PLANTS", "CHANGE"), [_cells(change) for change in changes])
    elif options.since:
        output.report("There are no changes since then.")
    else:
        output.report("There are no changes yet: plants were only added.")
    return 0


def undo(options: argparse.Namespace) -> int:
    """Undo a change, by default the latest. Raises NothingToUndoError, UndoConflictError, StoreError."""
    with open_existing_store(options.database) as store:
        try:
            undone = store.undo(options.number, COMMAND).result()
        except (NothingToUndoError, UndoConflictError) as error:
            if options.number is None and isinstance(error, NothingToUndoError):
                raise
            hint = Text("`plantdesk history` lists the changes; `plantdesk undo NUMBER` undoes another one.")
            raise PlantDeskError(joined([error.text, hint])) from error
        if options.number is None:
            _report_latest_undo(store, undone, options.database)
        else:
            _report_undo(undone)
    return 0


def redo(options: argparse.Namespace) -> int:
    """Take back the latest undo. Raises NothingToUndoError, UndoConflictError, StoreError."""
    with open_existing_store(options.database) as store:
        _report_undo(store.redo(COMMAND).result())
    return 0


def _report_undo(undone: Undone, of: str = "") -> None:
    change = undone.change
    output.report(f"{shortened(str(change.title), 100)} ({plants_text(change.plants)}){of}.")
    if undone.moved_text is not None:
        output.report(str(undone.moved_text))
    if undone.skipped:
        ids = comma_list(undone.skipped_ids, _MAX_IDS, undone.skipped)
        skipped = Text(
            "{count:,} plants have been changed since and were left as they are.",
            one="1 plant has been changed since and was left as it is.",
            count=undone.skipped,
        )
        output.report(f"{str(skipped).removesuffix('.')}: {ids}")


def _report_latest_undo(store: PlantStore, undone: Undone, database: StoreLocation) -> None:
    """Report an undo without a number: also the time of the change, and the plants that were added since and stay."""
    change = undone.change
    with closing(store.reader()) as reader:
        latest = max((item.number for item in reader.history(1)), default=0)  # others may have changed something since
        newest = reader.history(max(latest, change.number) - (change.undoes or 0) + 1)  # numbers have no gaps
        made_at = next((other.made_at for other in newest if other.number == change.undoes), change.made_at)
        since = Selection(since=made_at + 1)
        added = reader.count_selected(since)
        first = next(reader.selected(since, 1), None)
    _report_undo(undone, f", made {local_time(made_at)}")
    if added == 1 and first is not None:
        command = command_line(database, f"delete {first.id}")
        output.report(f"1 plant was added since and stays. To remove it, type: {command}")
    elif added:
        output.report(
            f"{added:,} plants were added since and stay. To see them, type: {command_line(database, 'list')}"
        )


def _cells(change: Change) -> tuple[str, ...]:
    source = change.source.label or str(change.source.kind)
    source = f"{source}, {change.desk}" if change.desk else source
    undone = " (undone)" if change.is_undone else ""
    return str(change.number), local_time(change.made_at), source, f"{change.plants:,}", f"{change.title}{undone}"


def _change_json(change: Change) -> dict[str, object]:
    return {
        "number": change.number,
        "made_at": iso_time(change.made_at),
        "source": str(change.source.kind),
        "source_name": change.source.label or None,
        "desk": change.desk or None,
        "kind": str(change.kind),
        "parameters": change.parameters,
        "title": str(change.title),
        "plants": change.plants,
        "undoes": change.undoes,
        "undone": change.is_undone,
        "can_undo": change.can_undo,
    }
