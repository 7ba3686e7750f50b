"""Opens the store in the background, and again when its location has changed since an attempt that failed."""

from __future__ import annotations

from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from plantdesk.domain.errors import PlantDeskError, StoreBusyError, StoreFullError, StoreUnreachableError, Text
from plantdesk.platform import paths

if TYPE_CHECKING:
    from plantdesk.domain.locations import StoreLocation
    from plantdesk.domain.protocols import PlantStore
    from plantdesk.ui.background import Task
    from plantdesk.ui.bridge import Bridge


#: Milliseconds between two checks of a store that could not be opened.
_RETRY_DELAY = 2000
#: Causes that can pass without a change of the location's state.
_PASSING = (StoreBusyError, StoreFullError, StoreUnreachableError, paths.FolderUnusableError)


class StoreState(Enum):
    """The state of the store. It may be opened only when it is closed."""

    CLOSED = auto()
    OPENING = auto()
    OPEN = auto()


class StoreOpener(QObject):
    """Owns the open store.

    `opened(store)`, `failed(error)`: the result of an attempt, the error a PlantDeskError. `migrating(fraction)`: the
    progress of a migration, from 0 to 1.
    """

    migrating = Signal(float)
    opened = Signal(object)
    failed = Signal(object)

    def __init__(self, bridge: Bridge, location: StoreLocation, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.location = location
        self.state = StoreState.CLOSED
        self._bridge = bridge
        self._opening: Task | None = None
        self._store: PlantStore | None = None
        self._tried: object = None
        self._retry = QTimer(self, singleShot=True, interval=_RETRY_DELAY)
        self._retry.timeout.connect(self._check_again)

    def open(self, *, create: bool = False) -> None:
        """Open or `create` the store in the background, unless it is open or being opened."""
        if self.state is not StoreState.CLOSED:
            return
        self.state = StoreState.OPENING
        self._retry.stop()
        location = self.location

        def open_store(task: Task) -> PlantStore:
            task.complete(partial(self._note, location.state()))
            store = location.open(create=create, progress=task.report)
            if task.complete(partial(self._keep, store)):
                return store
            store.close()  # the program ends, or the user has chosen another store meanwhile
            raise InterruptedError

        self._opening = self._bridge.long_tasks.ask(
            self, open_store, self._on_opened, self._on_failed, progress=self.migrating.emit
        )

    def use(self, location: StoreLocation) -> None:
        """Prepare to open another store instead of one that is not open yet."""
        store = self._take_store()
        if store is not None:
            self._bridge.long_tasks.ask(self, lambda _task: store.close())
        self.location, self.state = location, StoreState.CLOSED

    def stop(self) -> None:
        """Open nothing from now on by itself."""
        self._retry.stop()

    def close(self) -> None:
        """Close the store; one that is being opened is closed when it is open."""
        store = self._take_store()
        if store is not None:
            store.close()

    def _take_store(self) -> PlantStore | None:
        """Cancel the opening, and return the store; one that is open later is closed by its own thread."""
        if self._opening is not None:
            self._opening.cancel()
        store, self._store = self._store, None
        return store

    def _note(self, found: object) -> None:
        """Note what is opened; on the thread of the task, before anything on the GUI thread reads it."""
        self._tried = found

    def _keep(self, store: PlantStore) -> None:
        """Own the store; on the thread of the task."""
        self._store = store

    def _on_opened(self, store: PlantStore) -> None:
        self.state = StoreState.OPEN
        self.opened.emit(store)

    def _on_failed(self, error: Exception) -> None:
        self.state = StoreState.CLOSED
        self.failed.emit(error if isinstance(error, PlantDeskError) else _UnopenedError())
        if isinstance(error, _PASSING):
            self._tried = None
        self._retry.start()

    @Slot()
    def _check_again(self) -> None:
        """Open the store if its state has changed since the last attempt, or if the cause may have passed."""
        location = self.location
        self._bridge.long_tasks.ask(self, lambda _task: location.state(), self._on_state)

    def _on_state(self, found: object) -> None:
        if found != self._tried:
            self.open()
        elif self.state is StoreState.CLOSED:
            self._retry.start()


class _UnopenedError(PlantDeskError):
    """A defect of PlantDesk keeps the store closed."""

    text = Text("Something unexpected happened. PlantDesk's log has the cause.")
