"""The text of a restore preview, for the window and the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk.domain.errors import shortened

if TYPE_CHECKING:
    from collections.abc import Callable

    from plantdesk.store.sqlite.backups.difference import Group
    from plantdesk.store.sqlite.backups.restoring import RestorePreview

_MAX_NAME = 30


def preview_text(
    preview: RestorePreview,
    file_name: str,
    *,
    translate: Callable[[str], str] = str,
    number: Callable[[int], str] = "{:,}".format,
) -> str:
    """Return what restoring the backup `file_name` would change, one line per kind of change.

    `translate` and `number` put texts and counts into the language of the window.
    """

    def plants(count: int) -> str:
        return translate("1 plant") if count == 1 else translate("{n} plants").format(n=number(count))

    def lines(text: str, group: Group) -> list[str]:
        return [f"{translate(text).format(plants=plants(group.size))} ({_names(group)})"] if group.size else []

    head = translate("“{file}” holds {plants}.").format(file=shortened(file_name), plants=plants(preview.plants))
    if preview.has_foreign_log:
        log = translate("The log “{file}-wal” beside it belongs to another file, and its plants are not read.")
        head += "\n" + log.format(file=shortened(file_name))
    if preview.difference is None:
        kept = translate("All of them come back, which cannot be undone. The damaged file, if there is one, is kept.")
        return f"{head}\n{kept}"
    if preview.changes_nothing:
        return f"{head}\n{translate('They are the plants that are here now: nothing would change.')}"
    returning, leaving, changing = preview.difference
    changes = lines("Comes back: {plants}", returning)
    changes += lines("Goes: {plants}", leaving)
    changes += lines("Changes back: {plants}", changing)
    return "\n".join([head, *changes])


def _names(group: Group) -> str:
    names = ", ".join(f"{plant_id} “{shortened(name, _MAX_NAME)}”" for plant_id, name in group.newest)
    return f"{names}, …" if group.size > len(group.newest) else names
