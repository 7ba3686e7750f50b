"""SQL for the column `folded`, and the Python functions that it calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk.domain.folding import folded, searched

if TYPE_CHECKING:
    import sqlite3

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
