"""PostgreSQL's dialect: its forms of the statements that both databases run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import psycopg
import sqlalchemy as sa
from psycopg import errors
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.schema import CreateTable, Table
from typing_extensions import override

from plantdesk.domain.folding import is_unicode
from plantdesk.store.database import Database, Runner, StoreState
from plantdesk.store.models import PLANT, STATE
from plantdesk.store.postgres.connections import NOW_MS, Connection, execute
from plantdesk.store.postgres.errors import NulRefusedError
from plantdesk.store.postgres.schema import LAST_ID

#: The rank of each source, in an array that the server makes once for a query.
_SOURCE_KEY = """(ARRAY(
    SELECT coalesce(rank, 0)::integer FROM generate_series(1, (SELECT max(id) FROM source)) AS number
    LEFT JOIN (SELECT id, rank() OVER (ORDER BY kind || E'\\x1f' || label) AS rank FROM source) AS ranked
    ON id = number ORDER BY number
))[plant.source_id]"""


class PostgresDatabase(Database):
    """PostgreSQL, by the driver psycopg."""

    dialect = PGDialect_psycopg(dbapi=psycopg)  # type: ignore[no-untyped-call]
    integrity_error = errors.IntegrityError
    insert = staticmethod(postgresql.insert)
    temporary = "pg_temp"
    last_id = sa.select(sa.literal_column(LAST_ID, STATE.c.last_id.type).label("id")).select_from(STATE)

    @override
    def is_storable(self, *texts: str | None) -> bool:
        """Return whether texts have neither U+0000 nor lone surrogates (which only a search can have)."""
        return all("\0" not in text and is_unicode(text) for text in filter(None, texts))

    @override
    def is_one_of(self, column: sa.ColumnElement[Any], values: Collection[Any]) -> sa.ColumnElement[bool]:
        return column == sa.any_(sa.bindparam(None, [*values], type_=ARRAY(column.type)))

    @override
    def contains(self, column: sa.ColumnElement[Any], text: str) -> sa.ColumnElement[bool]:
        return sa.func.strpos(column, text) > 0

    @override
    def contains_searched(self, column: sa.ColumnElement[Any], text: str) -> sa.ColumnElement[bool]:
        """Use LIKE, which the trigram index supports."""
        pattern = text.replace("/", "//").replace("%", "/%").replace("_", "/_")
        return column.like(f"%{pattern}%", escape="/")

    @override
    def alike_key(self, *, by_tag: bool) -> sa.ColumnElement[str]:
        text = "(searched_name || E'\\x1f' || coalesce(searched_tag, ''))" if by_tag else "searched_name"
        spare = " OR ".join(f"{text} LIKE E'{pattern}'" for pattern in ("%  %", " %", "% ", "% \\x1f%", "%\\x1f %"))
        squeezed = f"regexp_replace({text}, E'^ +| +$| +(?=[ \\x1f])|(?<=\\x1f) +', '', 'g')"
        return sa.literal_column(f"CASE WHEN {spare} THEN {squeezed} ELSE {text} END")

    @override
    def bytes_of(self, column: sa.ColumnElement[Any]) -> sa.ColumnElement[int]:
        return sa.func.octet_length(column)

    @override
    def now(self) -> sa.ColumnElement[int]:
        return sa.literal_column(NOW_MS, PLANT.c.added_at.type)

    @override
    def source_key(self) -> sa.ColumnElement[Any]:
        return sa.literal_column(_SOURCE_KEY)

    @override
    def read_state(self, runner: Runner) -> StoreState:
        return StoreState(*runner.run(sa.select(STATE.c.identity, STATE.c.last_seq, STATE.c.last_change)).one())

    @override
    def prepare_table(self, runner: Runner, table: Table) -> None:
        """Create the table or TRUNCATE it: the server never frees the deleted rows of a temporary table by itself."""
        runner.run(CreateTable(table, if_not_exists=True))
        execute(runner.driver, f"TRUNCATE {table}")

    @override
    def insert_rows(self, runner: Runner, table: Table, rows: Iterable[Sequence[object]]) -> None:
        sql = f"COPY {self.qualified_name(table)} ({', '.join(table.columns.keys())}) FROM STDIN".encode()
        with runner.driver.cursor() as cursor, cursor.copy(sql) as copy:
            for row in rows:
                copy.write_row(row)

    @override
    def analyze(self, runner: Runner, table: Table) -> None:
        execute(runner.driver, f"ANALYZE {self.qualified_name(table)}")

    @override
    def check_storable(self, *texts: str | None) -> None:
        if not self.is_storable(*texts):
            raise NulRefusedError

    @override
    def combine(
        self, first: sa.Insert | sa.Update, second: sa.Delete | sa.Insert | sa.Update
    ) -> Sequence[sa.Executable]:
        """Return one statement that makes both changes, by a CTE: it takes one round trip."""
        return (second.add_cte(first.cte("first")),)


#: The only one: it keeps the statements that it has compiled.
DATABASE = PostgresDatabase()


def runner_of(connection: Connection) -> Runner:
    """Return a Runner for an open connection, by which SQLAlchemy runs statements on it."""
    return DATABASE.new_runner(connection)
