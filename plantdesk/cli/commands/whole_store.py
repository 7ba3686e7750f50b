"""The commands for whole stores: `backup`, `restore`, `copy`, `migrate` and `roles`."""

from __future__ import annotations

import argparse
import contextlib
from math import ceil
from pathlib import Path

from plantdesk.cli.stores import format_command, open_reader, show_progress
from plantdesk.cli.terminal import confirm, format_iso_time, format_local_time, interruptible, print_json, print_table
from plantdesk.domain.backups import Backup, Restored, StoreBackups, preview_text
from plantdesk.domain.locations import StoreLocation, TablesUpdate, copy_store, update_store
from plantdesk.domain.records import COMMAND, Desk
from plantdesk.domain.texts import Text, plants_text
from plantdesk.platform import output, paths, settings
from plantdesk.store import location_of


def backup(options: argparse.Namespace) -> int:
    """Back up to a file, or to the folder of backups, and print the path; or list the backups. Raises StoreError."""
    if options.list and options.file is not None:
        options.parser.error(Text("FILE has no effect with --list"))
    if options.json and not options.list:
        options.parser.error(Text("--json has no effect without --list"))
    backups = options.database.backups
    if options.list:
        return _print_list(backups, as_json=options.json)
    if options.file is None:
        output.write(str(backups.make().path))
    else:
        backups.copy_to(options.file)
        output.write(str(options.file))
    return 0


def _print_list(backups: StoreBackups, *, as_json: bool) -> int:
    listed = backups.newest_first()
    if as_json:
        print_json([_backup_as_json(entry) for entry in listed])
        return 0
    if not listed:
        output.report("There are no backups yet. Make one with: plantdesk backup")
        return 0
    rows = [
        (format_local_time(entry.made_at), entry.kind, f"{ceil(entry.size / 1024):,} KiB", entry.path.name)
        for entry in listed
    ]
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
        output.write(_format_summary(restored, options.database))
    return 0


def _backup_as_json(entry: Backup) -> dict[str, object]:
    made_at = format_iso_time(entry.made_at)
    return {"file": str(entry.path), "made_at": made_at, "why": str(entry.kind), "size": entry.size}


def _find_backup(backups: StoreBackups, file: Path) -> Path:
    """Return `file` if it exists, else the backup of that name in the folder of backups, else `file`."""
    if file.exists():
        return file
    return next((entry.path for entry in backups.newest_first() if entry.path.name == str(file)), file)


def _format_summary(restored: Restored, database: StoreLocation) -> str:
    count = restored.preview.plants
    lines = [f"Restored {plants_text(count)}."]
    if restored.change is not None:
        lines.append(f"To undo it, type: {format_command(database, f'undo {restored.change.number}')}")
    if restored.saved is not None:
        lines.append(f"The state before is in {restored.saved}")
    if not restored.tokens_retained:
        command = format_command(database, "token create NAME")
        lines.append(f"No token is valid any more: make new ones with: {command}")
    return "\n".join(lines)


def copy(options: argparse.Namespace) -> int:
    """Copy a store to a new or empty one, and print the numbers of rows. Raises StoreError, NulInStoreError."""
    source = location_of(options.source)
    target = location_of(options.target)
    with (
        interruptible("Nothing was copied."),
        show_progress(f"Copying to {target.name}") as progress,
    ):
        copied = copy_store(source, target, progress)
    _copy_searches(source, target)
    rows = copied.rows
    if options.json:
        counts = {"plants": rows["plant"], "changes": rows["change"], "tokens": rows["token"]}
        print_json({"from": source.url, "to": target.url, **counts, "sha256": copied.digest})
    else:
        names = (("plant", "plants"), ("change", "changes"), ("token", "tokens"))
        plants, changes, tokens = (f"{rows[one]:,} {one if rows[one] == 1 else many}" for one, many in names)
        output.write(f"Copied {plants}, {changes} of the history and {tokens} to {target.url}")
    return 0


def migrate(options: argparse.Namespace) -> int:
    """Update the tables of a shared store, after a question and a backup; --create makes them. Raises StoreError."""
    database: StoreLocation = options.database
    if options.create and database.folder is None:  # opening a file makes it anyway
        database.open(create=True).close()
    with open_reader(database):  # raises NoStoreError and StoreError
        update = database.needed_update()
    if update is None:
        output.write(f"{database.url} has the tables of this version.")
        return 0
    output.report(f"Update the shared store from version {update.before} to {update.after}, for all computers.")
    if update.desks:
        rows = [_format_desk_cells(desk, update) for desk in update.desks]
        print_table(("COMPUTER", "VERSION", "LAST SEEN", "AFTERWARDS"), rows)
    if not options.yes:
        confirm("It cannot be undone. Back up and update?", Text("Nothing was changed"))
    saved = update_store(database)
    output.write(f"Updated. The state before is in {saved.path}")
    return 0


def print_roles(options: argparse.Namespace) -> int:
    """Print the SQL by which an administrator creates three PostgreSQL roles. Raises StoreUnreachableError."""
    sql = location_of(options.url).roles_sql()
    if sql is not None:
        output.write(sql)
        return 0
    raise options.parser.error(Text("URL is the address of a shared store: postgresql://host/database"))


def _format_desk_cells(desk: Desk, update: TablesUpdate) -> tuple[str, ...]:
    afterwards = "works on" if update.can_write_after(desk) else "only reads, until updated"
    return desk.name, desk.version or "unknown", format_local_time(desk.last_seen), afterwards


def _copy_searches(source: StoreLocation, target: StoreLocation) -> None:
    """Copy the saved searches, which are in the settings, not in the store; ignore a failure."""
    file = paths.settings_file()
    current = settings.load(file)
    if searches := settings.of_store(current, source.key).get("searches"):
        with contextlib.suppress(OSError):  # the plants are copied
            settings.update(file, lambda now: settings.with_store(now, target.key, {"searches": searches}), current)
