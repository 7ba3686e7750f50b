"""`plantdesk info`: whether a server of a store runs, and where. Imports no SQLModel, as it opens no store."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

from plantdesk import __version__
from plantdesk.api.discovery import Runtime, find_server, list_served_databases
from plantdesk.platform import output, paths

if TYPE_CHECKING:
    from plantdesk.domain.locations import StoreLocation

#: The exit code when no server of the store runs.
NOT_RUNNING_EXIT_CODE = 3
_POLL_INTERVAL = 0.1


def info(options: argparse.Namespace) -> int:
    """Print the state of the store's server, after waiting up to --wait seconds; return 0 or NOT_RUNNING_EXIT_CODE."""
    database: StoreLocation = options.database
    runtime = _wait_for_server(database, time.monotonic() + options.wait)
    output.write(
        json.dumps(_server_as_json(database, runtime), indent=2) if options.json else _format_server(database, runtime)
    )
    return NOT_RUNNING_EXIT_CODE if runtime is None else 0


def _wait_for_server(database: StoreLocation, deadline: float) -> Runtime | None:
    while (runtime := find_server(paths.runtime_folder(), database)) is None:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            return None
        time.sleep(min(_POLL_INTERVAL, remaining))
    return runtime


def _server_as_json(database: StoreLocation, runtime: Runtime | None) -> dict[str, object]:
    """Return a JSON object with the same members whether the server runs or not, so that scripts need no check."""
    return {
        "running": runtime is not None,
        "url": runtime and runtime.url,
        "port": runtime and runtime.port,
        "socket": runtime and _find_socket(runtime),
        "pid": runtime and runtime.pid,
        "database": database.url,
        "version": runtime.version if runtime else __version__,
    }


def _format_server(database: StoreLocation, runtime: Runtime | None) -> str:
    if runtime is None:
        lines = [f"PlantDesk {__version__}: the API is not running.", f"Database: {database.url}"]
        # A user may ask without --database while the window shows another store.
        others = list_served_databases(paths.runtime_folder())
        return "\n".join([*lines, *(f"It runs with another one, for --database: {url}" for url in others)])
    lines = [f"PlantDesk {runtime.version}: the API is running (process {runtime.pid})."]
    lines += [f"Address: {runtime.url}/plants", f"Port: {runtime.port}"]
    if _find_socket(runtime):
        lines.append(f"Unix socket: {runtime.socket}")
    return "\n".join([*lines, f"Database: {database.url}"])


def _find_socket(runtime: Runtime) -> str | None:
    return runtime.socket if runtime.socket and Path(runtime.socket).exists() else None
