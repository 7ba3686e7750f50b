"""`plantdesk backup` and `plantdesk restore`: a copy of all plants, and the way back to one."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

from plantdesk import output
from plantdesk.commands.table import iso_time, local_time, print_json, print_table
from plantdesk.errors import PlantDeskError, shortened
from plantdesk.store import Backups, back_up, copy_store, preview_restore, restore

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.store import Backup, Difference, Group, Restored, RestorePreview

_KIB = 1024


class NotConfirmedError(PlantDeskError):
    """Nobody said yes."""


def run(database: Path, file: Path | None) -> int:
    """Back up to `file`, or into the folder of backups, and print where. Raises StoreError."""
    if file is None:
        output.write(str(back_up(database).path))
    else:
        copy_store(database, file)
        output.write(str(file))
    return 0


def show(database: Path, *, as_json: bool) -> int:
    """Print the backups, newest first, as a table or in JSON. Raises StoreError."""
    backups = Backups(database)
    found = backups.newest_first()
    if as_json:
        print_json([_facts(each) for each in found])
        return 0
    if not found:
        print("There are no backups yet. Make one with: plantdesk backup", file=sys.stderr)
        return 0
    rows = [(local_time(each.made_at), each.kind, _size(each.size), each.path.name) for each in found]
    print_table(("MADE", "WHY", "SIZE", "FILE"), rows)
    output.write(f"\nThey are in {backups.folder}")
    return 0


def bring_back(database: Path, file: Path, *, only_preview: bool, confirmed: bool) -> int:
    """Tell what restoring `file` does, ask, and do it. Raises BackupUnusableError, StoreError, NotConfirmedError."""
    file = _found(database, file)
    preview = preview_restore(database, file)
    output.write(_told(preview, file))
    if only_preview or preview.changes_nothing:
        return 0
    if not confirmed:
        _ask()
    output.write(_done(restore(database, file)))
    return 0


def _facts(backup: Backup) -> dict[str, object]:
    made_at = iso_time(backup.made_at)
    return {"file": str(backup.path), "made_at": made_at, "why": str(backup.kind), "size": backup.size}


def _found(database: Path, file: Path) -> Path:
    """Take a bare name as `plantdesk backup --list` prints it."""
    known = Backups(database).folder / file
    return known if not file.exists() and known.exists() else file


def _ask() -> None:
    if sys.stdin is None or not sys.stdin.isatty():
        raise NotConfirmedError("Nothing was restored: there is nobody to ask. Add --yes to restore without asking.")
    answer = ""
    with contextlib.suppress(EOFError):
        answer = input("Restore? The present state is backed up first. [y/N] ")
    if answer.strip().lower() not in {"y", "yes"}:
        raise NotConfirmedError("Nothing was restored.")


def _told(preview: RestorePreview, file: Path) -> str:
    head = f"“{file.name}” holds {_plants(preview.plants)}."
    if preview.difference is None:
        return f"{head}\nThe present file is missing or damaged: all of them come back, and a damaged file is kept."
    if preview.changes_nothing:
        return f"{head}\nThey are the plants that are here now: nothing would change."
    return "\n".join([head, *_lines(preview.difference)])


def _lines(difference: Difference) -> list[str]:
    parts = (("Comes back", difference.returning), ("Goes", difference.leaving), ("Changes back", difference.changing))
    return [f"{what}: {_plants(group.size)}{_names(group)}" for what, group in parts if group.size]


def _names(group: Group) -> str:
    named = ", ".join(f"{plant_id} “{shortened(name, 30)}”" for plant_id, name in group.newest)
    return f" ({named}{', …' if group.size > len(group.newest) else ''})"


def _done(restored: Restored) -> str:
    lines = [f"Restored {_plants(restored.preview.plants)}."]
    if restored.saved is not None:
        lines.append(f"The state before is in {restored.saved}")
    if not restored.tokens_kept:
        lines.append("No token is valid any more: make new ones with: plantdesk token create NAME")
    return "\n".join(lines)


def _plants(count: int) -> str:
    return "1 plant" if count == 1 else f"{count:,} plants"


def _size(size: int) -> str:
    return f"{-(-size // _KIB):,} KiB"
