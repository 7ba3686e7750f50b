"""What PostgreSQL writes differently in statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import any_, bindparam, func, literal_column
from sqlalchemy.dialects.postgresql import ARRAY, psycopg
from typing_extensions import override

from plantdesk.store.database import Database, Runner, StoreState
from plantdesk.store.postgres.connections import execute, storable

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import ColumnElement

    from plantdesk.store.postgres.connections import Connection

#: The rank of each source, in an array that the server makes once for a query.
_SOURCE_KEY = """(ARRAY(
    SELECT coalesce(rank, 0)::integer FROM generate_series(1, (SELECT max(id) FROM source)) AS number
    LEFT JOIN (SELECT id, rank() OVER (ORDER BY kind || E'\\x1f' || label) AS rank FROM source) AS ranked
    ON id = number ORDER BY number
))[plant.source_id]"""


class PostgresDatabase(Database):
    """A server, by psycopg."""

    dialect = psycopg.dialect()  # type: ignore[no-untyped-call]

    @override
    def storable(self, *texts: str | None) -> bool:
        return storable(*texts)

    @override
    def among(self, column: ColumnElement[Any], values: Collection[Any]) -> ColumnElement[bool]:
        return column == any_(bindparam(None, [*values], type_=ARRAY(column.type)))

    @override
    def contains(self, column: ColumnElement[Any], text: str) -> ColumnElement[bool]:
        return func.strpos(column, text) > 0

    @override
    def contains_searched(self, column: ColumnElement[Any], text: str) -> ColumnElement[bool]:
        """Compare with a pattern, as the index of trigrams can."""
        pattern = text.replace("/", "//").replace("%", "/%").replace("_", "/_")
        return column.like(f"%{pattern}%", escape="/")

    @override
    def bytes_of(self, column: ColumnElement[Any]) -> ColumnElement[int]:
        return func.octet_length(column)

    @override
    def source_key(self) -> ColumnElement[Any]:
        return literal_column(_SOURCE_KEY)

    @override
    def state(self, runner: Runner) -> StoreState:
        row = execute(runner.connection, "SELECT identity, last_seq, last_change FROM state").fetchone()
        return StoreState(*(row or ("", 0, 0)))


_DATABASE = PostgresDatabase()


def runner(connection: Connection) -> Runner:
    """Return what runs statements on a connection."""
    return Runner(_DATABASE, connection)


def alike_key(*, by_tag: bool) -> str:
    """Return the expression of `folding.alike_key`."""
    text = "(plant.searched_name || E'\\x1f' || coalesce(plant.searched_tag, ''))" if by_tag else "plant.searched_name"
    spare = " OR ".join(f"{text} LIKE E'{each}'" for each in ("%  %", " %", "% ", "% \\x1f%", "%\\x1f %"))
    squeezed = f"regexp_replace({text}, E'^ +| +$| +(?=[ \\x1f])|(?<=\\x1f) +', '', 'g')"
    return f"CASE WHEN {spare} THEN {squeezed} ELSE {text} END"
