"""Other texts for many plants by one rule: find and replace, a start and end for names, a line for notes, tidying."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache, partial
from heapq import merge
from typing import NamedTuple, TypeAlias

from plantdesk.domain.errors import InvalidField, InvalidPlantError
from plantdesk.domain.patterns import finder, template
from plantdesk.domain.texts import Text
from plantdesk.domain.validation import NOTE_TOO_LONG, is_blank, plant_fields, plant_note

Step: TypeAlias = Callable[[str], Iterable["Place"]]

#: Id, name, tag and note of a plant with other texts.
Rewritten: TypeAlias = tuple[int, str, str | None, str | None]

#: Characters of a text in which something was replaced: more than the API takes of a plant.
_LONGEST = 1_000_000
_TOO_LONG = {
    "name": Text("The name is too long. It may have {characters:,} characters.", characters=_LONGEST),
    "note": NOTE_TOO_LONG,
}
#: The fields that a rule can change text by text.
FIELDS = ("name", "note")

#: Blanks that a name or note has one of instead. Each takes a run of them whole, so that the time is linear.
_NAME_BLANKS = r"\s\s+|[^\S ]"
_NOTE_BLANKS = r"[^\S\n]*?(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])|[^\S\n]+(?=\S)"
_STRAIGHT, _CURLY = "['\"]", "[‘’‚‛“”„‟]"
_OPENING_QUOTES, _CLOSING_QUOTES = {"'": "‘", '"': "“"}, {"'": "’", '"': "”"}
_OPENING = r"[\s(\[{<–—/-]"


class Texts(NamedTuple):
    """What a plant says."""

    name: str
    tag: str | None
    note: str | None


class Place(NamedTuple):
    """A part of a text, from `start` to before `end`, and what it becomes."""

    start: int
    end: int
    new: str


class Rule(NamedTuple):
    r"""How the texts of a plant are changed, in this order. An empty text, or None, changes nothing.

    `name` and `note` replace those of all plants, as does `tag` if `sets_tag`. In the `fields`, “name” or “note”,
    `find` is replaced: in the same case unless `any_case`, and with `whole_words` only if it is no part of a word. With
    `is_pattern` the rules of RE2 apply, and `\1` in the replacement is a group. Then blanks are tidied up, and `quotes`
    made “curly” or “straight”. `before` and `after` are added to the name, and `note_line` to the note.
    """

    name: str | None = None
    note: str | None = None
    sets_tag: bool = False
    tag: str | None = None
    fields: tuple[str, ...] = ("name",)
    find: str = ""
    replacement: str = ""
    any_case: bool = False
    whole_words: bool = False
    is_pattern: bool = False
    tidies: bool = False
    quotes: str = ""
    before: str = ""
    after: str = ""
    note_line: str = ""

    def check(self) -> None:
        """Raise InvalidPatternError if the pattern, or its replacement, cannot be used."""
        _steps(self, "name")
        _steps(self, "note")

    def rewritten(self, texts: Texts) -> Texts:
        """Return the texts of a plant afterwards. A name that would become blank stays.

        Raises InvalidPlantError and InvalidPatternError.
        """
        base = texts.name if self.name is None else self.name
        name = self._changed("name", base)
        note = self._changed("note", (texts.note if self.note is None else self.note) or "")
        found = Texts(base if is_blank(name) else name, self.tag if self.sets_tag else texts.tag, note or None)
        if found != texts:
            plant_fields({"name": found.name} if found.tag is None else {"name": found.name, "tag": found.tag})
            plant_note(found.note or "")
        return found

    def places(self, field: str, text: str) -> list[Place]:
        """Return what changes in a name or note. Raises InvalidPlantError and InvalidPatternError."""
        steps = _steps(self, field)
        if len(steps) == 1:
            return [each for each in steps[0](text) if text[each.start : each.end] != each.new]
        after = self._changed(field, text)
        return [Place(0, len(text), after)] if after != text else []

    def _changed(self, field: str, text: str) -> str:
        for step in _steps(self, field):
            text = replaced(field, text, step(text))
        return text


def replaced(field: str, text: str, places: Iterable[Place]) -> str:
    """Return a name or note with its `places` replaced, which must be in order. Raises InvalidPlantError."""
    parts: list[str] = []
    end, size, most = 0, len(text), max(len(text), _LONGEST)
    for start, stop, new in places:
        size += len(new) - (stop - start)
        if size > most:
            raise InvalidPlantError([InvalidField(field, _TOO_LONG[field])])
        parts += text[end:start], new
        end = stop
    return "".join([*parts, text[end:]]) if parts else text


def rewritten(
    rule: Rule, rows: Iterable[tuple[int, str, str | None, str | None]], leave: Collection[tuple[int, str]] = ()
) -> Iterator[Rewritten]:
    """Yield id, name, tag and note of the plants that a rule changes, of those of `rows`.

    `leave` are ids and fields that stay as they are.
    """
    for plant_id, name, tag, note in rows:
        before = Texts(name, tag, note)
        after = rule.rewritten(before)
        if after != before and leave:
            stay = {field: getattr(before, field) for field in FIELDS if (plant_id, field) in leave}
            after = after._replace(**stay)
        if after != before:
            yield plant_id, *after


@lru_cache(maxsize=64)
def _steps(rule: Rule, field: str) -> list[Step]:
    """Return what a rule does to a field, one after the other."""
    steps: list[Step] = []
    if field in rule.fields:
        steps += [_replacing(rule)] if rule.find else []
        steps += [_tidying(rule, field)] if rule.tidies or rule.quotes else []
    if field == "name":
        steps += [partial(_at_start, rule.before)] if rule.before else []
        steps += [partial(_at_end, rule.after)] if rule.after else []
    elif rule.note_line:
        steps.append(partial(_as_line, rule.note_line))
    return steps


def _replacing(rule: Rule) -> Step:
    if rule.is_pattern:
        found, new = finder(rule.find, any_case=rule.any_case), template(rule.find, rule.replacement)

        def find(text: str) -> Iterator[Place]:
            return (Place(*match.span(), new(match)) for match in found(text))

    else:
        plain = re.compile(re.escape(rule.find), re.IGNORECASE if rule.any_case else re.NOFLAG)

        def find(text: str) -> Iterator[Place]:
            return (Place(*match.span(), rule.replacement) for match in plain.finditer(text))

    if not rule.whole_words:
        return find
    return lambda text: (place for place in find(text) if _is_word(text, place))


def _tidying(rule: Rule, field: str) -> Step:
    """Return the step that tidies up blanks and quotes; the two never change the same part of a text."""
    blanks = (_NAME_BLANKS, " ") if field == "name" else (_NOTE_BLANKS, "\n")
    steps: list[Step] = [partial(_tidied, *blanks)] if rule.tidies else []
    steps += [{"curly": _curly, "straight": _straight}[rule.quotes]] if rule.quotes else []
    return lambda text: merge(*(each(text) for each in steps))


def _is_word(text: str, place: Place) -> bool:
    """Return whether no letter, digit or underscore is next to a part of a text."""
    around = text[max(place.start - 1, 0) : place.start], text[place.end : place.end + 1]
    return not any(each.isalnum() or each == "_" for each in around)


def _tidied(blanks: str, one: str, text: str) -> Iterator[Place]:
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    if start:
        yield Place(0, start, "")
    for found in re.compile(blanks).finditer(text, start, end):
        if one == " " or found[0].splitlines() != [found[0]]:  # else blanks within a line of a note
            yield Place(*found.span(), one)
    if start < end < len(text):
        yield Place(end, len(text), "")


def _curly(text: str) -> Iterator[Place]:
    for quote in re.finditer(_STRAIGHT, text):
        at = quote.start()
        opens = at == 0 or re.match(_OPENING, text[at - 1]) is not None
        quotes = _OPENING_QUOTES if opens else _CLOSING_QUOTES
        yield Place(at, at + 1, quotes[quote[0]])


def _straight(text: str) -> Iterator[Place]:
    return (Place(*quote.span(), "'" if quote[0] in "‘’‚‛" else '"') for quote in re.finditer(_CURLY, text))


def _at_start(new: str, _text: str) -> list[Place]:
    return [Place(0, 0, new)]


def _at_end(new: str, text: str) -> list[Place]:
    return [Place(len(text), len(text), new)]


def _as_line(line: str, text: str) -> list[Place]:
    return [Place(len(text), len(text), f"\n{line}" if text else line)]
