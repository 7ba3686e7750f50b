"""The search language of window and commands: parses a text to terms, and formats terms as text.

    rose "deep red" -dead       words and phrases in name or tag; a word also at the beginning of the id
    tag:kitchen -tag:"my room"  tag; tag=Kitchen: exactly so; tag:none: without a tag
    tag:garden/  tag=garden/    tag with all below it
    note:anna  note:"from Anna"  words in the note; note:"": with a note
    from:form  from:garden-sync  from:token/garden-sync
    added:today  added:yesterday  added:7d  added:2026  added:2026-11  added:2026-11-21
    id:7  id:5-90  plantdesk:7 (the address on a label)

Whatever is not a term of this list is a word, so every text is a search. A negative number is an id: `-"5"` excludes.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator
from datetime import date

from plantdesk.domain.errors import InvalidPlantError
from plantdesk.domain.records import SourceKind, parse_id
from plantdesk.domain.selections import AddedBy, AddedOn, Condition, Contains, HasId, HasTag, Not, Selection, Term

#: The prefixes of terms, in the order in which they are offered.
PREFIXES = ("tag:", "note:", "from:", "added:", "id:")
_NONE = "none"
_TERM = re.compile(
    r"(?P<not>-?)(?P<prefix>(?:tag|note|from|added|id|plantdesk):|tag=|)"
    r'(?:"(?P<quoted>[^"]*(?:""[^"]*)*)(?:"|\Z)|(?P<plain>[^\s"]\S*))',
    re.IGNORECASE,
)
#: The value of a term that needs no quotes.
_UNQUOTED_VALUE = re.compile(r'[^\s"]\S*')
_DAYS = {"today": (0, 0), "yesterday": (1, 1)}
_LAST_DAYS = re.compile(r"([1-9]\d{0,3})d", re.ASCII | re.IGNORECASE)
#: Years for which every system knows the local time.
_DATE = re.compile(r"(197[1-9]|19[89]\d|2\d\d\d)(?:-(\d\d)(?:-(\d\d))?)?", re.ASCII)
_ID_RANGE = re.compile(r"(-?\d+)-(-?\d+)", re.ASCII)


def parse_search(text: str) -> Selection:
    """Return the plants that a search selects; all for an empty one."""
    return Selection.of(*parse_terms(text))


def parse_terms(text: str) -> tuple[Term, ...]:
    """Return the terms of a search in their order."""
    return tuple(_iter_terms(text))


def search_text(terms: Iterable[Term]) -> str:
    """Return the text that `parse_terms` parses to `terms`."""
    return " ".join(map(_format_term, terms))


def _iter_terms(text: str) -> Iterator[Term]:
    """Yield the terms of a search. A prefix with a value that it does not allow is searched as a word."""
    for match in _TERM.finditer(text):
        minus = match["not"]
        prefix = match["prefix"].lower()
        quoted = match["quoted"]
        plain = match["plain"]
        if not prefix and plain is not None:
            yield _parse_word(minus, plain)
        elif prefix or quoted:
            value = plain if quoted is None else quoted.replace('""', '"')
            term = _parse_field(prefix, value, is_quoted=quoted is not None)
            term = Contains(match[0].removeprefix(minus)) if term is None else term
            yield Not(term) if minus else term


def _parse_word(minus: str, word: str) -> Term:
    return Not(Contains(word)) if minus and not word.isdecimal() else Contains(minus + word)


def _parse_field(prefix: str, value: str, *, is_quoted: bool) -> Condition | None:
    """Return the condition of a prefix and its value; None if the prefix does not allow the value."""
    match prefix:
        case "" | "note:":
            return Contains(value, is_word=False, in_note=bool(prefix))
        case "tag=":
            return HasTag(value, is_exact=True)
        case "tag:":
            return HasTag(None if value.lower() == _NONE and not is_quoted else value)
        case "from:":
            return _parse_source(value)
        case "added:":
            return _parse_added_on(value.lower())
    return _parse_ids(value)


def _parse_source(value: str) -> AddedBy | None:
    kind, slash, label = value.partition("/")
    if kind.lower() in set(SourceKind):
        return AddedBy(SourceKind(kind.lower()), label if slash else None)
    return AddedBy(label=value) if value else None


def _parse_added_on(value: str) -> AddedOn | None:
    """Parse the value of `added:` as a range of days; None if it is not valid."""
    if value in _DAYS:
        return AddedOn(*_DAYS[value])
    last_days = _LAST_DAYS.fullmatch(value)
    if last_days is not None:
        return AddedOn(int(last_days[1]) - 1, 0)
    match = _DATE.fullmatch(value)
    if match is None:
        return None
    year, month, day = map(int, match.groups("0"))
    last_month = month or 12
    try:
        last_day = day or monthrange(year, last_month)[1]
        return AddedOn(date(year, month or 1, day or 1), date(year, last_month, last_day))
    except ValueError:  # there is no such day
        return None


def _parse_ids(value: str) -> HasId | None:
    bounds = _ID_RANGE.fullmatch(value)
    try:
        first, last = sorted(map(parse_id, bounds.groups() if bounds else (value, value)))
    except InvalidPlantError:
        return None
    return HasId(first, last)


def _format_term(term: Term) -> str:
    """Return a term in the search language, as `_iter_terms` parses it."""
    match term:
        case Not():
            return f"-{_format_term(term.term)}"
        case Contains():
            return _format_contains(term)
        case HasTag():
            return _format_tag(term)
        case AddedBy(kind, label):
            return f"from:{_quote_if_needed('/'.join(part for part in (kind, label) if part is not None))}"
        case AddedOn(first, last):
            return f"added:{_format_days(first, last)}"
        case HasId(first, last):
            return f"id:{first}" if first == last else f"id:{first}-{last}"


def _format_contains(term: Contains) -> str:
    if term.is_word:
        return term.text
    return f"note:{_quote_if_needed(term.text)}" if term.in_note else _quote(term.text)


def _format_tag(term: HasTag) -> str:
    if term.tag is None:
        return f"tag:{_NONE}"
    is_none = term.tag.lower() == _NONE and not term.is_exact
    return f"tag{'=' if term.is_exact else ':'}{_quote(term.tag) if is_none else _quote_if_needed(term.tag)}"


def _format_days(first: date | int, last: date | int) -> str:
    if isinstance(first, int):
        return next((name for name, days in _DAYS.items() if days == (first, last)), f"{first + 1}d")
    if not isinstance(last, int) and first.month != last.month:
        return f"{first:%Y}"
    return f"{first}" if first == last else f"{first:%Y-%m}"


def _quote_if_needed(text: str) -> str:
    return text if _UNQUOTED_VALUE.fullmatch(text) else _quote(text)


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
