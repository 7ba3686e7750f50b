"""The server as the rest of the program sees it: on, off, and the truth about it.

    server = Server(store, runtime_folder=paths.runtime_folder())
    unsubscribe = server.subscribe(listener)   # listener(state), on the server's thread, and once with the state of now
    server.start(8721)                         # returns at once; Starting, then On or Failed, are told
    server.stop()                              # returns when all that was due is answered and Off was told

The states are in `plantdesk.server_state`. `Failed.error.free_port` is the port to offer when the wanted one is taken;
`server.start(port)` moves to another port. Everything may be called from any thread; a listener may call `stop` (which
then returns before the end), but not `start`.
"""

from __future__ import annotations

import errno
import logging
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING

from plantdesk.api.discovery.announcement import Announcement
from plantdesk.api.discovery.server_identity import Identity, is_running, new_key
from plantdesk.api.limits import Limits
from plantdesk.api.sockets import listen
from plantdesk.errors import PlantDeskError
from plantdesk.server_state import (
    Failed,
    NotAnsweringError,
    NotReachableError,
    Off,
    On,
    ServerError,
    ServerFailedError,
    ServerState,
    Starting,
    TooFewDescriptorsError,
)
from plantdesk.settings import DEFAULT_PORT

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from pathlib import Path

    from plantdesk.api.api_thread import Service
    from plantdesk.store import Store

_log = logging.getLogger(__name__)


class Server:
    """Serves the interface of one store on this machine's loopback."""

    def __init__(self, store: Store, *, runtime_folder: Path | None = None, limits: Limits | None = None) -> None:
        """Stay off until `start`; while on, be known to scripts in `runtime_folder`."""
        self._store = store
        self._runtime_folder = runtime_folder
        self._limits = limits or Limits()
        self._lock = threading.RLock()  # of state and listeners
        self._starting = threading.Lock()
        self._state: ServerState = Off()
        self._listeners: tuple[Callable[[ServerState], None], ...] = ()
        self._run: _Run | None = None

    @property
    def state(self) -> ServerState:
        """What the server is doing now."""
        return self._state

    def subscribe(self, listener: Callable[[ServerState], None]) -> Callable[[], None]:
        """Call `listener` with the state of now, and on the server's thread with each new one.

        It must be quick. Returns the function that ends the subscription.
        """
        with self._lock:
            self._listeners = (*self._listeners, listener)
            listener(self._state)

        def unsubscribe() -> None:
            with self._lock:
                self._listeners = tuple(each for each in self._listeners if each is not listener)

        return unsubscribe

    def start(self, port: int = DEFAULT_PORT) -> None:
        """Begin to serve on `port` (0: any free one); a server on another port is stopped first.

        Does nothing when the server is on `port` already. Never raises: what goes wrong is told as Failed.
        """
        with self._starting:
            if isinstance(self._state, On) and port in {0, self._state.port}:
                return
            self.stop()
            run = _Run(lambda run: self._keep(port, run))
            with self._lock:  # so that nothing is told before `stop` finds a thread that runs
                run.thread.start()
                self._run = run

    def settled(self, timeout: float | None = None) -> ServerState:
        """Wait until the start has ended well or badly, and return the state of then."""
        run = self._run
        if run is not None:
            run.settled.wait(timeout)
        return self._state

    def stop(self) -> None:
        """End the server and wait for its end: a few seconds at most. May be called again, and when it is off."""
        run = self._run
        if run is None:
            return
        run.stopping.set()
        if run.thread is not threading.current_thread():
            run.thread.join()

    # --- on the server's thread ----------------------------------------------------------------------------------

    def _keep(self, port: int, run: _Run) -> None:
        """Bring the server up, look after it, and take it down; whatever goes wrong is reported as Failed."""
        self._tell(Starting(port))
        try:
            self._serve(port, run)
        except Exception as error:  # noqa: BLE001  the top of the thread: `_failure` logs what nobody foresaw
            self._tell(Failed(_failure(error), port))
        else:
            self._tell(Off())
        finally:
            run.settled.set()

    def _serve(self, port: int, run: _Run) -> None:
        with ExitStack() as stack:
            sockets = [stack.enter_context(listener) for listener in listen(port)]
            identity = Identity(new_key(), sockets[0].getsockname()[1])
            announcement = None
            if self._runtime_folder is not None:
                announcement = Announcement(self._runtime_folder, self._store.path)
                sockets += stack.enter_context(announcement.local_socket())
            service = self._service(sockets, identity)
            service.start()
            stack.callback(service.stop)
            if announcement is not None:
                stack.callback(announcement.withdraw)
            self._look_after(identity, announcement, run)

    def _service(self, sockets: list[socket.socket], identity: Identity) -> Service:
        from plantdesk.api.api_thread import Service  # only now: uvicorn and starlette take a while to import

        return Service(sockets, self._store, identity, self._limits)

    def _look_after(self, identity: Identity, announcement: Announcement | None, run: _Run) -> None:
        on = On(f"http://127.0.0.1:{identity.port}", identity.port)
        fault: ServerError = NotReachableError()
        while not run.stopping.is_set():
            if is_running(identity, within=self._limits.check_within):
                fault = NotAnsweringError()
                self._tell(on)
            else:
                self._tell(Failed(fault, identity.port))
            if announcement is not None:
                announcement.keep(on.url, identity)
            run.settled.set()
            run.stopping.wait(self._limits.check_every)

    def _tell(self, state: ServerState) -> None:
        """Tell a new state, in order; nothing when it is that of before."""
        with self._lock:
            if self._state == state:
                return
            self._state = state
            for listener in self._listeners:
                try:
                    listener(state)
                except Exception:  # noqa: BLE001  a listener's defect must not stop the server
                    _log.exception("a listener to the server failed")


class _Run:
    """One time of being on: `stopping` asks for its end, `settled` tells that its start has ended."""

    def __init__(self, keep: Callable[[_Run], None]) -> None:
        self.stopping = threading.Event()
        self.settled = threading.Event()
        self.thread = threading.Thread(target=keep, args=(self,), name="server", daemon=True)


def _failure(error: Exception) -> ServerError:
    """Return why the server is not there, in words for its user; what nobody foresaw is logged."""
    if isinstance(error, ServerError):
        return error
    if isinstance(error, PlantDeskError):
        return ServerFailedError(str(error))
    if isinstance(error, OSError) and error.errno in {errno.EMFILE, errno.ENFILE}:
        return TooFewDescriptorsError()
    _log.error("The server could not be started", exc_info=error)
    return ServerFailedError("The server could not be started. PlantDesk's log says why.")
