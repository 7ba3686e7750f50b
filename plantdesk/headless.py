"""The root of `plantdesk serve`: store and server, put together without a window, and the order of their end."""

from __future__ import annotations

import contextlib
import logging
import queue
import signal
import sys
from typing import TYPE_CHECKING

from plantdesk import core_dumps, logs, no_console, output, paths
from plantdesk.api.discovery import runtime_file
from plantdesk.api.server import Server
from plantdesk.server_state import Failed, On, PortTakenError, ServerError, ServerFailedError
from plantdesk.store import AutomaticBackups, Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

logger = logging.getLogger(__name__)

_END_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK")  # the last one is Windows'
_POLL_INTERVAL = 0.5


def serve(database: Path, port: int) -> None:
    """Serve until a signal asks for the end, then answer what was accepted, and close.

    Prints one line when connections are taken. Runs on the main thread, for only there do signals arrive.
    Raises StoreError, ServerError, OutputError.
    """
    core_dumps.forbid_tracing()
    with (
        _end_signals() as end,
        logs.writing_to(paths.log_folder() / "serve.log", console=True),
        contextlib.closing(Store(database)) as store,
        contextlib.closing(AutomaticBackups(store.file)),
        _running(Server(store, runtime_folder=paths.runtime_folder()), port) as url,
    ):
        if not isinstance(sys.stdout, no_console.Answer):  # a box at the end would tell of what is over
            output.write(f"PlantDesk is listening on {url}")
        logger.info("Listening on %s with %s", url, database)
        logger.info("Asked to end by signal %d", _next(end))


@contextlib.contextmanager
def _running(server: Server, port: int) -> Iterator[str]:
    server.start(port)
    try:
        state = server.settled()
        if isinstance(state, Failed):
            raise _with_advice(state.error, port)
        assert isinstance(state, On)  # noqa: S101 - a start that has settled ended well or badly
        yield state.url
    finally:
        server.stop()


def _with_advice(error: ServerError, port: int) -> ServerError:
    """Add what to type, and whether it is PlantDesk itself that has the port."""
    if not isinstance(error, PortTakenError) or error.free_port is None:
        return error
    other = runtime_file.find_server_on_port(paths.runtime_folder(), port)
    if other is not None:
        reason = f"PlantDesk is running on port {port} already, with {other.database}. To run another:"
    else:
        reason = f"{error} To use it:"
    return ServerFailedError(f"{reason} plantdesk serve --port {error.free_port}")


@contextlib.contextmanager
def _end_signals() -> Iterator[queue.SimpleQueue[int]]:
    """Put the signals that ask for the end into a queue. A SimpleQueue, as its put may interrupt its own get.

    A signal that is ignored at the start stays so: nohup and shells do that for what is to outlive them.
    """
    asked: queue.SimpleQueue[int] = queue.SimpleQueue()
    known = [getattr(signal, name) for name in _END_SIGNALS if hasattr(signal, name)]
    wanted = [number for number in known if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, lambda got, _frame: asked.put(got)) for number in wanted}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _next(asked: queue.SimpleQueue[int]) -> int:
    while True:
        with contextlib.suppress(queue.Empty):
            return asked.get(timeout=_POLL_INTERVAL)  # on Windows a wait without an end would not notice Ctrl+C
