"""The tray icon and its notifications. The window may be hidden to it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QRect, QSize, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QIcon, QPainter, QWindow
from PySide6.QtWidgets import QMenu, QSystemTrayIcon
from typing_extensions import override

from plantdesk.domain.errors import (
    BackupFolderError,
    PlantDeskError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreMovedError,
    StoreReadOnlyError,
)
from plantdesk.domain.selections import Counts
from plantdesk.domain.server_state import Failed, NoOpenStoreError, Off, On, ServerState
from plantdesk.domain.texts import Text
from plantdesk.platform.window_requests import WindowRequest
from plantdesk.ui.api_control import ApiControl
from plantdesk.ui.feature import Feature, OpenStore, WindowContext
from plantdesk.ui.main_window import MainWindow
from plantdesk.ui.menus import Section
from plantdesk.ui.qt import app_icon, is_seen
from plantdesk.ui.texts import error_text, translated
from plantdesk.ui.widgets.dialog import MessageBox
from plantdesk.ui.widgets.plain_text import set_tray_tip, tray_text

#: Milliseconds between two checks for a tray while the window is hidden; at login it may start after PlantDesk.
_CHECK_INTERVAL_MS = 30_000
_ICON_SIZE = 64
_DOT_SIZE = 26
#: Errors that prevent saving plants until the user acts.
_ERRORS_NEEDING_ACTION = (StoreFullError, StoreReadOnlyError, StoreDamagedError, StoreMovedError)


class TrayFeature(Feature):
    """The tray icon, shown if the settings say so. It decides whether closing the window hides it instead."""

    #: (request) Show the window as a `WindowRequest` says.
    window_requested = Signal(object)

    def __init__(self, context: WindowContext, window: MainWindow, server: ApiControl) -> None:
        super().__init__(context)
        self._window = window
        self._server = server
        self._server_error = self._store_error = ""
        self._icon: QSystemTrayIcon | None = None
        self._is_started = self._has_tokens = False
        self._messages: dict[str, tuple[str, str]] = {}
        self._today_action = QAction(self)
        self._today_action.setEnabled(False)
        self._check_timer = QTimer(self, interval=_CHECK_INTERVAL_MS)
        self._check_timer.timeout.connect(self._check_tray)
        context.bridge.server_changed.connect(self._show_server)
        context.bridge.health_changed.connect(self._show_health)
        context.bridge.backup_changed.connect(self._show_backup)
        context.preferences.changed.connect(self._update_icon)

    def start(self) -> None:
        """Show the icon, and let closing hide the window from now on."""
        self._is_started = True
        self._window.hide_on_close = self._hide_on_close
        self._show_server(self._server.state)
        self._update_icon()
        if self._hides_on_close and not self._window.isVisible():
            self._check_timer.start()

    @Slot()
    def stop(self) -> None:
        """Ignore changes of settings from now on, as the window is closing."""
        self._is_started = False

    @override
    def set_store(self, opened: OpenStore) -> None:
        super().set_store(opened)
        self._show_health(None)

    @override
    def show_no_store(self, reason: PlantDeskError) -> None:
        self._store_error = error_text(reason)
        self._show_state()

    @override
    def release_store(self) -> None:
        super().release_store()
        self._check_timer.stop()
        self._messages.clear()
        if self._icon is not None:
            self._icon.hide()

    @Slot(bool)
    def show_tokens(self, has_tokens: bool) -> None:
        """Set whether there are tokens: only then closing asks whether to keep the API running."""
        self._has_tokens = has_tokens

    @property
    def _hides_on_close(self) -> bool:
        """Whether closing hides the window, as the user wants it; never for the file of another store."""
        location = self.context.location
        return self.context.preferences.settings.keep_in_tray and (location.is_own or location.server is not None)

    @Slot(object)
    def show_counts(self, counts: Counts) -> None:
        """Show how many plants were added today."""
        self._today_action.setText(translated(Text("{count:,} plants today", one="1 plant today", count=counts.today)))

    def _notify(self, name: str, title: str, error: PlantDeskError | None) -> None:
        """Show a notification about an error if the window is not visible; None withdraws the one with this name.

        The icon is shown at least until the window is visible. Without a tray, only a bar of the window reports it.
        """
        message = None if error is None else (tray_text(title), tray_text(error_text(error)))
        if message is None:
            if self._messages.pop(name, None) is not None:
                self._update_icon()
        elif self._can_show_messages and self._messages.get(name) != message and not is_seen(self._window):
            self._messages[name] = message
            self._update_icon()
            if self._icon is not None:
                self._icon.showMessage(*message, QSystemTrayIcon.MessageIcon.Warning)

    @property
    def _can_show_messages(self) -> bool:
        return self._is_started and QSystemTrayIcon.isSystemTrayAvailable()

    @Slot(QWindow.Visibility)
    def _on_visibility_changed(self, visibility: QWindow.Visibility) -> None:
        if self._messages and visibility not in {QWindow.Visibility.Hidden, QWindow.Visibility.Minimized}:
            self._messages.clear()
            self._update_icon()

    @Slot()
    def _show_window(self) -> None:
        self.window_requested.emit(WindowRequest())

    def _hide_on_close(self) -> bool:
        """Hide the window, or ask once whether to, if there is a tray; return False if it has to be closed."""
        is_answered = self.context.preferences.settings.tray_answered or not self.context.location.is_own
        if not QSystemTrayIcon.isSystemTrayAvailable():
            return False
        if self._hides_on_close:
            self._hide()
        elif not is_answered and self._has_tokens and not isinstance(self._server.state, Off):
            self._ask_to_keep_running()
        else:
            return False
        return True

    def _ask_to_keep_running(self) -> None:
        title = self.tr("Keep accepting plants in the background?")
        text = self.tr(
            "PlantDesk stays in the tray without its window. Quit in the menu of its icon ends it, and so does Ctrl+Q. "
            "The settings have this choice, too."
        )
        box = MessageBox(self.context.theme, "PlantDesk", title, text, self.context.page)
        box.set_icon("sprout", "accent")
        box.add_button(self.tr("&Quit")).clicked.connect(partial(self._on_answered, keep_running=False))
        box.add_button(self.tr("&Keep running")).clicked.connect(partial(self._on_answered, keep_running=True))
        box.open()

    def _on_answered(self, _checked: bool = False, *, keep_running: bool) -> None:  # noqa: FBT002  of `clicked`
        self.context.preferences.change(keep_in_tray=keep_running, tray_answered=True)
        self._window.close()

    def _hide(self) -> None:
        self._window.save_geometry()
        self._window.hide()
        self._check_timer.start()

    @Slot()
    def _check_tray(self) -> None:
        """Minimize the hidden window if there is no tray, as the user could not show it again."""
        if self._window.isVisible():
            self._check_timer.stop()
        elif not QSystemTrayIcon.isSystemTrayAvailable():
            self._window.showMinimized()

    @Slot()
    def _update_icon(self) -> None:
        """Show the icon while it is needed; minimize a hidden window if closing may not hide it any more."""
        if not self._is_started:
            return
        hides_on_close = self._hides_on_close
        is_shown = hides_on_close or bool(self._messages)
        if is_shown and self._icon is None:
            self._icon = self._make_icon()
            self._show_state()
        if self._icon is not None:
            self._icon.setVisible(is_shown)
        if not hides_on_close and not self._window.isVisible():
            self._window.showMinimized()

    def _make_icon(self) -> QSystemTrayIcon:
        icon = QSystemTrayIcon(self)
        menus = self.context.menus
        menu = QMenu(self.context.page)
        menu.addAction(self._today_action)
        menu.addSeparator()
        menu.addAction(self.tr("&Show PlantDesk"), partial(self.window_requested.emit, WindowRequest()))
        menu.addAction(self.tr("&Add a plant…"), partial(self.window_requested.emit, WindowRequest(quick=True)))
        menu.addSeparator()
        menu.addActions(menus.actions_of(Section.TOOLS_API)[:2])
        menu.addSeparator()
        menu.addAction(self.tr("Sett&ings…"), self._open_settings)
        menu.addAction(self.tr("&Quit"), self._window.quit)
        icon.setContextMenu(menu)
        icon.activated.connect(self._on_activated)
        icon.messageClicked.connect(self._show_window)
        window = self.context.page.window()
        window.winId()  # creates its handle if it was never shown
        window.windowHandle().visibilityChanged.connect(self._on_visibility_changed)
        return icon

    @Slot()
    def _open_settings(self) -> None:
        self.window_requested.emit(WindowRequest())
        (settings_action,) = self.context.menus.actions_of(Section.EDIT_SETTINGS)
        settings_action.trigger()

    @Slot(QSystemTrayIcon.ActivationReason)
    def _on_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason is QSystemTrayIcon.ActivationReason.Trigger:
            self._show_window()

    @Slot(object)
    def _show_server(self, state: ServerState) -> None:
        self._server_error = error_text(state.error) if isinstance(state, Failed) else ""
        self._show_state()
        if isinstance(state, Failed) and not isinstance(state.error, NoOpenStoreError):
            self._notify("api", self.tr("The API is off"), state.error)
        elif isinstance(state, On):
            self._notify("api", "", None)

    @Slot(object)
    def _show_health(self, error: StoreError | None) -> None:
        self._store_error = "" if error is None else error_text(error)
        self._show_state()
        if error is None or isinstance(error, _ERRORS_NEEDING_ACTION):
            self._notify("store", self.tr("Plants cannot be saved"), error)

    @Slot(object)
    def _show_backup(self, error: StoreError | None) -> None:
        if error is None or isinstance(error, BackupFolderError | StoreFullError):
            self._notify("backup", self.tr("Backups fail"), error)

    def _show_state(self) -> None:
        """Mark the icon while there is an error, and show the error as its tooltip."""
        if self._icon is not None:
            problem = self._store_error or self._server_error
            self._icon.setIcon(self._make_marked_icon() if problem else app_icon())
            set_tray_tip(self._icon, problem or "PlantDesk")

    def _make_marked_icon(self) -> QIcon:
        pixmap = app_icon().pixmap(QSize(_ICON_SIZE, _ICON_SIZE))
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(self.context.theme.colors.color("warning"))
        corner = round(pixmap.width() / pixmap.devicePixelRatio()) - _DOT_SIZE
        painter.drawEllipse(QRect(corner, corner, _DOT_SIZE - 2, _DOT_SIZE - 2))
        painter.end()
        return QIcon(pixmap)
