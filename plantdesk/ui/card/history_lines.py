"""The lines of a plant's history: what each change did to it, and how this one plant is changed back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from plantdesk.domain.history import ChangeKind
from plantdesk.domain.records import SourceKind
from plantdesk.ui.texts import quoted, short_time, source_text, tag_text, translate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plantdesk.domain.history import Change, PlantChange
    from plantdesk.domain.records import PlantRow, Source

_FIELDS = ("name", "tag", "note")
_ICONS = {"name": "pencil", "tag": "tag", "note": "sticky-note"}
#: Milliseconds between two changes of a note that are shown as one line: it is saved while the user writes.
_SAME_WRITING = 600_000
#: Characters of details that are one text.
_SHORT = 60
_NO_BREAK_SPACE = "\u00a0"


class HistoryLine(NamedTuple):
    """A line of the history, and smaller lines below it.

    `restored` are the values to give back; None where nothing can be undone.
    """

    icon: str
    text: str
    details: tuple[str, ...]
    change: Change | None
    restored: dict[str, Any] | None


class _Step(NamedTuple):
    change: Change
    before: PlantRow | None
    after: PlantRow

    @property
    def changed(self) -> list[str]:
        """The fields that have another value."""
        if self.before is None:
            return []
        return [each for each in _FIELDS if getattr(self.before, each) != getattr(self.after, each)]


def history_lines(row: PlantRow, changes: Sequence[PlantChange]) -> list[HistoryLine]:
    """Return the lines of a plant, newest first; the last one is about how it was added."""
    steps = _joined(row, changes)
    lines = [_line(row, step) for step in steps if step.before is not None]
    return [*lines, _added_line(row)]


def added_text(source: Source) -> str:
    """Return who or what has added a plant, for a sentence that begins with the time."""
    texts = {
        SourceKind.FORM: translate("PlantHistory", "in the form"),
        SourceKind.COMMAND: translate("PlantHistory", "on the command line"),
        SourceKind.IMPORT: translate("PlantHistory", "by the import {name}"),
        SourceKind.TOKEN: translate("PlantHistory", "by {name}"),
    }
    return texts.get(source.kind, translate("PlantHistory", "by {name}")).format(name=source_text(source))


def _joined(row: PlantRow, changes: Sequence[PlantChange]) -> list[_Step]:
    steps: list[_Step] = []
    after = row
    for change, before in changes:
        step = _Step(change, before, after)
        if steps and _is_same_writing(steps[-1], step):
            steps[-1] = steps[-1]._replace(before=before)
        else:
            steps.append(step)
        if before is None:
            break
        after = before
    return steps


def _is_same_writing(newer: _Step, older: _Step) -> bool:
    close = newer.change.made_at - older.change.made_at < _SAME_WRITING
    return close and newer.changed == older.changed == ["note"] and newer.change.source == older.change.source


def _line(row: PlantRow, step: _Step) -> HistoryLine:
    before, changed = step.before, step.changed
    made = [short_time(step.change.made_at)]
    if step.change.source.kind is not SourceKind.FORM:
        made.append(added_text(step.change.source))
    was = [text for each in changed if (text := _was(each, before))]
    undoable = changed and all(getattr(row, each) == getattr(step.after, each) for each in changed)
    restored = {each: getattr(before, each) for each in changed} if undoable else None
    icon = _ICONS[changed[0]] if len(changed) == 1 else "pencil"
    return HistoryLine(icon, _text(step, changed), _details(made, was), step.change, restored)


def _details(made: list[str], was: list[str]) -> tuple[str, ...]:
    """Return one text that breaks between its parts and in none, or several where they are long."""
    parts = [*made, *was]
    if sum(map(len, parts)) > _SHORT:
        return (" · ".join(made), *was)
    return (" · ".join(part.replace(" ", _NO_BREAK_SPACE) for part in parts),)


def _text(step: _Step, changed: list[str]) -> str:
    if step.change.kind is ChangeKind.RESTORE:
        return translate("PlantHistory", "Restored from a backup")
    if len(changed) != 1:
        return translate("PlantHistory", "Changed")
    before, after = getattr(step.before, changed[0]), getattr(step.after, changed[0])
    match changed[0]:
        case "name":
            return translate("PlantHistory", "Name changed")
        case "tag":
            return (
                translate("PlantHistory", "Tag removed")
                if after is None
                else translate("PlantHistory", "Tag set to {tag}").format(tag=tag_text(after))
            )
    if before is None:
        return translate("PlantHistory", "Note written")
    return translate("PlantHistory", "Note removed") if after is None else translate("PlantHistory", "Note changed")


def _was(field: str, before: PlantRow | None) -> str:
    if before is None or field == "note":
        return ""
    if field == "name":
        return translate("PlantHistory", "was {name}").format(name=quoted(before.name))
    return (
        translate("PlantHistory", "had no tag")
        if before.tag is None
        else translate("PlantHistory", "was {tag}").format(tag=tag_text(before.tag))
    )


def _added_line(row: PlantRow) -> HistoryLine:
    text = translate("PlantHistory", "Added {by}").format(by=added_text(row.source))
    return HistoryLine("plus", text, (short_time(row.added_at),), None, {})
