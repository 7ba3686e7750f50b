"""SQLite's dialect: its forms of the statements that both databases run."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from itertools import chain, islice
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.schema import CreateTable
from typing_extensions import override

from plantdesk.domain.folding import SEPARATOR, is_unicode
from plantdesk.store.database import Database, Runner, StoreState
from plantdesk.store.models import PLANT, SOURCE, STORE
from plantdesk.store.sqlite.connections import placeholders
from plantdesk.store.sqlite.counters import read_counters

#: Rounded, since SQLite has days as a real number, in which milliseconds are not exact.
_NOW = sa.cast(sa.func.round((sa.func.julianday("now") - 2440587.5) * 86_400_000), PLANT.c.added_at.type)
#: The most rows that a statement inserts: Python takes as long to step through one as to bind several rows.
_ROWS_PER_INSERT = 100


class SqliteDatabase(Database):
    """SQLite, by Python's module sqlite3."""

    dialect = SQLiteDialect_pysqlite(dbapi=sqlite3, paramstyle="named")
    integrity_error = sqlite3.IntegrityError
    insert = staticmethod(sqlite.insert)
    temporary = "other"  # the file of an import
    last_id = sa.select(STORE.c.last_id.label("id"))

    @override
    def is_storable(self, *texts: str | None) -> bool:
        return all(text is None or is_unicode(text) for text in texts)

    @override
    def is_one_of(self, column: sa.ColumnElement[Any], values: Collection[Any]) -> sa.ColumnElement[bool]:
        return column.in_(sa.select(sa.func.json_each(json.dumps([*values])).table_valued("value").c.value))

    @override
    def contains(self, column: sa.ColumnElement[Any], text: str) -> sa.ColumnElement[bool]:
        return sa.func.instr(column, text) > 0

    @override
    def alike_key(self, *, by_tag: bool) -> sa.ColumnElement[str]:
        """Call Python only for texts with spare blanks, which are few."""
        columns = ["searched_name", "searched_tag"] if by_tag else ["searched_name"]
        spare = " OR ".join(f"instr({column}, '  ') OR {column} GLOB ' *' OR {column} GLOB '* '" for column in columns)
        plain = f"searched_name || '{SEPARATOR}' || coalesce(searched_tag, '')" if by_tag else "searched_name"
        return sa.literal_column(f"CASE WHEN {spare} THEN alike_key(name, tag, {int(by_tag)}) ELSE {plain} END")

    @override
    def bytes_of(self, column: sa.ColumnElement[Any]) -> sa.ColumnElement[int]:
        return sa.func.length(sa.cast(column, sa.LargeBinary))

    @override
    def now(self) -> sa.ColumnElement[int]:
        return _NOW

    @override
    def source_key(self) -> sa.ColumnElement[Any]:
        key = sa.select(SOURCE.c.kind + SEPARATOR + SOURCE.c.label).where(SOURCE.c.id == PLANT.c.source_id)
        return key.correlate(PLANT).scalar_subquery()

    @override
    def read_state(self, runner: Runner) -> StoreState:
        (identity,) = runner.driver.execute("SELECT identity FROM store").fetchone() or ("",)
        return StoreState(identity, *read_counters(runner.driver)[:2])

    @override
    def prepare_table(self, runner: Runner, table: sa.Table) -> None:
        runner.run(CreateTable(table, if_not_exists=True))
        runner.run(sa.delete(table))

    @override
    def insert_rows(self, runner: Runner, table: sa.Table, rows: Iterable[Sequence[object]]) -> None:
        rows = iter(rows)
        name = self.qualified_name(table)
        columns = len(table.c)
        while values := [*chain.from_iterable(islice(rows, _ROWS_PER_INSERT))]:
            runner.driver.execute(insert_sql(name, columns, len(values) // columns), values)


#: The only one: it keeps the statements that it has compiled.
DATABASE = SqliteDatabase()


def runner_of(connection: sqlite3.Connection) -> Runner:
    """Return a Runner for an open connection, by which SQLAlchemy runs statements on it."""
    return DATABASE.new_runner(connection)


@cache
def insert_sql(table: str, columns: int, rows: int) -> str:
    """Return the INSERT of `rows` rows of `columns` values. SQLAlchemy binds by name, which takes twice as long."""
    return f"INSERT INTO {table} VALUES {', '.join([f'({placeholders(columns)})'] * rows)}"
