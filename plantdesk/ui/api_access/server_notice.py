"""The bar that reports that the port of the API is taken, which the user can change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from plantdesk.domain.server_state import Failed, PortTakenError
from plantdesk.ui.widgets.messages import BarKind, InfoBar

if TYPE_CHECKING:
    from plantdesk.domain.server_state import ServerState
    from plantdesk.ui.api_access.server_control import ServerControl
    from plantdesk.ui.widgets.buttons import MessageAction


class ServerNotice(QObject):
    """Shows itself in the window's bar, and hides only what it has shown there."""

    port_requested = Signal()

    def __init__(self, bar: InfoBar, server: ServerControl, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bar = bar
        self._server = server
        self._shown = False

    def dismiss(self) -> bool:
        """Hide the notice; False when there was none."""
        there = self._shown and not self._bar.isHidden()
        if there:
            self._bar.hide()
        self._shown = False
        return there

    @Slot(object)
    def show_server(self, state: ServerState) -> None:
        """Report a taken port; other faults are in the status line, with “Try again”."""
        if not isinstance(state, Failed) or not isinstance(state.error, PortTakenError):
            self.dismiss()
            return
        actions = [] if state.error.free_port is None else [self._way_to(state.error.free_port)]
        self._bar.show_state(
            BarKind.WARNING,
            self.tr("API is off: port {port} is in use").format(port=state.port),
            self.tr("Another program is using this port. Plants can still be added here."),
            *actions,
            (self.tr("Choose…"), self.port_requested.emit),
        )
        self._shown = True

    def _way_to(self, port: int) -> MessageAction:
        def use_port() -> None:
            self._server.set_port(port)

        return self.tr("Use port {port}").format(port=port), use_port
