"""`plantdesk serve`: creates store and server without a window, and closes them in order."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from plantdesk.api.server import Server
from plantdesk.domain.activity import Activity, ActivityEntry
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.server_state import Failed, On, PortTakenError, ServerError, ServerFailedError
from plantdesk.domain.texts import Text
from plantdesk.platform import logs, output, paths, process
from plantdesk.platform.process import STOP_SIGNALS, signal_socket

_log = logging.getLogger(__name__)


def serve(location: StoreLocation, port: int, *, verbose: bool = False) -> None:
    """Serve until a signal, then answer the accepted requests and close. Call it on the main thread, for its signals.

    Prints one line when connections are accepted; if `verbose`, also one for each request, on standard error.
    Raises StoreError, ServerError, OutputError.
    """
    process.forbid_tracing()
    with (
        ThreadPoolExecutor(1, "request-log") as log,  # no request waits for standard error
        signal_socket(*STOP_SIGNALS) as signals,
        logs.log_to(paths.log_folder() / "serve.log", console=True),
        contextlib.closing(location.open()) as store,
        contextlib.ExitStack() as stack,
    ):
        stack.callback(store.begin_backups())
        activity = Activity((lambda entry: log.submit(output.report, _format_request(entry))) if verbose else None)
        server = Server(store, location, paths.runtime_folder(), activity=activity)
        url = stack.enter_context(_run_server(server, port))
        if not isinstance(sys.stdout, output.CapturedOutput):  # shown only at the end
            output.write(f"PlantDesk is listening on {url}")
        _log.info("Listening on %s with %s", url, location.url)
        _log.info("Stopping because of signal %d", signals.recv(1)[0])


@contextlib.contextmanager
def _run_server(server: Server, port: int) -> Iterator[str]:
    server.start(port)
    try:
        match server.wait_until_settled():
            case On(url=url):
                yield url
            case Failed(error=error):
                raise _with_advice(error)
    finally:
        server.stop()


def _with_advice(error: ServerError) -> ServerError:
    """Add to the error of a taken port the command that serves on a free one; return other errors unchanged."""
    if not isinstance(error, PortTakenError) or error.free_port is None:
        return error
    text = Text("{reason} To use it: plantdesk serve --port {free_port}", reason=error.text)
    return ServerFailedError(text, free_port=error.free_port)


def _format_request(entry: ActivityEntry) -> str:
    """Return time, token name, status and reason of an entry: never a plant's name or tag, or the token."""
    time = datetime.fromtimestamp(entry.at / 1000).astimezone().isoformat(timespec="seconds")
    token = "-" if entry.source is None else repr(entry.source.label)  # on one line, whatever it contains
    added = "Added." if entry.is_new else "This plant was there already."
    reason = added if entry.number is None else entry.number.meaning
    return f"{time} {token} {entry.status} {reason}"
