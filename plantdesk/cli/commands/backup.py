"""`plantdesk backup` and `plantdesk restore`."""

from __future__ import annotations

import argparse
from math import ceil
from pathlib import Path

from plantdesk.cli.stores import command_line
from plantdesk.cli.terminal import confirm, iso_time, local_time, print_json, print_table
from plantdesk.domain.backups import Backup, Restored, StoreBackups, preview_text
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.records import COMMAND
from plantdesk.domain.texts import Text, plants_text
from plantdesk.platform import output


def backup(options: argparse.Namespace) -> int:
    """Back up to a file, or to the folder of backups, and print the path; or list the backups. Raises StoreError."""
    if options.list and options.file is not None:
        options.parser.error(Text("FILE has no effect with --list"))
    if options.json and not options.list:
        options.parser.error(Text("--json has no effect without --list"))
    backups = options.database.backups
    if options.list:
        return _list(backups, as_json=options.json)
    if options.file is None:
        output.write(str(backups.make().path))
    else:
        backups.copy_to(options.file)
        output.write(str(options.file))
    return 0


def _list(backups: StoreBackups, *, as_json: bool) -> int:
    """Print the backups, newest first, as a table or in JSON."""
    listed = backups.newest_first()
    if as_json:
        print_json([_backup_json(backup) for backup in listed])
        return 0
    if not listed:
        output.report("There are no backups yet. Make one with: plantdesk backup")
        return 0
    rows = [(local_time(item.made_at), item.kind, f"{ceil(item.size / 1024):,} KiB", item.path.name) for item in listed]
    print_table(("MADE", "WHY", "SIZE", "FILE"), rows)
    output.write(f"\nThey are in {backups.folder}")
    return 0


def restore(options: argparse.Namespace) -> int:
    """Print the effect of restoring a backup, and restore it, after a question unless --yes is given.

    Raises BackupUnusableError, StoreError, and PlantDeskError if the user does not confirm.
    """
    if options.dry_run and options.yes:
        options.parser.error(Text("--yes has no effect with --dry-run"))
    backups = options.database.backups
    file = _find_backup(backups, options.file)
    if not options.yes:
        preview = backups.preview(file)
        output.write(str(preview_text(preview, file.name)))
        if options.dry_run or preview.changes_nothing:
            return 0
        question = "Restore this for all computers of the shared store?" if backups.is_shared else "Restore?"
        confirm(f"{question} The present state is backed up first.", Text("Nothing was restored"))
    restored = backups.restore(file, COMMAND)
    if options.yes:  # no preview before: checking each row of the backup takes seconds
        output.write(str(preview_text(restored.preview, file.name)))
    if not restored.preview.changes_nothing:
        output.write(_summary(restored, options.database))
    return 0


def _backup_json(backup: Backup) -> dict[str, object]:
    made_at = iso_time(backup.made_at)
    return {"file": str(backup.path), "made_at": made_at, "why": str(backup.kind), "size": backup.size}


def _find_backup(backups: StoreBackups, file: Path) -> Path:
    """Return the path of `file`, which may be a name from `plantdesk backup --list`."""
    if file.exists():
        return file
    return next((backup.path for backup in backups.newest_first() if backup.path.name == str(file)), file)


def _summary(restored: Restored, database: StoreLocation) -> str:
    count = restored.preview.plants
    lines = [f"Restored {plants_text(count)}."]
    if restored.change is not None:
        lines.append(f"To undo it, type: {command_line(database, f'undo {restored.change.number}')}")
    if restored.saved is not None:
        lines.append(f"The state before is in {restored.saved}")
    if not restored.tokens_retained:
        command = command_line(database, "token create NAME")
        lines.append(f"No token is valid any more: make new ones with: {command}")
    return "\n".join(lines)
