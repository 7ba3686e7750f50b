"""Sets and orders of plants as SQL conditions and ORDER BY terms, and the Python functions that they call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from plantdesk.domain import folding
from plantdesk.domain.folding import CONFUSABLES, SEPARATOR, folded, search_words, searched
from plantdesk.domain.records import SourceKind
from plantdesk.domain.selections import AddedBy, AddedOn, Contains, HasId, HasTag, Not
from plantdesk.domain.views import Order
from plantdesk.store.sql import Sql, all_of, any_of, quoted, sql, where
from plantdesk.store.sqlite.row_reads import among

if TYPE_CHECKING:
    import sqlite3

    from plantdesk.domain.selections import Selection, Term


#: Printable ASCII alone, as most texts are: SQLite checks that much faster than Python.
IS_ASCII = "({0} NOT GLOB '*[^ -~]*' AND length({0}) = length(CAST({0} AS BLOB)))"
#: Also with line breaks.
_IS_ASCII_NOTE = r"(note NOT GLOB '*[^ -~' || char(10) || ']*' AND length(note) = length(CAST(note AS BLOB)))"
_FOLDED = """CASE WHEN {name_is_ascii} AND ({tag} IS NULL OR {tag_is_ascii}) THEN NULL ELSE fold({name}, {tag}) END"""


def folded_sql(name: str, tag: str) -> str:
    """Return the SQL expression of column `folded` for the expressions `name` and `tag`. Needs `add_functions`."""
    return _FOLDED.format(name=name, tag=tag, name_is_ascii=IS_ASCII.format(name), tag_is_ascii=IS_ASCII.format(tag))


def add_functions(connection: sqlite3.Connection) -> None:
    """Make `fold`, `searched`, `alike_key` and `is_unicode` available on a connection."""
    connection.create_function("fold", 2, folded, deterministic=True)
    connection.create_function("searched", 1, searched, deterministic=True)
    connection.create_function("alike_key", 3, folding.alike_key, deterministic=True)
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


def ids_of(selection: Selection, *more: Sql | str) -> Sql:
    """Return the query for the ids of a set of plants of which `more` conditions hold."""
    return sql("SELECT id FROM plant", where([*conditions_of(selection), *more]))


def conditions_of(selection: Selection) -> list[Sql]:
    """Return the conditions of a set of plants; none for all plants."""
    conditions = [any_of(map(_condition, group)) for group in selection.groups]
    if selection.since is not None:
        conditions.append(Sql("added_at >= ?", (selection.since,)))
    if selection.ids is not None:
        conditions.append(among("id", selection.ids))
    return conditions


def _condition(term: Term) -> Sql:
    match term:
        case Contains():
            return _contains_text(term)
        case HasTag(tag):
            return _has_tag_like(term, tag) if tag is not None and not term.exact else _has_tag(term)
        case AddedBy():
            return sql("source_id IN (SELECT id FROM source", where(_source_conditions(term)), ")")
        case AddedOn():
            times = term.milliseconds()
            return Sql("added_at BETWEEN ? AND ?", (times.start, times.stop - 1))
        case HasId(first, last):
            return Sql("id BETWEEN ? AND ?", (first, last))
        case Not():
            return sql("NOT coalesce(", _condition(term.term), ", FALSE)")


def _contains_text(term: Contains) -> Sql:
    if term.in_note:
        return _note_contains(term.text)
    words = search_words(term.text)
    if not words:  # accents without a letter, which are not in folded texts
        return any_of(Sql(f"instr({column}, ?) > 0", (term.text,)) for column in ("name", "tag"))
    if not term.is_word:
        return _contains(searched(term.text))
    return all_of(map(_contains_or_starts_id, words))


def _contains_or_starts_id(word: str) -> Sql:
    found = _contains(word)
    return any_of((found, _like("CAST(id AS TEXT)", f"{word}%"))) if word.lstrip("-").isdecimal() else found


def _has_tag(term: HasTag) -> Sql:
    if (top := term.branch) is None:
        return Sql("tag IS ?", (term.tag,))
    return Sql("(tag = ? OR (tag >= ? AND tag < ?))", (top, f"{top}/", f"{top}0"))  # 0 is the character after /


def _has_tag_like(term: HasTag, tag: str) -> Sql:
    """Compare the folded texts; a tag without letters, such as an accent alone, is compared as it is."""
    is_same = Sql("tag = ?", (tag,))
    if not (text := searched(tag)).strip():
        return is_same
    folded_tag = f"substr({_normalized('folded', text)}, instr(folded, '{SEPARATOR}') + 1)"
    texts = (f"lower({_normalized('tag', text)})", folded_tag)
    is_alike = _either(*(Sql(f"{each} = ?", (text,)) for each in texts))
    if (branch := term.branch) is not None:
        start = len(text)
        is_alike = _either(*(Sql(f"({each} = ? OR substr({each}, 1, {start}) = ?)", (branch, text)) for each in texts))
    return all_of(("tag IS NOT NULL", any_of((is_same, is_alike))))


def _source_conditions(term: AddedBy) -> Iterator[Sql | str]:
    if term.kind is SourceKind.OTHER:
        yield f"kind NOT IN ({', '.join(quoted(kind) for kind in SourceKind if kind is not SourceKind.OTHER)})"
    elif term.kind is not None:
        yield f"kind = {quoted(term.kind)}"
    if term.label is not None:
        is_exact = term.kind is not None
        yield Sql("label = ?", (term.label,)) if is_exact else Sql("searched(label) = ?", (searched(term.label),))


def _contains(word: str) -> Sql:
    name, tag, folded = (_normalized(column, word) for column in ("name", "tag", "folded"))
    if len(word) > MAX_PATTERN:
        text = f"coalesce({folded}, lower({name} || '{SEPARATOR}' || coalesce({tag}, '')))"
        return Sql(f"instr({text}, ?) > 0", (word,))
    pattern = f"%{_escaped(word)}%"
    plain = any_of(_contains_plainly(column, word, pattern) for column in ("name", "tag"))
    return _either(plain, _like(folded, pattern))


def _note_contains(text: str) -> Sql:
    """Compare a note, which is not in the column `folded`: in ASCII, as most are, by SQLite, which is quicker."""
    word = searched(text)
    if not word.strip():  # all notes, or accents without a letter
        return Sql("(note IS NOT NULL AND instr(note, ?) > 0)", (text,))
    folded = Sql("instr(searched(coalesce(note, '')), ?) > 0", (word,))
    plain = folded if len(word) > MAX_PATTERN else _contains_plainly("note", word, f"%{_escaped(word)}%")
    return sql("(note IS NOT NULL AND CASE WHEN", _IS_ASCII_NOTE, "THEN", plain, "ELSE", folded, "END)")


def _contains_plainly(column: str, word: str, pattern: str) -> Sql:
    """Compare a text in ASCII. Few have an apostrophe or the like, and to replace those in all takes far longer."""
    found = _like(_normalized(column, word, of=str.isascii), pattern)
    for one, others in CONFUSABLES.items():
        alike = [each for each in others if each.isascii()]
        if one in word and alike:
            # A CASE, since in a result SQLite evaluates both sides of an AND.
            has_any = any_of(_like(column, f"%{each}%") for each in (one, *alike))
            found = sql("CASE WHEN", has_any, "THEN", found, "ELSE FALSE END")
    return found


def name_begins(start: str) -> Sql:
    """Return the condition that a name begins with a text, as it is folded."""
    text = searched(start)
    name, folded = (_normalized(column, text) for column in ("name", "folded"))
    pattern = f"{_escaped(text)}%"
    return _either(_like(name, pattern), _like(folded, pattern))


def has_length(lengths: range) -> Sql:
    """Return the condition that a name, as it is folded, has so many characters."""
    found = _either("length(name)", f"instr(folded, '{SEPARATOR}') - 1")
    return sql(found, Sql("BETWEEN ? AND ?", (lengths.start, lengths.stop - 1)))


def _either(plain: Sql | str, folded: Sql | str) -> Sql:
    """Return one of two expressions: for a plant that has only ASCII, or for one with folded texts."""
    return sql("CASE WHEN folded IS NULL THEN", plain, "ELSE", folded, "END")


def _like(text: str, pattern: str) -> Sql:
    return Sql(f"{text} LIKE ? ESCAPE '/'", (pattern,))


def _escaped(text: str) -> str:
    return text.replace("/", "//").replace("%", "/%").replace("_", "/_")


def _normalized(text: str, word: str, of: Callable[[str], bool] = bool) -> str:
    """Return an expression with the confusables of the word's characters replaced, as in the word: those of a kind."""
    for one, others in CONFUSABLES.items():
        for other in filter(of, others if one in word else ""):
            text = f"replace({text}, {quoted(other)}, {quoted(one)})"
    return text


