"""Which plants may contain a text: trigrams (https://sqlite.org/fts5.html#the_trigram_tokenizer), and frequent letters.

The index gives candidates: each of them is compared with the search again, so an entry that is out of date does no
harm. A search of one letter finds most of the plants, which SQLite scans and sorts in half a second for a million; so
there is a mark for each plant and each frequent letter, in the order of adding.
"""

from __future__ import annotations

import json
import re
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import compress, repeat
from operator import contains
from typing import TYPE_CHECKING

from plantdesk.domain.folding import CONFUSABLES, SEPARATOR, search_words, searched, without_confusables
from plantdesk.domain.records import LARGEST_ID, SMALLEST_ID
from plantdesk.domain.selections import Contains, HasTag, Selection
from plantdesk.domain.values import NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Set as AbstractSet

    from plantdesk.domain.selections import Term


#: Makes the table of the index; `{0}` is the name of its schema.
CREATE_TABLE = """CREATE VIRTUAL TABLE {0}.words
                  USING fts5(text, tokenize = 'trigram', content = '', columnsize = 0, detail = none)"""
_TRIGRAM = 3
#: Trigrams of one text that are looked up; the comparison checks the others.
_MAX_TRIGRAMS = 32
#: Digits of the largest id.
_MAX_DIGITS = 19
_ID = "0|-?[1-9][0-9]{0,18}"


class Candidates(NamedTuple):
    """Plants that may match: those that the index finds for `match`, and those whose ids are in `ids`."""

    match: str
    ids: tuple[tuple[int, int], ...] = ()


def write_words(connection: sqlite3.Connection, schema: str, since: int) -> None:
    """Add the plants after a sequence number to the table of the index in a schema. Raises sqlite3.Error."""
    # By the index of `seq`: a sort takes half the time, but the process keeps 4 MiB more.
    plants = f"SELECT seq, {_indexed_text()} FROM main.plant WHERE seq > ? ORDER BY seq"
    connection.execute(f"INSERT INTO {schema}.words (rowid, text) {plants}", (since,))


def _indexed_text() -> str:
    """Return the SQL expression of a plant's text as `searched` compares it, with case where the index ignores it."""
    text = f"coalesce(folded, name || '{SEPARATOR}' || coalesce(tag, ''))"
    for one, others in CONFUSABLES.items():
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
        case Contains(text, is_word) if not term.in_note:
            words = search_words(text) if is_word else [searched(text)]
            if is_word and len(words) > 1:
                words = [word for word in words if not _may_be_id(word)]
        case HasTag(str() as tag):
            text = term.branch or tag
            words = [text if term.branch and not term.exact else searched(text)]
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
    if re.fullmatch(_ID, word) is None:
        return
    for zeros in range(_MAX_DIGITS - len(word.lstrip("-")) + 1 if word != "0" else 1):
        first, more = int(word) * 10**zeros, 10**zeros - 1
        low, high = (first, first + more) if first >= 0 else (first - more, first)
        if low <= LARGEST_ID and high >= SMALLEST_ID:
            yield max(low, SMALLEST_ID), min(high, LARGEST_ID)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


#: Makes the tables of the index; `{0}` is the name of their schema. A page has a slot for each of some thousand
#: successive sequence numbers: the id of its plant, and marks, 0 or 1, of the letters that it contains.
CREATE_TABLES = (
    "CREATE TABLE {0}.page (number INTEGER PRIMARY KEY, ids BLOB NOT NULL) STRICT",
    """CREATE TABLE {0}.letter (letter TEXT, number INTEGER, marks BLOB NOT NULL, PRIMARY KEY (letter, number))
       STRICT, WITHOUT ROWID""",
)
#: Slots of a page: so few that Python works on it for less than a millisecond, and in little memory.
_SLOTS = 2048
#: Frequent letters, and the plants among which they are counted. Others find few plants, which are sorted quickly.
_MAX_LETTERS = 64
_SAMPLE = 5_000
#: Characters of the longest text with marks, since those of a page are in memory together.
_MAX_LENGTH = 1_000
#: Plants with a longer text, above which there is no index.
_MAX_UNMARKED = 1_000
#: The fraction of the sequence numbers that are in use, below which there is no index.
_MIN_USED = 0.1
_ID_SIZE = 8
_END = "\0"

#: The folded name and tag, and the first digit of the id, which a search of a digit finds too.
#: printf() ends a text at a NUL, as LIKE does.
_TEXT = f"""lower(CASE WHEN folded IS NULL THEN printf('%s{SEPARATOR}%s', name, tag) ELSE printf('%s', folded) END)
            || CASE WHEN id >= 0 THEN substr(id, 1, 1) ELSE '' END"""
_READ_SAMPLE = f"SELECT substr({_TEXT}, 1, {_MAX_LENGTH}) FROM main.plant WHERE abs(random() % ?) = 0"
_READ = f"""SELECT seq / :slots, json_group_array(seq % :slots), json_group_array(id),
                   group_concat(CASE WHEN length(text) <= :longest THEN text ELSE '' END, char(0))
            FROM (SELECT seq, id, {_TEXT} AS text FROM main.plant{{0}}) GROUP BY seq / :slots"""
