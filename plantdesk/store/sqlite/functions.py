"""The Python functions that SQL of a file calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk.domain import folding

if TYPE_CHECKING:
    import sqlite3

#: Printable ASCII alone, as most texts are: SQLite checks that much faster than Python.
IS_ASCII = "({0} NOT GLOB '*[^ -~]*' AND length({0}) = length(CAST({0} AS BLOB)))"


def add_functions(connection: sqlite3.Connection) -> None:
    """Make `searched` and `is_unicode`, of a text CAST as BLOB, and `alike_key` available on a connection."""
    connection.create_function("searched", 1, _searched, deterministic=True)
    connection.create_function("alike_key", 3, folding.alike_key, deterministic=True)
    connection.create_function("is_unicode", 1, _is_unicode, deterministic=True)


def _searched(text: bytes | None) -> str | None:
    """Return a text as it is searched, also one of another program that is not UTF-8."""
    return None if text is None else folding.searched(text.decode(errors="replace"))


def _is_unicode(text: bytes | None) -> bool:
    """Whether `text` is valid UTF-8. It may be NULL: SQLite evaluates both sides of an OR in a result column."""
    if text is None:
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
