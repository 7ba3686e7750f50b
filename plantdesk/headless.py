"""`plantdesk serve`: creates store and server without a window, and closes them in order."""

from __future__ import annotations

import contextlib
import gc
import logging
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from plantdesk.api.server import Server
from plantdesk.domain.activity import Activity
from plantdesk.domain.errors import Text
from plantdesk.domain.server_state import Failed, On, PortTakenError, ServerError, ServerFailedError
from plantdesk.platform import core_dumps, logs, output, paths
from plantdesk.platform.signals import STOP_SIGNALS, signal_socket

if TYPE_CHECKING:
    from plantdesk.domain.activity import Answer
    from plantdesk.domain.locations import StoreLocation
    from plantdesk.domain.protocols import PlantStore

_log = logging.getLogger(__name__)

#: Lines that wait for a slow terminal; further ones are dropped.
_MAX_WAITING = 10_000


def serve(location: StoreLocation, open_store: Callable[[], PlantStore], port: int, *, verbose: bool = False) -> None:
    """Serve until a signal, then answer the accepted requests and close. Call it on the main thread, for its signals.

    Prints one line when connections are accepted; if `verbose`, also one for each request, on standard error.
    Raises StoreError, ServerError, OutputError.
    """
    core_dumps.forbid_tracing()
    with (
        _activity(verbose=verbose) as activity,
        signal_socket(*STOP_SIGNALS) as signals,
        logs.writing_to(paths.log_folder() / "serve.log", console=True),
        contextlib.closing(open_store()) as store,
        _backups(store),
        _running(Server(store, location, paths.runtime_folder(), activity=activity), port) as url,
    ):
        if not isinstance(sys.stdout, output.CapturedOutput):  # shown only at the end
            output.write(f"PlantDesk is listening on {url}")
        _log.info("Listening on %s with %s", url, location.url)
        # A collection of all generations takes 20 ms for the objects of the start alone, and requests wait for it.
        gc.collect()
        gc.freeze()
        _log.info("Stopping because of signal %d", signals.recv(1)[0])


@contextlib.contextmanager
def _activity(*, verbose: bool) -> Iterator[Activity]:
    if not verbose:
        yield Activity()
        return
    with contextlib.closing(_RequestLog()) as log:
        yield Activity(log.add)


@contextlib.contextmanager
def _backups(store: PlantStore) -> Iterator[None]:
    end = store.begin_backups()
    try:
        yield
    finally:
        end()


@contextlib.contextmanager
def _running(server: Server, port: int) -> Iterator[str]:
    server.start(port)
    try:
        match server.settled():
            case On(url=url):
                yield url
            case Failed(error=error):
                raise _with_advice(error)
    finally:
        server.stop()


def _with_advice(error: ServerError) -> ServerError:
    """Add the command for a free port."""
    if not isinstance(error, PortTakenError) or error.free_port is None:
        return error
    text = Text("{reason} To use it: plantdesk serve --port {free_port}", reason=error.text)
    return ServerFailedError(text, free_port=error.free_port)


class _RequestLog:
    """Prints a line for each request on a thread of its own, so that none waits for standard error.

    Never a name, a tag or a token.
    """

    def __init__(self) -> None:
        self._lines: queue.Queue[str | None] = queue.Queue(_MAX_WAITING)
        self._thread = threading.Thread(target=self._run, name="request-log", daemon=True)
        self._thread.start()

    def add(self, answer: Answer) -> None:
        """Print an answer, soon. Any thread."""
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(_request_line(answer))

    def close(self) -> None:
        """Print what waits."""
        self._lines.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            output.report(line)


def _request_line(answer: Answer) -> str:
    """Return time, token, status and reason of an answer, without the contents of a plant."""
    at = datetime.fromtimestamp(answer.at / 1000).astimezone().isoformat(timespec="seconds")
    token = "-" if answer.source is None else repr(answer.source.label)  # on one line, whatever it contains
    added = "Added." if answer.is_new else "This plant was there already."
    reason = added if answer.number is None else answer.number.meaning
    return f"{at} {token} {answer.status} {reason}"
