"""Composes SQL: parts of a statement with the values of their placeholders. Knows no kind of store."""

from __future__ import annotations

from collections.abc import Iterable

from plantdesk.domain.records import LARGEST_ID
from plantdesk.domain.values import NamedTuple

#: The version of a plant: the last change that touched it, or its negative sequence number.
VERSION = "CASE WHEN plant.change > 0 THEN plant.change ELSE -plant.seq END"


class Sql(NamedTuple):
    """A part of a statement and the values of its placeholders, in their order: the arguments of `execute`."""

    text: str
    values: tuple[object, ...] = ()


def sql(*parts: Sql | str) -> Sql:
    """Return parts of a statement as one."""
    return _joined(" ", parts)


def all_of(conditions: Iterable[Sql | str]) -> Sql:
    """Return the condition that all of these hold, in parentheses."""
    return sql("(", _joined(" AND ", conditions), ")")


def any_of(conditions: Iterable[Sql | str]) -> Sql:
    """Return the condition that one of these holds, in parentheses."""
    return sql("(", _joined(" OR ", conditions), ")")


def where(conditions: Iterable[Sql | str]) -> Sql:
    """Return the clause for rows of which all conditions hold: none where there is no condition."""
    conditions = list(conditions)
    return sql("WHERE", _joined(" AND ", conditions)) if conditions else Sql("")


def before_gap(ids: str, count: str) -> str:
    """Return the query for the id before the first gap of free ids that is as large as `count`; `ids` are the taken."""
    return f"""SELECT min(id) FROM (
        SELECT id, coalesce(lead(id) OVER (ORDER BY id) - 1, {LARGEST_ID}) AS last FROM ({ids}) AS taken
    ) AS gap WHERE last - id >= {count}"""


def quoted(text: str) -> str:
    """Return a text without NUL as a literal."""
    return "'" + text.replace("'", "''") + "'"


def _joined(separator: str, parts: Iterable[Sql | str]) -> Sql:
    each = [Sql(part) if isinstance(part, str) else part for part in parts]
    return Sql(separator.join(part.text for part in each), tuple(value for part in each for value in part.values))
