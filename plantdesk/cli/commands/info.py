"""`plantdesk info`: shows whether PlantDesk runs, its address and its database. Creates nothing."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

from plantdesk import __version__
from plantdesk.api.discovery import runtime_file
from plantdesk.platform import output, paths

if TYPE_CHECKING:
    from plantdesk.api.discovery.runtime_file import Runtime
    from plantdesk.domain.locations import StoreLocation

#: The exit code where no server of the store runs.
NOT_RUNNING = 3
_POLL_INTERVAL = 0.1


def run(database: StoreLocation, *, as_json: bool, wait: float) -> int:
    """Print the state of the server of `database`, after waiting up to `wait` seconds for one.

    Returns 0, or NOT_RUNNING where none runs.
    """
    runtime = _wait_for_server(database, time.monotonic() + wait)
    output.write(json.dumps(_facts(database, runtime), indent=2) if as_json else _text(database, runtime))
    return NOT_RUNNING if runtime is None else 0


def _wait_for_server(database: StoreLocation, deadline: float) -> Runtime | None:
    while (runtime := runtime_file.find_server(paths.runtime_folder(), database)) is None:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            return None
        time.sleep(min(_POLL_INTERVAL, remaining))
    return runtime


def _facts(database: StoreLocation, runtime: Runtime | None) -> dict[str, object]:
    """Return the same members whether it runs or not, for scripts."""
    return {
        "running": runtime is not None,
        "url": runtime and runtime.url,
        "port": runtime and runtime.port,
        "socket": runtime and _socket(runtime),
        "pid": runtime and runtime.pid,
        "database": database.url,
        "version": runtime.version if runtime else __version__,
    }


def _text(database: StoreLocation, runtime: Runtime | None) -> str:
    if runtime is None:
        return f"PlantDesk {__version__} is not running.\nDatabase: {database.url}"
    lines = [f"PlantDesk {runtime.version} is running (process {runtime.pid}).", f"Address: {runtime.url}/plants"]
    lines.append(f"Port: {runtime.port}")
    if _socket(runtime):
        lines.append(f"Unix socket: {runtime.socket}")
    return "\n".join([*lines, f"Database: {database.url}"])


def _socket(runtime: Runtime) -> str | None:
    return runtime.socket if runtime.socket and Path(runtime.socket).exists() else None
