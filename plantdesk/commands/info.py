"""`plantdesk info`: whether PlantDesk runs, where it listens, and where its data is. Creates nothing."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

from plantdesk import __version__, output, paths
from plantdesk.api.discovery import runtime_file

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.api.discovery.runtime_file import Runtime

#: The exit code when no server of the store runs.
NOT_RUNNING = 3
_POLL_INTERVAL = 0.1


def run(database: Path, *, as_json: bool, wait: float) -> int:
    """Print what is known about the server of `database`; return 0 when it runs, NOT_RUNNING when none does.

    Waits up to `wait` seconds for one.
    """
    runtime = _found(database, time.monotonic() + wait)
    output.write(json.dumps(_facts(database, runtime), indent=2) if as_json else _sentences(database, runtime))
    return NOT_RUNNING if runtime is None else 0


def _found(database: Path, deadline: float) -> Runtime | None:
    while (runtime := runtime_file.find_server(paths.runtime_folder(), database)) is None:
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        time.sleep(min(_POLL_INTERVAL, left))
    return runtime


def _facts(database: Path, runtime: Runtime | None) -> dict[str, object]:
    """Return the same members whether it runs or not, so that a script need not test for them."""
    return {
        "running": runtime is not None,
        "url": runtime and runtime.url,
        "port": runtime and runtime.port,
        "socket": runtime and _socket(runtime),
        "pid": runtime and runtime.pid,
        "database": str(database),
        "version": runtime.version if runtime else __version__,
    }


def _sentences(database: Path, runtime: Runtime | None) -> str:
    if runtime is None:
        return f"PlantDesk {__version__} is not running.\nDatabase: {database}"
    lines = [f"PlantDesk {runtime.version} is running (process {runtime.pid}).", f"Address: {runtime.url}/plants"]
    lines.append(f"Port: {runtime.port}")
    if _socket(runtime):
        lines.append(f"Unix socket: {runtime.socket}")
    return "\n".join([*lines, f"Database: {database}"])


def _socket(runtime: Runtime) -> str | None:
    return runtime.socket if runtime.socket and os.path.exists(runtime.socket) else None  # noqa: PTH110
