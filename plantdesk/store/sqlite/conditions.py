"""Sets of plants as SQL conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, String, and_, case, cast, false, func, not_, or_, type_coerce
from sqlmodel import col, select

from plantdesk.domain.folding import LOOKALIKES, SEPARATOR, search_words, searched
from plantdesk.domain.records import SourceKind
from plantdesk.domain.selections import AddedBy, AddedOn, Contains, HasId, HasTag, Not
from plantdesk.store.tables import PlantTable, SourceTable

if TYPE_CHECKING:
    from sqlalchemy.orm import Mapped
    from sqlmodel.sql.expression import SelectOfScalar

    from plantdesk.domain.selections import Selection, Term

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
    plain = or_(name.contains(word, autoescape=True), tag.contains(word, autoescape=True))
    return case((col(PlantTable.folded).is_(None), plain), else_=folded.contains(word, autoescape=True))


def name_begins(start: str) -> ColumnElement[bool]:
    """Return the condition that a name begins with a text, as it is folded."""
    text = searched(start)
    name, folded = _normalized(col(PlantTable.name), text), _normalized(col(PlantTable.folded), text)
    plain = name.startswith(text, autoescape=True)
    return case((col(PlantTable.folded).is_(None), plain), else_=folded.startswith(text, autoescape=True))


def _normalized(column: Mapped[str] | Mapped[str | None], word: str) -> ColumnElement[str]:
    """Return a column's text with the lookalikes of the word's characters replaced, as in the word."""
    text: ColumnElement[str] = type_coerce(column, String)
    for one, others in LOOKALIKES.items():
        for other in others if one in word else "":
            text = func.replace(text, other, one)
    return text
