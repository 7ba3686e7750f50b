"""Root of the window program: shows the window, then fills it with store and server, and shuts all down in order.

The window is painted first, by the few modules that are imported here; `Session` and its imports, most of the start,
follow. On shutdown the window gets no more signals, then the server answers accepted requests, then the store writes
waiting changes.
"""

from __future__ import annotations

import logging
import os
import sys
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Signal, Slot
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication
from typing_extensions import override

from plantdesk import APP_ID, URL_SCHEME, __version__
from plantdesk.domain.errors import PlantDeskError
from plantdesk.platform import paths
from plantdesk.platform.settings import ThemeMode
from plantdesk.platform.window_requests import WindowRequest
from plantdesk.store import remembered_location
from plantdesk.ui.main_window import MainWindow
from plantdesk.ui.preferences import Preferences
from plantdesk.ui.single_window import SingleWindow, StuckWindowError
from plantdesk.ui.theme.theme import Theme

if TYPE_CHECKING:
    from plantdesk.api.server import Server
    from plantdesk.domain.locations import StoreLocation
    from plantdesk.domain.protocols import ServedStore
    from plantdesk.ui.session import Session
    from plantdesk.ui.widgets.dialog import MessageBox
    from plantdesk.ui.workspace import Workspace

_log = logging.getLogger(__name__)

_DEFAULT_REQUEST = WindowRequest()


class Desktop(QObject):
    """One run of the window program: connects the window, the session with store and server, and the store's lock."""

    #: The window was painted for the first time.
    window_shown = Signal()

    def __init__(
        self, app: QApplication, location: StoreLocation, port: int | None, request: WindowRequest = _DEFAULT_REQUEST
    ) -> None:
        """Load settings and theme, but show nothing yet; `request` says what the user wants to see in the window."""
        super().__init__()
        self._app = app
        self._port = port
        self._request = request
        folder = paths.path_or_none(paths.data_folder)
        self.preferences = Preferences(paths.path_or_none(paths.settings_file))
        self._location = location = remembered_location(location, self.preferences.settings)
        settings = self.preferences.settings
        self._theme = Theme(app, ThemeMode(settings.theme), settings.text_scale)
        self._single_window = SingleWindow(location, folder)
        #: The window, once it was shown.
        self.window: MainWindow | None = None
        #: Store, server and content, from the first paint of the window on.
        self.session: Session | None = None

    @property
    def workspace(self) -> Workspace | None:
        """The content of the window, made right after it is shown."""
        return self.session.workspace if self.session is not None else None

    def start(self, *, background: bool = False) -> bool:
        """Show the window, whose store is opened after the first paint. Raises StuckWindowError.

        Returns False if another window has the store: that window is raised instead. In the `background` the window is
        minimised, or hidden in the tray, and another window is not raised.
        """
        if not self._single_window.try_lock():
            if not background and not self._single_window.raise_other(self._request):
                raise StuckWindowError(self._location)
            if not self._single_window.is_locked:
                return False
        window = self.window = MainWindow(self.preferences)
        window.shown.connect(partial(self._fill_window, window))
        if self._request.quick or (background and self.preferences.settings.keep_in_tray):
            window.start_hidden()  # if no tray appears, `TrayFeature` shows it minimised
        elif background:
            window.show_minimized()
        else:
            window.show_restored()
        return True

    def show_failure(self, error: PlantDeskError) -> MessageBox:
        """Show in a message box why the window does not open."""
        from plantdesk.ui.texts import error_text
        from plantdesk.ui.translation import use_language
        from plantdesk.ui.widgets.dialog import MessageBox

        use_language(self._app, self.preferences.settings.language)
        box = MessageBox(self._theme, self.tr("PlantDesk cannot be opened"), error_text(error), "")
        box.add_button(self.tr("Close"))
        box.open()
        return box

    @Slot()
    def prepare_quit(self) -> None:
        """Let closing the window end the program, instead of hiding it in the tray."""
        if self.window is not None:
            self.window.is_quitting = True

    @Slot(str)
    def open_plant_url(self, address: str) -> None:
        """Show the plant of an address, at once or when the window is there."""
        request = WindowRequest(address=address)
        if self.session is None or self.session.workspace is None:
            self._request = request
        else:
            self.session.handle_request(request)

    def report_defect(self, log_text: str) -> None:
        """Report a logged defect in the window. Any thread may call it, also after the window was closed."""
        if self.session is not None:
            self.session.show_defect(log_text)

    @Slot()
    def quit_unasked(self) -> None:
        """Close the window, without a question, and end the event loop."""
        if self.window is not None:
            self.window.close_unasked()
        self._app.quit()

    def close(self) -> None:
        """Close the server, then the store; return when all changes that were confirmed are in the store."""
        if self.session is not None:
            self.session.close()
        else:
            self._single_window.release()

    def _fill_window(self, window: MainWindow, *, create: bool = False) -> None:
        """Create a session with the store and show its content, after the first paint or for another store."""
        from plantdesk.ui.session import Session
        from plantdesk.ui.translation import use_language

        self.session = Session(window, self.preferences, self._location, self._single_window, self._port, _make_server)
        self.session.quit_requested.connect(self.quit_unasked)
        self.session.store_requested.connect(self._use_store)
        self.window_shown.emit()
        use_language(self._app, self.preferences.settings.language)
        request = self._request
        self._request = _DEFAULT_REQUEST
        self.session.fill_window(self._theme, create=create, is_quick=request.quick)
        if request.address or request.quick:
            self.session.handle_request(request)

    @Slot(object, bool)
    def _use_store(self, location: StoreLocation, create: bool) -> None:
        """Show another store in the window, or raise the window that shows it."""
        window = self.window
        session = self.session
        single_window = SingleWindow(location, paths.path_or_none(paths.data_folder))
        is_same_store = single_window.key == self._single_window.key
        if window is None or session is None or not session.may_close_store():
            return
        if not is_same_store and not self._lock_or_raise_other(single_window):
            return
        session.close()
        session.deleteLater()
        window.clear()
        if is_same_store:
            single_window.try_lock()
        self._location = location
        self._single_window = single_window
        _remember_store(location, self.preferences)
        self._fill_window(window, create=create)

    def _lock_or_raise_other(self, single_window: SingleWindow) -> bool:
        """Lock another store. If another window has it, raise that window and keep this one as it is."""
        if single_window.try_lock():
            return True
        single_window.raise_other()
        return single_window.is_locked


