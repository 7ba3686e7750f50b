"""Sets and orders of plants as SQL conditions and ORDER BY terms, and the Python functions that they call."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, String, and_, case, cast, false, func, literal_column, not_, or_, type_coerce
from sqlmodel import col, select

from plantdesk.domain.folding import CONFUSABLES, SEPARATOR, folded, search_words, searched
from plantdesk.domain.records import SourceKind
from plantdesk.domain.selections import AddedBy, AddedOn, Contains, HasId, HasTag, Not
from plantdesk.domain.views import Order
from plantdesk.store.sqlite.row_reads import all_ids
from plantdesk.store.tables import PlantTable, SourceTable

if TYPE_CHECKING:
    import sqlite3
    from array import array
    from collections.abc import Callable, Iterator

    from sqlalchemy import ColumnElement, Connection
    from sqlalchemy.orm import Mapped
    from sqlmodel.sql.expression import SelectOfScalar

    from plantdesk.domain.selections import Selection, Term


#: Printable ASCII alone, as most texts are: SQLite checks that much faster than Python.
IS_ASCII = "({0} NOT GLOB '*[^ -~]*' AND length({0}) = length(CAST({0} AS BLOB)))"
_FOLDED = """CASE WHEN {name_is_ascii} AND ({tag} IS NULL OR {tag_is_ascii}) THEN NULL ELSE fold({name}, {tag}) END"""


def folded_sql(name: str, tag: str) -> str:
    """Return the SQL expression of column `folded` for the expressions `name` and `tag`. Needs `add_functions`."""
    return _FOLDED.format(name=name, tag=tag, name_is_ascii=IS_ASCII.format(name), tag_is_ascii=IS_ASCII.format(tag))


def add_functions(connection: sqlite3.Connection) -> None:
    """Make `fold(name, tag)`, `searched(text)` and `is_unicode(blob)` available on a connection."""
    connection.create_function("fold", 2, folded, deterministic=True)
    connection.create_function("searched", 1, searched, deterministic=True)
    connection.create_function("is_unicode", 1, _is_unicode, deterministic=True)


def _is_unicode(text: bytes | None) -> bool:
    """Whether `text` is valid UTF-8. It may be NULL: SQLite evaluates both sides of an OR in a result column."""
    if text is None:
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


#: SQLite's LIKE takes patterns up to 50,000 bytes; longer words are searched with instr().
MAX_PATTERN = 10_000


def ids_of(selection: Selection) -> SelectOfScalar[int]:
    """Return the query for the ids of a set of plants."""
    conditions = [or_(*map(_condition, group)) for group in selection.groups]
    if selection.since is not None:
        conditions.append(col(PlantTable.added_at) >= selection.since)
    if selection.ids is not None:
        conditions.append(col(PlantTable.id).in_(selection.ids))
    return select(PlantTable.id).where(*conditions)


def _condition(term: Term) -> ColumnElement[bool]:
    match term:
        case Contains():
            return _contains_text(term)
        case HasTag(tag):
            return col(PlantTable.tag).is_(tag) if tag is None or term.exact else _has_tag_like(tag)
        case AddedBy():
            return _is_added_by(term)
        case AddedOn():
            times = term.milliseconds()
            return col(PlantTable.added_at).between(times.start, times.stop - 1)
        case HasId(first, last):
            return col(PlantTable.id).between(first, last)
        case Not():
            return not_(func.coalesce(_condition(term.term), false()))


def _contains_text(term: Contains) -> ColumnElement[bool]:
    words = search_words(term.text)
    if not words:  # accents without a letter, which are not in folded texts
        return or_(*(func.instr(text, term.text) > 0 for text in (PlantTable.name, PlantTable.tag)))
    if not term.is_word:
        return _contains(searched(term.text))
    return and_(*(or_(_contains(word), _starts_id(word)) for word in words))


def _starts_id(word: str) -> ColumnElement[bool]:
    return cast(PlantTable.id, String).startswith(word) if word.lstrip("-").isdecimal() else false()


def _has_tag_like(tag: str) -> ColumnElement[bool]:
    """Compare the folded texts; a tag without letters, such as an accent alone, is compared as it is."""
    is_same = col(PlantTable.tag) == tag
    if not (text := searched(tag)).strip():
        return is_same
    folded = col(PlantTable.folded)
    folded_tag = func.substr(_normalized(folded, text), func.instr(folded, SEPARATOR) + 1)
    plain = func.lower(_normalized(col(PlantTable.tag), text))
    is_alike = case((folded.is_(None), plain), else_=folded_tag) == text
    return and_(col(PlantTable.tag).is_not(None), or_(is_same, is_alike))


def _is_added_by(term: AddedBy) -> ColumnElement[bool]:
    kind, label = col(SourceTable.kind), col(SourceTable.label)
    sources = select(SourceTable.id)
    if term.kind is SourceKind.OTHER:
        sources = sources.where(kind.not_in(set(SourceKind) - {SourceKind.OTHER}))
    elif term.kind is not None:
        sources = sources.where(kind == term.kind)
    if term.label is not None:
        is_label = func.searched(label) == searched(term.label) if term.kind is None else label == term.label
        sources = sources.where(is_label)
    return col(PlantTable.source_id).in_(sources)


def _contains(word: str) -> ColumnElement[bool]:
    name, tag = _normalized(col(PlantTable.name), word), _normalized(col(PlantTable.tag), word)
    folded = _normalized(col(PlantTable.folded), word)
    if len(word) > MAX_PATTERN:
        return func.instr(func.coalesce(folded, func.lower(name + SEPARATOR + func.coalesce(tag, ""))), word) > 0
    plain = or_(*(_contains_plainly(col(each), word) for each in (PlantTable.name, PlantTable.tag)))
    return case((col(PlantTable.folded).is_(None), plain), else_=folded.contains(word, autoescape=True))


def _contains_plainly(column: Mapped[str] | Mapped[str | None], word: str) -> ColumnElement[bool]:
    """Compare a text in ASCII. Few have an apostrophe or the like, and to replace those in all takes far longer."""
    found: ColumnElement[bool] = _normalized(column, word, of=str.isascii).contains(word, autoescape=True)
    for one, others in CONFUSABLES.items():
        alike = [each for each in others if each.isascii()]
        if one in word and alike:
            # A CASE, since in a result SQLite evaluates both sides of an AND.
            found = case((or_(*(column.contains(each) for each in (one, *alike))), found), else_=false())
    return found


def name_begins(start: str) -> ColumnElement[bool]:
    """Return the condition that a name begins with a text, as it is folded."""
    text = searched(start)
    name, folded = _normalized(col(PlantTable.name), text), _normalized(col(PlantTable.folded), text)
    plain = name.startswith(text, autoescape=True)
    return case((col(PlantTable.folded).is_(None), plain), else_=folded.startswith(text, autoescape=True))


def _normalized(
    column: Mapped[str] | Mapped[str | None], word: str, of: Callable[[str], bool] = bool
) -> ColumnElement[str]:
    """Return a column's text with the lookalikes of the word's characters replaced, as in the word: those of a kind."""
    text: ColumnElement[str] = type_coerce(column, String)
    for one, others in CONFUSABLES.items():
        for other in filter(of, others if one in word else ""):
            text = func.replace(text, other, one)
    return text


#: The orders for which SQLite has no index.
SORTED = (Order.NAME, Order.TAG, Order.SOURCE)


def sorted_ids(connection: Connection, order: Order, size: int) -> Iterator[array[int]]:
    """Yield the ids of all plants in ascending order, about `size` at a time. Raises sqlite3.Error."""
    return all_ids(connection, select(PlantTable.id).order_by(*ordering(order, descending=False)), repeat(size))


def ordering(order: Order, *, descending: bool, all_plants: bool = True) -> list[ColumnElement[Any]]:
    """Return the terms of ORDER BY. Plants without a tag are the last ones by tag, both ways.

    Unless `all_plants` are read, those that match are sorted: the index of `seq` would read each row of the file alone.
    """
    keys = _keys(order) if all_plants or order is not Order.ADDED else [literal_column("+plant.seq")]
    columns = [each.desc() if descending else each.asc() for each in keys]
    untagged_last = [col(PlantTable.tag).is_(None)] if order is Order.TAG else []
    return [*untagged_last, *columns]


def _keys(order: Order) -> list[Any]:
    plant_id, seq, folded = col(PlantTable.id), col(PlantTable.seq), col(PlantTable.folded)
    name = func.coalesce(folded, PlantTable.name).collate("NOCASE")
    match order:
        case Order.ADDED:
            return [seq]
        case Order.ID:
            return [plant_id]
        case Order.NAME:
            return [name, plant_id]
        case Order.TAG:
            folded_tag = func.substr(folded, func.instr(folded, SEPARATOR) + 1)
            tag = case((folded.is_(None), func.coalesce(PlantTable.tag, "")), else_=folded_tag).collate("NOCASE")
            return [tag, name, plant_id]
        case Order.SOURCE:
            source = select(SourceTable.kind + SEPARATOR + SourceTable.label)
            return [source.where(col(SourceTable.id) == PlantTable.source_id).scalar_subquery(), seq]
