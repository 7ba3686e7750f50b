"""The states of the API server, and the errors that explain why it is off.

`plantdesk.api.server.Server` passes them to its listeners; the window and the command line show them.
"""

from __future__ import annotations

from dataclasses import dataclass

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.texts import Text


class ServerError(PlantDeskError):
    """The server is not running; the message says why, and what to do."""


class PortTakenError(ServerError):
    """The port is not available; `free_port` is another one that is, None if none was found."""

    text = Text("Port {port} is not available. Choose another port.")

    def __init__(self, port: int, free_port: int | None, **values: str) -> None:
        super().__init__(port=port, **values)
        if free_port is not None:
            self.text = Text("{reason} Port {port} is free.", reason=self.text, port=free_port)
        self.free_port = free_port


class PortInUseError(PortTakenError):
    """Another program listens on the port."""

    text = Text("Port {port} is in use by another program. Choose another port.")


class PortOfPlantDeskError(PortInUseError):
    """Another PlantDesk of the user serves `database` on the port; `is_same`: it is also the database of this one."""

    text = Text("PlantDesk is already running on port {port}, with {database}. Choose another port.")

    def __init__(self, port: int, free_port: int | None, database: str, *, is_same: bool = False) -> None:
        super().__init__(port, free_port, database=database)
        self.database = database
        self.is_same = is_same


class PortOfOtherUserError(PortTakenError):
    """A program of another user listens on the port; scripts may have sent it tokens."""

    text = Text(
        "Port {port} is in use by a program of another user ({owner}). If your scripts sent it a token, "
        "revoke that token. Choose another port."
    )

    def __init__(self, port: int, free_port: int | None, owner: str) -> None:
        super().__init__(port, free_port, owner=owner)


class PortReservedError(PortTakenError):
    """The system reserves the port (Windows: excluded ranges; Unix: ports below 1024)."""

    text = Text("The system has reserved port {port}. Choose another port.")


class ServerFailedError(ServerError):
    """The server could not be started, for a reason without a class of its own."""


class TooFewDescriptorsError(ServerFailedError):
    """The process may not open as many files as a server needs."""

    text = Text("The server needs more open files than are allowed. Raise the limit (ulimit -n), then try again.")


class NotReachableError(ServerError):
    """The server was started, but does not answer on the loopback interface."""

    text = Text("The server cannot be reached on 127.0.0.1. Check that the loopback interface is up.")


class NoOpenStoreError(ServerError):
    """The server is off because no store is open."""

    text = Text("No plants are open. The API starts when they are.")


class NotAnsweringError(ServerError):
    """The server was running, but no longer answers."""

    text = Text("The server no longer answers. Turn it off and on again.")


@dataclass(frozen=True)
class Off:
    """The server is stopped."""


@dataclass(frozen=True)
class Starting:
    """The server is starting on `port` (0: any free one)."""

    port: int


@dataclass(frozen=True)
class On:
    """The server answers at `url` (`http://127.0.0.1:PORT`), as checked within the last seconds."""

    url: str
    port: int


@dataclass(frozen=True)
class Failed:
    """No server answers on `port`; `error` says why."""

    error: ServerError
    port: int


ServerState = Off | Starting | On | Failed
