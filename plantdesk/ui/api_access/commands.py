"""The commands about the API, of the menus, the status line and the notice, and the display of its state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QGuiApplication

from plantdesk.server_state import On
from plantdesk.ui.store_queries import next_free_id

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from plantdesk.server_state import ServerState
    from plantdesk.store import Store
    from plantdesk.ui.api_access.dialog import ApiDialog
    from plantdesk.ui.api_access.server_control import ServerControl
    from plantdesk.ui.api_access.server_notice import ServerNotice
    from plantdesk.ui.bridge import Bridge
    from plantdesk.ui.menus import Menus
    from plantdesk.ui.status_line import StatusLine
    from plantdesk.ui.store_queries import StoreQueries
    from plantdesk.ui.theme.theme import Theme


class ApiCommands(QObject):
    """A command that needs the store, given before the store is open, is carried out as soon as it is."""

    def __init__(  # noqa: PLR0913, PLR0917  the parts of the window that know of the API
        self,
        theme: Theme,
        bridge: Bridge,
        server: ServerControl,
        menus: Menus,
        status: StatusLine,
        notice: ServerNotice,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._theme = theme
        self._bridge = bridge
        self._server = server
        self._menus = menus
        self._status = status
        self._notice = notice
        self._window = window
        self._open: tuple[Store, StoreQueries] | None = None
        self._dialog_awaited = False
        bridge.server_changed.connect(self._show_server)
        notice.port_wanted.connect(self._choose_port)
        status.turn_on_wanted.connect(server.turn_on)
        status.token_wanted.connect(self.open_dialog)
        menus.api_access_wanted.connect(self.open_dialog)
        menus.api_switched.connect(self._switch)
        menus.copy_address_wanted.connect(status.copy_address)
        menus.copy_example_wanted.connect(self._copy_example)

    def show_state(self) -> None:
        """Show what the server is doing now."""
        self._show_server(self._server.state)

    def set_store(self, store: Store, queries: StoreQueries) -> None:
        """Work with the tokens of `store`."""
        self._open = store, queries
        if self._dialog_awaited:
            self.open_dialog()

    def forget_commands(self) -> None:
        """Carry out nothing later: the store cannot be opened."""
        self._dialog_awaited = False

    @Slot()
    def open_dialog(self) -> ApiDialog | None:
        """Open the dialog of tokens, port and examples; before the store is open, as soon as it is."""
        self._dialog_awaited = self._open is None
        if self._open is None:
            return None
        from plantdesk.ui.api_access.dialog import ApiDialog

        dialog = ApiDialog(self._theme, self._bridge, *self._open, self._server, self._window)
        dialog.open()
        return dialog

    @Slot()
    def _choose_port(self) -> None:
        dialog = self.open_dialog()
        if dialog is not None:
            dialog.focus_port()

    @Slot(object)
    def _show_server(self, state: ServerState) -> None:
        self._status.show_server(state)
        self._notice.show_server(state)
        self._menus.show_server(on=isinstance(state, On))

    @Slot(bool)
    def _switch(self, on: bool) -> None:  # noqa: FBT001  Qt's signal
        if on:
            self._server.turn_on()
        else:
            self._server.turn_off()
        self.show_state()  # Qt has ticked the command already, whatever came of it

    @Slot()
    def _copy_example(self) -> None:
        if self._open is not None:
            _, queries = self._open
            queries.ask(self, next_free_id, self._copy_example_for)

    def _copy_example_for(self, plant_id: int) -> None:
        from plantdesk.ui.api_access.snippets import Language, snippet

        state = self._server.state
        address = state.url if isinstance(state, On) else f"http://127.0.0.1:{self._server.port}"
        QGuiApplication.clipboard().setText(snippet(Language.CURL, address, plant_id))
