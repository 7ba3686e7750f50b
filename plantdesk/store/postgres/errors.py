"""The errors of connections and statements, and the translation of psycopg's errors into them.

No text of libpq or the server is shown to users: it may contain the address, and is in the language of the server.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import psycopg
from psycopg import errors

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
)
from plantdesk.domain.texts import Text
from plantdesk.store.database import TablesChangedError
from plantdesk.store.postgres.address import Address, ParameterError

_log = logging.getLogger(__name__)
#: Finds the parameter in libpq's messages about values that it refuses before it connects.
_INVALID_PARAMETER = re.compile(
    r"""invalid "?(?!integer)(\w+)"? value|invalid (port) number|for connection option "(\w+)"|bad value for (\w+)"""
    r'''|weak (sslmode) |could not match \d+ (port) numbers|(?:configuration|value for) parameter "([\w.]+)"'''
)


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


class EncryptionError(StoreUnreachableError):
    """The connection cannot be encrypted as the address or the place of the server demands."""


class DatabaseMissingError(StoreUnreachableError):
    """There is no database of this name."""

    text = Text("The server has no database “{database}”. Nothing was created.")


class EncodingRefusedError(StoreUnreachableError):
    """The database cannot hold every text."""

    text = Text("The database “{database}” is not encoded in UTF-8. Choose another one.")


class RightsMissingError(StoreReadOnlyError):
    """The user who signed in to the server lacks a right for this."""

    text = Text("Your user of the shared store has no right to do this. Ask who administrates the server.")


class StandbyError(StoreReadOnlyError):
    """The server takes no writes: a standby, or one that an administrator has set so."""

    retry_after = 2
    text = Text("The server of the shared store is read-only at present.")


class NulRefusedError(PlantDeskError):
    """A text has U+0000, which PostgreSQL cannot store."""

    number = ErrorNumber.TEXT_REFUSED
    text = Text("A shared store cannot keep the character U+0000. Remove it from name, tag and note.")


_FULL = Text("The disk of the server is full. Ask who administrates it to free some space. Reading goes on.")
_GONE = Text("The tables of the shared store are gone. Nothing was created in their place.")
#: The errors for users, by the class of psycopg's error; the first class that fits decides.
_ERRORS_BY_CLASS: tuple[tuple[type[psycopg.Error], Callable[[], StoreError]], ...] = (
    (errors.DiskFull, partial(StoreFullError, _FULL)),
    (errors.DivisionByZero, StoreNewerError),  # of LOCK_STATE
    (errors.ReadOnlySqlTransaction, StandbyError),
    (errors.InsufficientPrivilege, RightsMissingError),
    (errors.InvalidPassword, SignInRefusedError),
    (errors.InvalidAuthorizationSpecification, SignInRefusedError),
    (errors.UndefinedTable, partial(StoreUnreachableError, _GONE)),
    (errors.UndefinedColumn, partial(StoreUnreachableError, _GONE)),
    (errors.RaiseException, TablesChangedError),  # of a trigger
    (errors.FeatureNotSupported, TablesChangedError),  # RETURNING when a rule does something else
    (errors.InvalidSchemaName, partial(StoreUnreachableError, _GONE)),
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
_UNENCRYPTED = Text(
    "The server “{server}” offers no encryption, so nothing was sent to it. Ask who administrates it to switch TLS "
    "on. Only in a network that you trust: add ?sslmode=disable to the address."
)
_UNTRUSTED = Text(
    "The certificate of “{server}” is not trusted here, so nothing was sent to it. Ask its administrator for the "
    "certificate of the authority, and add ?sslrootcert=FILE to the address."
)
_OTHER_SERVER = Text(
    "The certificate is not that of “{server}”, so nothing was sent to it. Write the name of the server as its "
    "certificate has it."
)
_FILE_MISSING = Text(
    "The service or a certificate that the address of the shared store names is not there, or others may read it."
)
#: The errors for users, by what libpq writes if it cannot connect: it gives no SQLSTATE. The first that fits decides.
_ERRORS_BY_MESSAGE: tuple[tuple[str, Callable[..., StoreError]], ...] = (
    ("no pg_hba.conf entry", NotListedError),
    ("pg_hba.conf rejects", NotListedError),
    ("no password supplied", PasswordMissingError),
    ("authentication failed", SignInRefusedError),
    ("role ", SignInRefusedError),
    ("does not support SSL", partial(EncryptionError, _UNENCRYPTED)),
    ("does not match host name", partial(EncryptionError, _OTHER_SERVER)),
    ("certificate verify failed", partial(EncryptionError, _UNTRUSTED)),
    ("certificate has expired", partial(EncryptionError, _UNTRUSTED)),
    ("definition of service", partial(EncryptionError, _FILE_MISSING)),
    ("root certificate file", partial(EncryptionError, _FILE_MISSING)),
    ("certificate file", partial(EncryptionError, _FILE_MISSING)),
    ("private key file", partial(EncryptionError, _FILE_MISSING)),
    ("failed to resolve host", HostUnknownError),
    ("could not parse network address", HostUnknownError),
    ("could not translate host name", HostUnknownError),
)


def connection_error(error: psycopg.Error, address: Address) -> StoreError:
    """Return the StoreError for an error of connecting, by its SQLSTATE or, without one, by the text of libpq."""
    message = str(error)
    if (translation := translate_error(error)) is not None and error.sqlstate is not None:
        return translation
    invalid = _INVALID_PARAMETER.search(message)
    if invalid is not None:
        return ParameterError(name=next(filter(None, invalid.groups())))
    if "does not exist" in message and f'"{address.name}"' in message and "database" in message:
        return DatabaseMissingError(database=address.name)
    cause = next((cause for text, cause in _ERRORS_BY_MESSAGE if text in message), ServerUnreachableError)
    client = re.search('no pg_hba.conf entry for host "([^"]+)"', message)
    return cause(server=address.server, client=client[1] if client is not None else "")


def translate_error(error: psycopg.Error) -> StoreError | None:
    """Return the StoreError for an error of psycopg, by its class; None if the error is a defect of PlantDesk."""
    return next((make_error() for cause, make_error in _ERRORS_BY_CLASS if isinstance(error, cause)), None)


@contextmanager
def translate_errors(address: Address | None = None) -> Iterator[None]:
    """Raise psycopg's errors as StoreError, but not defects of PlantDesk."""
    try:
        yield
    except psycopg.Error as error:
        translation = translate_error(error)
        if translation is None:
            raise
        _log.info("the shared store %s: %s", address.url if address else "", error.sqlstate or type(error).__name__)
        raise translation from error
