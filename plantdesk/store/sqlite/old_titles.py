"""Kind and parameters of changes that an earlier PlantDesk stored as English titles, for their migration alone."""

from __future__ import annotations

import json
import re
from typing import Any

from plantdesk.domain.history import ChangeKind, title

#: PlantDesk made no longer ones; with those of others a pattern may take quadratic time.
_LONGEST = 1000
_PLANTS = "(?:“(?P<name>.*)”|(?P<plants>[0-9][0-9,]{0,25}) plants?)"
_PATTERNS: tuple[tuple[ChangeKind, str], ...] = (
    (ChangeKind.RENAME, "Rename “(?P<name>.*)” to “(?P<new_name>.*)”"),
    (ChangeKind.TAG, "Rename tag “(?P<tags>.*)” to “(?P<tag>.*)”"),
    (ChangeKind.TAG, "Remove tag “(?P<tags>.*)”"),
    (ChangeKind.MERGE, "Merge tags? “(?P<tags>.*)” into “(?P<tag>.*)”"),
    (ChangeKind.TAG, "Set the tag “(?P<tag>.*)” for " + _PLANTS),
    (ChangeKind.TAG, "Remove the tag of " + _PLANTS),
    (ChangeKind.DELETE, "Delete the plants of token “(?P<token>.*)”"),
    (ChangeKind.INSERT, "Add " + _PLANTS),
    (ChangeKind.DELETE, "Delete " + _PLANTS),
    (ChangeKind.NOTE, "Change the note of " + _PLANTS),
    (ChangeKind.EDIT, "Edit " + _PLANTS),
    (ChangeKind.IMPORT, "Import (?P<plants>[0-9][0-9,]{0,25}) plants? from “(?P<file>.*)”"),
    (ChangeKind.RESTORE, "Restore “(?P<backup>.*)”"),
)
_UNDO = re.compile("(?:Undo|Redo): ")


def kind(stored: str, text: str) -> str:
    """Return the kind of a change. Earlier versions called a rename, a tag, a merge and a note an edit."""
    found = _read(text, 1)
    return str(found[0]) if stored == ChangeKind.EDIT and found is not None else stored


def parameters(stored: str, text: str, plants: int) -> str:
    """Return the parameters of a change as JSON: the title as it is where it was not made by PlantDesk."""
    is_undo = stored in {ChangeKind.UNDO, ChangeKind.REDO}
    plain = _UNDO.sub("", text, count=1) if is_undo else text
    found = _read(plain, plants)
    of_kind, values, of_plants = found or (ChangeKind.EDIT, {"title": plain}, plants)
    if is_undo:
        values = {"of": {"kind": of_kind, "parameters": values, "plants": of_plants}}
    return json.dumps(values)


def _read(text: str, plants: int) -> tuple[ChangeKind, dict[str, Any], int] | None:
    """Return kind, parameters and plants, where exactly these give this title again."""
    if len(text) > _LONGEST:
        return None
    for found, pattern in _PATTERNS:
        match = re.fullmatch(pattern, text, re.DOTALL)
        if match is None:
            continue
        values: dict[str, Any] = {key: value for key, value in match.groupdict().items() if value is not None}
        plants = int(values.pop("plants", "1" if "name" in values else str(plants)).replace(",", ""))
        if "tags" in values:
            values["tags"] = values["tags"].split("”, “")
            values.setdefault("tag", None)
        elif found is ChangeKind.TAG:
            values.setdefault("tag", None)
        is_clear = not any("”" in str(value) or "“" in str(value) for value in values.values())
        return (found, values, plants) if is_clear and str(title(found, values, plants)) == text else None
    return None