class DesktopApplication(QApplication):
    """The application object of Qt: turns two of its events into signals."""

    #: (url) macOS opens the URL of a plant; the program may be starting.
    plant_url_opened = Signal(str)
    #: The program is to end, as by the menu of the Dock; it closes its windows first.
    ending = Signal()

    @override
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QFileOpenEvent) and (address := event.url().toString()).startswith(URL_SCHEME):
            self.plant_url_opened.emit(address)
            return True
        if event.type() is QEvent.Type.Quit:
            self.ending.emit()
        return super().event(event)


def run(location: StoreLocation, port: int | None, request: WindowRequest, *, background: bool = False) -> int:
    """Open the window; return the exit code when it is closed. Call `display.check_display` before.

    Raises StuckWindowError.
    """
    os.umask(0o077)  # PlantDesk's own files name their mode; Qt's, such as the lock of the window, do not
    app = DesktopApplication(sys.argv[:1])
    app.setApplicationName("PlantDesk")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName(APP_ID)  # without it Wayland shows no icon
    with ExitStack() as stack:
        desktop = Desktop(app, location, port, request)
        app.plant_url_opened.connect(desktop.open_plant_url)
        app.ending.connect(desktop.prepare_quit)
        desktop.window_shown.connect(partial(_start_logging, desktop, stack))
        try:
            if not desktop.start(background=background):
                return 0
        except StuckWindowError as error:
            box = desktop.show_failure(error)  # a program started from a menu has no standard error to read
            box.finished.connect(app.quit)
            app.exec()
            raise
        try:
            return app.exec()
        finally:
            desktop.close()


def _remember_store(location: StoreLocation, preferences: Preferences) -> None:
    """Save in the settings that the next start opens this store, if it is the default or a shared store."""
    if location.is_own or location.server is not None:
        preferences.change(opens_shared_store=not location.is_own)
    if location.server is not None:
        from plantdesk.store import PostgresLocation

        preferences.change(shared_store=location.url)
        if isinstance(location, PostgresLocation):
            preferences.change_store(location.key, user=location.user)


def _start_logging(desktop: Desktop, stack: ExitStack) -> None:
    """Log, and quit on signals, from now on; these imports would delay the first paint of the window."""
    from plantdesk.platform import logs
    from plantdesk.ui.event_loop import quit_on_signals

    folder = paths.path_or_none(paths.log_folder)
    if folder is not None:
        stack.enter_context(logs.log_to(folder / "plantdesk.log"))
    stack.enter_context(logs.report_defects_to(desktop.report_defect))
    stack.enter_context(quit_on_signals(desktop.quit_unasked))


def _make_server(store: ServedStore, location: StoreLocation) -> Server:
    from plantdesk.api.server import Server

    return Server(store, location, paths.runtime_folder())
