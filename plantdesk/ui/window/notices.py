"""The bars about the state of the store, defects of PlantDesk, and new versions."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QLocale, QTime, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication
from typing_extensions import override

from plantdesk import __version__
from plantdesk.domain.errors import (
    NoStoreError,
    PlantDeskError,
    SignInNeededError,
    StoreDamagedError,
    StoreError,
    StoreGoneError,
    StoreMovedError,
    StoreOutdatedError,
    StoreReadOnlyError,
    StoreUnreachableError,
)
from plantdesk.platform import paths, unsaved_file, updates
from plantdesk.platform.logs import bug_report
from plantdesk.platform.updates import Release
from plantdesk.ui.feature import Feature, OpenStore, WindowContext
from plantdesk.ui.texts import error_text
from plantdesk.ui.widgets.messages import MessageAction, Tone

#: The most defects in a report; later ones are mostly consequences of the first ones.
_MAX_DEFECTS = 5
_HOUR_MS = 60 * 60 * 1000


class DefectNotice(Feature):
    """The bar that reports the first defects of this run of the program."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._bar = context.page.add_bar()
        self._defects: list[str] = []

    def show_defect(self, log_text: str) -> None:
        """Report a defect in the bar; `log_text` is its entry in the log, with tokens masked."""
        if len(self._defects) < _MAX_DEFECTS:
            self._defects.append(log_text)
        title = self.tr("Something unexpected happened in PlantDesk")
        text = self.tr(
            "PlantDesk keeps running, and what was saved is safe. A report helps to fix it: "
            "it contains no plants and no tokens, and is not sent by PlantDesk."
        )
        copy = partial(QGuiApplication.clipboard().setText, bug_report("\n\n".join(self._defects)))
        actions: list[MessageAction] = [(self.tr("Copy report"), copy)]
        if (folder := paths.path_or_none(paths.log_folder)) is not None:
            actions.append((self.tr("Open log folder"), partial(self.context.page.toast.open_file, folder)))
        self._bar.show_state(Tone.ERROR, title, text, *actions)


class StoreNotice(Feature):
    """The bar that reports the state of the store until the store works again. Each signal is a button of it."""

    try_again_requested = Signal()
    restore_requested = Signal()
    new_store_requested = Signal()
    update_requested = Signal()
    other_file_requested = Signal()
    address_requested = Signal()
    own_store_requested = Signal()

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._bar = context.page.add_bar()
        self._unreached_reason = ""  # the reason why the server is not reached, which the toast may show as well
        context.bridge.health_changed.connect(self._show_health)
        context.preferences.changed.connect(self._refresh_health)

    @override
    def set_store(self, opened: OpenStore) -> None:
        super().set_store(opened)
        self._show_rights()

    def _show_rights(self) -> None:
        """If plants can be added but not changed, show which right is missing; else clear the bar."""
        store = None if self.opened is None else self.opened.store
        reason = None if store is None or store.write_error is not None else store.change_error
        if reason is None:
            self._bar.clear()
        else:
            title = self.tr("You can add plants here, but not change them")
            self._show(title, error_text(reason), tone=Tone.INFO)

    @override
    def show_no_store(self, reason: PlantDeskError) -> None:
        actions = [self._make_restore_action()] if isinstance(reason, StoreDamagedError | StoreGoneError) else []
        if isinstance(reason, StoreGoneError | NoStoreError):
            actions.append((self.tr("Start without plants"), self.new_store_requested.emit))
        is_waiting = self.context.location.server is not None and reason.retry_after is not None
        retry_label = self.tr("Try now") if is_waiting else self.tr("Try again")
        actions.append((retry_label, self.try_again_requested.emit))
        if self.context.location.server is not None:
            self._show_no_server(self.context.location.server, reason, actions)
            return
        actions.append((self.tr("Choose another file…"), self.other_file_requested.emit))
        self._show(self.tr("Your plants could not be opened"), error_text(reason), *actions)

    def _show_no_server(self, server: str, reason: PlantDeskError, actions: list[MessageAction]) -> None:
        """Show why a shared store is not open, and what the user can do."""
        own_action = self.tr("My own plants"), self.own_store_requested.emit
        if isinstance(reason, SignInNeededError):
            sign_in = self.tr("Sign in…"), self.address_requested.emit
            title = self.tr("Sign in to the shared store")
            self._show(title, error_text(reason), sign_in, own_action, tone=Tone.WARNING)
            return
        actions += [(self.tr("Change the address…"), self.address_requested.emit), own_action]
        if reason.retry_after is None:
            self._show(self.tr("The shared store could not be opened"), error_text(reason), *actions)
            return
        title = self.tr("{server} does not answer").format(server=server)
        text = self.tr(
            "Nothing was lost and nothing is created in its place. PlantDesk goes on trying by itself; "
            "plants that you type wait on this computer."
        )
        self._show(title, text, *actions, tone=Tone.WARNING)

    def show_opening(self) -> None:
        """Hide the bar, as the store is being opened again."""
        self._bar.clear()

    @Slot(object)
    def _show_health(self, error: StoreError | None) -> None:
        """Show why the open store cannot save plants; None: it can."""
        previous_reason = self._unreached_reason
        self._unreached_reason = error_text(error) if isinstance(error, StoreUnreachableError) else ""
        if previous_reason != self._unreached_reason:
            self.context.page.toast.withdraw(previous_reason)
        if error is None:
            self._show_rights()
            return
        if self.context.location.server is not None and isinstance(error, StoreUnreachableError):
            self._show_lost_server(error)
            return
        if isinstance(error, StoreReadOnlyError) and error.is_lasting:
            title = self.tr("You can read this shared store, but not change it")
            update = (self.tr("Update…"), self.update_requested.emit)
            is_outdated = isinstance(error, StoreOutdatedError)
            self._show(title, error_text(error), *((update,) if is_outdated else ()), tone=Tone.INFO)
            return
        text = error_text(error)
        actions = []
        if isinstance(error, StoreDamagedError | StoreMovedError):
            actions = [self._make_restore_action()]
        if not isinstance(error, StoreDamagedError):
            text += " " + self.tr("PlantDesk continues by itself when it can.")
        text += " " + self._unsaved_text()
        self._show(self.tr("Plants cannot be saved"), text, *actions)

    @Slot()
    def _refresh_health(self) -> None:
        if self.opened is not None and self.opened.store.write_error is not None:
            self._show_health(self.opened.store.write_error)

    def _unsaved_text(self) -> str:
        if self.context.preferences.keeps_unsaved:
            text = self.tr("Plants that you add wait in the file “{file}”, also when this window is closed.")
            return text.format(file=unsaved_file.FILE_NAME)
        return self.tr("Plants that you add are in this window alone: do not close it.")

    def _show_lost_server(self, error: StoreError) -> None:
        """Show since when the server does not answer, or that it refuses the user."""
        if error.retry_after is None:
            actions = ((self.tr("Sign in again…"), self.address_requested.emit),)
            self._show(self.tr("The server lets this computer in no longer"), error_text(error), *actions)
            return
        now = QLocale().toString(QTime.currentTime(), QLocale.FormatType.ShortFormat)
        text = self.tr(
            "What is on the screen can be read and copied. New plants wait on this computer. "
            "Changing, deleting and searching wait for the server, which PlantDesk tries to reach every second."
        )
        if self._bar.isHidden() or self._bar.text != text:  # or the time would change
            title = self.tr("The server has not answered since {time}").format(time=now)
            other_action = self.tr("Other store…"), self.address_requested.emit
            own_action = self.tr("My own plants"), self.own_store_requested.emit
            self._show(title, text, other_action, own_action, tone=Tone.WARNING)

    def _show(self, title: str, text: str, *actions: MessageAction, tone: Tone = Tone.ERROR) -> None:
        """Show a state, unless it is shown already: its buttons would lose the focus."""
        if self._bar.isHidden() or (self._bar.title, self._bar.text) != (title, text):
            self._bar.show_state(tone, title, text, *actions, persistent=True)

    def _make_restore_action(self) -> MessageAction:
        return self.tr("Restore a backup…"), self.restore_requested.emit


