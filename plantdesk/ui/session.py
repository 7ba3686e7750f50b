"""Store, server and content of the window, from its first paint on, for one store at a time.

Separate from the window, which shows before these modules are imported. The store is opened in the background, and
again after an attempt that failed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, QEventLoop, QObject, Qt, QTimer, Signal, Slot

from plantdesk.domain.errors import PlantDeskError, StoreError
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.protocols import PlantStore, ServedStore
from plantdesk.domain.texts import Text
from plantdesk.platform import paths
from plantdesk.platform.window_requests import WindowRequest
from plantdesk.store import location_of
from plantdesk.ui.background import Task
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.event_loop import GarbageCollector
from plantdesk.ui.main_window import MainWindow
from plantdesk.ui.preferences import Preferences
from plantdesk.ui.server_control import ApiControl, StoreServer, UnreachedStore
from plantdesk.ui.single_window import SingleWindow, StuckWindowError
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.workspace import Workspace

_log = logging.getLogger(__name__)
#: Milliseconds between two attempts to open a file.
_RETRY_DELAY = 2000
#: Milliseconds before each attempt to reach a server; the last one repeats.
_SERVER_DELAYS = (1000, 2000, 4000, 8000, 15_000, 30_000)
#: Milliseconds after which the API starts even if no rows are shown.
_SERVE_LATEST_MS = 1000


class StoreOpener(QObject):
    """Owns the open store.

    `opened(store)`, `failed(error)`: the result of an attempt, the error a PlantDeskError.
    """

    opened = Signal(object)
    failed = Signal(object)

    def __init__(self, bridge: Bridge, location: StoreLocation, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.location = location
        #: Whether the store is neither open nor being opened.
        self.is_closed = True
        self._bridge = bridge
        self._opening: Task | None = None
        self._store: PlantStore | None = None
        self._attempts = 0
        self._retry = QTimer(self, singleShot=True, interval=_RETRY_DELAY)
        self._retry.timeout.connect(self.open)

    def open(self, *, create: bool = False) -> None:
        """Open or `create` the store in the background, unless it is open or being opened."""
        if not self.is_closed:
            return
        self.is_closed = False
        self._retry.stop()
        location = self.location

        def open_store(task: Task) -> PlantStore:
            store = location.open(create=create)
            if task.complete(partial(self._own, store)):
                return store
            store.close()  # the program is ending, or the user has chosen another store meanwhile
            raise InterruptedError

        self._opening = self._bridge.long_tasks.ask(self, open_store, self._on_opened, self._on_failed)

    def use(self, location: StoreLocation) -> None:
        """Prepare to open another store instead of one that is not open yet."""
        store = self._take_store()
        if store is not None:
            self._bridge.long_tasks.ask(self, lambda _task: store.close())
        self.location, self.is_closed = location, True

    def begin_closing(self) -> None:
        """From now on, open nothing automatically, and do not wait long for a server that hangs."""
        self._retry.stop()
        if self._store is not None:
            self._store.begin_closing()

    def close(self) -> None:
        """Close the store; one that is being opened is closed once it is open."""
        store = self._take_store()
        try:
            if store is not None:
                store.close()
        except StoreError as error:
            _log.error("%s", error)  # there is no window any more

    def _take_store(self) -> PlantStore | None:
        """Cancel the opening, and return the store; one that is still being opened is closed by its own thread."""
        if self._opening is not None:
            self._opening.cancel()
        store, self._store = self._store, None
        return store

    def _own(self, store: PlantStore) -> None:
        """Own the store; on the thread of the task."""
        self._store = store

    def _on_opened(self, store: PlantStore) -> None:
        self._attempts = 0
        self.opened.emit(store)

    def _on_failed(self, error: Exception) -> None:
        self.is_closed = True
        self.failed.emit(error if isinstance(error, PlantDeskError) else _UnopenedError())
        if not isinstance(error, PlantDeskError):
            return
        if self.location.server is None:
            self._retry.start()
        elif error.retry_after is not None:  # a refused user is not retried
            delay = _SERVER_DELAYS[min(self._attempts, len(_SERVER_DELAYS) - 1)]
            self._retry.start(delay)
            self._attempts += 1


class _UnopenedError(PlantDeskError):
    """A defect of PlantDesk keeps the store closed."""

    text = Text("Something unexpected happened. PlantDesk's log has the cause.")


class StoreServices(NamedTuple):
    """What runs on an open store."""

    make_server: Callable[[ServedStore, StoreLocation], StoreServer]
    #: Begins automatic backups, reports their outcomes, and returns a function that ends them.
    begin_backups: Callable[[PlantStore, Callable[[StoreError | None], object]], Callable[[], None]]


class Session(QObject):
    """Fills the window, opens the store for it, and serves the store; `left`: the program is to end.

    `store_requested(location, create)`: the user wants another store in the window, which takes another session.
    """

    left = Signal()
    store_requested = Signal(object, bool)

    def __init__(
        self,
        window: MainWindow,
        preferences: Preferences,
        location: StoreLocation,
        single: SingleWindow,
        port: int | None,
        services: StoreServices,
    ) -> None:
        """Prepare to open the store at `location`, which `single` locks; the default `port` is that of the settings.

        The port that the user chooses is saved in the settings, except if another one was given for a store
        that is not the user's own.
        """
        super().__init__()
        self._unserved: PlantStore | None = None  # until its plants are shown
        self._is_quick = False  # only the small window for a plant is open
        self._window = window
        self._preferences = preferences
        self._begin_backups = services.begin_backups
        self.bridge = Bridge()
        self._opener = StoreOpener(self.bridge, location, self)
        self._has_own_port = port is not None
        self.api = ApiControl(
            self.bridge,
            preferences,
            preferences.settings.port if port is None else port,
            lambda store: services.make_server(store, self._opener.location),
            self._save_port,
        )
        self._collector = GarbageCollector(self)
        self.api.settled.connect(self._collector.start)
        self._opener.opened.connect(self._on_opened)
        self._opener.failed.connect(self._on_not_opened)
        self._unsubscribe: list[Callable[[], None]] = []
        self._unreached: UnreachedStore | None = None  # served until the server of the store is reached
        self.workspace: Workspace | None = None
        self._single = single
        single.requested.connect(self.handle)
        window.closing.connect(self._on_closing)

    @property
    def location(self) -> StoreLocation:
        """Where the store is that is shown, or will be."""
        return self._opener.location

    def _save_port(self, port: int) -> None:
        if self._has_own_port and not self.location.is_own:
            self._preferences.change_store(self.location.key, port=port)
        else:
            self._preferences.change(port=port)

    def fill_window(self, theme: Theme, *, create: bool = False, is_quick: bool = False) -> None:
        """Show and paint the content of the window, then open the store.

        Keys and clicks wait until then: the menus, and what their keys open, are visible only after the first paint.
        With `is_quick` only the small window for a plant is wanted, and the program ends with it.
        """
        # Import the models first, not on this thread and the opening one at the same time: PySide inspects each module
        # that is imported, and parts of pydantic, which they import, raise ImportError then.
        from plantdesk.domain import models, validation  # noqa: F401

        self._is_quick = is_quick
        self._opener.open(create=create)
        content = self.workspace = Workspace(
            theme, self.bridge, self._preferences, self.api, self._opener.location, self._window
        )
        content.file_chosen.connect(self._on_file_chosen)
        content.try_again_requested.connect(self._try_again)
        content.new_store_requested.connect(partial(self._try_again, create=True))
        content.plants_shown.connect(self._on_plants_shown)
        content.requested.connect(self.handle)
        content.quick_done.connect(self._on_quick_done)
        content.store_requested.connect(self.store_requested, Qt.ConnectionType.QueuedConnection)  # it may be deleted
        content.complete()
        content.appear()
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)
        if not is_quick:
            content.begin_tray()
        self._single.listen()

    @Slot(object)
    def handle(self, request: WindowRequest) -> None:
        """Do what a start by the user, this one or a later one, has requested."""
        if self.workspace is None:
            return
        if request.quick:
            self.workspace.open_quick(request.token)
            return
        self._window.show_in_front(request.token)
        self._begin_services()
        if request.address:
            self.workspace.open_address(request.address)

    def show_defect(self, what: str) -> None:
        """Report a defect in the window; any thread, even after the window was closed."""
        if self.workspace is not None:
            self.bridge.call(self, self.workspace.show_defect, what)

    def may_leave(self) -> bool:
        """Return whether the store can be closed; otherwise ask the user about what that would cancel."""
        return self.workspace is None or self.workspace.may_leave()

    def close(self) -> None:
        """Close everything, in order; return when everything that was acknowledged is in the file."""
        self._unserved = None
        self._single.stop_listening()
        self._opener.begin_closing()
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        if self.workspace is not None:
            self.workspace.release_store()
        self.api.close()
        self.bridge.close()
        self._opener.close()
        self._single.release()

    @Slot()
    def _on_closing(self) -> None:
        self._single.stop_listening()  # a start from now on waits for the end of this program, and opens its own window

    # --- opening the store ---

    @Slot()
    def _try_again(self, *, create: bool = False) -> None:
        if self._opener.is_closed and self.workspace is not None:
            self.workspace.show_opening()
        self._opener.open(create=create)

    @Slot(object)
    def _on_opened(self, store: PlantStore) -> None:
        if not self._single.is_locked:  # the folder could not be written to before
            single = SingleWindow(self._opener.location, paths.path_or_none(paths.data_folder))
            if single.take():
                self._adopt(single)
        self._unsubscribe += [
            store.subscribe_health(self.bridge.notify_health),
            store.subscribe(self.bridge.notify_changes),
        ]
        self._unserved = store
        QTimer.singleShot(_SERVE_LATEST_MS, self, self._on_plants_shown)
        if self.workspace is not None:
            self.workspace.set_store(store)

    @Slot()
    def _on_plants_shown(self) -> None:
        """Start work that holds the interpreter for long: earlier, it would delay the rows by a tenth of a second."""
        if self._unserved is not None and not self._is_quick:
            self._serve(self._unserved)

    def _serve(self, store: PlantStore) -> None:
        self._unserved = None
        self._unsubscribe.append(self._begin_backups(store, self.bridge.notify_backup))
        self.api.serve(store)

    def _begin_services(self) -> None:
        """Start the services that the small window alone does not need: the whole window is open now."""
        was_quick, self._is_quick = self._is_quick, False
        if was_quick and self.workspace is not None:
            self.workspace.begin_tray()
        if was_quick and self._unserved is not None:
            self._serve(self._unserved)

    @Slot()
    def _on_quick_done(self) -> None:
        if self._is_quick and self.may_leave():
            self.left.emit()

    @Slot(object)
    def _on_not_opened(self, reason: PlantDeskError) -> None:
        self._collector.start()
        if self.workspace is not None:
            self.workspace.show_no_store(reason)
        if self._opener.location.server is None or reason.retry_after is None:
            self._unreached = None
            self.api.show_no_store()
        elif self._unreached is None:
            self._unreached = UnreachedStore(reason)
            self.api.serve(self._unreached)
        else:
            self._unreached.reason = reason

    # --- another file ---

    @Slot(str)
    def _on_file_chosen(self, name: str) -> None:
        """Open another file, once this window has its lock."""
        location = location_of(name)
        single = SingleWindow(location, paths.path_or_none(paths.data_folder))
        if single.key == self._single.key:
            self._try_again()
        elif single.take():
            self._use(location, single)
        else:
            single.ask_other().asked.connect(partial(self._on_other_asked, location, single))
            single.setParent(self)  # kept alive until it is asked

    def _use(self, location: StoreLocation, single: SingleWindow) -> None:
        self._unserved = self._unreached = None
        self._single.release()
        self._adopt(single)
        self._opener.use(location)
        if self.workspace is not None:
            self.workspace.set_location(location)
        self._try_again()

    def _adopt(self, single: SingleWindow) -> None:
        self._single = single
        single.listen()
        single.requested.connect(self.handle)

    def _on_other_asked(self, location: StoreLocation, single: SingleWindow, answered: bool) -> None:
        if single.is_locked:
            self._use(location, single)
        elif answered:
            self.left.emit()
        elif self.workspace is not None:
            self.workspace.show_no_store(StuckWindowError(location))
