"""Desktop notifications: only of what the user must act on, and only while the window is not seen."""

from __future__ import annotations

import sys
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot

from plantdesk.domain.errors import (
    BackupFolderError,
    StoreDamagedError,
    StoreFullError,
    StoreMovedError,
    StoreReadOnlyError,
)
from plantdesk.domain.server_state import Failed, NoOpenStoreError, On
from plantdesk.ui.feature import Feature
from plantdesk.ui.qt import bring_to_front, is_seen, override
from plantdesk.ui.texts import error_text

if TYPE_CHECKING:
    from plantdesk.domain.errors import PlantDeskError, StoreError
    from plantdesk.domain.server_state import ServerState
    from plantdesk.ui.feature import WindowContext
    from plantdesk.ui.window.portal_notifications import PortalNotifications

#: What keeps plants from being saved until the user does something.
_TO_ACT_ON = (StoreFullError, StoreReadOnlyError, StoreDamagedError, StoreMovedError)


class Notifications(Feature):
    """Shows what the bars of the window show. One is removed when its cause is, or the store is closed.

    On Windows and macOS there are none: the window says so when it is seen again.
    """

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._shown: dict[str, str] = {}
        context.bridge.server_changed.connect(self._on_server)
        context.bridge.health_changed.connect(self._on_health)
        context.bridge.backup_changed.connect(self._on_backup)

    @override
    def release_store(self) -> None:
        for name in list(self._shown):
            self._remove(name)

    @cached_property
    def portal(self) -> PortalNotifications | None:
        """The notifications of the desktop; None where there are none."""
        portal: PortalNotifications | None = None
        if sys.platform == "linux":
            from plantdesk.ui.window.portal_notifications import PortalNotifications

            portal = PortalNotifications(self)
            portal.clicked.connect(self.show_window)
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
        text = error_text(error)
        if self._shown.get(name) != text and not is_seen(self.context.page) and self.portal is not None:
            self._shown[name] = text
            self.portal.show(name, title, text)

    def _remove(self, name: str) -> None:
        if self._shown.pop(name, None) is not None and self.portal is not None:
            self.portal.remove(name)

    @Slot()
    def show_window(self) -> None:
        """Bring the window to the front."""
        bring_to_front(self.context.page.window())