class VersionNotice(Feature):
    """Offers the news after an update, and if the settings allow it, looks for newer versions once a day."""

    #: Show the page of news.
    news_requested = Signal()

    def __init__(self, context: WindowContext, address: str | None = None) -> None:
        """Ask `address`, by default that of the project's latest release, once a store was opened."""
        super().__init__(context)
        self._address = address or updates.LATEST_RELEASE_URL
        self._check_timer = QTimer(self, interval=_HOUR_MS)
        self._check_timer.timeout.connect(self._check_if_due)
        context.preferences.changed.connect(self._check_if_due)

    @override
    def set_up(self) -> None:
        """Offer the news now: a bar that appears later would move the rows."""
        preferences = self.context.preferences
        is_visible = self.context.page.window().isVisible()  # it is not for `plantdesk quick`
        if preferences.settings.seen_version == __version__ or not is_visible:
            return
        if not preferences.are_new and preferences.quarantined is None:
            title = self.tr("This is PlantDesk {version}").format(version=__version__)
            self._show(title, self.tr("Help > What is new has the changes as well."), self.news_requested.emit)
        preferences.change(seen_version=__version__)

    @override
    def set_store(self, opened: OpenStore) -> None:
        super().set_store(opened)
        self._check_timer.start()
        self._check_if_due()

    @Slot()
    def _check_if_due(self) -> None:
        preferences = self.context.preferences
        now = time.time()
        is_due = updates.is_due(preferences.settings.updates_asked_at, now)
        if self._check_timer.isActive() and preferences.settings.ask_for_updates and is_due:
            preferences.change(updates_asked_at=int(now))
            address = self._address
            self.context.bridge.long_tasks.run(self, lambda _task: updates.newer_release(address), self._on_answer)

    def _on_answer(self, release: Release | None) -> None:
        if release is not None:
            title = self.tr("PlantDesk {version} is available").format(version=release.version)
            text = self.tr("You have {version}. Nothing is installed by itself.").format(version=__version__)
            self._show(title, text, partial(QDesktopServices.openUrl, QUrl(release.page)))

    def _show(self, title: str, text: str, show_news: Callable[[], object]) -> None:
        self.context.page.add_bar().show_state(Tone.INFO, title, text, (self.tr("See what is new"), show_news))
