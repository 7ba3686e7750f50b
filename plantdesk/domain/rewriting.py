"""Other texts for many plants by one rule: find and replace, a line for the notes, no superfluous blanks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from plantdesk.domain.errors import InvalidField, InvalidPlantError, Text
from plantdesk.domain.folding import folded
from plantdesk.domain.validation import MAX_NOTE_BYTES, plant_fields, plant_note

#: Characters of a text in which something was replaced: more than the API takes of a plant.
_LONGEST = 1_000_000
_TOO_LONG = {
    "name": Text("The name is too long. It may have {characters:,} characters.", characters=_LONGEST),
    "note": Text("The note is too long. It may have {bytes:,} bytes.", bytes=MAX_NOTE_BYTES),
}


class Texts(NamedTuple):
    """What a plant says."""

    name: str
    tag: str | None
    note: str | None


#: Id, name, tag, note and column `folded` of a plant with other texts.
Rewritten: TypeAlias = tuple[int, str, str | None, str | None, str | None]


class Rule(NamedTuple):
    """What becomes of the texts of a plant, in this order. An empty text, or None, changes nothing.

    `name` and `note` replace those of all plants, as does `tag` where `sets_tag`. In the `fields`, “name” or “note”,
    `find` is replaced, in the same case unless `any_case`, and blanks are tidied up. `note_line` is appended.
    """

    name: str | None = None
    note: str | None = None
    sets_tag: bool = False
    tag: str | None = None
    fields: tuple[str, ...] = ("name",)
    find: str = ""
    replacement: str = ""
    any_case: bool = False
    tidies: bool = False
    note_line: str = ""

    def rewritten(self, texts: Texts) -> Texts:
        """Return the texts of a plant afterwards. A name that would become blank stays. Raises InvalidPlantError."""
        base = name = texts.name if self.name is None else self.name
        note = texts.note if self.note is None else self.note
        if "name" in self.fields:
            name = self._replaced("name", name)
            name = " ".join(name.split()) if self.tidies else name
        if "note" in self.fields and note:
            note = self._replaced("note", note)
            note = "\n".join(map(str.rstrip, note.strip().splitlines())) if self.tidies else note
        if self.note_line:
            note = f"{note}\n{self.note_line}" if note else self.note_line
        found = Texts(name if name.strip() else base, self.tag if self.sets_tag else texts.tag, note or None)
        if found != texts:
            plant_fields({"name": found.name} if found.tag is None else {"name": found.name, "tag": found.tag})
            plant_note(found.note or "")
        return found

    def _replaced(self, field: str, text: str) -> str:
        if not self.find:
            return text
        pattern = re.compile(re.escape(self.find), re.IGNORECASE)
        places = sum(1 for _ in pattern.finditer(text)) if self.any_case else text.count(self.find)
        grows = places * (len(self.replacement) - len(self.find))
        if grows > 0 and len(text) + grows > _LONGEST:
            raise InvalidPlantError([InvalidField(field, _TOO_LONG[field])])
        if not self.any_case:
            return text.replace(self.find, self.replacement)
        return pattern.sub(lambda _found: self.replacement, text)


def rewritten(rule: Rule, rows: Iterable[tuple[int, str, str | None, str | None]]) -> Iterator[Rewritten]:
    """Yield id, name, tag, note and column `folded` of the plants that a rule changes, of id, name, tag and note."""
    for plant_id, name, tag, note in rows:
        before = Texts(name, tag, note)
        after = rule.rewritten(before)
        if after != before:
            yield plant_id, *after, folded(after.name, after.tag)
