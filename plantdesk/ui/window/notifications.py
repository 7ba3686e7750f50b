"""Desktop notifications: only of what the user must act on, and only while the window is not seen."""

from __future__ import annotations

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
from plantdesk.ui.qt import is_seen
from plantdesk.ui.texts import error_text

if TYPE_CHECKING:
    from plantdesk.domain.errors import PlantDeskError, StoreError
    from plantdesk.domain.server_state import ServerState
    from plantdesk.ui.feature import WindowContext
    from plantdesk.ui.window.tray import Tray

#: What keeps plants from being saved until the user does something.
_TO_ACT_ON = (StoreFullError, StoreReadOnlyError, StoreDamagedError, StoreMovedError)


class Notifications(Feature):
    """Shows what the bars of the window show beside the icon in the tray, until its cause is gone."""

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
        if self._shown.get(name) != shown and not is_seen(self.context.page):
            self._shown[name] = shown
            self._tray.show_message(name, *shown)

    def _remove(self, name: str) -> None:
        if self._shown.pop(name, None) is not None:
            self._tray.remove_message(name)