def alike_key(*, by_tag: bool) -> str:
    """Return the expression of `folding.alike_key`. Few texts have spare blanks, for which Python is called."""
    every, texts, plain = "".join(CONFUSABLES), ["name"], "name"
    folded = f"substr(folded, 1, instr(folded, '{SEPARATOR}') - 1)"
    if by_tag:
        texts, plain, folded = ["name", "tag"], f"name || '{SEPARATOR}' || coalesce(tag, '')", "folded"
    plain, folded = _normalized(f"lower({plain})", every, of=str.isascii), _normalized(folded, every)
    ends = f"instr(folded, ' {SEPARATOR}') OR instr(folded, '{SEPARATOR} ') OR {_has_spare_blanks('folded')}"
    spare = " OR ".join(f"{_has_spare_blanks(each)} OR instr({each}, '{SEPARATOR}')" for each in texts)
    key = f"alike_key(name, tag, {int(by_tag)})"
    return f"""CASE WHEN folded IS NOT NULL THEN CASE WHEN {ends} THEN {key} ELSE {folded} END
                    WHEN {spare} THEN {key} ELSE {plain} END"""


def _has_spare_blanks(text: str) -> str:
    return f"instr({text}, '  ') OR {text} GLOB ' *' OR {text} GLOB '* '"


_NAME = "coalesce(folded, name) COLLATE NOCASE"
_FOLDED_TAG = f"substr(folded, instr(folded, '{SEPARATOR}') + 1)"
_TAG = f"CASE WHEN folded IS NULL THEN coalesce(tag, '') ELSE {_FOLDED_TAG} END COLLATE NOCASE"
_SOURCE = f"(SELECT kind || '{SEPARATOR}' || label FROM source WHERE source.id = plant.source_id)"
_KEYS = {
    Order.ADDED: ("seq",),
    Order.ID: ("id",),
    Order.NAME: (_NAME, "id"),
    Order.TAG: (_TAG, _NAME, "id"),
    Order.SOURCE: (_SOURCE, "seq"),
}


def order_by(order: Order, *, descending: bool, all_plants: bool = True) -> str:
    """Return the clause of a sort. Plants without a tag are the last ones by tag, both ways.

    Unless `all_plants` are read, those that match are sorted: the index of `seq` would read each row of the file alone.
    """
    keys = _KEYS[order] if all_plants or order is not Order.ADDED else ("+seq",)
    terms = [f"{key} {'DESC' if descending else 'ASC'}" for key in keys]
    return "ORDER BY " + ", ".join(["tag IS NULL", *terms] if order is Order.TAG else terms)
