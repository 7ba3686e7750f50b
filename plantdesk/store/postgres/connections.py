"""Connections to the server, with the settings on which durability and deadlines depend.

A connection is lost when libpq says so, whatever the text of an error is. Across a network, names and passwords are
sent only to a server with a checked certificate; on this computer libpq's own default applies.
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
from psycopg import pq
from psycopg.abc import RV, PQGen
from psycopg.conninfo import make_conninfo
from typing_extensions import override

from plantdesk import __version__
from plantdesk.domain.errors import StoreUnreachableError
from plantdesk.domain.locations import is_loopback
from plantdesk.domain.texts import Text
from plantdesk.platform import paths
from plantdesk.store.postgres.address import Address, AddressSyntaxError, ParameterError
from plantdesk.store.postgres.errors import (
    EncodingRefusedError,
    PasswordMissingError,
    SignInRefusedError,
    connection_error,
    translate_errors,
)
from plantdesk.store.postgres.schema import SCHEMA_VERSION, SHOW_AS_CURRENT

#: The warnings of psycopg are the consequences of errors that are handled here.
logging.getLogger("psycopg").setLevel(logging.ERROR)

#: The role of a connection that only reads.
READER = "reader"
#: Seconds for a statement that reads or writes a whole table.
LONG_TIMEOUT = 3600
#: Seconds in which each host must be connected to.
CONNECT_TIMEOUT = 2
#: Seconds for which a refused user is not tried again.
_REFUSAL_SECONDS = 30
#: The oldest version of a server that is supported, as libpq reports it.
_OLDEST_SERVER = 140000
#: Seconds that the server has, after its own timeout, to report it.
_TIMEOUT_GRACE = 3
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
#: Taken first by each transaction that writes: it gives all commits of all desks one order. The division by
#: zero is deliberate: if the tables have another version, it fails the pipeline, so no later statement in it writes.
LOCK_STATE = f"""SELECT position, last_seq, last_change, tokens FROM state
           WHERE 1 / (version = {SCHEMA_VERSION})::integer = 1 FOR UPDATE"""
#: Milliseconds since 1970: the server's clock, which all desks share.
NOW_MS = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint"
#: libpq's default: encrypted if the server offers it, whichever server it is. In a service file or the environment
#: this value counts as no choice.
_NO_CHOICE = "prefer"


class Connection(psycopg.Connection[Any]):
    """A connection on which no call waits without end: it is closed if the server does not answer in time."""

    #: Seconds in which each statement must be answered.
    statement_timeout: float = 60

    @override
    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        deadline = time.monotonic() + self.statement_timeout
        try:
            return super().wait(gen, interval, self.statement_timeout)
        except psycopg.OperationalError as error:
            # After a fatal error the server closes the connection, which libpq may notice only later.
            if time.monotonic() >= deadline or error.diag.severity_nonlocalized in {"FATAL", "PANIC"}:
                self.pgconn.finish()
            raise

    def interrupt(self) -> None:
        """Cancel the running statement without waiting for the server. May be called by any thread."""
        threading.Thread(target=self._cancel_now, name="query-cancel", daemon=True).start()

    def _cancel_now(self) -> None:
        with suppress(psycopg.Error):
            self.cancel_safe(timeout=2)

    def abandon(self) -> None:
        """Shut down the socket: the thread that waits for the server then fails. May be called by any thread."""
        with suppress(OSError, psycopg.Error), socket.socket(fileno=self.fileno()) as sock:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            finally:
                sock.detach()


def connect(address: Address, role: str, timeout: int = 60) -> Connection:
    """Open a connection for one `role` (writer, reader …), in autocommit mode. Raises StoreError.

    `timeout` is the number of seconds for one statement. The keyring is asked only if nothing else has a password.
    """
    for refusal, retry_at in address.refusals:
        if time.monotonic() < retry_at:
            raise refusal.with_traceback(None)
    try:
        try:
            connection = _sign_in(address, role, timeout)
        except PasswordMissingError:
            if not address.saved_password:
                raise
            connection = _sign_in(address, role, timeout)
    except SignInRefusedError as error:
        address.refusals[:] = [(error, time.monotonic() + _REFUSAL_SECONDS)]
        raise
    if connection.info.parameter_status("server_encoding") != "UTF8":
        connection.close()
        raise EncodingRefusedError(database=address.name)
    return connection


def _sign_in(address: Address, role: str, timeout: int) -> Connection:
    with translate_errors(address):
        try:
            return _open(address, role, timeout)
        except (psycopg.OperationalError, psycopg.ProgrammingError) as error:
            if isinstance(error, psycopg.ProgrammingError) and error.sqlstate is not None:
                raise
            raise connection_error(error, address) from error


def _open(address: Address, role: str, timeout: int) -> Connection:
    """Connect to the only server, or to the one that accepts writes; if none does, to any, but only for reading."""
    options = address.conninfo
    parameters = {**_DEFAULTS, "application_name": f"PlantDesk {__version__} {role}", **options}
    parameters |= encryption_parameters(options)
    choices = [{"target_session_attrs": "read-write"}] if "," in options.get("host", "") else []
    if not choices or role == READER:
        choices.append({})
    connection = _connect_to_first({**choice, **parameters} for choice in choices)
    connection.statement_timeout = CONNECT_TIMEOUT + _TIMEOUT_GRACE
    try:
        _check_server(connection)
        settings = _SETTINGS.format(timeout=timeout)
        connection.execute((settings + SHOW_AS_CURRENT if role == READER else settings).encode())
    except BaseException:
        connection.close()
        raise
    connection.statement_timeout = timeout + _TIMEOUT_GRACE
    return connection


def _check_server(connection: Connection) -> None:
    if connection.info.server_version < _OLDEST_SERVER:
        message = Text("The server is PostgreSQL {version}. A shared store needs version 14 or newer.")
        raise StoreUnreachableError(message, version=connection.info.parameter_status("server_version") or "")


def _connect_to_first(choices: Iterable[dict[str, Any]]) -> Connection:
    """Return the first connection that succeeds. Raises the last psycopg.OperationalError if none does."""
    failure = psycopg.OperationalError()
    for parameters in choices:
        try:
            return Connection.connect(autocommit=True, **parameters)
        except psycopg.OperationalError as error:
            failure = error
        except UnicodeError:  # a name that cannot be one of a computer
            failure = psycopg.OperationalError("failed to resolve host")
    raise failure


@contextmanager
def snapshot(connection: Connection) -> Iterator[None]:
    """Let a block read one snapshot of the store. Raises psycopg.Error."""
    with connection.transaction(force_rollback=True):
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def execute(
    connection: Connection, sql: str, values: Mapping[str, object] | Sequence[object] | None = None
) -> psycopg.Cursor[Any]:
    """Execute a statement that is composed of constants; values are bound. Raises psycopg.Error."""
    return connection.execute(sql.encode(), values)


# --- encryption, if address, service file and environment do not specify it ---


def encryption_parameters(conninfo: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of libpq to add to those of an address. Reads files, but opens no connection."""
    options = _resolve_defaults(conninfo)
    mode = conninfo.get("sslmode") or options.get("sslmode", _NO_CHOICE)
    if mode == _NO_CHOICE and "sslmode" not in conninfo and not _is_local(options):
        mode = "verify-full"
    if mode != "verify-full":
        return {}
    has_root = "sslrootcert" in options or _user_root_file().exists()
    return {"sslmode": mode} if has_root else {"sslmode": mode, "sslrootcert": _find_system_root()}


