"""What SQLite writes differently in conditions, and the Python functions that statements of a file call."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from typing_extensions import override

from plantdesk.domain import folding
from plantdesk.domain.folding import SEPARATOR
from plantdesk.domain.views import Order, View
from plantdesk.store.conditions import Condition, Dialect, ordering

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from plantdesk.domain.selections import Selection

#: Printable ASCII alone, as most texts are: SQLite checks that much faster than Python.
IS_ASCII = "({0} NOT GLOB '*[^ -~]*' AND length({0}) = length(CAST({0} AS BLOB)))"


class SqliteDialect(Dialect):
    """The dialect of SQLite."""

    @override
    def storable(self, *texts: str | None) -> bool:
        return all(text is None or _is_encodable(text) for text in texts)

    @override
    def among(self, column: str, ids: Sequence[int], condition: Condition) -> str:
        return f"{column} IN (SELECT value FROM json_each({condition.bind(json.dumps([*ids]))}))"


_DIALECT = SqliteDialect()


def condition_of(selection: Selection, **values: object) -> Condition:
    """Return the condition of a set of plants; `values` are those that its statement binds beside it."""
    return Condition(_DIALECT, **values).select(selection)


def order_by(view: View) -> str:
    """Return the clause of a sort."""
    # Where not all plants match, the index of `seq` would read each row of the file alone.
    by_index = view.plants.is_everything or view.order is Order.ID
    return f"ORDER BY {ordering(view, _DIALECT, by_index=by_index)}"


def alike_key(*, by_tag: bool) -> str:
    """Return the expression of `folding.alike_key`. Few texts have spare blanks, for which Python is called."""
    columns = ["searched_name", "searched_tag"][: 1 + by_tag]
    spare = " OR ".join(f"instr({each}, '  ') OR {each} GLOB ' *' OR {each} GLOB '* '" for each in columns)
    plain = f"searched_name || '{SEPARATOR}' || coalesce(searched_tag, '')" if by_tag else "searched_name"
    return f"CASE WHEN {spare} THEN alike_key(name, tag, {int(by_tag)}) ELSE {plain} END"


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


def _is_encodable(text: str) -> bool:
    """Whether a text has no lone surrogates, which only a search can have."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
