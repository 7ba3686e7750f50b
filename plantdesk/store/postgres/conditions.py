"""Sets and orders of plants as SQL with bound values. Finds and sorts the same as `sqlite/conditions`."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from plantdesk.domain.folding import SEPARATOR, search_words, searched
from plantdesk.domain.records import LARGEST_ID, SMALLEST_ID, SourceKind
from plantdesk.domain.selections import AddedBy, AddedOn, Contains, HasId, HasTag, Not
from plantdesk.domain.views import Order
from plantdesk.store.postgres.connections import storable
from plantdesk.store.postgres.schema import LONGEST_TAG, NAME_KEY, NAME_START, TAG_KEY, TAG_START

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plantdesk.domain.selections import Selection, Term
    from plantdesk.domain.views import View

#: Beyond it there are symbols, and letters of scripts without case and accents.
_LAST_CODE = 0x10000
_SURROGATES = range(0xD800, 0xE000)


class _Foldings(NamedTuple):
    """What becomes of characters: those that become one other, by that; those that become several; those that go."""

    alike: dict[str, str]
    several: dict[str, str]
    dropped: str


def folded_note(word: str, bind: Callable[[object], str]) -> str:
    """Return the expression of a note in which a `word` is found that is `searched`; `bind` returns a placeholder.

    Only what may become a character of the word is replaced: `translate` compares each character with all of them.
    """
    foldings, letters = _foldings(), sorted(set(word))
    pairs = [(each, letter) for letter in letters for each in foldings.alike.get(letter, "")]
    source, target = ("".join(each) for each in zip(*pairs, strict=True)) if pairs else ("", "")
    plain = [(one, other) for one, other in pairs if one.isascii() and not one.isalpha()]
    ascii_note = 'lower(plant.note COLLATE "C")'
    if plain:
        ascii_note = f"translate({ascii_note}, {bind(_first(plain))}, {bind(_second(plain))})"
    note = f"regexp_replace(plant.note, {bind(f'[{foldings.dropped}]')}, '', 'g')"
    for one, several in foldings.several.items():
        if not set(several).isdisjoint(letters):
            note = f"replace({note}, {bind(one)}, {bind(several)})"
    note = f"translate({note}, {bind(source)}, {bind(target)})"
    return f"CASE WHEN octet_length(plant.note) = char_length(plant.note) THEN {ascii_note} ELSE {note} END"


def _first(pairs: list[tuple[str, str]]) -> str:
    return "".join(one for one, _ in pairs)


def _second(pairs: list[tuple[str, str]]) -> str:
    return "".join(other for _, other in pairs)


@lru_cache(maxsize=1)
def _foldings() -> _Foldings:
    alike: dict[str, str] = {}
    several, dropped = {}, []
    for code in range(1, _LAST_CODE):
        if code in _SURROGATES:
            continue
        character = chr(code)
        folded = searched(character)
        if not folded:
            dropped.append(code)
        elif len(folded) > 1 and folded.isalpha():
            several[character] = folded
        elif len(folded) == 1 and folded != character:
            alike[folded] = alike.get(folded, "") + character
    return _Foldings(alike, several, _ranges(dropped))


def _ranges(codes: list[int]) -> str:
    """Return the inside of a bracket expression."""
    runs = [[code for _, code in run] for _, run in groupby(enumerate(codes), lambda each: each[1] - each[0])]
    return "".join(chr(run[0]) if len(run) == 1 else f"{chr(run[0])}-{chr(run[-1])}" for run in runs)


#: The rank of each source, in an array that the server makes once for a query.
_SOURCE_KEY = """(ARRAY(
    SELECT coalesce(rank, 0)::integer FROM generate_series(1, (SELECT max(id) FROM source)) AS number
    LEFT JOIN (SELECT id, rank() OVER (ORDER BY kind || E'\\x1f' || label) AS rank FROM source) AS ranked
    ON id = number ORDER BY number
))[plant.source_id]"""
_KEYS = {
    Order.ADDED: ("plant.seq",),
    Order.ID: ("plant.id",),
    Order.NAME: (NAME_KEY, "plant.id"),
    Order.TAG: (TAG_KEY, NAME_KEY, "plant.id"),
    Order.SOURCE: (_SOURCE_KEY, "plant.seq"),
}
#: Of the orders whose beginning an index has: the plants that are in it, the keys, and whether a row is in its place.
SORTED_BY_INDEX = {
    Order.NAME: ("true", (NAME_START, NAME_KEY, "plant.id"), "true"),
    Order.TAG: (
        "plant.tag IS NOT NULL",
        (TAG_START, NAME_START, TAG_KEY, NAME_KEY, "plant.id"),
        f"length({TAG_KEY}) < {LONGEST_TAG}",
    ),
}
#: The orders by a unique column that has an index.
INDEXED = {Order.ADDED: "plant.seq", Order.ID: "plant.id"}
#: A number as an id is written.
_NUMBER = re.compile(r"0|-?[1-9][0-9]*")
_SEARCHED_TAG = "substr(plant.searched, strpos(plant.searched, E'\\x1f') + 1)"


class Condition:
    """An SQL condition on `plant`, and the values that it binds by name."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._parts: list[str] = []

    @property
    def sql(self) -> str:
        """The condition."""
        return " AND ".join(self._parts) or "true"

    def require(self, sql: str, **values: object) -> Condition:
        """Add a condition that must be true as well."""
        self._parts.append(sql)
        self.values.update(values)
        return self

    def bind(self, value: object) -> str:
        """Return a placeholder of a value."""
        name = f"v{len(self.values)}"
        self.values[name] = value
        return f"%({name})s"


