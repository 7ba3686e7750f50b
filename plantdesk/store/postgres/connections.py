"""Connections to the server, with what durability and deadlines rest on, and the server's errors as StoreError.

A connection is lost when libpq says so, whatever the text of an error is. Nothing that libpq or the server writes is
shown to users: it may contain the address, and it is in the language of the server.
"""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors
from typing_extensions import override

from plantdesk import __version__
from plantdesk.domain.errors import (
    ErrorNumber,
    PlantDeskError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreUnreachableError,
    Text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from psycopg.abc import RV, PQGen

    from plantdesk.store.postgres.address import Address


class Connection(psycopg.Connection[Any]):
    """A connection on which nothing waits without end: one whose server is silent is closed."""

    #: Seconds in which each statement must be answered.
    limit: float = 60

    @override
    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        deadline = time.monotonic() + self.limit
        try:
            return super().wait(gen, interval, self.limit)
        except psycopg.OperationalError as error:
            # After a fatal error the server closes the connection, which libpq may notice only later.
            if time.monotonic() >= deadline or error.diag.severity_nonlocalized in {"FATAL", "PANIC"}:
                self.pgconn.finish()
            raise

    @contextmanager
    def limited(self, seconds: float) -> Iterator[None]:
        """Let the statements of a block be answered in fewer seconds."""
        before, self.limit = self.limit, seconds
        try:
            yield
        finally:
            self.limit = before


_log = logging.getLogger(__name__)

#: The role of a connection that only reads.
READER = "reader"
#: Seconds for each host.
CONNECT_TIMEOUT = 2
#: Seconds that the server has to report a timeout of its own.
_GRACE = 3
#: Parameters of libpq that end a dead connection within seconds; those of the address win.
_DEFAULTS = {
    "connect_timeout": CONNECT_TIMEOUT,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 2000,
    "client_encoding": "utf8",
}
#: A desk that hangs in a transaction would hold up all others. A weaker synchronous_commit of server or role would lose
#: acknowledged plants. JIT compilation costs more than it saves.
_SETTINGS = """
    SET search_path = plantdesk;
    SET default_transaction_isolation = 'read committed';
    SET statement_timeout = '{timeout}s';
    SET lock_timeout = '5s';
    SET idle_in_transaction_session_timeout = '10s';
    SET jit = off;
    SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')"""


#: Taken first by each transaction that writes: it gives all commits of all desks one order.
LOCK = "SELECT position, last_seq, last_change, tokens FROM state FOR UPDATE"
#: Milliseconds since 1970: the server's clock, which all desks share.
NOW = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint"


class ServerUnreachableError(StoreUnreachableError):
    """The server does not answer, or has ended the connection."""

    retry_after = 2
    text = Text("The server of the shared store does not answer. PlantDesk tries again by itself.")


class SignInRefusedError(StoreUnreachableError):
    """The server does not let this user in."""

    text = Text("The server of the shared store refuses this user or password.")


class DatabaseMissingError(StoreUnreachableError):
    """There is no database of this name."""

    text = Text("The server has no database “{database}”. Nothing was created.")


class EncodingRefusedError(StoreUnreachableError):
    """The database cannot hold every text."""

    text = Text("The database “{database}” is not encoded in UTF-8. Choose another one.")


class SharedStoreGoneError(StoreUnreachableError):
    """The tables were removed while the store was open."""

    text = Text("The tables of the shared store are gone. Nothing was created in their place.")


class RightsMissingError(StoreReadOnlyError):
    """The server's user may not do this."""

    text = Text("Your user of the shared store may not change this. Ask who administrates the server.")


class StandbyError(StoreReadOnlyError):
    """The server takes no writes: a standby, or one that an administrator has set so."""

    retry_after = 2
    text = Text("The server of the shared store is read-only at present.")


class NulRefusedError(PlantDeskError):
    """A text has U+0000, which PostgreSQL cannot store."""

    number = ErrorNumber.TEXT_REFUSED
    text = Text("A shared store cannot keep the character U+0000. Remove it from name, tag and note.")


def connect(address: Address, role: str, timeout: int = 60) -> Connection:
    """Open a connection for one `role` (writer, reader …), in autocommit mode. Raises StoreError.

    `timeout` are the seconds that one statement may take.
    """
    with translate_errors(address):
        try:
            connection = _opened(address, role, timeout)
        except psycopg.OperationalError as error:
            raise _refusal(error, address) from error
    if connection.info.parameter_status("server_encoding") != "UTF8":
        connection.close()
        raise EncodingRefusedError(database=address.name)
    return connection


def _opened(address: Address, role: str, timeout: int) -> Connection:
    """Connect to the only server, or to the one that takes writes; to read, to another one where there is none."""
    parameters = {**_DEFAULTS, "application_name": f"PlantDesk {__version__} {role}", **address.conninfo}
    attributes = [{"target_session_attrs": "read-write"}] if "," in address.conninfo.get("host", "") else []
    if not attributes or role == READER:
        attributes.append({})
    connection = _first({**each, **parameters} for each in attributes)
    connection.limit = timeout + _GRACE
    try:
        connection.execute(_SETTINGS.format(timeout=timeout).encode())
    except BaseException:
        connection.close()
        raise
    return connection


def _first(choices: Iterable[dict[str, Any]]) -> Connection:
    """Return the first connection that is possible. Raises psycopg.OperationalError, the last one."""
    failure = psycopg.OperationalError()
    for parameters in choices:
        try:
            return Connection.connect(autocommit=True, **parameters)
        except psycopg.OperationalError as error:
            failure = error
    raise failure


def _refusal(error: psycopg.OperationalError, address: Address) -> StoreError:
    """Return why there is no connection; libpq gives no SQLSTATE then, so its message decides between the causes."""
    message = str(error)
    if (found := translated(error)) is not None and error.sqlstate is not None:
        return found
    if "does not exist" in message and f'"{address.name}"' in message and "database" in message:
        return DatabaseMissingError(database=address.name)
    if any(each in message for each in ("authentication failed", "pg_hba.conf", "no password supplied", "role ")):
        return SignInRefusedError()
    return ServerUnreachableError()


_BY_CLASS: tuple[tuple[type[psycopg.Error], type[StoreError]], ...] = (
    (errors.DiskFull, StoreFullError),
    (errors.ReadOnlySqlTransaction, StandbyError),
    (errors.InsufficientPrivilege, RightsMissingError),
    (errors.InvalidPassword, SignInRefusedError),
    (errors.InvalidAuthorizationSpecification, SignInRefusedError),
    (errors.UndefinedTable, SharedStoreGoneError),
    (errors.InvalidSchemaName, SharedStoreGoneError),
    (errors.DataCorrupted, StoreDamagedError),
    (errors.IndexCorrupted, StoreDamagedError),
    (errors.TooManyConnections, StoreBusyError),
    (errors.LockNotAvailable, StoreBusyError),
    (errors.QueryCanceled, StoreBusyError),
    (errors.SerializationFailure, StoreBusyError),
    (errors.DeadlockDetected, StoreBusyError),
    (errors.OutOfMemory, StoreBusyError),
    (psycopg.OperationalError, ServerUnreachableError),
    (psycopg.InterfaceError, ServerUnreachableError),
)


def translated(error: psycopg.Error) -> StoreError | None:
    """Return the error for users; None for a defect of PlantDesk."""
    return next((found() for cause, found in _BY_CLASS if isinstance(error, cause)), None)


@contextmanager
def translate_errors(address: Address | None = None) -> Iterator[None]:
    """Raise psycopg's errors as StoreError, but not defects of PlantDesk."""
    try:
        yield
    except psycopg.Error as error:
        found = translated(error)
        if found is None:
            raise
        _log.warning("the shared store %s: %s", address.url if address else "", error.sqlstate or type(error).__name__)
        raise found from error


def storable(*texts: str | None) -> bool:
    """Whether PostgreSQL can hold texts: without U+0000, and without lone surrogates, which only a search can have."""
    for text in filter(None, texts):
        try:
            if b"\0" in text.encode():
                return False
        except UnicodeEncodeError:
            return False
    return True


def execute(
    connection: Connection, sql: str, values: Mapping[str, object] | Sequence[object] | None = None
) -> psycopg.Cursor[Any]:
    """Execute a statement that is composed of constants; values are bound. Raises psycopg.Error."""
    return connection.execute(sql.encode(), values)


@dataclass
class Transaction:
    """An open transaction, which holds the lock on `state`, and what it will have changed."""

    connection: Connection
    last_seq: int
    last_change: int
    #: By how many plants the store grows.
    plants: int = 0
    tokens: int = 0
    has_changed: bool = False

    def next_seq(self, count: int = 1) -> int:
        """Return the first of so many new sequence numbers."""
        self.last_seq += count
        return self.last_seq - count + 1
