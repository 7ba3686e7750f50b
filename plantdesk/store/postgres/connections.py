"""Connections to the server, with what durability and deadlines rest on, and the server's errors as StoreError.

A connection is lost when libpq says so, whatever the text of an error is. Nothing that libpq or the server writes is
shown to users: it may contain the address, and it is in the language of the server.

Across a network, names and passwords go only to a server with a checked certificate. On the computer itself libpq's own
default is kept.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import socket
import ssl
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
from psycopg import errors, pq
from psycopg.abc import RV, PQGen
from psycopg.conninfo import make_conninfo
from typing_extensions import override

from plantdesk import __version__
from plantdesk.domain.errors import (
    ErrorNumber,
    PlantDeskError,
    SignInNeededError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreNewerError,
    StoreReadOnlyError,
    StoreUnreachableError,
    Text,
)
from plantdesk.platform import paths
from plantdesk.store.database import TablesChangedError
from plantdesk.store.postgres.address import Address, AddressSyntaxError, ParameterError, is_loopback
from plantdesk.store.postgres.schema import SCHEMA_VERSION, SHOW_AS_CURRENT


class Connection(psycopg.Connection[Any]):
    """A connection on which nothing waits without end: it is closed if the server does not answer."""

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

    def interrupt(self) -> None:
        """Cancel the statement that runs, without waiting for the server. Any thread."""
        threading.Thread(target=self._cancel_now, name="query-cancel", daemon=True).start()

    def _cancel_now(self) -> None:
        with suppress(psycopg.Error):
            self.cancel_safe(timeout=2)

    def abandon(self) -> None:
        """Let the thread that waits for the server notice the end: only it closes the connection. Any thread."""
        with suppress(OSError, psycopg.Error), socket.socket(fileno=self.fileno()) as end:
            try:
                end.shutdown(socket.SHUT_RDWR)
            finally:
                end.detach()


_log = logging.getLogger(__name__)
#: The warnings of psycopg are the consequences of errors that are handled here.
logging.getLogger("psycopg").setLevel(logging.ERROR)

#: The role of a connection that only reads.
READER = "reader"
#: Seconds for a statement that reads or writes a whole table.
LONG = 3600
#: Seconds for each host.
CONNECT_TIMEOUT = 2
#: Seconds for which a refused user is not tried again.
_REFUSAL_SECONDS = 30
#: The oldest version of the server, as libpq reports it.
_OLDEST = 140000
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
#: acknowledged plants. JIT compilation costs more than it saves. What a killed command has begun ends soon if the
#: server can detect that (14 only on Linux).
_SETTINGS = """
    SET search_path = plantdesk;
    SET default_transaction_isolation = 'read committed';
    SET statement_timeout = '{timeout}s';
    SET lock_timeout = '5s';
    SET idle_in_transaction_session_timeout = '10s';
    SET jit = off;
    SELECT set_config('client_connection_check_interval', '2s', false) WHERE version() LIKE '%linux%';
    SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply');"""


#: Taken first by each transaction that writes: it gives all commits of all desks one order. If a newer PlantDesk has
#: updated the tables meanwhile, it divides by zero: so no other statement of the round trip writes anything.
LOCK = f"""SELECT position, last_seq, last_change, tokens FROM state
           WHERE 1 / (version = {SCHEMA_VERSION})::integer = 1 FOR UPDATE"""
#: Milliseconds since 1970: the server's clock, which all desks share.
NOW = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint"


class ServerUnreachableError(StoreUnreachableError):
    """The server does not answer, or has ended the connection."""

    retry_after = 2
    text = Text("The server of the shared store does not answer. Wait until it does, or check the network.")


class HostUnknownError(ServerUnreachableError):
    """No address belongs to the name of the server: it is misspelled, or there is no network."""

    text = Text("There is no computer called “{server}”, or no network to ask.")


class SignInRefusedError(SignInNeededError):
    """The server does not let this user in."""

    text = Text("The server of the shared store refuses this user or password.")


class PasswordMissingError(SignInRefusedError):
    """The server asks for a password, and there is none."""

    text = Text("The server of the shared store asks for a password, and none is known here.")


class NotListedError(SignInRefusedError):
    """The server's pg_hba.conf has no line for this computer, user and database."""

    text = Text(
        "The server “{server}” lets nobody in from this computer as this user. Its administrator adds a line to "
        "pg_hba.conf and reloads the server; File > Shared store… shows the line."
    )


class EncryptionMissingError(StoreUnreachableError):
    """The server cannot encrypt, and the connection must be encrypted."""

    text = Text(
        "The server “{server}” offers no encryption, so nothing was sent to it. Ask who administrates it to switch TLS "
        "on. Only in a network that you trust: add ?sslmode=disable to the address."
    )


class CertificateRefusedError(StoreUnreachableError):
    """Nobody whom this computer trusts has issued the server's certificate."""

    text = Text(
        "The certificate of “{server}” is not trusted here, so nothing was sent to it. Ask its administrator for the "
        "certificate of the authority, and add ?sslrootcert=FILE to the address."
    )


