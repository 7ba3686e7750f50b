"""What the server of the API is doing, as frozen values, and why it may be off; all may import this.

`plantdesk.api.server.Server` tells these to its listeners; the window and the command line show them.
"""

from __future__ import annotations

from dataclasses import dataclass

from plantdesk.errors import PlantDeskError


class ServerError(PlantDeskError):
    """The server is not there, for a reason that the text tells together with the way on."""


class PortTakenError(ServerError):
    """The port cannot be had; `free_port` was tried just now and can be, None when nothing can."""

    def __init__(self, text: str, port: int, free_port: int | None) -> None:
        super().__init__(text if free_port is None else f"{text} Port {free_port} is free.")
        self.port = port
        self.free_port = free_port


class PortInUseError(PortTakenError):
    """Another program listens on the port."""

    def __init__(self, port: int, free_port: int | None) -> None:
        super().__init__(f"Port {port} is in use by another program. Choose another port.", port, free_port)


class PortOfOtherUserError(PortTakenError):
    """A program of another user of this machine listens on the port; it may have been sent tokens."""

    def __init__(self, port: int, free_port: int | None, owner: str) -> None:
        super().__init__(
            f"Port {port} is in use by a program of another user ({owner}). If your scripts sent it a token, "
            "revoke that token. Choose another port.",
            port,
            free_port,
        )


class PortReservedError(PortTakenError):
    """The system keeps the port for itself (Windows' reserved ranges, Unix' ports below 1024)."""

    def __init__(self, port: int, free_port: int | None) -> None:
        super().__init__(f"The system has reserved port {port}. Choose another port.", port, free_port)


class ServerFailedError(ServerError):
    """The server could not be started, for a reason that no other class tells."""


class TooFewDescriptorsError(ServerFailedError):
    """The process may not open as many files as a server needs."""

    def __init__(self) -> None:
        super().__init__(
            "The server needs more open files than are allowed. Raise the limit (ulimit -n), then try again."
        )


class NotReachableError(ServerError):
    """The server was started, and does not answer on the loopback."""

    def __init__(self) -> None:
        super().__init__("The server cannot be reached on 127.0.0.1. Check that the loopback interface is up.")


class NoStoreError(ServerError):
    """There are no plants to serve: the file is not open."""

    def __init__(self) -> None:
        super().__init__("No plants are open. The API starts when they are.")


class NotAnsweringError(ServerError):
    """The server was on, and no longer answers."""

    def __init__(self) -> None:
        super().__init__("The server no longer answers. Turn it off and on again.")


@dataclass(frozen=True, slots=True)
class Off:
    """There is no server."""


@dataclass(frozen=True, slots=True)
class Starting:
    """The server is about to listen on `port` (0: any free one)."""

    port: int


@dataclass(frozen=True, slots=True)
class On:
    """The server answered a request of our own at `url` (`http://127.0.0.1:PORT`) a few seconds ago at most."""

    url: str
    port: int


@dataclass(frozen=True, slots=True)
class Failed:
    """There is no server on `port`, or none that answers; `str(error)` says why, in words for a person."""

    error: ServerError
    port: int


ServerState = Off | Starting | On | Failed
