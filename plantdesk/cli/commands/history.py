"""`plantdesk history`, `undo` and `redo`: the changes of plants."""

from __future__ import annotations

import argparse
from contextlib import closing

from plantdesk.cli.stores import format_command, open_existing_store, open_reader
from plantdesk.cli.terminal import format_iso_time, format_local_time, print_json, print_table
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
_MAX_SKIPPED_IDS = 10


def list_changes(options: argparse.Namespace) -> int:
    """Print the newest changes, with --since only later ones, as a table or in JSON. Raises StoreError."""
    with open_reader(options.database) as reader:
        changes = [change for change in reader.history(options.limit) if change.made_at >= (options.since or 0)]
    if options.json:
        print_json([_change_as_json(change) for change in changes])
    elif changes:
        print_table(("NUMBER", "TIME", "BY", "PLANTS", "CHANGE"), [_format_cells(change) for change in changes])
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


def _report_undo(undone: Undone, suffix: str = "") -> None:
    """Report what an undo or redo has changed, moved and skipped; `suffix` ends the first sentence."""
    change = undone.change
    output.report(f"{shortened(str(change.title), 100)} ({plants_text(change.plants)}){suffix}.")
    if undone.moved_text is not None:
        output.report(str(undone.moved_text))
    if undone.skipped:
        ids = comma_list(undone.skipped_ids, _MAX_SKIPPED_IDS, undone.skipped)
        skipped = Text(
            "{count:,} plants have been changed since and were left as they are.",
            one="1 plant has been changed since and was left as it is.",
            count=undone.skipped,
        )
        output.report(f"{str(skipped).removesuffix('.')}: {ids}")


def _report_latest_undo(store: PlantStore, undone: Undone, database: StoreLocation) -> None:
    """Report an undo of the latest change with its time, and say that plants added after it are still there."""
    change = undone.change
    with closing(store.reader()) as reader:
        # Another program may have changed something since.
        latest_number = max((newest.number for newest in reader.history(1)), default=0)
        changes = reader.history(max(latest_number, change.number) - (change.undoes or 0) + 1)  # numbers have no gaps
        made_at = next((past.made_at for past in changes if past.number == change.undoes), change.made_at)
        added_since = Selection(since=made_at + 1)
        added_count = reader.count_selected(added_since)
        first_added = next(reader.selected(added_since, 1), None)
    _report_undo(undone, f", made {format_local_time(made_at)}")
    if added_count == 1 and first_added is not None:
        command = format_command(database, f"delete {first_added.id}")
        output.report(f"1 plant was added since and stays. To remove it, type: {command}")
    elif added_count:
        output.report(
            f"{added_count:,} plants were added since and stay. To see them, type: {format_command(database, 'list')}"
        )


def _format_cells(change: Change) -> tuple[str, ...]:
    source = change.source.label or str(change.source.kind)
    source = f"{source}, {change.desk}" if change.desk else source
    undone = " (undone)" if change.is_undone else ""
    time = format_local_time(change.made_at)
    return str(change.number), time, source, f"{change.plants:,}", f"{change.title}{undone}"


def _change_as_json(change: Change) -> dict[str, object]:
    return {
        "number": change.number,
        "made_at": format_iso_time(change.made_at),
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
