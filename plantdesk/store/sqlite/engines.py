"""SQLAlchemy on the connections of a store; its import takes longer than a short command."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from sqlalchemy import create_engine, event
from sqlalchemy.pool import NullPool

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection, Engine, ExceptionContext


def make_engine(creator: Callable[[], sqlite3.Connection]) -> Engine:
    """Return an engine without transactions of its own: each statement sees what is committed at its start.

    A writer holds a `transaction` on the driver's connection. Its errors are those of sqlite3, whose texts do not hold
    what was to be written.
    """
    engine = create_engine("sqlite://", creator=creator, poolclass=NullPool, hide_parameters=True)
    event.listen(engine, "handle_error", _as_raised)
    return engine


def driver_connection(connection: Connection) -> sqlite3.Connection:
    """Return sqlite3's own connection under that of SQLAlchemy, for statements that must be quick."""
    raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)  # noqa: S101  what `connect` made
    return raw


def _as_raised(context: ExceptionContext) -> BaseException:
    return context.original_exception
