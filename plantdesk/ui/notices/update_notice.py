"""The bar that asks once whether to check for new versions, and reports them."""

from __future__ import annotations

import time
from functools import cached_property, partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, QUrl, Slot
from PySide6.QtGui import QDesktopServices

from plantdesk import __version__
from plantdesk.platform import updates
from plantdesk.ui.feature import Feature
from plantdesk.ui.menus import Section
from plantdesk.ui.qt import override
from plantdesk.ui.widgets.info_bar import BarKind

if TYPE_CHECKING:
    from plantdesk.platform.updates import Release
    from plantdesk.ui.feature import OpenStore, WindowContext
    from plantdesk.ui.widgets.info_bar import InfoBar

_HOUR = 60 * 60 * 1000


class UpdateNotice(Feature):
    """Checks, if its action is checked, once a day at most.

    The question whether to check is shown until it is answered, there or by the action.
    """

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._preferences = context.preferences
        self._address: str | None = None
        text = self.tr("&Check for new versions")
        self._action = context.menus.add_switch(Section.HELP_UPDATES, text, self._switch)
        self._action.setChecked(self._preferences.settings.ask_for_updates)
        self._clock = QTimer(self, interval=_HOUR)
        self._clock.timeout.connect(self._check_if_due)

    @override
    def set_store(self, opened: OpenStore) -> None:
        self.begin()

    def begin(self, address: str | None = None) -> None:
        """Check when it is time, from now on, at `address` (default: the project's)."""
        if self._address is None:
            self._address = address or updates.LATEST
            self._clock.start()
            self._check_if_due()
            settings = self._preferences.settings
            if not settings.updates_answered and not settings.ask_for_updates:
                self._show_question()

    @Slot(bool)
    def _switch(self, on: bool) -> None:
        self._preferences.change(ask_for_updates=on, updates_answered=True)
        self._action.setChecked(on)
        self._bar.hide()
        self._check_if_due()

    def _show_question(self) -> None:
        self._bar.show_state(
            BarKind.INFO,
            self.tr("Check for new versions of PlantDesk?"),
            self.tr("It asks GitHub, and installs nothing by itself. The Help menu changes the answer."),
            (self.tr("Yes, check once a day"), partial(self._switch, True)),
            (self.tr("No"), partial(self._switch, False)),
            lasting=True,
        )

    @Slot()
    def _check_if_due(self) -> None:
        settings, now, address = self._preferences.settings, time.time(), self._address
        if address is None or not settings.ask_for_updates or not updates.is_due(settings.updates_asked_at, now):
            return
        self._preferences.change(updates_asked_at=int(now))
        self.context.bridge.long_tasks.ask(self, lambda _task: updates.newer_release(address), self._on_answer)

    @cached_property
    def _bar(self) -> InfoBar:
        return self.context.page.add_bar()

    def _on_answer(self, release: Release | None) -> None:
        if release is None:
            return
        self._bar.show_state(
            BarKind.INFO,
            self.tr("PlantDesk {version} is available").format(version=release.version),
            self.tr("You have {version}. Nothing is installed by itself.").format(version=__version__),
            (self.tr("See what is new"), partial(QDesktopServices.openUrl, QUrl(release.page))),
        )
