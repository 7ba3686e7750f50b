"""The interface to SQLite and PostgreSQL: expressions that differ (`Database`), and running statements (`Runner`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, Connection, CursorResult, Dialect, Engine, ExceptionContext
from sqlalchemy.pool import StaticPool
from sqlalchemy.util import LRUCache

from plantdesk.domain.errors import StoreReadOnlyError
from plantdesk.domain.texts import Text
from plantdesk.store.models import PLANT

#: The schema of temporary tables in statements; each database has another name for it.
TEMPORARY = "temporary"


def version_of(change: sa.ColumnElement[int], seq: sa.ColumnElement[int]) -> sa.ColumnElement[int]:
    """Return the version of a plant: the last change that touched it, or its negative sequence number."""
    return sa.case((change > 0, change), else_=-seq)


VERSION = version_of(PLANT.c.change, PLANT.c.seq)
#: `VERSION` as text, for statements that SQLAlchemy does not build.
VERSION_SQL = str(VERSION.compile(compile_kwargs={"literal_binds": True}))


class StoreState(NamedTuple):
    """The present state of a store: its identity, its largest `seq` and its last change."""

    identity: str
    seq: int
    change: int


class TablesChangedError(StoreReadOnlyError):
    """A trigger or a rule, which the owner has added to the tables, refuses a write or changes what it writes."""

    text = Text(
        "The tables of the shared store have a trigger or a rule that changes what is written. Nothing was saved. "
        "Who administrates the server can remove it."
    )


class Database(ABC):
    """A kind of database: its dialect of SQLAlchemy, and the expressions and statements that differ from the other."""

    dialect: Dialect
    #: The database's own name of the schema `TEMPORARY`.
    temporary: str
    #: The exception that the driver raises if rows break a rule of the tables.
    integrity_error: type[Exception]
    #: Returns an insert with methods for rows that exist already (ON CONFLICT).
    insert: Callable[[sa.Table], sqlite.Insert | postgresql.Insert]

    def __init__(self) -> None:
        self._options = {
            "schema_translate_map": {TEMPORARY: self.temporary},
            "compiled_cache": LRUCache[Any, Any](500),  # of all connections
            "preserve_rowcount": True,  # also of an INSERT
        }
        sa.event.listen(self.dialect, "handle_error", _keep_driver_error)

    def new_runner(self, driver: Any) -> Runner:  # noqa: ANN401  a connection of any driver
        """Return a Runner for a driver's connection. The caller begins and ends transactions and closes the connection.

        `create_engine` would make a dialect for each connection, and ask a server four questions.
        """
        pool = StaticPool(lambda: driver, reset_on_return=None)
        engine = Engine(pool, self.dialect, URL.create(self.dialect.name), execution_options=self._options)
        return Runner(self, driver, engine.connect())

    def compile_statement(self, statement: sa.Select[Any]) -> tuple[str, dict[str, Any]]:
        """Return a statement as SQL for the driver, and the values of its parameters, to run it without the engine."""
        compiled = statement.compile(dialect=self.dialect, compile_kwargs={"render_postcompile": True})
        return compiled.string, compiled.params

    @abstractmethod
    def is_storable(self, *texts: str | None) -> bool:
        """Return whether the database can hold these texts, so that it can be searched for them."""

    @abstractmethod
    def is_one_of(self, column: sa.ColumnElement[Any], values: Collection[Any]) -> sa.ColumnElement[bool]:
        """Return the condition that a column is one of any number of values."""

    @abstractmethod
    def contains(self, column: sa.ColumnElement[Any], text: str) -> sa.ColumnElement[bool]:
        """Return the condition that a text contains another one."""

    def contains_searched(self, column: sa.ColumnElement[Any], text: str) -> sa.ColumnElement[bool]:
        """Return the condition that a column of folded texts contains a text; it uses an index if there is one."""
        return self.contains(column, text)

    @abstractmethod
    def alike_key(self, *, by_tag: bool) -> sa.ColumnElement[str]:
        """Return the expression for `folding.alike_key` of a plant."""

    @abstractmethod
    def bytes_of(self, column: sa.ColumnElement[Any]) -> sa.ColumnElement[int]:
        """Return the expression for the number of bytes of a text."""

    @abstractmethod
    def now(self) -> sa.ColumnElement[int]:
        """Return the expression for now (milliseconds since 1970, UTC), by the clock of this computer or the server."""

    @abstractmethod
    def source_key(self) -> sa.ColumnElement[Any]:
        """Return the expression that sorts plants by the kinds and labels of their sources."""

    @abstractmethod
    def read_state(self, runner: Runner) -> StoreState:
        """Read the present state of a store."""

    #: Selects a number that no deleted plant's id exceeds, except ids from `FIRST_UNCOUNTED_ID` on.
    last_id: sa.Select[tuple[int]]

    @abstractmethod
    def prepare_table(self, runner: Runner, table: sa.Table) -> None:
        """Create a temporary table if it does not exist, and remove its rows."""

    @abstractmethod
    def insert_rows(self, runner: Runner, table: sa.Table, rows: Iterable[Sequence[object]]) -> None:
        """Insert any number of rows with values for all columns."""

    def qualified_name(self, table: sa.Table) -> str:
        """Return the name of a table in SQL."""
        return f"{self.temporary}.{table.name}" if table.schema else table.name

    def analyze(self, runner: Runner, table: sa.Table) -> None:  # noqa: B027  nothing as a rule
        """Update the statistics of a temporary table, from which queries are planned, if the database has any."""

    def check_storable(self, *texts: str | None) -> None:  # noqa: B027  most can
        """Raise NulRefusedError if the database cannot store one of these texts, which are valid texts of plants."""

    def combine(
        self, first: sa.Insert | sa.Update, second: sa.Delete | sa.Insert | sa.Update
    ) -> Sequence[sa.Executable]:
        """Return the statements to run for two changes of different tables: both, or one that makes both."""
        return first, second


@dataclass(frozen=True)
class Runner:
    """Runs statements on a connection of SQLAlchemy. Raises the driver's errors."""

    database: Database
    #: The driver's connection, for what SQLAlchemy cannot say.
    driver: Any
    connection: Connection

    def run(self, statement: sa.Executable, **values: object) -> CursorResult[*tuple[Any, ...]]:
        """Run a statement with values for its parameters."""
        return self.connection.execute(statement, values)

    def run_all(self, statements: Iterable[sa.Executable], **values: object) -> CursorResult[*tuple[Any, ...]]:
        """Run statements, at least one, with values for their parameters, and return the result of the last one."""
        return [self.run(statement, **values) for statement in statements][-1]


def _keep_driver_error(context: ExceptionContext) -> BaseException:
    """Let the error of the driver be raised as it is, and the connection stay open: its owner handles both."""
    context.is_disconnect = False
    return context.original_exception
