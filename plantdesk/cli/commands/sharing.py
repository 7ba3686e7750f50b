"""`plantdesk copy`, `migrate` and `roles`."""

from __future__ import annotations

import argparse
import contextlib

from plantdesk.cli.stores import open_reader, show_progress
from plantdesk.cli.terminal import confirm, interruptible, local_time, print_json, print_table
from plantdesk.domain.locations import StoreLocation, TablesUpdate, copy_store, update_store
from plantdesk.domain.records import Desk
from plantdesk.domain.texts import Text
from plantdesk.platform import output, paths, settings
from plantdesk.store import location_of


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
    """Update the tables of a shared store after a question and a backup, or make them. Raises StoreError."""
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
        rows = [_desk_cells(desk, update) for desk in update.desks]
        print_table(("COMPUTER", "VERSION", "LAST SEEN", "AFTERWARDS"), rows)
    if not options.yes:
        confirm("It cannot be undone. Back up and update?", Text("Nothing was changed"))
    saved = update_store(database)
    output.write(f"Updated. The state before is in {saved.path}")
    return 0


def print_roles(options: argparse.Namespace) -> int:
    """Print the SQL of three roles for an administrator. Raises StoreUnreachableError."""
    sql = location_of(options.url).roles_sql()
    if sql is not None:
        output.write(sql)
        return 0
    raise options.parser.error(Text("URL is the address of a shared store: postgresql://host/database"))


def _desk_cells(desk: Desk, update: TablesUpdate) -> tuple[str, ...]:
    afterwards = "works on" if update.can_write_after(desk) else "only reads, until updated"
    return desk.name, desk.version or "unknown", local_time(desk.last_seen), afterwards


def _copy_searches(source: StoreLocation, target: StoreLocation) -> None:
    """Copy the saved searches, if there are any."""
    file = paths.settings_file()
    known = settings.load(file)
    if searches := settings.of_store(known, source.key).get("searches"):
        with contextlib.suppress(OSError):  # the plants are copied
            settings.update(file, lambda now: settings.with_store(now, target.key, {"searches": searches}), known)
