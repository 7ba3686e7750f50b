"""The server as the rest of the program sees it: on, off, and the truth about it.

    server = Server(store, runtime_file=paths.runtime_file)
    unsubscribe = server.subscribe(listener)   # listener(state), on the server's thread, and once with the state of now
    server.start(8721)                         # returns at once; Starting, then On or Failed, are told
    server.stop()                              # returns when all that was due is answered and Off was told

The states are in `plantdesk.server_state`. `Failed.error.free_port` is the port to offer when the wanted one is taken;
`server.start(port)` moves to another port. Everything may be called from any thread; a listener may call `stop` (which
then returns before the end), but not `start`.
"""

from __future__ import annotations

import logging
import os
import secrets
import threading
from typing import TYPE_CHECKING

from plantdesk import __version__
from plantdesk.api import runtime_file
from plantdesk.api.limits import Limits
from plantdesk.api.listening import listen
from plantdesk.api.probe import instance_at
from plantdesk.api.runtime_file import Runtime
from plantdesk.errors import PlantDeskError
from plantdesk.server_state import (
    Failed,
    NotAnsweringError,
    Off,
    On,
    ServerError,
    ServerFailedError,
    ServerState,
    Starting,
)
from plantdesk.settings import DEFAULT_PORT

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from pathlib import Path

    from plantdesk.api.service import Service
    from plantdesk.store import Store

_log = logging.getLogger(__name__)


class Server:
    """Serves the interface of one store on this machine's loopback."""

    def __init__(self, store: Store, *, runtime_file: Path | None = None, limits: Limits | None = None) -> None:
        """Stay off until `start`; while on, keep `runtime_file` for scripts to find."""
        self._store = store
        self._runtime_file = runtime_file
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
        """Bring the server up, look after it, and take it down."""
        self._tell(Starting(port))
        instance = secrets.token_hex(16)
        try:
            sockets = listen(port)
            port = sockets[0].getsockname()[1]
            service = self._served(sockets, instance)
        except ServerError as error:
            self._tell(Failed(error, port))
            run.settled.set()
            return
        try:
            self._look_after(port, instance, run)
        finally:
            self._forget(instance)
            service.stop()
            run.settled.set()
            self._tell(Off())

    def _served(self, sockets: list[socket.socket], instance: str) -> Service:
        from plantdesk.api.service import Service  # only now: uvicorn and starlette take a while to import

        service = Service(sockets, self._store, instance, self._limits)
        try:
            service.start()
        except PlantDeskError as error:
            raise ServerFailedError(str(error)) from error
        except Exception as error:
            _log.exception("the server could not be started")
            raise ServerFailedError("The server could not be started. PlantDesk's log tells why.") from error
        return service

    def _look_after(self, port: int, instance: str, run: _Run) -> None:
        on = On(f"http://127.0.0.1:{port}", port)
        while not run.stopping.is_set():
            if instance_at(port, within=self._limits.check_within) == instance:
                self._tell(on)
            else:
                self._tell(Failed(NotAnsweringError(), port))
            if not run.settled.is_set():
                self._make_known(on, instance)
                run.settled.set()
            run.stopping.wait(self._limits.check_every)

    def _make_known(self, on: On, instance: str) -> None:
        if self._runtime_file is None:
            return
        runtime = Runtime(on.url, on.port, os.getpid(), str(self._store.path), __version__, instance)
        try:
            runtime_file.write(self._runtime_file, runtime)
        except OSError:
            _log.warning("The file in which scripts find the server could not be written.", exc_info=True)

    def _forget(self, instance: str) -> None:
        if self._runtime_file is not None:
            runtime_file.remove(self._runtime_file, instance)

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
