"""Reads plants by id or in insertion order, as lines of CSV or JSON, and many ids in an order.

Lines are formatted by SQLite, several times as fast as by Python; ids are joined in one text, since a step of the
statement for each of a million takes a quarter of a second more, and releases the interpreter's lock as often.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from plantdesk.domain.protocols import LinePage
from plantdesk.domain.records import LARGEST_ID, SMALLEST_ID
from plantdesk.domain.views import Order
from plantdesk.store.rows import rows_since
from plantdesk.store.sqlite.connections import snapshot
from plantdesk.store.sqlite.database import runner

if TYPE_CHECKING:
    import sqlite3


_LINES_PAGE = 10_000
_NTH = "SELECT seq FROM plant WHERE seq > ? ORDER BY seq LIMIT 1 OFFSET ?"
_REST = "SELECT count(*), max(seq) FROM plant WHERE seq > ?"
_CSV_END = """'{d}' || strftime('%Y-%m-%dT%H:%M:%f+00:00', added_at / 1000.0, 'unixepoch') || '{d}"'
       || (SELECT kind || CASE label WHEN '' THEN '' ELSE ' ' || label END FROM source WHERE id = source_id)
       || '"\r\n'"""
#: The ends of the first and of the last line.
_ENDS = """SELECT added_at, source_id, {end} FROM plant
           WHERE seq IN (:last, (SELECT min(seq) FROM plant WHERE seq > :after))"""
#: Each concatenation copies what it has so far, so there are as few as possible.
_CSV_LINES = """
    SELECT group_concat(line, :end), count(line), count(tag), count(note)
    FROM (SELECT CASE WHEN note IS NULL AND tag IS NOT NULL
                      THEN id || '{d}"' || name || '"{d}"' || tag || '"{d}'{end}
                      WHEN note IS NULL THEN id || '{d}"' || name || '"{d}{d}'{end}
                      WHEN tag IS NULL THEN id || '{d}"' || name || '"{d}{d}"' || note || '"'{end}
                      ELSE id || '{d}"' || name || '"{d}"' || tag || '"{d}"' || note || '"'{end}
                 END AS line, tag, note
          FROM plant WHERE seq > :after AND seq <= :last {where} ORDER BY seq)"""
#: `json_quote` escapes as Python's json does with `ensure_ascii=False`.
_JSON_END = """', "added_at": "' || strftime('%Y-%m-%dT%H:%M:%f+00:00', added_at / 1000.0, 'unixepoch')
       || '", "source": '
       || (SELECT json_quote(kind || CASE label WHEN '' THEN '' ELSE ' ' || label END)
                  || ', "source_kind": ' || json_quote(kind)
                  || CASE label WHEN '' THEN '' ELSE ', "source_name": ' || json_quote(label) END
           FROM source WHERE id = source_id)
       || '}}'"""
_JSON_LINES = """
    SELECT group_concat(line, :end || '{separator}'), count(line)
    FROM (SELECT CASE WHEN note IS NULL AND tag IS NOT NULL
                      THEN '{{"id": ' || id || ', "name": ' || json_quote(name) || ', "tag": ' || json_quote(tag) {end}
                      WHEN note IS NULL THEN '{{"id": ' || id || ', "name": ' || json_quote(name) {end}
                      ELSE '{{"id": ' || id || ', "name": ' || json_quote(name)
                           || iif(tag IS NULL, '', ', "tag": ' || json_quote(tag))
                           || ', "note": ' || json_quote(note) {end}
                 END AS line
          FROM plant WHERE seq > :after AND seq <= :last {where} ORDER BY seq)"""
_SAME = "AND added_at = :time AND source_id = :source"


class _Pages:
    """Reads plants in pages. The plants of an import share time and source, which are then formatted only once."""

    _ends: str
    _lines: str
    _lines_of_one: str

    def __init__(self) -> None:
        self._after = -1

    def next(self, connection: sqlite3.Connection) -> LinePage | None:
        """Return the plants that follow in insertion order; None at the end. Raises sqlite3.Error."""
        with snapshot(connection):
            nth = connection.execute(_NTH, (self._after, _LINES_PAGE - 1)).fetchone()
            count, last = (_LINES_PAGE, *nth) if nth else connection.execute(_REST, (self._after,)).fetchone()
            if not count:
                return None
            text = self._text(connection, count, last)
            rows = [] if text else rows_since(runner(connection), self._after, count)
        self._after = last
        return LinePage(count, text, rows)

    def _text(self, connection: sqlite3.Connection, count: int, last: int) -> str:
        """Return the lines of a page; "" if SQLite cannot format them."""
        values: dict[str, int | str] = {"after": self._after, "last": last, "end": ""}
        (time, source, end), *others = set(connection.execute(self._ends, values))
        if end is not None and not others:
            same = values | {"time": time, "source": source, "end": end}
            lines = connection.execute(self._lines_of_one, same).fetchone()
            if lines[1] == count:
                return self._checked(lines, end)
        lines = connection.execute(self._lines, values).fetchone()
        return self._checked(lines, "") if lines[1] == count else ""

    def _checked(self, lines: tuple[str, ...], end: str) -> str:
        """Return the lines, the last one with its `end`."""
        return lines[0] + end


class CsvPages(_Pages):
    """Lines of CSV with their line ends."""

    def __init__(self, delimiter: str) -> None:
        super().__init__()
        end = _CSV_END.format(d=delimiter)
        self._ends = _ENDS.format(end=end)
        self._lines = _CSV_LINES.format(d=delimiter, end=f" || {end}", where="")
        self._lines_of_one = _CSV_LINES.format(d=delimiter, end="", where=_SAME)

    @override
    def _checked(self, lines: tuple[str, ...], end: str) -> str:
        """Return nothing if a text has a quote, which would have to be doubled."""
        text, count, tags, notes = lines
        text += end
        return text if text.count('"') == 2 * (2 * int(count) + int(tags) + int(notes)) else ""


class JsonPages(_Pages):
    """JSON objects with a separator between them."""

    def __init__(self, separator: str) -> None:
        super().__init__()
        end = _JSON_END.format()
        self._ends = _ENDS.format(end=end)
        self._lines = _JSON_LINES.format(separator=separator, end=f"|| {end}", where="")
        self._lines_of_one = _JSON_LINES.format(separator=separator, end="", where=_SAME)


#: The columns that SQLite has an index of.
_KEYS = {Order.ADDED: "seq", Order.ID: "id"}
#: group_concat keeps the order of the rows that it reads.
_IDS_PAGE = """SELECT group_concat(id), {last}({key}) FROM (
               SELECT id, {key} FROM plant WHERE {key} {sign} ? ORDER BY {key} {direction} LIMIT ?)"""
#: Characters of an id and a comma, to divide a long text.
_CHARACTERS = 8


def has_pages(order: Order) -> bool:
    """Whether the plants can be read by pages in an order."""
    return order in _KEYS


def pages(
    connection: sqlite3.Connection, order: Order, sizes: Iterator[int], *, descending: bool
) -> Iterator[array[int]]:
    """Yield the ids of all plants in an order that `has_pages`, in pages of these sizes. Raises sqlite3.Error."""
    last, sign, direction = ("min", "<=", "DESC") if descending else ("max", ">=", "ASC")
    sql = _IDS_PAGE.format(key=_KEYS[order], last=last, sign=sign, direction=direction)
    bound = LARGEST_ID if descending else SMALLEST_ID
    while SMALLEST_ID <= bound <= LARGEST_ID:
        ids, end = connection.execute(sql, (bound, next(sizes))).fetchone()
        if ids is None:
            break
        yield _array(ids)
        bound = end - 1 if descending else end + 1


def all_ids(connection: sqlite3.Connection, sql: str, values: dict[str, Any], size: int) -> Iterator[array[int]]:
    """Yield the ids that a statement selects, in chunks of about this size. Raises sqlite3.Error."""
    (ids,) = connection.execute(  # a text would be copied once more to be decoded
        f"SELECT CAST(coalesce(group_concat(id), '') AS BLOB) FROM ({sql})", values
    ).fetchone()
    start = 0
    while start < len(ids):
        end = ids.find(b",", start + _CHARACTERS * size)
        end = len(ids) if end < 0 else end
        yield _array(ids[start:end].decode())
        start = end + 1


def _array(ids: str) -> array[int]:
    return array("q", json.loads(f"[{ids}]"))
