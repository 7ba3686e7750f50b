"""Turns the API server of the open store on and off. It does not import the server: `desktop.py` passes a factory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, QTimer, Slot

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.protocols import Entry, Outcome, ServedStore
from plantdesk.domain.records import Source
from plantdesk.domain.server_state import (
    Failed,
    NoOpenStoreError,
    Off,
    On,
    PortTakenError,
    ServerError,
    ServerFailedError,
    ServerState,
    Starting,
)
from plantdesk.domain.texts import Text
from plantdesk.ui.background import Task, ignore
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.preferences import Preferences

if TYPE_CHECKING:
    from plantdesk.domain.activity import Activity

#: Milliseconds between two attempts to use a port that another program has.
_RETRY_MS = 5000


class StoreServer(Protocol):
    """The interface of `plantdesk.api.server.Server` that is used here."""

    @property
    def activity(self) -> Activity:
        """The last requests, and how many there were since the start."""

    @property
    def state(self) -> ServerState:
        """Whether the server is off, starting, on, or has failed."""

    def subscribe(self, listener: Callable[[ServerState], None]) -> Callable[[], None]:
        """Call `listener` with the present and each new state; return a function that unsubscribes it."""

    def start(self, port: int) -> None:
        """Start to serve on `port` without waiting; a failure becomes the state, and is not raised."""

    def restart_on(self, port: int) -> None:
        """Serve on another port. Raises ServerError, and stays on the present port, if that fails."""

    def stop(self) -> None:
        """Stop the server, and block until it has answered the accepted requests."""


class UnreachedStore:
    """A ServedStore in place of a database that does not answer: its methods fail with `reason`."""

    def __init__(self, reason: PlantDeskError) -> None:
        #: What is answered; any thread may read it.
        self.reason = reason

    @property
    def tokens(self) -> UnreachedStore:
        """This object, which is also the token store; it finds no token."""
        return self

    def open_lookup(self) -> UnreachedStore:
        """Return the lookup of tokens: this object."""
        return self

    def source(self, token: str) -> Source:  # noqa: ARG002  nobody knows it
        """Raise `reason`, as the token cannot be looked up."""
        raise self.reason.with_traceback(None)

    def record_use(self, source: Source) -> Future[None]:  # noqa: ARG002  nobody got in
        """Return a Future that has failed with `reason`."""
        failed: Future[None] = Future()
        failed.set_exception(self.reason)
        return failed

    def add_each(self, entries: Sequence[Entry], done: Callable[[list[Outcome]], None]) -> None:
        """Report `reason` as the outcome of each entry."""
        done([self.reason] * len(entries))

    def close(self) -> None:
        """Do nothing: no connection is open."""


class ApiControl(QObject):
    """Turns the API on and off, for one store after another. Lives on the GUI thread.

    Starting and stopping may take seconds: they run on a thread of their own, in the order of the calls. If another
    program uses the port, the start is retried until the port is free.
    `Bridge.server_changed` signals changes of the state.
    """

    def __init__(
        self,
        bridge: Bridge,
        preferences: Preferences,
        port: int,
        create_server: Callable[[ServedStore], StoreServer],
        save_port: Callable[[int], object],
    ) -> None:
        """Use `port` until the user chooses another one, which `save_port` saves."""
        super().__init__()
        self._bridge = bridge
        self._preferences = preferences
        self._save_port = save_port
        #: The port of the next start, and of the server that is on (0: any free one).
        self.port = port
        self._create_server = create_server
        self._store: ServedStore | None = None
        self._server: StoreServer | None = None
        self._failure: ServerError | None = None
        self._worker = bridge.new_worker("server-control")
        self._unsubscribe: Callable[[], None] | None = None
        self._retry_timer = QTimer(self, interval=_RETRY_MS)
        self._retry_timer.timeout.connect(self._retry_port)
        bridge.server_changed.connect(self._on_state_changed)

    @property
    def state(self) -> ServerState:
        """The state of the server; before it is created, the state that it will have."""
        if self._failure is not None:
            return Failed(self._failure, self.port)
        if self._server is not None:
            return self._server.state
        return Starting(self.port) if self._preferences.settings.api_enabled else Off()

    @property
    def activity(self) -> Activity | None:
        """The record of the last requests; None before the server is created."""
        return None if self._server is None else self._server.activity

    def set_on(self, *, is_on: bool) -> None:
        """Call `turn_on` or `turn_off`: a slot for switches."""
        if is_on:
            self.turn_on()
        else:
            self.turn_off()

    def turn_on(self) -> None:
        """Start the server without waiting, and save that later starts of the program start it, too."""
        self._preferences.change(api_enabled=True)
        self._start()

    def turn_off(self) -> None:
        """Stop the server without waiting, and save that later starts of the program leave it off."""
        self._preferences.change(api_enabled=False)
        if self._server is not None:
            server = self._server
            self._worker.run(self, lambda _task: server.stop())
        self._signal_state()

    def set_port(self, port: int, refused: Callable[[Exception], object] | None = None) -> None:
        """Save the port, and serve on it if the API is enabled.

        If the server is on and the port cannot be used, it stays on its port, and `refused` gets the ServerError.
        """
        server = self._server
        if server is not None and isinstance(self.state, On):
            self._worker.run(
                self, lambda _task: server.restart_on(port), lambda _none: self._use_port(port), refused or ignore
            )
            return
        self._use_port(port)
        if not isinstance(self.state, Off):  # another window may have changed whether the next start turns it on
            self._start()

    def _use_port(self, port: int) -> None:
        self.port = port
        self._save_port(port)

    def stop_without_store(self) -> None:
        """Stop the server; its state is Failed with NoOpenStoreError until `serve` is called."""
        self._failure = NoOpenStoreError()
        if (server := self._server) is not None:
            self._worker.run(self, lambda _task: server.stop())
        self._signal_state()

    def serve(self, store: ServedStore) -> None:
        """Stop the server, create one for `store` on the worker, and start it if the API is enabled."""
        previous_server = self._server
        self._server = None
        if previous_server is not None and isinstance(previous_server.state, On):
            self.port = previous_server.state.port  # scripts know it
        if self._unsubscribe is not None:
            self._unsubscribe()
        self._store = store
        self._failure = None
        self._signal_state()

        def replace_server(_task: Task) -> StoreServer:
            if previous_server is not None:
                previous_server.stop()
            return self._create_server(store)

        self._worker.run(self, replace_server, self._on_created, self._on_not_created)

    def close(self) -> None:
        """Stop the server for good, and block until it has answered the accepted requests."""
        if self._unsubscribe is not None:
            self._unsubscribe()
        self._worker.close()
        if self._server is not None:
            self._server.stop()

    def _start(self) -> None:
        if self._server is not None:
            server = self._server
            port = self.port
            self._worker.run(self, lambda _task: server.start(port))
        elif self._store is not None and self._failure is not None:  # the server could not be made: try again
            self.serve(self._store)

    @Slot(object)
    def _on_state_changed(self, state: ServerState) -> None:
        if not isinstance(state, Failed) or not isinstance(state.error, PortTakenError):
            self._retry_timer.stop()
        elif not self._retry_timer.isActive():
            self._retry_timer.start()

    @Slot()
    def _retry_port(self) -> None:
        """Try to serve on the port that another program had; a failure leaves the state as it is."""
        server = self._server
        port = self.port
        if server is not None and self._preferences.settings.api_enabled:
            self._worker.run(self, lambda _task: server.restart_on(port), failed=ignore)

    def _on_created(self, server: StoreServer) -> None:
        self._server = server
        if self._preferences.settings.api_enabled:
            server.start(self.port)  # the first start waits for nothing; listeners must not see the server as off
        self._unsubscribe = server.subscribe(self._bridge.notify_server_state)

    def _on_not_created(self, _error: Exception) -> None:
        self._failure = ServerFailedError(Text("The server could not be started. The reason is in PlantDesk's log."))
        self._signal_state()

    def _signal_state(self) -> None:
        self._bridge.server_changed.emit(self.state)