def condition_of(selection: Selection) -> Condition:
    """Return the condition of a set of plants."""
    found = Condition()
    for group in selection.groups:
        found.require(f"({' OR '.join(_term(found, term) for term in group)})")
    if selection.since is not None:
        found.require(f"plant.added_at >= {found.bind(selection.since)}")
    if selection.ids is not None:
        found.require(f"plant.id = ANY({found.bind(list(selection.ids))}::bigint[])")
    return found


def ordering(view: View, *, limited: bool = True) -> str:
    """Return the terms of ORDER BY. Plants without a tag are the last ones by tag, both ways.

    Without a limit, an expression keeps the server from reading all plants in the order of an index: to read them as
    they lie and to sort them takes a third of the time.
    """
    direction = "DESC" if view.descending else "ASC"
    sorted_by = "" if limited or view.order not in INDEXED else "+ 0 "
    keys = ", ".join(f"{key} {sorted_by}{direction}" for key in _KEYS[view.order])
    return f"plant.tag IS NULL, {keys}" if view.order is Order.TAG else keys


def alike_key(*, by_tag: bool) -> str:
    """Return the expression of `folding.alike_key`."""
    text = "plant.searched" if by_tag else "split_part(plant.searched, E'\\x1f', 1)"
    return f"""CASE WHEN {text} LIKE '%  %' OR {text} LIKE ' %' OR {text} LIKE '% ' OR {text} LIKE E'% \\x1f%'
                         OR {text} LIKE E'%\\x1f %'
               THEN regexp_replace({text}, E'^ +| +$| +(?=[ \\x1f])|(?<=\\x1f) +', '', 'g') ELSE {text} END"""


def name_begins(condition: Condition, start: str) -> Condition:
    """Require that a name begins with a text, as it is searched."""
    text = searched(start)
    if not storable(text):
        return condition.require("false")
    return condition.require(f"starts_with(plant.searched, {condition.bind(text)})")


def has_length(condition: Condition, lengths: range) -> Condition:
    """Require that a name, as it is searched, has so many characters."""
    first, last = condition.bind(lengths.start), condition.bind(lengths.stop - 1)
    return condition.require(f"strpos(plant.searched, E'\\x1f') - 1 BETWEEN {first} AND {last}")


def _term(values: Condition, term: Term) -> str:
    match term:
        case Contains():
            return _contains_text(values, term)
        case HasTag(tag):
            return "plant.tag IS NULL" if tag is None else _has_tag(values, term, tag)
        case AddedBy():
            return _is_added_by(values, term)
        case AddedOn():
            times = term.milliseconds()
            return f"plant.added_at BETWEEN {values.bind(times.start)} AND {values.bind(times.stop - 1)}"
        case HasId(first, last):
            return f"plant.id BETWEEN {values.bind(first)} AND {values.bind(last)}"
        case Not():
            return f"NOT coalesce({_term(values, term.term)}, false)"


