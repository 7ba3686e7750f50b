"""The bar that reports a newer PlantDesk, if the user has asked for that."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, QUrl, Slot
from PySide6.QtGui import QDesktopServices

from plantdesk import __version__, updates
from plantdesk.ui.info_bar import BarKind, InfoBar

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

    from plantdesk.ui.bridge import Bridge
    from plantdesk.ui.preferences import Preferences
    from plantdesk.updates import Release

_HOUR = 60 * 60 * 1000


class UpdateNotice(QObject):
    """Asks, if its action is ticked, once a day at most; never replaces another message in the bar."""

    def __init__(
        self, action: QAction, bar: InfoBar, bridge: Bridge, preferences: Preferences, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._action = action
        self._bar = bar
        self._bridge = bridge
        self._preferences = preferences
        self._address: str | None = None
        self._found: Release | None = None
        action.setChecked(preferences.settings.ask_for_updates)
        action.triggered.connect(self._switch)
        self._clock = QTimer(self, interval=_HOUR)
        self._clock.timeout.connect(self._ask_if_due)

    def begin(self, address: str | None = None) -> None:
        """Ask when it is time, from now on. Without `address`, the project."""
        if self._address is None:
            self._address = address or updates.LATEST
            self._clock.start()
            self._ask_if_due()

    @property
    def has_news(self) -> bool:
        """Whether there is a newer version that could not be shown yet."""
        return self._found is not None

    @Slot(bool)
    def _switch(self, on: bool) -> None:  # noqa: FBT001  Qt's signal
        self._preferences.change(ask_for_updates=on)
        self._ask_if_due()

    @Slot()
    def _ask_if_due(self) -> None:
        self._show()
        settings, now, address = self._preferences.settings, time.time(), self._address
        if address is None or not settings.ask_for_updates or not updates.is_due(settings.updates_asked_at, now):
            return
        self._preferences.change(updates_asked_at=int(now))
        self._bridge.ask_long(self, lambda: updates.newer_release(address), self._on_answer)

    def _on_answer(self, release: Release | None) -> None:
        self._found = release
        self._show()

    def _show(self) -> None:
        """Show the version once; if the bar is in use, the next check may find it free."""
        release = self._found
        if release is None or not self._bar.isHidden():
            return
        self._found = None
        self._bar.show_state(
            BarKind.INFO,
            self.tr("PlantDesk {version} is out").format(version=release.version),
            self.tr("You have {version}. Nothing is installed by itself.").format(version=__version__),
            (self.tr("See what is new"), partial(QDesktopServices.openUrl, QUrl(release.page))),
        )
