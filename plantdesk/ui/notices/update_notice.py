"""The bar that asks once whether to look for new versions, and the one that reports them."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, QUrl, Slot
from PySide6.QtGui import QDesktopServices

from plantdesk import __version__, updates
from plantdesk.ui.widgets.info_bar import BarKind, InfoBar

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QAction

    from plantdesk.ui.bridge import Bridge
    from plantdesk.ui.preferences import Preferences
    from plantdesk.updates import Release

_HOUR = 60 * 60 * 1000


class UpdateNotice(QObject):
    """Checks, if its action is ticked, once a day at most; never replaces another message in the bar.

    The question whether to check is in a bar of its own until it is answered, there or by the action.
    """

    def __init__(
        self,
        action: QAction,
        bar: InfoBar,
        make_bar: Callable[[], InfoBar],
        bridge: Bridge,
        preferences: Preferences,
        parent: QObject | None = None,
    ) -> None:
        """Report in `bar`; `make_bar` makes that of the question."""
        super().__init__(parent)
        self._make_bar = make_bar
        self._question: InfoBar | None = None
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
            settings = self._preferences.settings
            if not settings.updates_answered and not settings.ask_for_updates:
                self._show_question()

    @property
    def has_news(self) -> bool:
        """Whether there is a newer version that could not be shown yet."""
        return self._found is not None

    @Slot(bool)
    def _switch(self, on: bool) -> None:  # noqa: FBT001  Qt's signal
        self._preferences.change(ask_for_updates=on, updates_answered=True)
        self._action.setChecked(on)
        if self._question is not None:
            self._question.hide()
        self._ask_if_due()

    def _show_question(self) -> None:
        self._question = self._make_bar()
        self._question.show_state(
            BarKind.INFO,
            self.tr("Look for new versions of PlantDesk?"),
            self.tr("It asks GitHub, and installs nothing by itself. The Help menu changes the answer."),
            (self.tr("Yes, look once a day"), partial(self._switch, True)),
            (self.tr("No"), partial(self._switch, False)),
            lasting=True,
        )

    @Slot()
    def _ask_if_due(self) -> None:
        self._show()
        settings, now, address = self._preferences.settings, time.time(), self._address
        if address is None or not settings.ask_for_updates or not updates.is_due(settings.updates_asked_at, now):
            return
        self._preferences.change(updates_asked_at=int(now))
        self._bridge.long_tasks.ask(self, lambda _task: updates.newer_release(address), self._on_answer)

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
