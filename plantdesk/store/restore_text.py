"""The text of a restore preview, for the window and the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk.domain.errors import Text, joined, shortened

if TYPE_CHECKING:
    from plantdesk.store.sqlite.backups.difference import Group
    from plantdesk.store.sqlite.backups.restoring import RestorePreview

_MAX_NAME = 30


def preview_text(preview: RestorePreview, file_name: str) -> Text:
    """Return what restoring the backup `file_name` would change, one line per kind of change."""
    file = shortened(file_name)
    lines = [Text("“{file}” holds {plants}.", file=file, plants=_plants(preview.plants))]
    if preview.has_foreign_log:
        log = Text("The log “{file}-wal” beside it belongs to another file, and its plants are not read.")
        lines.append(log.filled(file=file))
    if preview.difference is None:
        kept = Text("All of them come back, which cannot be undone. The damaged file, if there is one, is kept.")
        lines.append(kept)
    elif preview.changes_nothing:
        lines.append(Text("They are the plants that are here now: nothing would change."))
    else:
        kinds = Text("Comes back: {plants}"), Text("Goes: {plants}"), Text("Changes back: {plants}")
        for kind, group in zip(kinds, preview.difference, strict=True):
            if group.size:
                change = kind.filled(plants=_plants(group.size))
                lines.append(Text("{change} ({names})", change=change, names=_names(group)))
    return joined(lines, Text("{first}\n{second}"))


def _plants(count: int) -> Text:
    return Text("{count:,} plants", one="1 plant", count=count)


def _names(group: Group) -> str:
    names = ", ".join(f"{plant_id} “{shortened(name, _MAX_NAME)}”" for plant_id, name in group.newest)
    return f"{names}, …" if group.size > len(group.newest) else names
