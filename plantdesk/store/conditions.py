"""Sets and orders of plants as SQL for every kind of store. What differs between the databases is a `Dialect`."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from plantdesk.domain.folding import SEPARATOR, search_words, searched
from plantdesk.domain.records import LARGEST_ID, SMALLEST_ID, SourceKind
from plantdesk.domain.selections import AddedBy, AddedOn, Contains, HasId, HasTag, Not
from plantdesk.domain.views import Order

if TYPE_CHECKING:
    from plantdesk.domain.selections import Selection, Term
    from plantdesk.domain.views import View

#: A number as an id is written.
_NUMBER = re.compile(r"0|-?[1-9][0-9]*")
#: Sorts behind each text that begins with what precedes it.
_LAST_CHARACTER = "\U0010ffff"

_SOURCE_KEY = f"(SELECT kind || '{SEPARATOR}' || label FROM source WHERE source.id = plant.source_id)"
_KEYS = {
    Order.ADDED: ("plant.seq",),
    Order.ID: ("plant.id",),
    Order.NAME: ("plant.searched_name", "plant.id"),
    Order.TAG: ("plant.searched_tag", "plant.searched_name", "plant.id"),
    Order.SOURCE: (_SOURCE_KEY, "plant.seq"),
}


class Dialect(ABC):
    """What the databases write differently in a condition."""

    #: Each value is bound by name; this is the placeholder of a name.
    placeholder = ":{}"
    #: The condition that a text contains another one.
    contains = "instr({}, {}) > 0"
    #: The key that sorts by the origin of plants.
    source_key = _SOURCE_KEY

    @abstractmethod
    def storable(self, *texts: str | None) -> bool:
        """Whether the database can have texts, so that it can be asked for them."""

    @abstractmethod
    def among(self, column: str, ids: Sequence[int], condition: Condition) -> str:
        """Return the condition that a column is one of any number of ids."""

    def contains_searched(self, column: str, text: str, condition: Condition) -> str:
        """Return the condition that a column of searched texts contains a text, by an index where there is one."""
        return self.contains.format(column, condition.bind(text))


class Condition:
    """An SQL condition on the table `plant`, and the values that it binds by name."""

    def __init__(self, dialect: Dialect, **values: object) -> None:
        self.dialect = dialect
        self.values: dict[str, Any] = values
        self._parts: list[str] = []

    @property
    def sql(self) -> str:
        """The condition."""
        return " AND ".join(self._parts) or "TRUE"

    def require(self, sql: str, **values: object) -> Condition:
        """Add a condition that must be true as well."""
        self._parts.append(sql)
        self.values.update(values)
        return self

    def bind(self, value: object) -> str:
        """Return a placeholder of a value."""
        name = f"v{len(self.values)}"
        self.values[name] = value
        return self.dialect.placeholder.format(name)

    def select(self, selection: Selection) -> Condition:
        """Require that a plant is in a set."""
        for group in selection.groups:
            self.require(_any(self._term(term) for term in group))
        if selection.since is not None:
            self.require(f"plant.added_at >= {self.bind(selection.since)}")
        if selection.ids is not None:
            self.among(selection.ids)
        return self

    def among(self, ids: Sequence[int]) -> Condition:
        """Require that the id of a plant is one of these."""
        return self.require(self.dialect.among("plant.id", ids, self))

    def begin(self, start: str) -> Condition:
        """Require that a name begins with a text, as it is searched."""
        text = searched(start)
        is_possible = self.dialect.storable(text)
        return self.require(self._begins("plant.searched_name", text) if is_possible else "FALSE")

    def has_length(self, lengths: range) -> Condition:
        """Require that a name, as it is searched, has so many characters."""
        first, last = self.bind(lengths.start), self.bind(lengths.stop - 1)
        return self.require(f"length(plant.searched_name) BETWEEN {first} AND {last}")

    def _term(self, term: Term) -> str:
        match term:
            case Contains():
                return self._contains(term) if self.dialect.storable(term.text) else "FALSE"
            case HasTag():
                return self._has_tag(term) if self.dialect.storable(term.tag) else "FALSE"
            case AddedBy():
                return self._is_added_by(term) if self.dialect.storable(term.label) else "FALSE"
            case AddedOn():
                times = term.milliseconds()
                return f"plant.added_at BETWEEN {self.bind(times.start)} AND {self.bind(times.stop - 1)}"
            case HasId(first, last):
                return f"plant.id BETWEEN {self.bind(first)} AND {self.bind(last)}"
            case Not():
                return f"NOT coalesce({self._term(term.term)}, FALSE)"

    def _contains(self, term: Contains) -> str:
        """Look at the texts as they are searched; accents without a letter are not in those."""
        columns = ("note",) if term.in_note else ("name", "tag")
        text = searched(term.text)
        if not text.strip():
            return _any(self.dialect.contains.format(f"plant.{each}", self.bind(term.text)) for each in columns)
        if term.in_note or not term.is_word:
            return self._searched(columns, text)
        return _all(_any([self._searched(columns, word), *self._id_begins(word)]) for word in search_words(term.text))

    def _searched(self, columns: Sequence[str], text: str) -> str:
        return _any(self.dialect.contains_searched(f"plant.searched_{each}", text, self) for each in columns)

    def _id_begins(self, word: str) -> Iterator[str]:
        """Compare with ranges, as the index of the ids can: those that begin with 12 are 12, 120 to 129, and so on."""
        if not _NUMBER.fullmatch(word):
            return
        number = int(word)
        first = last = abs(number)
        while first <= (-SMALLEST_ID if number < 0 else LARGEST_ID):
            low, high = (max(-last, SMALLEST_ID), -first) if number < 0 else (first, min(last, LARGEST_ID))
            yield f"plant.id BETWEEN {self.bind(low)} AND {self.bind(high)}"
            if number == 0:
                return
            first, last = first * 10, last * 10 + 9

    def _has_tag(self, term: HasTag) -> str:
        """Compare the searched texts; a tag without letters, such as an accent alone, is compared as it is."""
        if term.tag is None:
            return "plant.tag IS NULL"
        column, text = "plant.searched_tag", searched(term.tag)
        if term.exact or not text.strip():
            column, text = "plant.tag", term.tag
        if term.branch is None:
            return f"{column} = {self.bind(text)}"
        return _any([f"{column} = {self.bind(term.branch)}", self._begins(column, text)])

    def _begins(self, column: str, start: str) -> str:
        return f"({column} >= {self.bind(start)} AND {column} < {self.bind(start + _LAST_CHARACTER)})"

    def _is_added_by(self, term: AddedBy) -> str:
        found = ["TRUE"]
        if term.kind is SourceKind.OTHER:
            known = (self.bind(str(each)) for each in SourceKind if each is not SourceKind.OTHER)
            found.append(f"source.kind NOT IN ({', '.join(known)})")
        elif term.kind is not None:
            found.append(f"source.kind = {self.bind(str(term.kind))}")
        if term.label is not None and term.kind is not None:
            found.append(f"source.label = {self.bind(term.label)}")
        elif term.label is not None:
            found.append(f"source.searched_label = {self.bind(searched(term.label))}")
        return f"plant.source_id IN (SELECT source.id FROM source WHERE {_all(found)})"


def ordering(view: View, dialect: Dialect, *, by_index: bool) -> str:
    """Return the terms of ORDER BY. Plants without a tag are the last ones by tag, both ways.

    Unless `by_index`, an expression keeps the database from reading plants in the order of an index: to read them as
    they lie and to sort them takes a third of the time where most are read.
    """
    direction = "DESC" if view.descending else "ASC"
    keys = _KEYS[view.order]
    if view.order is Order.SOURCE:
        keys = (dialect.source_key, *keys[1:])
    if view.order in {Order.ADDED, Order.ID} and not by_index:
        keys = tuple(f"{key} + 0" for key in keys)
    return ", ".join(["plant.tag IS NULL"] * (view.order is Order.TAG) + [f"{key} {direction}" for key in keys])


def _any(conditions: Iterator[str] | Sequence[str]) -> str:
    return f"({' OR '.join(conditions)})"


def _all(conditions: Iterator[str] | Sequence[str]) -> str:
    return f"({' AND '.join(conditions)})"
