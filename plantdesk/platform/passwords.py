"""Passwords of shared stores in the system's keyring: the Secret Service of a Linux desktop, or a backend of `keyring`.

A keyring may be missing, locked, or never answer: each call has a thread of its own and a timeout. Passwords are stored
nowhere else.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
from importlib import import_module
from queue import Empty, SimpleQueue
from typing import Any, Self

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.texts import Text

_log = logging.getLogger(__name__)

#: The name under which the keyring lists the passwords.
_SERVICE = "PlantDesk"
#: Seconds to wait for the keyring.
_TIMEOUT = 3.0
#: The backends of the library `keyring`: it finds them by metadata that a frozen program lacks.
_BACKENDS = {"win32": ("keyring.backends.Windows", "WinVaultKeyring"), "darwin": ("keyring.backends.macOS", "Keyring")}


class KeyringUnusableError(PlantDeskError):
    """There is no keyring, it is locked, or it does not answer."""

    text = Text(
        "The password was not remembered: there is no keyring here, or it is locked. PlantDesk asks for the password "
        "at each start, or reads it from .pgpass."
    )


def load_password(account: str) -> str | None:
    """Return the password of an account; None if the keyring has none or does not answer within 3 s."""
    try:
        password = _ask_keyring("get_password", account)
    except KeyringUnusableError:
        return None
    return password if isinstance(password, str) else None


def save_password(account: str, password: str) -> None:
    """Save the password of an account. Raises KeyringUnusableError."""
    _ask_keyring("set_password", account, password)


def _ask_keyring(method: str, *args: str) -> Any:  # noqa: ANN401  of any keyring
    """Return the result of a keyring's method, called on a thread of its own. Raises KeyringUnusableError after 3 s."""
    answers: SimpleQueue[tuple[Any, Exception | None]] = SimpleQueue()

    def call_method() -> None:
        try:
            answers.put((getattr(_load_keyring(), method)(_SERVICE, *args), None))
        except Exception as error:  # noqa: BLE001  each keyring has errors of its own
            answers.put((None, error))

    threading.Thread(target=call_method, name="keyring", daemon=True).start()
    with contextlib.suppress(Empty):
        answer, error = answers.get(timeout=_TIMEOUT)
        if error is None:
            return answer
        _log.info("the keyring did not answer: %s", type(error).__name__)
    raise KeyringUnusableError


def _load_keyring() -> Any:  # noqa: ANN401  of a library that is not on each system, or the class below
    if sys.platform not in _BACKENDS:
        return _SecretService
    module, name = _BACKENDS[sys.platform]
    return getattr(import_module(module), name)()


class _LockedError(Exception):
    """The keyring is locked, so it would ask the user."""


class _SecretService:
    """The keyring of a Linux desktop on D-Bus, with the methods of the backends of `keyring`.

    `keyring` itself needs cryptography, a tenth of the package, to encrypt what crosses the user's own bus.
    """

    _COLLECTION = "/org/freedesktop/secrets/aliases/default"
    _ITEM = "org.freedesktop.Secret.Item"

    @classmethod
    def get_password(cls, service: str, account: str) -> str | None:
        """Return the password of an account, None if there is none. Raises _LockedError, and errors of D-Bus."""
        with cls() as keyring:
            items = keyring._find_items(service, account)
            if not items:
                return None
            (secrets,) = keyring._call_method("Service", "GetSecrets", "aoo", items[:1], keyring._session)
            return bytes(secrets[items[0]][2]).decode()

    @classmethod
    def set_password(cls, service: str, account: str, password: str) -> None:
        """Save the password of an account, instead of an earlier one. Raises _LockedError, and errors of D-Bus."""
        with cls() as keyring:
            properties = {
                f"{cls._ITEM}.Label": ("s", f"{service}: {account}"),
                f"{cls._ITEM}.Attributes": ("a{ss}", {"service": service, "username": account}),
            }
            secret = (keyring._session, b"", password.encode(), "text/plain; charset=utf8")
            item, _ = keyring._call_method(
                "Collection", "CreateItem", "a{sv}(oayays)b", properties, secret, True, path=cls._COLLECTION
            )
            if item == "/":
                raise _LockedError

    def __enter__(self) -> Self:
        from jeepney.io.blocking import open_dbus_connection

        self._connection = open_dbus_connection("SESSION")
        try:
            self._session = self._call_method("Service", "OpenSession", "sv", "plain", ("s", ""))[1]
        except BaseException:
            self._connection.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def _find_items(self, service: str, account: str) -> list[str]:
        """Return the D-Bus paths of the unlocked items of an account. Raises _LockedError if all are locked."""
        attributes = {"service": service, "username": account}
        unlocked, locked = self._call_method("Service", "SearchItems", "a{ss}", attributes)
        if locked and not unlocked:
            raise _LockedError
        return list(unlocked)

    def _call_method(
        self, interface: str, method: str, signature: str, *args: object, path: str = "/org/freedesktop/secrets"
    ) -> Any:  # noqa: ANN401  values of D-Bus
        from jeepney import DBusAddress, new_method_call
        from jeepney.wrappers import unwrap_msg

        address = DBusAddress(path, "org.freedesktop.secrets", f"org.freedesktop.Secret.{interface}")
        message = new_method_call(address, method, signature, args)
        return unwrap_msg(self._connection.send_and_get_reply(message, timeout=_TIMEOUT))
