"""The window (`plantdesk` without a command), the small one (`quick`), and the API without one (`serve`)."""

from __future__ import annotations

import gc
import signal
from typing import TYPE_CHECKING

from plantdesk.platform import display, paths, settings
from plantdesk.platform.window_requests import WindowRequest, activation_token, send_request, socket_name, window_key
from plantdesk.store import remembered_location

if TYPE_CHECKING:
    import argparse

    from plantdesk.domain.locations import StoreLocation


def window(options: argparse.Namespace) -> int:
    """Open the window; return the exit code when it is closed. Raises PlantDeskError if it cannot open."""
    return open_window(options.database, options.port, background=bool(options.background))


def open_window(
    database: StoreLocation, port: int | None, request: WindowRequest | None = None, *, background: bool = False
) -> int:
    """Open the window of a store; return the exit code when it is closed. Raises PlantDeskError."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # KeyboardInterrupt in an import of Qt leaves an incomplete window. `signal_socket` handles the signal later.
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    display.check_display()  # before the first import of Qt, which may fail for want of a library
    gc.disable()  # it delays the first paint; `GarbageCollector` collects from then on
    from plantdesk import desktop

    token = activation_token()
    request = (request or WindowRequest())._replace(token=token)
    return desktop.run(database, port, request, background=background)


def quick(options: argparse.Namespace) -> int:
    """Let a running PlantDesk show the small window that adds a plant, else start one. Raises PlantDeskError."""
    location = remembered_location(options.database, settings.read_saved())
    name = socket_name(window_key(location.key), paths.path_or_none(paths.data_folder))
    if send_request(name, WindowRequest(quick=True, token=activation_token())):
        return 0
    return open_window(location, None if options.database.is_own else 0, WindowRequest(quick=True))


def serve(options: argparse.Namespace) -> int:
    """Serve the API until a signal, on --port or the port of the settings. Raises StoreError, ServerError."""
    from plantdesk import headless

    port = settings.load(paths.settings_file()).port if options.port is None else options.port
    headless.serve(options.database, port, verbose=options.verbose)
    return 0
