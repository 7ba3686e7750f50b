"""`plantdesk info`: whether PlantDesk runs, where it listens, and where its data is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from plantdesk import __version__, paths
from plantdesk.api import runtime_file

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.api.runtime_file import Runtime


def run(database: Path, *, as_json: bool) -> int:
    """Print what is known about the PlantDesk that serves `database`, or that none does."""
    found = runtime_file.running(paths.runtime_file())
    runtime = found if found is not None and found.database == str(database) else None
    print(json.dumps(_facts(database, runtime), indent=2) if as_json else _sentences(database, runtime))
    return 0


def _facts(database: Path, runtime: Runtime | None) -> dict[str, object]:
    """Return the same members whether it runs or not, so that a script need not ask twice."""
    return {
        "running": runtime is not None,
        "url": runtime and runtime.url,
        "port": runtime and runtime.port,
        "pid": runtime and runtime.pid,
        "database": str(database),
        "version": runtime.version if runtime else __version__,
    }


def _sentences(database: Path, runtime: Runtime | None) -> str:
    if runtime is None:
        return f"PlantDesk {__version__} is not running.\nDatabase: {database}"
    lines = [f"PlantDesk {runtime.version} is running (process {runtime.pid}).", f"Address: {runtime.url}/plants"]
    return "\n".join([*lines, f"Port: {runtime.port}", f"Database: {database}"])
