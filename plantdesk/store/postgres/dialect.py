"""What PostgreSQL writes differently in conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from plantdesk.domain.views import Order
from plantdesk.store.conditions import Condition, Dialect, ordering
from plantdesk.store.postgres.connections import storable
from plantdesk.store.postgres.schema import LONGEST_TAG, NAME_START, TAG_START

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plantdesk.domain.selections import Selection
    from plantdesk.domain.views import View

#: Of the orders whose beginning an index has: the plants that are in it, the keys, and whether a row is in its place.
SORTED_BY_INDEX = {
    Order.NAME: ("true", (NAME_START, "plant.searched_name", "plant.id"), "true"),
    Order.TAG: (
        "plant.tag IS NOT NULL",
        (TAG_START, NAME_START, "plant.searched_tag", "plant.searched_name", "plant.id"),
        f"length(plant.searched_tag) < {LONGEST_TAG}",
    ),
}
#: The orders by a unique column that has an index.
INDEXED = {Order.ADDED: "plant.seq", Order.ID: "plant.id"}


class PostgresDialect(Dialect):
    """The dialect of PostgreSQL."""

    placeholder = "%({})s"
    contains = "strpos({}, {}) > 0"
    #: The rank of each source, in an array that the server makes once for a query.
    source_key = """(ARRAY(
        SELECT coalesce(rank, 0)::integer FROM generate_series(1, (SELECT max(id) FROM source)) AS number
        LEFT JOIN (SELECT id, rank() OVER (ORDER BY kind || E'\\x1f' || label) AS rank FROM source) AS ranked
        ON id = number ORDER BY number
    ))[plant.source_id]"""

    @override
    def storable(self, *texts: str | None) -> bool:
        return storable(*texts)

    @override
    def among(self, column: str, ids: Sequence[int], condition: Condition) -> str:
        return f"{column} = ANY({condition.bind(list(ids))}::bigint[])"

    @override
    def contains_searched(self, column: str, text: str, condition: Condition) -> str:
        """Compare with a pattern, as the index of trigrams can."""
        pattern = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        return f"{column} LIKE {condition.bind(f'%{pattern}%')}"


_DIALECT = PostgresDialect()


def condition_of(selection: Selection, **values: object) -> Condition:
    """Return the condition of a set of plants; `values` are those that its statement binds beside it."""
    return Condition(_DIALECT, **values).select(selection)


def order_by(view: View, *, limited: bool = True) -> str:
    """Return the clause of a sort; the first rows, if `limited`, are read in the order of an index."""
    return f"ORDER BY {ordering(view, _DIALECT, by_index=limited)}"


def alike_key(*, by_tag: bool) -> str:
    """Return the expression of `folding.alike_key`."""
    text = "(plant.searched_name || E'\\x1f' || coalesce(plant.searched_tag, ''))" if by_tag else "plant.searched_name"
    spare = " OR ".join(f"{text} LIKE E'{each}'" for each in ("%  %", " %", "% ", "% \\x1f%", "%\\x1f %"))
    squeezed = f"regexp_replace({text}, E'^ +| +$| +(?=[ \\x1f])|(?<=\\x1f) +', '', 'g')"
    return f"CASE WHEN {spare} THEN {squeezed} ELSE {text} END"