def _is_local(options: Mapping[str, str]) -> bool:
    hosts = options.get("host") or options.get("hostaddr", "")
    return all(map(is_loopback, hosts.split(",")))


def _resolve_defaults(conninfo: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters with those of service file and environment, as libpq itself resolves them.

    An invalid `gssencmode` ends the attempt before libpq connects. Raises AddressSyntaxError and ParameterError.
    """
    try:
        valid = make_conninfo(**{**conninfo, "gssencmode": "none"})
    except psycopg.ProgrammingError as error:
        name = re.search('connection option "(\\w+)"', str(error))
        raise (AddressSyntaxError() if name is None else ParameterError(name=name[1])) from None
    attempt = pq.PGconn.connect_start(valid.encode())
    try:
        return {option.keyword.decode(): option.val.decode(errors="replace") for option in attempt.info if option.val}
    finally:
        attempt.finish()


def _user_root_file() -> Path:
    """Return the file in which libpq looks for certificate authorities that the user has added."""
    if os.name == "nt":
        return Path(os.environ.get("APPDATA", "")) / "postgresql" / "root.crt"
    return paths.home_folder() / ".postgresql" / "root.crt"


def _find_system_root() -> str:
    """Return the file of the system's certificate authorities; “system” if OpenSSL is to find them itself."""
    if "SSL_CERT_FILE" in os.environ or "SSL_CERT_DIR" in os.environ:
        return "system"
    if os.name == "nt":
        return _export_system_root()
    return next((file for file in paths.CERTIFICATE_FILES if Path(file).exists()), "system")


@cache
def _export_system_root() -> str:
    """Write the authorities of Windows' certificate store to a file, which is removed at exit; return its name."""
    authorities = ssl.create_default_context().get_ca_certs(binary_form=True)
    with tempfile.NamedTemporaryFile("w", prefix="plantdesk-", suffix=".pem", delete=False) as file:
        file.write("".join(map(ssl.DER_cert_to_PEM_cert, authorities)))
    atexit.register(Path(file.name).unlink, missing_ok=True)
    return file.name
