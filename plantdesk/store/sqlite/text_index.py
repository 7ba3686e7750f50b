"""Which plants may contain a text, by a trigram index (https://sqlite.org/fts5.html#the_trigram_tokenizer).

The index gives candidates: each of them is compared with the search again, so an entry that is out of date does no
harm.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.domain.folding import LOOKALIKES, SEPARATOR, search_words, searched
from plantdesk.domain.records import LARGEST_ID, SMALLEST_ID
from plantdesk.domain.selections import Contains, HasTag

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from plantdesk.domain.selections import Selection, Term

#: Makes the table of the index; `{0}` is the name of its schema.
CREATE_TABLE = """CREATE VIRTUAL TABLE {0}.words
                  USING fts5(text, tokenize = 'trigram', content = '', columnsize = 0, detail = none)"""
_TRIGRAM = 3
#: Trigrams of one text that are looked up; the comparison checks the others.
_MAX_TRIGRAMS = 32
#: Digits of the largest id.
_MAX_DIGITS = 19
_ID = re.compile(r"0|-?[1-9][0-9]{0,18}")


class Candidates(NamedTuple):
    """Plants that may match: those that the index finds for `match`, and those whose ids are in `ids`."""

    match: str
    ids: tuple[tuple[int, int], ...] = ()


def write_words(connection: sqlite3.Connection, schema: str) -> None:
    """Fill the table of the index in a schema. Raises sqlite3.Error."""
    # By the index of `seq`: a sort takes half the time, but the process keeps 4 MiB more.
    sql = f"INSERT INTO {schema}.words (rowid, text) SELECT seq, {_indexed_text()} FROM main.plant ORDER BY seq"
    connection.execute(sql)


def _indexed_text() -> str:
    """Return the SQL expression of a plant's text as `searched` compares it, with case where the index ignores it."""
    text = f"coalesce(folded, name || '{SEPARATOR}' || coalesce(tag, ''))"
    for one, others in LOOKALIKES.items():
        for other in others:
            text = f"replace({text}, {_quoted(other)}, {_quoted(one)})"
    return text


def candidates(selection: Selection) -> Candidates | None:
    """Return the candidates of a set of plants; None where the index cannot narrow it down."""
    found = [each for group in selection.groups if (each := _of_group(group)) is not None]
    matches = [each.match for each in found if not each.ids]
    if matches:
        return Candidates(" AND ".join(f"({match})" for match in matches))
    return min(found, key=lambda each: len(each.match), default=None)


def _of_group(group: tuple[Term, ...]) -> Candidates | None:
    """Return the candidates of alternative terms."""
    found = [_of_term(term) for term in group]
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return None
    ids = tuple(ids for each in known for ids in each.ids)
    return Candidates(" OR ".join(f"({each.match})" for each in known), ids)


def _of_term(term: Term) -> Candidates | None:
    match term:
        case Contains(text, is_word):
            words = search_words(text) if is_word else [searched(text)]
            if is_word and len(words) > 1:
                words = [word for word in words if not _may_be_id(word)]
        case HasTag(str() as tag):
            words = [searched(tag)]
        case _:
            return None
    trigrams = [trigram for word in words for trigram in _trigrams(word)][:_MAX_TRIGRAMS]
    if not trigrams:
        return None
    is_number = isinstance(term, Contains) and term.is_word and len(words) == 1 and _may_be_id(words[0])
    match_all = " AND ".join(f'"{trigram}"' for trigram in trigrams)
    return Candidates(match_all, tuple(ids_that_begin(words[0])) if is_number else ())


def _trigrams(word: str) -> list[str]:
    """Return the different trigrams of a word, in their order, without those that the index may have cut or split."""
    all_of_them = (word[at : at + _TRIGRAM] for at in range(len(word) - _TRIGRAM + 1))
    return [trigram for trigram in dict.fromkeys(all_of_them) if "\0" not in trigram and '"' not in trigram]


def _may_be_id(word: str) -> bool:
    return word.lstrip("-").isdecimal()


def ids_that_begin(word: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of the ids that begin with a word when they are written in digits."""
    if _ID.fullmatch(word) is None:
        return
    for zeros in range(_MAX_DIGITS - len(word.lstrip("-")) + 1 if word != "0" else 1):
        first, more = int(word) * 10**zeros, 10**zeros - 1
        low, high = (first, first + more) if first >= 0 else (first - more, first)
        if low <= LARGEST_ID and high >= SMALLEST_ID:
            yield max(low, SMALLEST_ID), min(high, LARGEST_ID)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
