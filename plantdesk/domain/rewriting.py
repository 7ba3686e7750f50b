"""Rewrites the texts of many plants by one rule: find and replace, tidy, a prefix and suffix for names, a note line."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from heapq import merge
from typing import NamedTuple, TypeAlias

from plantdesk.domain.errors import InvalidField, InvalidPlantError
from plantdesk.domain.patterns import compile_finder, compile_template
from plantdesk.domain.records import PlantContent
from plantdesk.domain.texts import Text
from plantdesk.domain.validation import NOTE_TOO_LONG, is_blank, plant_fields, plant_note

Step: TypeAlias = Callable[[str], Iterable["Replacement"]]

#: The most characters of a text after replacing: more than the API accepts.
_MAX_CHARACTERS = 1_000_000
_TOO_LONG = {
    "name": Text("The name is too long. It may have {characters:,} characters.", characters=_MAX_CHARACTERS),
    "note": NOTE_TOO_LONG,
}
#: The fields in which a rule can replace texts.
FIELDS = ("name", "note")

#: Blanks that tidying replaces by one. A match takes a whole run of them, so that the time is linear.
_NAME_BLANKS = r"\s\s+|[^\S ]"
_NOTE_BLANKS = r"[^\S\n]*?(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])|[^\S\n]+(?=\S)"
_STRAIGHT = "['\"]"
_CURLY = "[‘’‚‛“”„‟]"
_OPENING_QUOTES = {"'": "‘", '"': "“"}
_CLOSING_QUOTES = {"'": "’", '"': "”"}
_OPENING = r"[\s(\[{<–—/-]"


class PlantTexts(NamedTuple):
    """The texts of a plant, before or after a rule was applied to them."""

    name: str
    tag: str | None
    note: str | None


class Replacement(NamedTuple):
    """The part of a text from `start` to before `end` becomes `new`."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, kw_only=True)
class RewriteRule:
    r"""Changes of the texts of a plant, made in this order. An empty text, or None, changes nothing.

    `name` and `note` replace those of the plant, as does `tag` if `sets_tag`. In each of `fields`, “name” or “note”,
    `find` is replaced: with `whole_words` only where it is not part of a longer word. With `is_pattern` it is a pattern
    of RE2, and `\1` in the replacement is its first group. Then blanks are tidied, and quotes made “curly” or
    “straight”. `prefix` and `suffix` are added to the name, and `note_line` is appended to the note.
    """

    name: str | None = None
    note: str | None = None
    sets_tag: bool = False
    tag: str | None = None
    fields: tuple[str, ...] = ("name",)
    find: str = ""
    replacement: str = ""
    ignore_case: bool = False
    whole_words: bool = False
    is_pattern: bool = False
    tidies_blanks: bool = False
    quotes: str = ""
    prefix: str = ""
    suffix: str = ""
    note_line: str = ""

    def check(self) -> None:
        """Raise InvalidPatternError if the pattern, or its replacement, cannot be used."""
        _build_steps(self, "name")
        _build_steps(self, "note")

    def apply(self, texts: PlantTexts) -> PlantTexts:
        """Return the changed texts; a name never becomes blank. Raises InvalidPlantError and InvalidPatternError."""
        base = texts.name if self.name is None else self.name
        name = self._apply_steps("name", base)
        note = self._apply_steps("note", (texts.note if self.note is None else self.note) or "")
        tag = self.tag if self.sets_tag else texts.tag
        after = PlantTexts(base if is_blank(name) else name, tag, note or None)
        if after != texts:
            plant_fields({"name": after.name} if tag is None else {"name": after.name, "tag": tag})
            plant_note(note)
        return after

    def replacements(self, field: str, text: str) -> list[Replacement]:
        """Return the replacements in a name or note, in order, to show them.

        If the rule has several steps for the field, one replacement has the whole text. Raises as `apply` does.
        """
        steps = _build_steps(self, field)
        if len(steps) == 1:
            return [part for part in steps[0](text) if text[part.start : part.end] != part.new]
        after = self._apply_steps(field, text)
        return [Replacement(0, len(text), after)] if after != text else []

    def _apply_steps(self, field: str, text: str) -> str:
        for step in _build_steps(self, field):
            text = apply_replacements(field, text, step(text))
        return text


def apply_replacements(field: str, text: str, replacements: Iterable[Replacement]) -> str:
    """Return a name or note with replacements; these must be in order. Raises InvalidPlantError."""
    parts: list[str] = []
    end = 0
    size = len(text)
    max_size = max(len(text), _MAX_CHARACTERS)
    for start, stop, new in replacements:
        size += len(new) - (stop - start)
        if size > max_size:
            raise InvalidPlantError([InvalidField(field, _TOO_LONG[field])])
        parts += text[end:start], new
        end = stop
    return "".join([*parts, text[end:]]) if parts else text


