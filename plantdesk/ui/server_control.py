"""What the window needs of the server, which it never imports: `desktop.py` hands one in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from plantdesk.server_state import ServerState


class ServerControl(Protocol):
    """Turns the API on and off. News of its state come by `Bridge.server_changed`."""

    @property
    def state(self) -> ServerState:
        """What the server is doing now."""

    def turn_on(self, port: int | None = None) -> None:
        """Begin to serve, without waiting; a `port` given here is kept for the next start of the program."""

    def turn_off(self) -> None:
        """Stop to serve, without waiting; it stays off at the next start of the program."""
