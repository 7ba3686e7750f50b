"""A keyring as a Linux desktop has one, on a D-Bus of its own, which can be locked or silent."""

import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from jeepney import Message


class SecretService:
    """Answers on a thread; `passwords` has its items by service and account."""

    def __init__(self, bus: str) -> None:
        from jeepney.bus_messages import message_bus
        from jeepney.io.blocking import Proxy, open_dbus_connection

        self.passwords: dict[tuple[str, str], str] = {}
        self.is_locked = self.is_silent = False
        self._connection = open_dbus_connection(bus)
        Proxy(message_bus, self._connection).RequestName("org.freedesktop.secrets")
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        with self._connection, suppress(OSError):  # until the bus ends
            self._serve()

    def _serve(self) -> None:
        from jeepney import HeaderFields, MessageType, new_method_return

        while True:
            message = self._connection.receive()
            if message.header.message_type is MessageType.method_call and not self.is_silent:
                method = str(message.header.fields[HeaderFields.member])
                signature, values = self._answer(method, message)
                self._connection.send(new_method_return(message, signature, values))

    def _answer(self, method: str, message: Message) -> tuple[str, tuple[object, ...]]:
        body = message.body
        if method == "OpenSession":
            assert body[0] == "plain"
            return "vo", (("s", ""), "/session")
        if method == "SearchItems":
            found = [f"/item/{number}" for number, key in enumerate(self.passwords) if key == _make_key(body[0])]
            return "aoao", ([], found) if self.is_locked else (found, [])
        if method == "GetSecrets":
            values = [*self.passwords.values()]
            secrets = {item: ("/session", b"", values[int(item[-1])].encode(), "text/plain") for item in body[0]}
            return "a{o(oayays)}", (secrets,)
        if method == "CreateItem":
            if self.is_locked:
                return "oo", ("/", "/prompt")
            attributes = body[0]["org.freedesktop.Secret.Item.Attributes"][1]
            self.passwords[_make_key(attributes)] = bytes(body[1][2]).decode()
            return "oo", ("/item/0", "/")
        assert method == "Delete"
        self.passwords.clear()
        return "o", ("/",)


def _make_key(attributes: dict[str, str]) -> tuple[str, str]:
    return attributes["service"], attributes["username"]


@contextmanager
def secret_service() -> Iterator[SecretService]:
    """Run a D-Bus with a keyring, which programs of this process use."""
    with session_bus() as bus, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DBUS_SESSION_BUS_ADDRESS", bus)
        yield SecretService(bus)


@contextmanager
def session_bus() -> Iterator[str]:
    """Run a D-Bus, and yield its address; skip the test where there is none."""
    program = shutil.which("dbus-daemon")
    if program is None:
        pytest.skip("there is no program dbus-daemon")
    command = [program, "--session", "--nofork", "--print-address"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as daemon:
        assert daemon.stdout is not None
        try:
            yield daemon.stdout.readline().strip()
        finally:
            daemon.terminate()
