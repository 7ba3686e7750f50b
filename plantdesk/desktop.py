"""Root of the window program: builds store, server and window, and shuts them down in order.

The window shows first; store and server, whose libraries take most of the start, are loaded behind it on other threads.
On shutdown the window gets no more signals, then the server answers what it accepted, then the store writes what waits.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication

from plantdesk import APP_ID, __version__, paths, qt_options
from plantdesk.errors import PlantDeskError
from plantdesk.ui.api_access.server_control import ApiControl
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.garbage_collector import GarbageCollector
from plantdesk.ui.main_window import MainWindow
from plantdesk.ui.platform.single_window import SingleWindow
from plantdesk.ui.preferences import Preferences
from plantdesk.ui.store_opener import StoreOpener, StoreState
from plantdesk.ui.theme.theme import STYLE_ARGUMENTS, Theme, ThemeMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from plantdesk.api.server import Server
    from plantdesk.server_state import ServerState
    from plantdesk.store import Store
    from plantdesk.ui.widgets.message_box import MessageBox
    from plantdesk.ui.workspace import Workspace

#: Seconds that an automatic backup under way may keep the program from closing.
_BACKUP_TIMEOUT = 2.0


class Desktop(QObject):
    """One run of the window program with one store at a time."""

    #: The window was painted for the first time.
    window_shown = Signal()

    def __init__(self, app: QApplication, database: Path | None, port: int | None) -> None:
        """Prepare a run with the store at `database`; None: the user's own."""
        super().__init__()
        self._app = app
        self._folder = _usable(paths.data_folder)
        path = (database or paths.database_file(with_folder=False)).absolute()
        self.preferences = Preferences(_usable(paths.settings_file))
        settings = self.preferences.settings
        self._theme = Theme(app, ThemeMode(settings.theme), settings.text_scale)
        self._bridge = Bridge()
        port = settings.port if port is None else port
        self._api = ApiControl(self._bridge, self.preferences, port, _make_server)
        self._collector = GarbageCollector(self)
        self._api.settled.connect(self._collector.start)
        self._single = SingleWindow(path, self._folder)
        self._opener = StoreOpener(self._bridge, path, self, named=database is not None)
        self._opener.migrating.connect(self._on_migration)
        self._opener.opened.connect(self._on_opened)
        self._opener.failed.connect(self._on_not_opened)
        self._unsubscribe: list[Callable[[], None]] = []
        self._window: MainWindow | None = None
        self._workspace: Workspace | None = None

    @property
    def state(self) -> ServerState:
        """What the server is doing now."""
        return self._api.state

    @property
    def bridge(self) -> Bridge:
        """The bridge to other threads."""
        return self._bridge

    @property
    def window(self) -> MainWindow | None:
        """The window, once it was shown."""
        return self._window

    @property
    def workspace(self) -> Workspace | None:
        """The content of the window, made right after it is shown."""
        return self._workspace

    def start(self, *, background: bool = False) -> bool:
        """Show the window and open the store behind it; False when another window has the store, and was raised.

        In the `background` the window is minimised, and another is left as it is. Raises StuckWindowError.
        """
        if not self._single.take():
            if not background and not self._single.raise_other():
                raise StuckWindowError(self._opener.path)
            if not self._single.is_locked:
                return False
        window = self._window = MainWindow(self.preferences)
        self._single.raise_wanted.connect(window.show_in_front)
        window.shown.connect(self._fill_window)
        if background:
            window.show_minimised()
        else:
            window.show()
        return True

    def show_failure(self, error: PlantDeskError) -> MessageBox:
        """Show in a message box why the window does not open."""
        from plantdesk.ui.widgets.message_box import MessageBox

        box = MessageBox(self._theme, self.tr("PlantDesk cannot be opened"), str(error), "")
        box.set_icon("triangle-alert", "warning")
        box.add_button(self.tr("Close"))
        box.open()
        return box

    def report_defect(self, what: str) -> None:
        """Report a defect in the window; any thread, also after the window was closed."""
        self._bridge.call(self, self._show_defect, what)

    @Slot()
    def leave(self) -> None:
        """Close the window, without a question, and end the event loop."""
        if self._window is not None:
            self._window.close_at_once()
        self._app.quit()

    def close(self) -> None:
        """Close everything, in order; returns when all that was acknowledged is in the file."""
        self._single.stop_listening()
        self._opener.stop()
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        if self._workspace is not None:
            self._workspace.release_store()
        self._api.close()
        self._bridge.close()
        self._opener.close()
        self._single.release()

    @Slot()
    def _fill_window(self) -> None:
        """Fill the window after its first paint."""
        from plantdesk.ui import workspace

        self.window_shown.emit()
        _set_default_locale()
        if self._window is not None:
            content = workspace.Workspace(
                self._theme, self._bridge, self.preferences, self._api, self._opener.path, self._window
            )
            content.file_chosen.connect(self._on_file_chosen)
            content.try_again_wanted.connect(self._try_again)
            content.new_store_wanted.connect(partial(self._try_again, create=True))
            self._workspace = content
            QTimer.singleShot(0, self, self._complete_start)

    @Slot()
    def _complete_start(self) -> None:
        """Complete the start, after the form accepts typing."""
        self._opener.open()
        if self._workspace is not None:
            self._workspace.complete()
        self._single.listen()

    # --- opening the store ---

    @Slot()
    def _try_again(self, *, create: bool = False) -> None:
        if self._opener.state is StoreState.CLOSED and self._workspace is not None:
            self._workspace.show_opening()
        self._opener.open(create=create)

    @Slot(float)
    def _on_migration(self, share: float) -> None:
        if self._workspace is not None:
            self._workspace.show_migration(share)

    @Slot(object)
    def _on_opened(self, store: Store) -> None:
        if not self._single.is_locked:  # its folder could not be written to before
            single = SingleWindow(self._opener.path, _usable(paths.data_folder))
            if single.take():
                self._adopt(single)
        self._unsubscribe += [
            store.subscribe_health(self._bridge.notify_health),
            store.subscribe(self._bridge.notify_changes),
            _begin_backups(store),
        ]
        if self._workspace is not None:
            self._workspace.set_store(store, named=self._opener.named)
        self._api.serve(store)

    @Slot(object)
    def _on_not_opened(self, reason: PlantDeskError) -> None:
        self._collector.start()
        if self._workspace is not None:
            self._workspace.show_no_store(self._opener.path, reason)
        self._api.show_no_store()

    # --- another file ---

    @Slot(str)
    def _on_file_chosen(self, name: str) -> None:
        """Open another file, once this window has its lock."""
        path = Path(name).absolute()
        single = SingleWindow(path, self._folder)
        if single.key == self._single.key:
            self._try_again()
        elif single.take():
            self._use(path, single)
        else:
            single.ask_other().asked.connect(partial(self._on_other_asked, path, single))
            single.setParent(self)  # until it is asked

    def _use(self, path: Path, single: SingleWindow) -> None:
        self._single.release()
        self._adopt(single)
        self._opener.use(path)
        self._try_again()

    def _adopt(self, single: SingleWindow) -> None:
        self._single = single
        single.listen()
        if self._window is not None:
            single.raise_wanted.connect(self._window.show_in_front)

    def _on_other_asked(self, path: Path, single: SingleWindow, answered: bool) -> None:
        if single.is_locked:
            self._use(path, single)
        elif answered:
            self.leave()
        elif self._workspace is not None:
            self._workspace.show_no_store(self._opener.path, StuckWindowError(path))

    def _show_defect(self, what: str) -> None:
        if self._workspace is not None:
            self._workspace.show_defect(what)


