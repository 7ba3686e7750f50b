"""What is behind the window from its first paint on: store, server and content, for one store at a time.

Separate from the window, which shows before these modules are imported.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QObject, Signal, Slot

from plantdesk.platform import paths
from plantdesk.store import location_of
from plantdesk.ui.api_access.server_control import ApiControl
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.garbage_collector import GarbageCollector
from plantdesk.ui.platform.single_window import SingleWindow, StuckWindowError
from plantdesk.ui.store_opener import StoreOpener, StoreState
from plantdesk.ui.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from plantdesk.domain.errors import PlantDeskError
    from plantdesk.domain.locations import StoreLocation
    from plantdesk.domain.protocols import PlantStore
    from plantdesk.domain.server_state import ServerState
    from plantdesk.ui.api_access.server_control import StoreServer
    from plantdesk.ui.main_window import MainWindow
    from plantdesk.ui.preferences import Preferences
    from plantdesk.ui.theme.theme import Theme

#: The panes dock when the page has its width, which moves the fields of the form: else both were seen.
_LAYOUT_PASSES = 3


class StoreServices(NamedTuple):
    """What runs on an open store."""

    make_server: Callable[[PlantStore, StoreLocation], StoreServer]
    #: Begins automatic backups, and returns a function that ends them.
    begin_backups: Callable[[PlantStore, StoreLocation], Callable[[], None]]


class Session(QObject):
    """Fills the window, opens the store behind it, and serves it; `left`: the program shall end."""

    left = Signal()

    def __init__(
        self,
        window: MainWindow,
        preferences: Preferences,
        location: StoreLocation,
        single: SingleWindow,
        port: int,
        services: StoreServices,
    ) -> None:
        """Prepare to open the store at `location`, which `single` locks."""
        super().__init__()
        self._window = window
        self._preferences = preferences
        self._begin_backups = services.begin_backups
        self.bridge = Bridge()
        self._opener = StoreOpener(self.bridge, location, self)
        self._api = ApiControl(
            self.bridge, preferences, port, lambda store: services.make_server(store, self._opener.location)
        )
        self._collector = GarbageCollector(self)
        self._api.settled.connect(self._collector.start)
        self._opener.migrating.connect(self._on_migration)
        self._opener.opened.connect(self._on_opened)
        self._opener.failed.connect(self._on_not_opened)
        self._unsubscribe: list[Callable[[], None]] = []
        self._workspace: Workspace | None = None
        self._single = single
        single.raise_requested.connect(window.show_in_front)
        window.closing.connect(self._on_closing)

    @property
    def state(self) -> ServerState:
        """What the server is doing now."""
        return self._api.state

    @property
    def workspace(self) -> Workspace | None:
        """The content of the window."""
        return self._workspace

    def fill_window(self, theme: Theme) -> None:
        """Make the content of the window, paint the form, complete the content, and open the store behind it.

        Keys and clicks wait until then: the menus, and what their keys open, are visible only when painted once.
        """
        content = Workspace(theme, self.bridge, self._preferences, self._api, self._opener.location, self._window)
        content.file_chosen.connect(self._on_file_chosen)
        content.try_again_requested.connect(self._try_again)
        content.new_store_requested.connect(partial(self._try_again, create=True))
        self._workspace = content
        content.show()  # now, and not in the middle of the events, to have its size before it is painted
        for _ in range(_LAYOUT_PASSES):
            QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)
        self._complete_start(content)

    def show_defect(self, what: str) -> None:
        """Report a defect in the window; any thread, also after the window was closed."""
        self.bridge.call(self, self._show_defect, what)

    def close(self) -> None:
        """Close everything, in order; returns when all that was acknowledged is in the file."""
        self._single.stop_listening()
        self._opener.stop()
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        if self._workspace is not None:
            self._workspace.release_store()
        self._api.close()
        self.bridge.close()
        self._opener.close()
        self._single.release()

    def _complete_start(self, content: Workspace) -> None:
        self._opener.open()
        content.complete()
        self._single.listen()

    @Slot()
    def _on_closing(self) -> None:
        self._single.stop_listening()  # a start from now on waits for the end of this program, and opens its own window

    def _show_defect(self, what: str) -> None:
        if self._workspace is not None:
            self._workspace.show_defect(what)

    # --- opening the store ---

    @Slot()
    def _try_again(self, *, create: bool = False) -> None:
        if self._opener.state is StoreState.CLOSED and self._workspace is not None:
            self._workspace.show_opening()
        self._opener.open(create=create)

    @Slot(float)
    def _on_migration(self, fraction: float) -> None:
        if self._workspace is not None:
            self._workspace.show_migration(fraction)

    @Slot(object)
    def _on_opened(self, store: PlantStore) -> None:
        if not self._single.is_locked:  # its folder could not be written to before
            single = SingleWindow(self._opener.location, paths.usable(paths.data_folder))
            if single.take():
                self._adopt(single)
        self._unsubscribe += [
            store.subscribe_health(self.bridge.notify_health),
            store.subscribe(self.bridge.notify_changes),
            self._begin_backups(store, self._opener.location),
        ]
        if self._workspace is not None:
            self._workspace.set_store(store)
        self._api.serve(store)

    @Slot(object)
    def _on_not_opened(self, reason: PlantDeskError) -> None:
        self._collector.start()
        if self._workspace is not None:
            self._workspace.show_no_store(reason)
        self._api.show_no_store()

    # --- another file ---

    @Slot(str)
    def _on_file_chosen(self, name: str) -> None:
        """Open another file, once this window has its lock."""
        location = location_of(name)
        single = SingleWindow(location, paths.usable(paths.data_folder))
        if single.key == self._single.key:
            self._try_again()
        elif single.take():
            self._use(location, single)
        else:
            single.ask_other().asked.connect(partial(self._on_other_asked, location, single))
            single.setParent(self)  # until it is asked

    def _use(self, location: StoreLocation, single: SingleWindow) -> None:
        self._single.release()
        self._adopt(single)
        self._opener.use(location)
        if self._workspace is not None:
            self._workspace.set_location(location)
        self._try_again()

    def _adopt(self, single: SingleWindow) -> None:
        self._single = single
        single.listen()
        single.raise_requested.connect(self._window.show_in_front)

    def _on_other_asked(self, location: StoreLocation, single: SingleWindow, answered: bool) -> None:
        if single.is_locked:
            self._use(location, single)
        elif answered:
            self.left.emit()
        elif self._workspace is not None:
            self._workspace.show_no_store(StuckWindowError(location))
