"""Desktop notifications: only of what the user must act on, and only while the window is not seen."""

from __future__ import annotations

import sys
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from typing_extensions import override

from plantdesk.domain.errors import (
    BackupFolderError,
    StoreDamagedError,
    StoreFullError,
    StoreMovedError,
    StoreReadOnlyError,
)
from plantdesk.domain.server_state import Failed, NoOpenStoreError, On
from plantdesk.ui.feature import Feature
from plantdesk.ui.qt import bring_to_front, is_seen
from plantdesk.ui.texts import error_text

if TYPE_CHECKING:
    from plantdesk.domain.errors import PlantDeskError, StoreError
    from plantdesk.domain.server_state import ServerState
    from plantdesk.ui.feature import WindowContext
    from plantdesk.ui.window.portal_notifications import PortalNotifications
    from plantdesk.ui.window.tray import Tray

#: What keeps plants from being saved until the user does something.
_TO_ACT_ON = (StoreFullError, StoreReadOnlyError, StoreDamagedError, StoreMovedError)


class Notifications(Feature):
    """Shows what the bars of the window show. One is removed when its cause is, or the store is closed.

    Where there is no portal, as on Windows and macOS, the icon in the tray shows them.
    """

    def __init__(self, context: WindowContext, tray: Tray) -> None:
        super().__init__(context)
        self._tray = tray
        self._shown: dict[str, tuple[str, str]] = {}
        context.bridge.server_changed.connect(self._on_server)
        context.bridge.health_changed.connect(self._on_health)
        context.bridge.backup_changed.connect(self._on_backup)

    @override
    def release_store(self) -> None:
        for name in list(self._shown):
            self._remove(name)

    @cached_property
    def portal(self) -> PortalNotifications | None:
        """The notifications of the desktop portal; None where there are no portals."""
        portal: PortalNotifications | None = None
        if sys.platform == "linux":
            from plantdesk.ui.window.portal_notifications import PortalNotifications

            portal = PortalNotifications(self)
            portal.clicked.connect(self.show_window)
            portal.failed.connect(self.show_by_tray)
        return portal

    @Slot(object)
    def _on_server(self, state: ServerState) -> None:
        if isinstance(state, Failed) and not isinstance(state.error, NoOpenStoreError):
            self._show("api", self.tr("The API is off"), state.error)
        elif isinstance(state, On):
            self._remove("api")

    @Slot(object)
    def _on_health(self, error: StoreError | None) -> None:
        if isinstance(error, _TO_ACT_ON):
            self._show("store", self.tr("Plants cannot be saved"), error)
        elif error is None:
            self._remove("store")

    @Slot(object)
    def _on_backup(self, error: StoreError | None) -> None:
        if error is None:
            self._remove("backup")
        elif isinstance(error, (BackupFolderError, StoreFullError)):
            self._show("backup", self.tr("Backups fail"), error)

    def _show(self, name: str, title: str, error: PlantDeskError) -> None:
        shown = title, error_text(error)
        if self._shown.get(name) == shown or is_seen(self.context.page):
            return
        self._shown[name] = shown
        if self.portal is None:
            self.show_by_tray(name)
        else:
            self.portal.show(name, *shown)

    @Slot(str)
    def show_by_tray(self, name: str) -> None:
        """Show a notification that no portal shows, if its cause is still there."""
        if name in self._shown:
            self._tray.show_message(name, *self._shown[name])

    def _remove(self, name: str) -> None:
        if self._shown.pop(name, None) is not None:
            self._tray.remove_message(name)
            if self.portal is not None:
                self.portal.remove(name)

    @Slot()
    def show_window(self) -> None:
        """Bring the window to the front."""
        bring_to_front(self.context.page.window())
