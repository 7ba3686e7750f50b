"""Stands in for the control of the API, which tests of the whole program have: records what is asked of it."""

from collections.abc import Callable

from plantdesk.domain.activity import Activity
from plantdesk.domain.server_state import Off, On, PortInUseError, ServerState, Starting
from plantdesk.ui.bridge import Bridge


class ApiSwitch:
    """An API that is on at first, or as `state` says, and that nobody else turns on."""

    def __init__(self, bridge: Bridge, state: ServerState | None = None) -> None:
        self.state = state or On("http://127.0.0.1:8721", 8721)
        self.port = 8721
        self.activity = Activity()
        #: The ports that it was started on.
        self.asked: list[int] = []
        #: Ports of other programs.
        self.taken: set[int] = set()
        self._bridge = bridge

    def set_on(self, *, is_on: bool) -> None:
        if is_on:
            self.turn_on()
        else:
            self.turn_off()

    def turn_on(self) -> None:
        self.asked.append(self.port)
        self.show(Starting(self.port))

    def turn_off(self) -> None:
        self.show(Off())

    def set_port(self, port: int, refused: Callable[[Exception], object] | None = None) -> None:
        if port in self.taken and refused is not None:
            refused(PortInUseError(port, port + 1))
            return
        self.port = port
        if not isinstance(self.state, Off):
            self.turn_on()

    def show(self, state: ServerState) -> None:
        self.state = state
        self._bridge.server_changed.emit(state)