class OtherServerError(StoreUnreachableError):
    """The certificate belongs to a server of another name."""

    text = Text(
        "The certificate is not that of “{server}”, so nothing was sent to it. Write the name of the server as its "
        "certificate has it."
    )


class ConnectionFileError(StoreUnreachableError):
    """A file that the address names is missing or refused: certificate, key, or service."""

    text = Text(
        "The service or a certificate that the address of the shared store names is not there, or others may read it."
    )


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

    text = Text("Your user of the shared store has no right to do this. Ask who administrates the server.")


class StandbyError(StoreReadOnlyError):
    """The server takes no writes: a standby, or one that an administrator has set so."""

    retry_after = 2
    text = Text("The server of the shared store is read-only at present.")


class ServerFullError(StoreFullError):
    """The server has no space for what is to be stored."""

    text = Text("The disk of the server is full. Ask who administrates it to free some space. Reading goes on.")


class NulRefusedError(PlantDeskError):
    """A text has U+0000, which PostgreSQL cannot store."""

    number = ErrorNumber.TEXT_REFUSED
    text = Text("A shared store cannot keep the character U+0000. Remove it from name, tag and note.")


def connect(address: Address, role: str, timeout: int = 60) -> Connection:
    """Open a connection for one `role` (writer, reader …), in autocommit mode. Raises StoreError.

    `timeout` is the number of seconds for one statement. The keyring is asked only if nothing else has a password.
    """
    for refusal, until in address.refusals:
        if time.monotonic() < until:
            raise refusal.with_traceback(None)
    try:
        try:
            connection = _signed_in(address, role, timeout)
        except PasswordMissingError:
            if not address.kept_password:
                raise
            connection = _signed_in(address, role, timeout)
    except SignInRefusedError as error:
        address.refusals[:] = [(error, time.monotonic() + _REFUSAL_SECONDS)]
        raise
    if connection.info.parameter_status("server_encoding") != "UTF8":
        connection.close()
        raise EncodingRefusedError(database=address.name)
    return connection


def _signed_in(address: Address, role: str, timeout: int) -> Connection:
    with translate_errors(address):
        try:
            return _opened(address, role, timeout)
        except (psycopg.OperationalError, psycopg.ProgrammingError) as error:
            if isinstance(error, psycopg.ProgrammingError) and error.sqlstate is not None:
                raise
            raise _refusal(error, address) from error


def _opened(address: Address, role: str, timeout: int) -> Connection:
    """Connect to the only server, or to the one that accepts writes; if none does, to any, but only for reading."""
    given = address.conninfo
    parameters = {**_DEFAULTS, "application_name": f"PlantDesk {__version__} {role}", **given, **encryption(given)}
    attributes = [{"target_session_attrs": "read-write"}] if "," in given.get("host", "") else []
    if not attributes or role == READER:
        attributes.append({})
    connection = _first({**each, **parameters} for each in attributes)
    connection.limit = CONNECT_TIMEOUT + _GRACE
    try:
        _check_server(connection)
        settings = _SETTINGS.format(timeout=timeout)
        connection.execute((settings + SHOW_AS_CURRENT if role == READER else settings).encode())
    except BaseException:
        connection.close()
        raise
    connection.limit = timeout + _GRACE
    return connection


def _check_server(connection: Connection) -> None:
    if connection.info.server_version < _OLDEST:
        message = Text("The server is PostgreSQL {version}. A shared store needs version 14 or newer.")
        raise StoreUnreachableError(message, version=connection.info.parameter_status("server_version") or "")


def _first(choices: Iterable[dict[str, Any]]) -> Connection:
    """Return the first connection that is possible. Raises psycopg.OperationalError, the last one."""
    failure = psycopg.OperationalError()
    for parameters in choices:
        try:
            return Connection.connect(autocommit=True, **parameters)
        except psycopg.OperationalError as error:
            failure = error
        except UnicodeError:  # a name that cannot be one of a computer
            failure = psycopg.OperationalError("failed to resolve host")
    raise failure


#: What libpq writes when it cannot connect; it gives no SQLSTATE then. The first that is found decides.
_REFUSALS: tuple[tuple[str, type[StoreError]], ...] = (
    ("no pg_hba.conf entry", NotListedError),
    ("pg_hba.conf rejects", NotListedError),
    ("no password supplied", PasswordMissingError),
    ("authentication failed", SignInRefusedError),
    ("role ", SignInRefusedError),
    ("does not support SSL", EncryptionMissingError),
    ("does not match host name", OtherServerError),
    ("certificate verify failed", CertificateRefusedError),
    ("certificate has expired", CertificateRefusedError),
    ("definition of service", ConnectionFileError),
    ("root certificate file", ConnectionFileError),
    ("certificate file", ConnectionFileError),
    ("private key file", ConnectionFileError),
    ("failed to resolve host", HostUnknownError),
    ("could not parse network address", HostUnknownError),
    ("could not translate host name", HostUnknownError),
)