def rewritten_plants(
    rule: RewriteRule, rows: Iterable[tuple[int, str, str | None, str | None]], leave: Collection[tuple[int, str]] = ()
) -> Iterator[PlantContent]:
    """Yield the changed plants among `rows`: ids, names, tags and notes. `leave` are ids and fields that stay.

    Raises InvalidPlantError and InvalidPatternError.
    """
    for plant_id, name, tag, note in rows:
        before = PlantTexts(name, tag, note)
        after = rule.apply(before)
        if after != before and leave:
            unchanged_texts = {field: getattr(before, field) for field in FIELDS if (plant_id, field) in leave}
            after = after._replace(**unchanged_texts)
        if after != before:
            yield PlantContent(plant_id, *after)


@lru_cache(maxsize=64)
def _build_steps(rule: RewriteRule, field: str) -> list[Step]:
    """Return the steps of a rule for a field, in order."""
    steps: list[Step] = []
    if field in rule.fields:
        if rule.find:
            steps.append(_build_find_step(rule))
        if rule.tidies_blanks or rule.quotes:
            steps.append(_build_tidy_step(rule, field))
    if field == "name":
        if rule.prefix:
            steps.append(partial(_prepend, rule.prefix))
        if rule.suffix:
            steps.append(partial(_append, rule.suffix))
    elif rule.note_line:
        steps.append(partial(_append_line, rule.note_line))
    return steps


def _build_find_step(rule: RewriteRule) -> Step:
    """Return the step that finds and replaces. Raises InvalidPatternError."""
    if rule.is_pattern:
        find_all = compile_finder(rule.find, ignore_case=rule.ignore_case)
        expand_template = compile_template(rule.find, rule.replacement)

        def find(text: str) -> Iterator[Replacement]:
            return (Replacement(*match.span(), expand_template(match)) for match in find_all(text))

    else:
        pattern = re.compile(re.escape(rule.find), re.IGNORECASE if rule.ignore_case else re.NOFLAG)

        def find(text: str) -> Iterator[Replacement]:
            return (Replacement(*match.span(), rule.replacement) for match in pattern.finditer(text))

    if not rule.whole_words:
        return find
    return lambda text: (replacement for replacement in find(text) if _is_whole_word(text, replacement))


def _build_tidy_step(rule: RewriteRule, field: str) -> Step:
    """Return the step that tidies up blanks and quotes; the two never change the same part of a text."""
    steps: list[Step] = []
    if rule.tidies_blanks:
        blanks = (_NAME_BLANKS, " ") if field == "name" else (_NOTE_BLANKS, "\n")
        steps.append(partial(_tidy_blanks, *blanks))
    if rule.quotes:
        steps.append(_curl_quotes if rule.quotes == "curly" else _straighten_quotes)
    return lambda text: merge(*(step(text) for step in steps))


def _is_whole_word(text: str, part: Replacement) -> bool:
    """Return whether no letter, digit or underscore is next to a part of a text."""
    neighbors = text[max(part.start - 1, 0) : part.start], text[part.end : part.end + 1]
    return not any(character.isalnum() or character == "_" for character in neighbors)


def _tidy_blanks(blanks: str, single: str, text: str) -> Iterator[Replacement]:
    start = len(text) - len(text.lstrip())
    end = len(text.rstrip())
    if start:
        yield Replacement(0, start, "")
    for blank in re.compile(blanks).finditer(text, start, end):
        if single == " " or blank[0].splitlines() != [blank[0]]:  # otherwise, blanks within a line of a note
            yield Replacement(*blank.span(), single)
    if start < end < len(text):
        yield Replacement(end, len(text), "")


def _curl_quotes(text: str) -> Iterator[Replacement]:
    for quote in re.finditer(_STRAIGHT, text):
        position = quote.start()
        is_opening = position == 0 or re.match(_OPENING, text[position - 1]) is not None
        quotes = _OPENING_QUOTES if is_opening else _CLOSING_QUOTES
        yield Replacement(position, position + 1, quotes[quote[0]])


def _straighten_quotes(text: str) -> Iterator[Replacement]:
    return (Replacement(*quote.span(), "'" if quote[0] in "‘’‚‛" else '"') for quote in re.finditer(_CURLY, text))


def _prepend(new: str, _text: str) -> list[Replacement]:
    return [Replacement(0, 0, new)]


def _append(new: str, text: str) -> list[Replacement]:
    return [Replacement(len(text), len(text), new)]


def _append_line(line: str, text: str) -> list[Replacement]:
    return [Replacement(len(text), len(text), f"\n{line}" if text else line)]
