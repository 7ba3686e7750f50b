"""The texts of all plants in compressed pages, for searches that the trigram index does not narrow down.

A page has a slot for each of some thousand successive sequence numbers. So what is found is in the order of adding
without the sort in which SQLite spends half the time of such a search.
"""

from __future__ import annotations

import json
import zlib
from array import array
from bisect import bisect
from collections import defaultdict
from itertools import compress
from operator import and_
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.selections import Contains
from plantdesk.store.folding import LOOKALIKES, SEPARATOR, search_words, searched
from plantdesk.store.sqlite.conditions import MAX_PATTERN
from plantdesk.store.sqlite.text_index import ids_that_begin

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from plantdesk.selections import Selection

#: Makes the table of the pages; `{0}` is the name of its schema.
CREATE_TABLE = "CREATE TABLE {0}.page (number INTEGER PRIMARY KEY, content BLOB NOT NULL)"
#: Sequence numbers of a page: so few that Python works on it for about a millisecond.
_SLOTS = 4096
#: Characters of the longest text in a page, all of which are in memory together.
_MAX_LENGTH = 1_000
#: Plants with a longer text, or none is in a page.
_MAX_MISSING = 1_000
#: The share of sequence numbers that are in use, or there are no pages.
_MIN_USED = 0.1
_END = "\0"
_ID_SIZE = 8

#: printf() ends a text at a NUL, as LIKE does.
_TEXT = f"lower(CASE WHEN folded IS NULL THEN printf('%s{SEPARATOR}%s', name, tag) ELSE printf('%s', folded) END)"
_READ = f"""SELECT seq / :slots, json_group_array(seq % :slots), json_group_array(id),
                   group_concat(CASE WHEN length(text) <= :longest THEN text ELSE '' END, char(0))
            FROM (SELECT seq, id, {_TEXT} AS text FROM main.plant) GROUP BY seq / :slots"""
_PAGES = """SELECT number, content FROM {0}.page
            UNION ALL SELECT value, NULL FROM json_each(?) WHERE value NOT IN (SELECT number FROM {0}.page)
            ORDER BY number {1}"""


class Word(NamedTuple):
    """A text that plants contain, or whose ids it begins: these are from each other bound on to the next one."""

    text: str
    id_bounds: list[int]


def words_of(selection: Selection) -> list[Word]:
    """Return the words that select a set of plants; none where it has other conditions."""
    found: list[Word] = []
    for group in selection.groups:
        match group:
            case (Contains() as term,) if words := _words_of(term):
                found += words
            case _:
                return []
    return found if selection.since is None and selection.ids is None else []


def _words_of(term: Contains) -> list[Word]:
    words = search_words(term.text)
    if words and not term.is_word:
        words = [searched(term.text)]
    if any(len(word) > MAX_PATTERN for word in words):
        return []
    return [Word(word, _bounds(word) if term.is_word else []) for word in words]


def _bounds(word: str) -> list[int]:
    return sorted(bound for first, last in ids_that_begin(word) for bound in (first, last + 1))


def write_pages(connection: sqlite3.Connection, schema: str) -> frozenset[int] | None:
    """Write the pages into a schema; return the ids of the plants that they lack, None where there are no pages.

    Raises sqlite3.Error.
    """
    if connection.execute("SELECT count(*) >= ? * max(seq) FROM plant", (_MIN_USED,)).fetchone() != (1,):
        return None
    missing: set[int] = set()
    for number, slots, ids, texts in connection.execute(_READ, {"slots": _SLOTS, "longest": _MAX_LENGTH}):
        plants = [*zip(json.loads(slots), json.loads(ids), _normalized(texts).split(_END), strict=True)]
        missing.update(plant_id for _, plant_id, text in plants if not text)
        if len(missing) > _MAX_MISSING:
            return None
        connection.execute(f"INSERT INTO {schema}.page VALUES (?, ?)", (number, _packed(plants)))
    return frozenset(missing)


def _normalized(texts: str) -> str:
    for one, others in LOOKALIKES.items():
        for other in others:
            texts = texts.replace(other, one)
    return texts


def _packed(plants: Iterable[tuple[int, int, str]]) -> bytes:
    ids, texts = array("q", bytes(_SLOTS * _ID_SIZE)), [""] * _SLOTS
    for slot, plant_id, text in plants:
        ids[slot], texts[slot] = plant_id, text
    return zlib.compress(ids.tobytes() + _END.join(texts).encode(), level=1)


def find_ids(
    connection: sqlite3.Connection,
    schema: str,
    words: Sequence[Word],
    changed: AbstractSet[int],
    late: Iterable[tuple[int, int]],
    *,
    descending: bool,
) -> Iterator[array[int]]:
    """Yield the ids of the plants that contain all words, page by page, in the order of adding.

    `changed` plants are found only if they are in `late`, which has their ids and sequence numbers. An interrupt of the
    connection ends it. Raises sqlite3.Error and zlib.error.
    """
    late_in: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for plant_id, seq in late:
        late_in[seq // _SLOTS].append((seq % _SLOTS, plant_id))
    sql = _PAGES.format(schema, "DESC" if descending else "ASC")
    for number, content in connection.execute(sql, (json.dumps([*late_in]),)):
        found = _find(content or _packed(()), words, changed, late_in.get(number, ()))
        if descending:
            found.reverse()
        yield found


def _find(
    content: bytes, words: Sequence[Word], changed: AbstractSet[int], late: Iterable[tuple[int, int]]
) -> array[int]:
    unpacked = zlib.decompress(content)
    ids_size = _SLOTS * _ID_SIZE
    ids, texts = array("q", unpacked[:ids_size]), unpacked[ids_size:].decode().split(_END)
    found = [True] * _SLOTS
    for word in words:
        found = list(map(and_, found, _contain(word, ids, texts)))
    if changed:
        found = [each and plant_id not in changed for each, plant_id in zip(found, ids, strict=True)]
    for slot, plant_id in late:
        ids[slot], found[slot] = plant_id, True
    return array("q", compress(ids, found))


def _contain(word: Word, ids: array[int], texts: list[str]) -> list[bool]:
    """Return which plants contain a word. A slot without a text has no plant."""
    found = [word.text in text for text in texts]
    if not word.id_bounds:
        return found
    plants = zip(found, ids, texts, strict=True)
    return [each or (bisect(word.id_bounds, plant_id) % 2 == 1 and text != "") for each, plant_id, text in plants]
