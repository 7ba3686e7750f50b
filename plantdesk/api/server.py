"""Starts, monitors and stops the API server, and reports its state to listeners.

    server = Server(store, location, paths.runtime_folder())
    server.start(8721)   # returns at once; subscribed listeners are called with Starting, then On or Failed
    server.stop()        # returns when requests are answered and listeners were called with Off

The states are in `plantdesk.domain.server_state`. All methods may be called from any thread. A listener may call
`stop` (it then returns at once), but not `start`.
"""

from __future__ import annotations

import errno
import logging
import socket
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from plantdesk import DEFAULT_PORT
from plantdesk.api.announcement import Announcement
from plantdesk.api.discovery import ServerIdentity, find_server_on_port, generate_key, proves_key
from plantdesk.api.limits import ConnectionLimits
from plantdesk.api.sockets import listen
from plantdesk.domain.activity import Activity
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.listeners import Listeners
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.protocols import ServedStore
from plantdesk.domain.server_state import (
    Failed,
    NotAnsweringError,
    NotReachableError,
    Off,
    On,
    PortInUseError,
    PortOfPlantDeskError,
    ServerError,
    ServerFailedError,
    ServerState,
    Starting,
    TooFewDescriptorsError,
)
from plantdesk.domain.texts import Text

_log = logging.getLogger(__name__)


class Server:
    """The API server of one store, on the loopback interface."""

    def __init__(
        self,
        store: ServedStore,
        location: StoreLocation,
        runtime_folder: Path,
        *,
        limits: ConnectionLimits | None = None,
        activity: Activity | None = None,
        check_interval: float = 5.0,
    ) -> None:
        """Serve the store at `location`, announced in `runtime_folder` while the server is on.

        `activity` records the requests. Every `check_interval` seconds the server sends itself a request, and checks
        that it is answered within that time.
        """
        self._store = store
        self._location = location
        self._runtime_folder = runtime_folder
        self._limits = limits or ConnectionLimits()
        self._check_interval = check_interval
        #: The last requests, also those before the server was stopped.
        self.activity = activity or Activity()
        self._lock = threading.RLock()  # keeps notifications in order
        self._start_lock = threading.Lock()
        self.state: ServerState = Off()
        self._listeners: Listeners[ServerState] = Listeners()
        self._current_run: _ServerRun | None = None

    def subscribe(self, listener: Callable[[ServerState], None]) -> Callable[[], None]:
        """Call `listener` with the current state, and on the server's thread with each new one.

        It must return quickly. Returns a function that unsubscribes.
        """
        with self._lock:
            unsubscribe = self._listeners.add(listener)
            listener(self.state)
        return unsubscribe

    def start(self, port: int = DEFAULT_PORT) -> None:
        """Start on `port` (0: any free one); a server on another port is stopped first.

        Does nothing when the server is already on `port`. Does not raise: a failure is reported as `Failed`.
        """
        with self._start_lock:
            if isinstance(self.state, On) and port in {0, self.state.port}:
                return
            self.stop()
            run = _ServerRun(lambda run: self._run_server(port, run))
            with self._lock:  # no listener is called before `stop` can find the thread
                run.thread.start()
                self._current_run = run
                self.state = Starting(port)  # a listener that is added from now on is not called with Off

    def restart_on(self, port: int) -> None:
        """Restart on another port, or after a failure. If the port cannot be used, leave the server as it is.

        Raises ServerError.
        """
        if not (isinstance(self.state, On) and port == self.state.port):
            for listener in self._listen(port):
                listener.close()
        self.start(port)

    def wait_until_settled(self, timeout: float | None = None) -> ServerState:
        """Wait until the start has succeeded or failed, and return the state."""
        run = self._current_run
        if run is not None:
            run.settled.wait(timeout)
        return self.state

    def stop(self) -> None:
        """Stop the server and wait for its end, a few seconds at most. Does nothing when it is off."""
        run = self._current_run
        if run is None:
            return
        run.stopping.set()
        if run.thread is not threading.current_thread():
            run.thread.join()

    def _listen(self, port: int) -> list[socket.socket]:
        """Call `listen`, and explain a port in use by another PlantDesk. Raises PortTakenError, ServerFailedError."""
        try:
            return listen(port)
        except PortInUseError as error:
            other_server = find_server_on_port(self._runtime_folder, port)
            if other_server is None:
                raise
            is_same = other_server.database == self._location.url
            raise PortOfPlantDeskError(port, error.free_port, other_server.database, is_same=is_same) from error

    def _run_server(self, port: int, run: _ServerRun) -> None:
        """Start the server, monitor it, and stop it; report a failure as `Failed`."""
        with self._lock:
            self._listeners.notify(self.state)
        try:
            self._serve(port, run)
        except Exception as error:  # noqa: BLE001  top of a thread: reported as Failed
            self._set_state(Failed(_to_server_error(error), port))
        else:
            self._set_state(Off())
        finally:
            run.settled.set()

    def _serve(self, port: int, run: _ServerRun) -> None:
        """Serve on an `ApiThread`, with a runtime file by which scripts find the server, until `run.stopping`."""
        with ExitStack() as stack:
            sockets = [stack.enter_context(listener) for listener in self._listen(port)]
            identity = ServerIdentity(generate_key(), sockets[0].getsockname()[1])
            announcement = Announcement(self._runtime_folder, self._location)
            unix_socket = stack.enter_context(announcement.listen_on_unix_socket())
            sockets += [] if unix_socket is None else [unix_socket]
            from plantdesk.api.api_thread import ApiThread  # importing uvicorn and starlette takes long

            thread = ApiThread(sockets, self._store, identity, self._limits, self.activity)
            thread.start()
            stack.callback(thread.stop)
            stack.callback(announcement.close)
            self._monitor(identity, announcement, run)

    def _monitor(self, identity: ServerIdentity, announcement: Announcement, run: _ServerRun) -> None:
        """Check whether the server answers, report On or Failed, and publish the runtime file, until `run.stopping`."""
        on = On(f"http://127.0.0.1:{identity.port}", identity.port)
        failure: ServerError = NotReachableError()
        while not run.stopping.is_set():
            if proves_key(identity, timeout=self._check_interval):
                failure = NotAnsweringError()
                self._set_state(on)
            else:
                self._set_state(Failed(failure, identity.port))
            announcement.publish(on.url, identity)
            run.settled.set()
            run.stopping.wait(self._check_interval)

    def _set_state(self, state: ServerState) -> None:
        """Notify listeners of `state`, unless it is the current one."""
        with self._lock:
            if self.state == state:
                return
            self.state = state
            self._listeners.notify(state)


class _ServerRun:
    """One run of the server: `stopping` requests its end, `settled` is set when its start has succeeded or failed."""

    def __init__(self, target: Callable[[_ServerRun], None]) -> None:
        self.stopping = threading.Event()
        self.settled = threading.Event()
        self.thread = threading.Thread(target=target, args=(self,), name="server", daemon=True)


def _to_server_error(error: Exception) -> ServerError:
    """Convert an exception into the error that users see; log an unforeseen one."""
    if isinstance(error, ServerError):
        return error
    if isinstance(error, PlantDeskError):
        return ServerFailedError(error.text)
    if isinstance(error, OSError) and error.errno in {errno.EMFILE, errno.ENFILE}:
        return TooFewDescriptorsError()
    _log.error("The server could not be started", exc_info=error)
    return ServerFailedError(Text("The server could not be started. The reason is in PlantDesk's log."))
