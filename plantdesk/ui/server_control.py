"""What the window needs of the server, which it never imports: `desktop.py` hands one in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from plantdesk.server_state import ServerState


class ServerControl(Protocol):
    """Turns the API on and off. Changes of its state are signalled by `Bridge.server_changed`."""

    @property
    def state(self) -> ServerState:
        """What the server is doing now."""

    @property
    def port(self) -> int:
        """The port of the next start, and of the server that is on (0: any free one)."""

    def turn_on(self) -> None:
        """Begin to serve, without waiting; the API is on at the next start of the program as well."""

    def turn_off(self) -> None:
        """Stop to serve, without waiting; the API stays off at the next start of the program."""

    def set_port(self, port: int) -> None:
        """Serve on `port` from now on, if the API is wanted; kept for the next start of the program."""
