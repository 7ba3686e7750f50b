"""The session of one store in the window: it opens the store, and creates content and server.

The window is painted before this module is imported. The store is opened in the background, and again after a failure.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QCoreApplication, QEventLoop, QObject, Qt, QTimer, Signal, Slot

from plantdesk.domain.errors import PlantDeskError, StoreError
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.protocols import PlantStore, ServedStore
from plantdesk.domain.texts import Text
from plantdesk.platform import paths
from plantdesk.platform.window_requests import WindowRequest
from plantdesk.store import location_of
from plantdesk.ui.api_control import ApiControl, StoreServer, UnreachedStore
from plantdesk.ui.background import Task
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.event_loop import GarbageCollector
from plantdesk.ui.main_window import MainWindow
from plantdesk.ui.preferences import Preferences
from plantdesk.ui.single_window import SingleWindow, StuckWindowError
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.workspace import Workspace

_log = logging.getLogger(__name__)
#: Milliseconds until a file that could not be opened is tried again.
_FILE_RETRY_MS = 2000
#: Milliseconds until a server is tried again, by the number of failed attempts; the last delay repeats.
_SERVER_RETRIES_MS = (1000, 2000, 4000, 8000, 15_000, 30_000)
#: Milliseconds after which the API starts, although no rows are shown yet.
_MAX_SERVE_DELAY_MS = 1000


class StoreOpener(QObject):
    """Opens the store on another thread, tries again after failures, and owns the open store until `close`."""

    #: (store) The store is open.
    opened = Signal(object)
    #: (error) The store could not be opened.
    failed = Signal(object)

    def __init__(self, bridge: Bridge, location: StoreLocation, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.location = location
        #: Whether the store is neither open nor being opened.
        self.is_closed = True
        self._bridge = bridge
        self._opening_task: Task | None = None
        self._store: PlantStore | None = None
        self._failed_attempts = 0
        self._retry_timer = QTimer(self, singleShot=True, interval=_FILE_RETRY_MS)
        self._retry_timer.timeout.connect(self.open)

    def open(self, *, create: bool = False) -> None:
        """Begin to open the store, or to `create` it, unless it is open or being opened."""
        if not self.is_closed:
            return
        self.is_closed = False
        self._retry_timer.stop()
        location = self.location

        def open_store(task: Task) -> PlantStore:
            store = location.open(create=create)
            if task.call_unless_cancelled(partial(self._set_store, store)):
                return store
            store.close()  # the task was cancelled: the program ends, or opens another store
            raise InterruptedError

        self._opening_task = self._bridge.long_tasks.run(self, open_store, self._on_opened, self._on_failed)

    def change_location(self, location: StoreLocation) -> None:
        """Use another location; close an open store on another thread. `open` must follow."""
        store = self._release_store()
        if store is not None:
            self._bridge.long_tasks.run(self, lambda _task: store.close())
        self.location = location
        self.is_closed = True

    def begin_closing(self) -> None:
        """Stop retrying, and let the store wait less for a server that does not answer."""
        self._retry_timer.stop()
        if self._store is not None:
            self._store.begin_closing()

    def close(self) -> None:
        """Close the store, blocking; if it is still being opened, the opening thread closes it."""
        store = self._release_store()
        try:
            if store is not None:
                store.close()
        except StoreError as error:
            _log.error("%s", error)  # there is no window to show it

    def _release_store(self) -> PlantStore | None:
        """Cancel the opening, and return the open store, if any, which the caller must close."""
        if self._opening_task is not None:
            self._opening_task.cancel()
        store = self._store
        self._store = None
        return store

    def _set_store(self, store: PlantStore) -> None:
        self._store = store  # on the thread of the task

    def _on_opened(self, store: PlantStore) -> None:
        self._failed_attempts = 0
        self.opened.emit(store)

    def _on_failed(self, error: Exception) -> None:
        self.is_closed = True
        self.failed.emit(error if isinstance(error, PlantDeskError) else _UnopenedError())
        if not isinstance(error, PlantDeskError):
            return
        if self.location.server is None:
            self._retry_timer.start()
        elif error.retry_after is not None:  # a refused user is not retried
            delay = _SERVER_RETRIES_MS[min(self._failed_attempts, len(_SERVER_RETRIES_MS) - 1)]
            self._retry_timer.start(delay)
            self._failed_attempts += 1


class _UnopenedError(PlantDeskError):
    """The store could not be opened because of a defect."""

    text = Text("Something unexpected happened. PlantDesk's log has the cause.")


class Session(QObject):
    """Connects the window with one store: opens the store, creates the window's content, and starts the API."""

    #: The program has to end.
    quit_requested = Signal()
    #: (location, create) The user wants another store, and so another session, in the window.
    store_requested = Signal(object, bool)

    def __init__(
        self,
        window: MainWindow,
        preferences: Preferences,
        location: StoreLocation,
        single_window: SingleWindow,
        port: int | None,
        make_server: Callable[[ServedStore, StoreLocation], StoreServer],
    ) -> None:
        """Prepare to open the store at `location`, locked by `single_window`; `port` None: as in the settings.

        A port that the user chooses is saved with the store if `port` was given and the store is not their own.
        """
        super().__init__()
        self._unserved_store: PlantStore | None = None  # the open store until its server starts
        self._is_quick_only = False  # only the quick entry is shown
        self._window = window
        self._preferences = preferences
        self.bridge = Bridge()
        self._opener = StoreOpener(self.bridge, location, self)
        self._has_own_port = port is not None
        self.api = ApiControl(
            self.bridge,
            preferences,
            preferences.settings.port if port is None else port,
            lambda store: make_server(store, self._opener.location),
            self._save_port,
        )
        self._collector = GarbageCollector(self)
        self._opener.opened.connect(self._on_opened)
        self._opener.failed.connect(self._on_not_opened)
        self._unsubscribers: list[Callable[[], None]] = []
        self._unreached_store: UnreachedStore | None = None  # answers requests until the store is reached
        self.workspace: Workspace | None = None
        self._single_window = single_window
        single_window.request_received.connect(self.handle_request)
        window.closing.connect(self._on_closing)

    @property
    def location(self) -> StoreLocation:
        """The location of the store of this session; another one after the user has chosen another file."""
        return self._opener.location

    def _save_port(self, port: int) -> None:
        if self._has_own_port and not self.location.is_own:
            self._preferences.change_store(self.location.key, port=port)
        else:
            self._preferences.change(port=port)

    def fill_window(self, theme: Theme, *, create: bool = False, is_quick: bool = False) -> None:
        """Open the store, and show and paint the content of the window; keys and clicks are handled afterwards.

        With `is_quick` only the quick entry is shown, and the program ends when it is closed.
        """
        # Import the models first, not on this thread and the opening one at the same time: PySide inspects each module
        # that is imported, and parts of pydantic, which they import, raise ImportError then.
        from plantdesk.domain import models, validation  # noqa: F401

        self._is_quick_only = is_quick
        self._opener.open(create=create)
        workspace = self.workspace = Workspace(
            theme, self.bridge, self._preferences, self.api, self._opener.location, self._window
        )
        workspace.file_chosen.connect(self._on_file_chosen)
        workspace.try_again_requested.connect(self._try_again)
        workspace.new_store_requested.connect(partial(self._try_again, create=True))
        workspace.plants_shown.connect(self._on_plants_shown)
        workspace.window_requested.connect(self.handle_request)
        workspace.quick_entry_closed.connect(self._on_quick_entry_closed)
        workspace.store_requested.connect(self.store_requested, Qt.ConnectionType.QueuedConnection)  # it may be deleted
        workspace.set_up()
        workspace.show_and_focus()
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)
        if not is_quick:
            workspace.start_tray()
        self._single_window.listen()

    @Slot(object)
    def handle_request(self, request: WindowRequest) -> None:
        """Show what a start of the program requests: the window, the quick entry, or a plant."""
        if self.workspace is None:
            return
        if request.quick:
            self.workspace.open_quick_entry(request.token)
            return
        self._window.show_in_front(request.token)
        self._start_services()
        if request.address:
            self.workspace.open_plant_url(request.address)

    def show_defect(self, log_text: str) -> None:
        """Report a defect in a bar of the window. Any thread may call this, even after the window is closed."""
        if self.workspace is not None:
            self.bridge.call(self, self.workspace.show_defect, log_text)

    def may_close_store(self) -> bool:
        """Return whether the store can be closed now; if not, show the reason."""
        return self.workspace is None or self.workspace.may_close_store()

    def close(self) -> None:
        """Close content, server and store, in this order; block until they are closed."""
        self._unserved_store = None
        self._single_window.stop_listening()
        self._opener.begin_closing()
        for unsubscribe in self._unsubscribers:
            unsubscribe()
        if self.workspace is not None:
            self.workspace.release_store()
        self.api.close()
        self.bridge.close()
        self._opener.close()
        self._single_window.release()

    @Slot()
    def _on_closing(self) -> None:
        self._single_window.stop_listening()  # later starts wait for the end of this program

    @Slot()
    def _try_again(self, *, create: bool = False) -> None:
        if self._opener.is_closed and self.workspace is not None:
            self.workspace.show_opening()
        self._opener.open(create=create)

    @Slot(object)
    def _on_opened(self, store: PlantStore) -> None:
        """Lock the store if this failed before, subscribe to its changes, and show it. The API starts later."""
        if not self._single_window.is_locked:  # its folder could not be written to at the start
            single_window = SingleWindow(self._opener.location, paths.path_or_none(paths.data_folder))
            if single_window.try_lock():
                self._set_single_window(single_window)
        self._unsubscribers += [
            store.subscribe_health(self.bridge.notify_health),
            store.subscribe(self.bridge.notify_changes),
        ]
        self._unserved_store = store
        QTimer.singleShot(_MAX_SERVE_DELAY_MS, self, self._on_plants_shown)
        if self.workspace is not None:
            self.workspace.set_store(store)

    @Slot()
    def _on_plants_shown(self) -> None:
        """Start API and backups; earlier, they would delay the first rows by a tenth of a second."""
        if self._unserved_store is not None and not self._is_quick_only:
            self._serve(self._unserved_store)

    def _serve(self, store: PlantStore) -> None:
        self._unserved_store = None
        self._unsubscribers.append(store.begin_backups(self.bridge.notify_backup))
        self.api.serve(store)

    def _start_services(self) -> None:
        """Start tray, API and backups if so far only the quick entry was shown, which needs none of them."""
        if not self._is_quick_only:
            return
        self._is_quick_only = False
        if self.workspace is not None:
            self.workspace.start_tray()
        if self._unserved_store is not None:
            self._serve(self._unserved_store)

    @Slot()
    def _on_quick_entry_closed(self) -> None:
        if self._is_quick_only and self.may_close_store():
            self.quit_requested.emit()

    @Slot(object)
    def _on_not_opened(self, reason: PlantDeskError) -> None:
        """Show why the store is not open; while its server is silent, the API answers with that reason."""
        if self.workspace is not None:
            self.workspace.show_no_store(reason)
        if self._opener.location.server is None or reason.retry_after is None:
            self._unreached_store = None
            self.api.stop_without_store()
        elif self._unreached_store is None:
            self._unreached_store = UnreachedStore(reason)
            self.api.serve(self._unreached_store)
        else:
            self._unreached_store.reason = reason

    @Slot(str)
    def _on_file_chosen(self, name: str) -> None:
        """Open another file in this window, if its lock is free; else ask the window that has it."""
        location = location_of(name)
        single_window = SingleWindow(location, paths.path_or_none(paths.data_folder))
        if single_window.key == self._single_window.key:
            self._try_again()
        elif single_window.try_lock():
            self._use_location(location, single_window)
        else:
            single_window.ask_other().answered.connect(partial(self._on_other_answered, location, single_window))
            single_window.setParent(self)  # kept alive until it is asked

    def _use_location(self, location: StoreLocation, single_window: SingleWindow) -> None:
        self._unserved_store = self._unreached_store = None
        self._single_window.release()
        self._set_single_window(single_window)
        self._opener.change_location(location)
        if self.workspace is not None:
            self.workspace.set_location(location)
        self._try_again()

    def _set_single_window(self, single_window: SingleWindow) -> None:
        self._single_window = single_window
        single_window.listen()
        single_window.request_received.connect(self.handle_request)

    def _on_other_answered(self, location: StoreLocation, single_window: SingleWindow, is_answered: bool) -> None:
        if single_window.is_locked:
            self._use_location(location, single_window)
        elif is_answered:
            self.quit_requested.emit()
        elif self.workspace is not None:
            self.workspace.show_no_store(StuckWindowError(location))