_FIND = """SELECT page.number, ids, marks
           FROM {0}.page LEFT JOIN {0}.letter ON letter.letter = :letter AND letter.number = page.number
           UNION ALL SELECT value, NULL, NULL FROM json_each(:late) WHERE value NOT IN (SELECT number FROM {0}.page)
           ORDER BY 1 {1}"""


class Letters(NamedTuple):
    """The letters that are marked, and the plants that are not, because their texts are too long."""

    marked: frozenset[str]
    unmarked_plants: frozenset[int]


def letter_of(selection: Selection) -> str | None:
    """Return the letter if a set are the plants that contain it, or, if it is a digit, whose ids begin with it."""
    match selection:
        case Selection(((Contains(text, is_word),),), None, None):
            letter = searched(text).strip() if is_word else searched(text)
            if len(letter) == 1 and (is_word or not letter.isdecimal()):
                return letter
    return None


def write_letters(connection: sqlite3.Connection, schema: str, pause: Callable[[], None]) -> Letters | None:
    """Fill the tables in a schema; return what is marked, None where there is no index. Raises sqlite3.Error.

    `pause` is called after each page, for some milliseconds of Python.
    """
    count, last = connection.execute("SELECT count(*), max(seq) FROM plant").fetchone()
    if not count or count < _MIN_USED * last:
        return None
    return _write_pages(connection, schema, pause, Letters(_frequent_letters(connection, count), frozenset()))


def add_letters(
    connection: sqlite3.Connection, schema: str, pause: Callable[[], None], known: Letters, since: int
) -> Letters | None:
    """Add the plants after a sequence number to the tables, as `write_letters` does. Raises sqlite3.Error."""
    first = (since + 1) // _SLOTS
    for table in ("page", "letter"):
        connection.execute(f"DELETE FROM {schema}.{table} WHERE number >= ?", (first,))
    return _write_pages(connection, schema, pause, known, f" WHERE seq >= {first * _SLOTS}")


def _write_pages(
    connection: sqlite3.Connection, schema: str, pause: Callable[[], None], known: Letters, plants: str = ""
) -> Letters | None:
    unmarked = set(known.unmarked_plants)
    for number, slots, ids, texts in connection.execute(
        _READ.format(plants), {"slots": _SLOTS, "longest": _MAX_LENGTH}
    ):
        found = [*zip(json.loads(slots), json.loads(ids), without_confusables(texts).split(_END), strict=True)]
        unmarked.update(plant_id for _, plant_id, text in found if not text)
        if len(unmarked) > _MAX_UNMARKED:
            return None
        _write_page(connection, schema, number, found, known.marked)
        pause()
    return known._replace(unmarked_plants=frozenset(unmarked))


def _frequent_letters(connection: sqlite3.Connection, plants: int) -> frozenset[str]:
    sample = connection.execute(_READ_SAMPLE, (max(1, plants // _SAMPLE),)).fetchall()
    counted = Counter(letter for (text,) in sample for letter in set(without_confusables(text)) if not letter.isspace())
    return frozenset(letter for letter, _ in counted.most_common(_MAX_LETTERS))


def _write_page(
    connection: sqlite3.Connection,
    schema: str,
    number: int,
    plants: Iterable[tuple[int, int, str]],
    letters: Iterable[str],
) -> None:
    ids, texts = array("q", bytes(_SLOTS * _ID_SIZE)), [""] * _SLOTS
    for slot, plant_id, text in plants:
        ids[slot], texts[slot] = plant_id, text
    connection.execute(f"INSERT INTO {schema}.page VALUES (?, ?)", (number, _packed(ids.tobytes())))
    for letter in letters:
        marks = bytes(map(contains, texts, repeat(letter)))
        connection.execute(f"INSERT INTO {schema}.letter VALUES (?, ?, ?)", (letter, number, _packed(marks)))


def _packed(content: bytes) -> bytes:
    return zlib.compress(content, level=1)


def find_letter(
    connection: sqlite3.Connection,
    schema: str,
    letter: str,
    changed: AbstractSet[int],
    late: Iterable[tuple[int, int]],
    *,
    descending: bool,
) -> Iterator[array[int]]:
    """Yield the ids of the plants that contain a letter, page by page, in the order of adding.

    `changed` plants are found only if they are in `late`, which has their ids and sequence numbers. An interrupt of the
    connection ends it. Raises sqlite3.Error and zlib.error.
    """
    late_in: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for plant_id, seq in late:
        late_in[seq // _SLOTS].append((seq % _SLOTS, plant_id))
    sql = _FIND.format(schema, "DESC" if descending else "ASC")
    for number, content, marks in connection.execute(sql, {"letter": letter, "late": json.dumps([*late_in])}):
        ids = array("q", zlib.decompress(content) if content else bytes(_SLOTS * _ID_SIZE))
        found = bytearray(zlib.decompress(marks) if marks else _SLOTS)
        for slot, plant_id in enumerate(ids if changed else ()):
            if plant_id in changed:
                found[slot] = 0
        for slot, plant_id in late_in.get(number, ()):
            ids[slot], found[slot] = plant_id, 1
        matching = array("q", compress(ids, found))
        if descending:
            matching.reverse()
        yield matching
