"""What the databases write differently in the statements that they share, and running a statement on a connection."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import case, text

from plantdesk.store.models import PLANT

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Dialect
    from sqlalchemy.sql.elements import ClauseElement


#: The version of a plant: the last change that touched it, or its negative sequence number.
VERSION: ColumnElement[int] = case((PLANT.c.change > 0, PLANT.c.change), else_=-PLANT.c.seq)


class StoreState(NamedTuple):
    """The present state of a store: its identity, its largest `seq` and its last change."""

    identity: str
    seq: int
    change: int


class Database(ABC):
    """A database: the dialect in which statements are compiled for its driver, and expressions of its own."""

    dialect: Dialect

    def compiled(self, statement: ClauseElement) -> tuple[str, dict[str, Any]]:
        """Return a statement as the driver takes it, and the values of its parameters."""
        compiled = statement.compile(dialect=self.dialect, compile_kwargs={"render_postcompile": True})
        return compiled.string, dict(compiled.params or {})

    @abstractmethod
    def storable(self, *texts: str | None) -> bool:
        """Whether the database can have texts, so that it can be asked for them."""

    @abstractmethod
    def among(self, column: ColumnElement[Any], values: Collection[Any]) -> ColumnElement[bool]:
        """Return the condition that a column is one of any number of values."""

    @abstractmethod
    def contains(self, column: ColumnElement[Any], text: str) -> ColumnElement[bool]:
        """Return the condition that a text contains another one."""

    def contains_searched(self, column: ColumnElement[Any], text: str) -> ColumnElement[bool]:
        """Return the condition that a column of searched texts contains a text, by an index where there is one."""
        return self.contains(column, text)

    @abstractmethod
    def bytes_of(self, column: ColumnElement[Any]) -> ColumnElement[int]:
        """Return the number of bytes of a text."""

    @abstractmethod
    def source_key(self) -> ColumnElement[Any]:
        """Return the key that sorts plants by the kinds and labels of their sources."""

    @abstractmethod
    def state(self, runner: Runner) -> StoreState:
        """Return the present state of a store."""


@dataclass(frozen=True)
class Runner:
    """Runs statements on a connection of a driver. Raises the driver's errors."""

    database: Database
    connection: Any

    def run(self, statement: ClauseElement, **values: object) -> Any:  # noqa: ANN401  a cursor of the driver
        """Run a statement with values for its parameters."""
        sql, bound = self.database.compiled(statement)
        return self.connection.execute(sql, bound | values)

    def execute(self, sql: str, values: Mapping[str, object] | None = None) -> Any:  # noqa: ANN401  as above
        """Run SQL of every database, which binds values as `:name`."""
        return self.run(text(sql), **(values or {}))
