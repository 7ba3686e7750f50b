"""The API feature of the window: commands, part of the status bar, dialog, and the bar about a port in use."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from shiboken6 import isValid
from typing_extensions import override

from plantdesk.domain.edits import Applied
from plantdesk.domain.records import Changes, TokenRow
from plantdesk.domain.server_state import Failed, On, PortOfPlantDeskError, PortTakenError, ServerState
from plantdesk.domain.texts import Text
from plantdesk.ui.api_access.status import ApiStatus
from plantdesk.ui.api_control import ApiControl
from plantdesk.ui.background import ignore
from plantdesk.ui.feature import Feature, OpenStore, WindowContext
from plantdesk.ui.menus import Section
from plantdesk.ui.page import PagePart
from plantdesk.ui.qt import bring_to_front, close_window
from plantdesk.ui.texts import one_line, quoted, translated
from plantdesk.ui.widgets.messages import Tone

if TYPE_CHECKING:
    from plantdesk.ui.api_access.dialog import ApiDialog


#: Characters of the name of a database. A longer name is cut at its start.
_MAX_DATABASE_LENGTH = 50


class ApiAccessFeature(Feature):
    """The commands, the part of the status bar and the dialog of the API, and the bar about a port in use."""

    #: (plant) Put id, name and tag of a refused plant into the form.
    plant_requested = Signal(object)
    #: The user wants to choose another port.
    port_requested = Signal()
    #: (has_tokens) The tokens were read.
    tokens_listed = Signal(bool)

    def __init__(self, context: WindowContext, server: ApiControl) -> None:
        super().__init__(context)
        self._server = server
        self._has_tokens = False
        self._state = server.state
        self._dialog: ApiDialog | None = None
        self._status = ApiStatus(context.theme)
        self._port_bar = context.page.add_bar()
        context.status_bar.addWidget(self._status, 1)
        self._add_commands()
        self._status.turn_on_requested.connect(server.turn_on)
        self._status.access_requested.connect(self.open_dialog)
        self._status.activity_requested.connect(self.show_activity)
        context.bridge.server_changed.connect(self._show_server)
        self._status.show_server(server.state)
        context.bridge.changed.connect(self._on_changed)

    @override
    def set_up(self) -> None:
        self.context.page.add_part(PagePart.STATUS, self._status, self._status.focus_first)
        self._show_server(self._server.state)

    @override
    def set_store(self, opened: OpenStore) -> None:
        super().set_store(opened)
        self._list_tokens()

    @override
    def release_store(self) -> None:
        close_window(self._dialog)
        self._dialog = None
        super().release_store()

    def set_reachable(self, *, is_reachable: bool, reason: str) -> None:
        """Show whether the API can save plants now; not while the database server is silent."""
        self._status.show_reachable(is_reachable=is_reachable, reason=reason)

    @override
    def handle_escape(self) -> bool:
        was_open = not self._port_bar.isHidden()
        self._port_bar.clear()
        return was_open

    @Slot()
    def open_dialog(self) -> ApiDialog | None:
        """Open the API dialog or raise it, and return it; None if no store is open."""
        if self.opened is None:
            return None
        from plantdesk.ui.api_access.dialog import ApiDialog

        if self._dialog is None or not isValid(self._dialog):
            context = self.context
            self._dialog = ApiDialog(context.theme, context.bridge, *self.opened, self._server, context.page)
            self._dialog.plant_requested.connect(self.plant_requested)
            self._dialog.plants_removed.connect(self._on_plants_removed)
        bring_to_front(self._dialog)  # it is not modal
        return self._dialog

    @Slot()
    def show_activity(self) -> None:
        """Open the API dialog, and show its list of the last requests."""
        dialog = self.open_dialog()
        if dialog is not None:
            dialog.show_activity()

    @Slot(object)
    def _on_plants_removed(self, applied: Applied) -> None:
        if applied.change is not None:
            text = Text("Deleted {count:,} plants.", one="Deleted 1 plant.", count=applied.change.plants)
            self.context.report_change(applied.change, translated(text))

    def _add_commands(self) -> None:
        menus = self.context.menus
        words = self.tr("token program script port")
        menus.add(Section.FILE_API, self.tr("&API access…"), self.open_dialog, "Ctrl+Shift+A", words=words)
        self._switch_action = menus.add_switch(Section.TOOLS_API, self.tr("&API on"), self._switch)
        text = self.tr("Copy API a&ddress")
        self._address_action = menus.add(Section.TOOLS_API, text, self._status.copy_address, in_menu=False)

    @Slot(object)
    def _show_server(self, state: ServerState) -> None:
        self._state = state
        self._status.show_server(state)
        self._show_taken_port(state)
        is_on = isinstance(state, On)
        self._switch_action.setChecked(is_on)
        self._address_action.setEnabled(is_on)

    def _show_taken_port(self, state: ServerState) -> None:
        """Show a bar if programs have tokens and the port is taken; the status bar shows all other errors."""
        if not self._has_tokens or not isinstance(state, Failed) or not isinstance(state.error, PortTakenError):
            self._port_bar.clear()
            return
        free_port = state.error.free_port
        use_free = self.tr("Use port {port}").format(port=free_port), partial(self._server.set_port, free_port or 0)
        title = self.tr("API is off: port {port} is in use").format(port=state.port)
        actions = [] if free_port is None else [use_free]
        choose_other = self.tr("Choose…"), self.port_requested.emit
        self._port_bar.show_state(Tone.WARNING, title, self._port_text(state.error), *actions, choose_other)

    def _port_text(self, error: PortTakenError) -> str:
        """Return why the port is taken, and what that means for plants."""
        if not isinstance(error, PortOfPlantDeskError):
            return self.tr(
                "Another program is using this port, which is tried again by itself. Plants can still be added here."
            )
        if error.is_same:
            return self.tr(
                "Another PlantDesk with these plants uses this port: what programs send there is added here."
            )
        database = one_line(error.database)
        database = database if len(database) <= _MAX_DATABASE_LENGTH else f"…{database[1 - _MAX_DATABASE_LENGTH :]}"
        text = self.tr(
            "Another PlantDesk, with {database}, uses this port: what programs send there is added to its plants. "
            "For these plants, use another port, or quit the other PlantDesk."
        )
        return text.format(database=quoted(database))

    @Slot(bool)
    def _switch(self, is_on: bool) -> None:
        self._server.set_on(is_on=is_on)
        self._show_server(self._server.state)  # Qt has toggled the command, also if that fails

    @Slot(object)
    def _on_changed(self, changes: Changes) -> None:
        self._status.show_changes(changes)
        if changes.tokens_changed:
            self._list_tokens()

    def _list_tokens(self) -> None:
        if self.opened is not None:
            tokens = self.opened.store.tokens
            self.context.bridge.short_tasks.run(self, lambda _task: tokens.list(), self._on_listed, ignore)

    def _on_listed(self, rows: list[TokenRow]) -> None:
        if bool(rows) is not self._has_tokens:
            self._has_tokens = bool(rows)
            self._show_server(self._state)
        self._status.show_tokens(has_tokens=bool(rows))
        self.tokens_listed.emit(bool(rows))