def _contains_text(values: Condition, term: Contains) -> str:
    if term.in_note:
        return _note_contains(values, term.text)
    words = search_words(term.text)
    if not storable(term.text if not words else searched(term.text)):
        return "false"
    if not words:  # accents without a letter, which are not in folded texts
        text = values.bind(term.text)
        return f"(strpos(plant.name, {text}) > 0 OR coalesce(strpos(plant.tag, {text}) > 0, false))"
    if not term.is_word:
        return _contains(values, searched(term.text))
    found = (" OR ".join(filter(None, (_contains(values, word), _starts_id(values, word)))) for word in words)
    return f"({' AND '.join(f'({each})' for each in found)})"


def _contains(values: Condition, text: str) -> str:
    return f"plant.searched LIKE {values.bind(f'%{_escaped(text)}%')}"


def _starts_id(values: Condition, word: str) -> str:
    """Compare with ranges, as the index of the ids can: those that begin with 12 are 12, 120 to 129, and so on."""
    if not _NUMBER.fullmatch(word):
        return ""
    return " OR ".join(
        f"plant.id BETWEEN {values.bind(first)} AND {values.bind(last)}" for first, last in _ids_beginning(int(word))
    )


def _ids_beginning(number: int) -> Iterator[tuple[int, int]]:
    first, last = abs(number), abs(number)
    while first <= (-SMALLEST_ID if number < 0 else LARGEST_ID):
        yield (max(-last, SMALLEST_ID), -first) if number < 0 else (first, min(last, LARGEST_ID))
        if number == 0:
            return
        first, last = first * 10, last * 10 + 9


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _has_tag(values: Condition, term: HasTag, tag: str) -> str:
    """Compare the folded texts; a tag without letters, such as an accent alone, is compared as it is."""
    is_same = f"coalesce(plant.tag = {values.bind(tag)}, false)" if storable(tag) else "false"
    if term.exact and (top := term.branch) is not None and storable(tag):
        is_below = f"starts_with(plant.tag, {values.bind(tag)})"
        return f"coalesce(plant.tag = {values.bind(top)} OR {is_below}, false)"
    text = searched(tag)
    if term.exact or not text.strip() or not storable(text) or SEPARATOR in text:
        return is_same
    is_alike = f"{_SEARCHED_TAG} = {values.bind(text)}"
    if (branch := term.branch) is not None:
        is_alike = f"({_SEARCHED_TAG} = {values.bind(branch)} OR starts_with({_SEARCHED_TAG}, {values.bind(text)}))"
    return f"({is_same} OR (plant.tag IS NOT NULL AND {is_alike}))"


def _note_contains(values: Condition, text: str) -> str:
    """Compare a note, which is not in the column `searched`."""
    word = searched(text)
    if not storable(text):
        return "false"
    if not word.strip():  # all notes, or accents without a letter
        return f"coalesce(strpos(plant.note, {values.bind(text)}) > 0, false)"
    pattern = values.bind(f"%{_escaped(word)}%")
    return f"(plant.note IS NOT NULL AND {folded_note(word, values.bind)} LIKE {pattern})"


def _is_added_by(values: Condition, term: AddedBy) -> str:
    conditions = ["true"]
    if term.kind is SourceKind.OTHER:
        known = [str(each) for each in SourceKind if each is not SourceKind.OTHER]
        conditions.append(f"source.kind <> ALL({values.bind(known)}::text[])")
    elif term.kind is not None:
        conditions.append(f"source.kind = {values.bind(str(term.kind))}")
    if term.label is not None and not storable(term.label):
        return "false"
    if term.label is not None and term.kind is not None:
        conditions.append(f"source.label = {values.bind(term.label)}")
    elif term.label is not None:
        conditions.append(f"source.searched = {values.bind(searched(term.label))}")
    return f"plant.source_id IN (SELECT source.id FROM source WHERE {' AND '.join(conditions)})"