#: The message for a parameter with a value that libpq refuses before it connects.
_MISTAKE = re.compile(
    r"""invalid "?(?!integer)(\w+)"? value|invalid (port) number|for connection option "(\w+)"|bad value for (\w+)"""
    r'''|weak (sslmode) |could not match \d+ (port) numbers|(?:configuration|value for) parameter "([\w.]+)"'''
)


def _refusal(error: psycopg.Error, address: Address) -> StoreError:
    """Return why there is no connection."""
    message = str(error)
    if (found := translated(error)) is not None and error.sqlstate is not None:
        return found
    mistake = _MISTAKE.search(message)
    if mistake is not None:
        return ParameterError(name=next(filter(None, mistake.groups())))
    if "does not exist" in message and f'"{address.name}"' in message and "database" in message:
        return DatabaseMissingError(database=address.name)
    cause = next((cause for text, cause in _REFUSALS if text in message), ServerUnreachableError)
    client = re.search('no pg_hba.conf entry for host "([^"]+)"', message)
    return cause(server=address.server, client=client[1] if client is not None else "")


_BY_CLASS: tuple[tuple[type[psycopg.Error], type[StoreError]], ...] = (
    (errors.DiskFull, ServerFullError),
    (errors.DivisionByZero, StoreNewerError),  # of LOCK
    (errors.ReadOnlySqlTransaction, StandbyError),
    (errors.InsufficientPrivilege, RightsMissingError),
    (errors.InvalidPassword, SignInRefusedError),
    (errors.InvalidAuthorizationSpecification, SignInRefusedError),
    (errors.UndefinedTable, SharedStoreGoneError),
    (errors.UndefinedColumn, SharedStoreGoneError),
    (errors.RaiseException, TablesChangedError),  # of a trigger
    (errors.FeatureNotSupported, TablesChangedError),  # RETURNING when a rule does something else
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
        _log.info("the shared store %s: %s", address.url if address else "", error.sqlstate or type(error).__name__)
        raise found from error


def execute(
    connection: Connection, sql: str, values: Mapping[str, object] | Sequence[object] | None = None
) -> psycopg.Cursor[Any]:
    """Execute a statement that is composed of constants; values are bound. Raises psycopg.Error."""
    return connection.execute(sql.encode(), values)


# --- encryption, if address, service file and environment do not specify it ---

#: libpq's default: encrypted if the server offers it, whichever server it is. In a service file or the environment
#: this value counts as no choice.
_NO_CHOICE = "prefer"
#: Certificates of the system's authorities. The OpenSSL of psycopg's wheels looks for them in a folder of its own.
_SYSTEM_FILES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


def encryption(conninfo: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of libpq to add to those of an address. Reads files, but opens no connection."""
    options = _with_defaults(conninfo)
    mode = conninfo.get("sslmode") or options.get("sslmode", _NO_CHOICE)
    if mode == _NO_CHOICE and "sslmode" not in conninfo and not _is_local(options):
        mode = "verify-full"
    if mode != "verify-full":
        return {}
    has_root = "sslrootcert" in options or _own_root().exists()
    return {"sslmode": mode} if has_root else {"sslmode": mode, "sslrootcert": _system_root()}


def _is_local(options: Mapping[str, str]) -> bool:
    hosts = options.get("host") or options.get("hostaddr", "")
    return all(map(is_loopback, hosts.split(",")))


def _with_defaults(conninfo: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters with those of service file and environment, as libpq itself resolves them.

    The invalid value ends the attempt before anything is connected to.
    """
    try:
        valid = make_conninfo(**{**conninfo, "gssencmode": "none"})
    except psycopg.ProgrammingError as error:
        name = re.search('connection option "(\\w+)"', str(error))
        raise (AddressSyntaxError() if name is None else ParameterError(name=name[1])) from None
    attempt = pq.PGconn.connect_start(valid.encode())
    try:
        return {each.keyword.decode(): each.val.decode(errors="replace") for each in attempt.info if each.val}
    finally:
        attempt.finish()


def _own_root() -> Path:
    """Return the file in which libpq looks for the user's own authorities."""
    if os.name == "nt":
        return Path(os.environ.get("APPDATA", "")) / "postgresql" / "root.crt"
    return paths.home_folder() / ".postgresql" / "root.crt"


def _system_root() -> str:
    """Return the file of the system's authorities; “system” if OpenSSL is to find them itself."""
    if "SSL_CERT_FILE" in os.environ or "SSL_CERT_DIR" in os.environ:
        return "system"
    if os.name == "nt":
        return _exported_root()
    return next((each for each in _SYSTEM_FILES if Path(each).exists()), "system")


@cache
def _exported_root() -> str:
    """Return a file with the authorities of Windows' certificate store, until the program ends."""
    authorities = ssl.create_default_context().get_ca_certs(binary_form=True)
    with tempfile.NamedTemporaryFile("w", prefix="plantdesk-", suffix=".pem", delete=False) as file:
        file.write("".join(map(ssl.DER_cert_to_PEM_cert, authorities)))
    atexit.register(Path(file.name).unlink, missing_ok=True)
    return file.name