class StuckWindowError(PlantDeskError):
    """Another process has the window of this store, but does not answer."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"“{path.name}” is open in another PlantDesk, which does not answer. End that program, then try again."
        )


def run(database: Path | None, port: int | None, *, background: bool = False) -> int:
    """Open the window and return the exit code when it is closed; after `display.prepare`.

    Raises StuckWindowError.
    """
    os.umask(0o077)  # PlantDesk's own files name their mode; Qt's, such as the lock of the window, do not
    of_qt, _ = qt_options.split(sys.argv[1:])
    app = QApplication([*sys.argv[:1], *STYLE_ARGUMENTS, *of_qt])
    app.setApplicationName("PlantDesk")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName(APP_ID)  # without it Wayland shows no icon
    with ExitStack() as running:
        desktop = Desktop(app, database, port)
        desktop.window_shown.connect(partial(_begin_logging, desktop, running))
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


def _begin_logging(desktop: Desktop, running: ExitStack) -> None:
    """Log, and quit on signals, from now on; these imports would delay the first paint of the window."""
    from plantdesk import logs
    from plantdesk.ui.platform.unix_signals import quit_on_signals

    folder = _usable(paths.log_folder)
    if folder is not None:
        running.enter_context(logs.writing_to(folder / "plantdesk.log"))
    running.enter_context(logs.defect_listener(desktop.report_defect))
    running.enter_context(quit_on_signals(desktop.leave))


def _usable(place: Callable[[], Path]) -> Path | None:
    """Return a folder or file of PlantDesk, None where its folder cannot be made: the window opens and says so."""
    try:
        return place()
    except PlantDeskError:
        return None


def _make_server(store: Store) -> Server:
    from plantdesk.api.server import Server

    return Server(store, runtime_folder=paths.runtime_folder())


def _begin_backups(store: Store) -> Callable[[], None]:
    """Back up by time from now on; returns the function that ends it, which waits two seconds at most for a backup."""
    from plantdesk.store import AutomaticBackups

    backups = AutomaticBackups(store.file)

    def end() -> None:
        ending = threading.Thread(target=backups.close, name="backups-end", daemon=True)
        ending.start()
        ending.join(_BACKUP_TIMEOUT)

    return end


def _set_default_locale() -> None:
    """Use English instead of the C locale, which neither groups digits nor formats dates for reading."""
    from PySide6.QtCore import QLocale

    if QLocale().language() is QLocale.Language.C:
        QLocale.setDefault(QLocale(QLocale.Language.English))
