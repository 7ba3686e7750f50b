"""Translates selections and orders of plants into expressions of SQLAlchemy, for both kinds of database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from plantdesk.domain.folding import fold, search_words
from plantdesk.domain.records import LARGEST_ID, SMALLEST_ID, SourceKind
from plantdesk.domain.selections import AddedBy, AddedOn, Contains, HasId, HasTag, Not, Order, Selection, Term, View
from plantdesk.store.database import Database
from plantdesk.store.models import PLANT, SOURCE

#: A number as it is written: without a plus sign or zeros before it.
_DECIMAL_NUMBER = re.compile(r"0|-?[1-9][0-9]*")
#: Appended to a prefix, sorts after each text that begins with the prefix.
_LAST_CHARACTER = "\U0010ffff"
_KINDS = [str(kind) for kind in SourceKind if kind is not SourceKind.OTHER]


def condition_of(selection: Selection, database: Database) -> sa.ColumnElement[bool]:
    """Return the WHERE condition of a selection of plants."""
    conditions = [sa.or_(*(_condition(term, database) for term in group)) for group in selection.groups]
    if selection.since is not None:
        conditions.append(PLANT.c.added_at >= selection.since)
    if selection.ids is not None:
        conditions.append(database.is_one_of(PLANT.c.id, selection.ids))
    return sa.and_(sa.true(), *conditions)


def name_begins(start: str, database: Database) -> sa.ColumnElement[bool]:
    """Return the condition that a folded name begins with a text, also folded."""
    text = fold(start)
    return _begins(PLANT.c.searched_name, text) if database.is_storable(text) else sa.false()


def has_length(lengths: range) -> sa.ColumnElement[bool]:
    """Return the condition that the number of characters of a folded name is in a range."""
    return sa.func.length(PLANT.c.searched_name).between(lengths.start, lengths.stop - 1)


def ordering(view: View, database: Database, *, by_index: bool = True) -> list[sa.ColumnElement[Any]]:
    """Return the terms of ORDER BY for a view. By tag, plants without a tag come last in both directions.

    Without `by_index`, `+ 0` hides the column from its index: if most plants are read, it takes a third of the
    time to read them in stored order and to sort them.
    """
    columns = PLANT.c
    keys: dict[Order, list[sa.ColumnElement[Any]]] = {
        Order.ADDED: [columns.seq],
        Order.ID: [columns.id],
        Order.NAME: [columns.searched_name, columns.id],
        Order.TAG: [columns.searched_tag, columns.searched_name, columns.id],
        Order.SOURCE: [database.source_key(), columns.seq],
    }
    sorted_by = keys[view.order]
    if view.order in {Order.ADDED, Order.ID} and not by_index:
        sorted_by = [sorted_by[0] + 0]
    terms: list[sa.ColumnElement[Any]] = [key.desc() if view.descending else key.asc() for key in sorted_by]
    return [columns.tag.is_(None), *terms] if view.order is Order.TAG else terms


def _condition(term: Term, database: Database) -> sa.ColumnElement[bool]:
    """Return the condition of one term; false if the database cannot hold its text."""
    match term:
        case Contains():
            return _contains(term, database) if database.is_storable(term.text) else sa.false()
        case HasTag():
            return _has_tag(term) if database.is_storable(term.tag) else sa.false()
        case AddedBy():
            return _is_added_by(term) if database.is_storable(term.label) else sa.false()
        case AddedOn():
            times = term.milliseconds()
            return PLANT.c.added_at.between(times.start, times.stop - 1)
        case HasId(first, last):
            return PLANT.c.id.between(first, last)
        case Not():
            return sa.not_(sa.func.coalesce(_condition(term.term, database), sa.false()))


def _contains(term: Contains, database: Database) -> sa.ColumnElement[bool]:
    """Return the condition of a text, on folded columns; on the stored ones if folding leaves nothing of the text."""

    def contain(searched_text: str) -> sa.ColumnElement[bool]:
        return sa.or_(*(database.contains_searched(PLANT.c[f"searched_{field}"], searched_text) for field in columns))

    columns = ("note",) if term.in_note else ("name", "tag")
    text = fold(term.text)
    if not text.strip():
        return sa.or_(*(database.contains(PLANT.c[field], term.text) for field in columns))
    if term.in_note or not term.is_word:
        return contain(text)
    return sa.and_(*(sa.or_(contain(word), *_id_prefix_conditions(word)) for word in search_words(term.text)))


def _id_prefix_conditions(word: str) -> Iterator[sa.ColumnElement[bool]]:
    """Yield the conditions of ids that begin with a word, as ranges for the index: 12, 120 to 129 … for 12."""
    if not _DECIMAL_NUMBER.fullmatch(word):
        return
    number = int(word)
    first = last = abs(number)
    while first <= (-SMALLEST_ID if number < 0 else LARGEST_ID):
        low, high = (max(-last, SMALLEST_ID), -first) if number < 0 else (first, min(last, LARGEST_ID))
        yield PLANT.c.id.between(low, high)
        if number == 0:
            return
        first *= 10
        last = last * 10 + 9


def _has_tag(term: HasTag) -> sa.ColumnElement[bool]:
    """Return the condition of a tag, on the folded column; on the stored one if exact or if the folded tag is blank."""
    if term.tag is None:
        return PLANT.c.tag.is_(None)
    column = PLANT.c.searched_tag
    text = fold(term.tag)
    if term.is_exact or not text.strip():
        column = PLANT.c.tag
        text = term.tag
    return column == text if term.branch is None else sa.or_(column == term.branch, _begins(column, text))


def _begins(column: sa.ColumnElement[str], start: str) -> sa.ColumnElement[bool]:
    return sa.and_(column >= start, column < start + _LAST_CHARACTER)


def _is_added_by(term: AddedBy) -> sa.ColumnElement[bool]:
    """Return the condition of the source of plants; without a kind, the folded labels are compared."""
    conditions: list[sa.ColumnElement[bool]] = [sa.true()]
    if term.kind is SourceKind.OTHER:
        conditions.append(SOURCE.c.kind.not_in(_KINDS))
    elif term.kind is not None:
        conditions.append(SOURCE.c.kind == str(term.kind))
    if term.label is not None and term.kind is not None:
        conditions.append(SOURCE.c.label == term.label)
    elif term.label is not None:
        conditions.append(SOURCE.c.searched_label == fold(term.label))
    return PLANT.c.source_id.in_(sa.select(SOURCE.c.id).where(sa.and_(*conditions)))
