"""`runtime.json`: where scripts find the running PlantDesk. It never holds a token."""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING, NamedTuple

from plantdesk import replacing
from plantdesk.api.probe import instance_at

if TYPE_CHECKING:
    from pathlib import Path


class Runtime(NamedTuple):
    """A server that runs, or ran."""

    url: str
    port: int
    pid: int
    database: str
    version: str
    instance: str


def write(path: Path, runtime: Runtime) -> None:
    """Put the file in place at once as a whole, readable for its owner only. Raises OSError."""
    draft = path.with_name(f".{path.name}.{runtime.instance}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(runtime._asdict(), file, indent=2)
        file.write("\n")
    replacing.put(draft, path)


def remove(path: Path, instance: str) -> None:
    """Remove the file if it is that of `instance`; a later server's stays."""
    found = _read(path)
    if found is not None and found.instance == instance:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def running(path: Path) -> Runtime | None:
    """Return the server that the file tells of if it really runs, None when there is none or the file is stale.

    Asks the server itself, for at most a second: a process id may belong to another program by now.
    """
    found = _read(path)
    if found is None or instance_at(found.port, within=1.0) != found.instance:
        return None
    return found


def _read(path: Path) -> Runtime | None:
    try:
        fields = json.loads(path.read_bytes())
        return Runtime(**{name: kind(fields[name]) for name, kind in _KINDS.items()})
    except (OSError, ValueError, TypeError, KeyError):
        return None


_KINDS = {"url": str, "port": int, "pid": int, "database": str, "version": str, "instance": str}
