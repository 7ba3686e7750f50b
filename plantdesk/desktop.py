"""Root of the window program: puts store, server and window together, and closes them in the right order.

The window shows first; store and server, whose libraries take most of the start, come behind it on another thread.
Closing: nothing is told to the window any more, the server answers what is due, the store writes what waits.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication

from plantdesk import APP_ID, __version__, paths
from plantdesk.errors import PlantDeskError
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.main_window import MainWindow
from plantdesk.ui.preferences import Preferences
from plantdesk.ui.single_window import SingleWindow
from plantdesk.ui.theme import STYLE_ARGUMENTS, Theme, ThemeMode

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from plantdesk.api.server import Server
    from plantdesk.server_state import ServerState
    from plantdesk.store import Store
    from plantdesk.ui.workspace import Workspace


class Desktop(QObject):
    """One run of the window program with one store at a time. It is the window's `ServerControl`, too."""

    #: The window has been seen for the first time.
    window_shown = Signal()

    def __init__(self, app: QApplication, database: Path, port: int | None) -> None:
        super().__init__()
        self._app = app
        self._database = database.absolute()
        self._preferences = Preferences(paths.settings_file())
        self._port = self._preferences.settings.port if port is None else port
        settings = self._preferences.settings
        self._theme = Theme(app, ThemeMode(settings.theme), settings.text_scale)
        self._bridge = Bridge()
        self._single = SingleWindow(self._database, paths.data_folder())
        self._opening: Future[Store] | None = None
        self._store: Store | None = None
        self._server: Server | None = None
        self._unsubscribe: list[Callable[[], None]] = []
        self._window: MainWindow | None = None
        self._workspace: Workspace | None = None

    # --- what the window needs of the server ---

    @property
    def state(self) -> ServerState:
        """What the server is doing now."""
        from plantdesk.server_state import Off

        return Off() if self._server is None else self._server.state

    def turn_on(self, port: int | None = None) -> None:
        """Begin to serve, without waiting. A `port` given here is the port of the next start as well."""
        if port is not None:
            self._port = port
            self._preferences.change(port=port)
        self._preferences.change(api_enabled=True)
        self._start_server()

    def turn_off(self) -> None:
        """Stop to serve, without waiting; it stays off at the next start."""
        self._preferences.change(api_enabled=False)
        if self._server is not None:
            self._bridge.run(self._server.stop)

    # --- running ---

    @property
    def window(self) -> MainWindow | None:
        """The window, once it was shown."""
        return self._window

    @property
    def workspace(self) -> Workspace | None:
        """What is in the window, right after it was shown."""
        return self._workspace

    def start(self, *, background: bool = False) -> bool:
        """Show the window and open the store behind it; False when another window has the store, and was raised.

        In the `background` the window is minimised, and another is left as it is. Raises StuckWindowError.
        """
        if not self._single.take():
            if not background and not self._single.raise_other():
                raise StuckWindowError
            return False
        window = self._window = MainWindow(self._preferences)
        self._single.raise_wanted.connect(window.show_in_front)
        window.shown.connect(self._fill_window)
        if background:
            window.show_minimised()
        else:
            window.show()
        return True

    def tell_defect(self, what: str) -> None:
        """Let the window tell of a defect; any thread, also after the window is gone."""
        self._bridge.call(self._show_defect, what)

    def close(self) -> None:
        """Close everything, in order; returns when all that was acknowledged is in the file."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        if self._workspace is not None:
            self._workspace.release_store()
        if self._server is not None:
            self._server.stop()
        self._bridge.close()
        if self._opening is not None and not self._opening.cancelled() and self._opening.exception() is None:
            self._opening.result().close()
        self._single.release()

    @Slot()
    def _fill_window(self) -> None:
        """Put the form and all else into the window, now that there is a window to look at."""
        from plantdesk.ui import workspace

        self.window_shown.emit()
        _speak_a_language()
        if self._window is not None:
            filled = workspace.Workspace(
                self._theme, self._bridge, self._preferences, self, self._database, self._window
            )
            filled.file_chosen.connect(self._on_file_chosen)
            filled.try_again_wanted.connect(self._open_store)
            self._workspace = filled
            QTimer.singleShot(0, self._go_on)

    @Slot()
    def _go_on(self) -> None:
        """Do the rest of the start, now that there is a form to type into."""
        self._open_store()
        if self._workspace is not None:
            self._workspace.complete()
        self._single.listen()

    @Slot()
    def _open_store(self) -> None:
        path = self._database

        def open_store() -> Store:
            from plantdesk.store import Store

            return Store(path)

        self._opening = self._bridge.run(open_store)
        self._bridge.follow(self._opening, self._on_opened, self._on_not_opened)

    def _on_opened(self, store: Store) -> None:
        self._store = store
        self._unsubscribe.append(store.subscribe_health(self._bridge.tell_health))
        self._unsubscribe.append(store.subscribe(self._bridge.tell_changes))
        self._unsubscribe.append(self._begin_backups(store))
        if self._workspace is not None:
            self._workspace.set_store(store, named=store.path != paths.database_file())
        self._bridge.follow(self._bridge.run(self._made_server), self._on_server_made)

    def _on_not_opened(self, error: Exception) -> None:
        _enable_collector()
        if not isinstance(error, PlantDeskError):
            raise error
        if self._workspace is not None:
            self._workspace.show_no_store(self._database, error)

    def _show_defect(self, what: str) -> None:
        if self._workspace is not None:
            self._workspace.show_defect(what)

    def _begin_backups(self, store: Store) -> Callable[[], None]:
        """Back up by time from now on; returns the function that ends it."""
        from plantdesk.store import AutomaticBackups

        return AutomaticBackups(store.file).close

    def _made_server(self) -> Server:
        from plantdesk.api.server import Server

        if self._store is None:
            raise RuntimeError("a server needs a store")
        return Server(self._store, runtime_folder=paths.runtime_folder())

    def _on_server_made(self, server: Server) -> None:
        self._server = server
        self._unsubscribe.append(server.subscribe(self._bridge.tell_server_state))
        if self._preferences.settings.api_enabled:
            self._start_server()
        _enable_collector()

    def _start_server(self) -> None:
        server, port = self._server, self._port
        if server is not None:
            self._bridge.run(lambda: server.start(port))

    @Slot(str)
    def _on_file_chosen(self, name: str) -> None:
        """Open another file: in a fresh start of the place that only one window may have for it."""
        self._single.release()
        self._database = Path(name)
        self._single = SingleWindow(self._database, paths.data_folder())
        if self._single.take():
            self._single.listen()
            if self._window is not None:
                self._single.raise_wanted.connect(self._window.show_in_front)
            self._open_store()
        elif self._single.raise_other():
            self._app.quit()


class StuckWindowError(PlantDeskError):
    """Another process has the window of this store, but does not answer."""

    def __init__(self) -> None:
        super().__init__("PlantDesk is already open with these plants, but does not answer. End it, then try again.")


def run(database: Path, port: int | None, *, background: bool = False) -> int:
    """Open the window and return the exit code when it is closed; after `display.prepare`.

    Raises StuckWindowError, and FolderUnusableError where PlantDesk cannot keep its files.
    """
    os.umask(0o077)  # PlantDesk's own files name their mode; Qt's, such as the lock of the window, do not
    app = QApplication([*sys.argv[:1], *STYLE_ARGUMENTS])
    app.setApplicationName("PlantDesk")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName(APP_ID)  # without it Wayland shows no icon
    with ExitStack() as running:
        desktop = Desktop(app, database, port)
        desktop.window_shown.connect(partial(_look_after, app, desktop, running))
        if not desktop.start(background=background):
            return 0
        try:
            return app.exec()
        finally:
            desktop.close()


def _look_after(app: QApplication, desktop: Desktop, running: ExitStack) -> None:
    """Log, and end at a signal, from now on; what these import would only delay the first sight of the window."""
    from plantdesk import logs
    from plantdesk.ui.end_signals import quitting_on_signals

    running.enter_context(logs.writing_to(paths.log_folder() / "plantdesk.log"))
    running.enter_context(logs.telling(desktop.tell_defect))
    running.enter_context(quitting_on_signals(app))


def _speak_a_language() -> None:
    """Take English where the system names no language: C groups no digits and has no dates for people."""
    from PySide6.QtCore import QLocale

    if QLocale().language() is QLocale.Language.C:
        QLocale.setDefault(QLocale(QLocale.Language.English))


def _enable_collector() -> None:
    """Collect garbage from now on, but not among what the start has made: that would take 20 to 30 ms each time."""
    gc.collect()
    gc.freeze()
    gc.enable()
