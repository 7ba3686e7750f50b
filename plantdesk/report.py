"""What a person can send when something unexpected has happened: what failed, where it ran, and nothing private."""

from __future__ import annotations

import platform
import sqlite3
from datetime import UTC, datetime

from plantdesk import __version__, paths


def report(what: str) -> str:
    """Return a text to send about `what`, a masked line of the log with its traceback. Names no home folder."""
    facts = (
        ("PlantDesk", __version__),
        ("Time", datetime.now(UTC).isoformat(timespec="seconds")),
        ("System", platform.platform()),
        ("Python", platform.python_version()),
        ("SQLite", sqlite3.sqlite_version),
        ("Libraries", _libraries()),
    )
    lines = [f"{name}: {value}" for name, value in facts]
    return "\n".join([*lines, "", _without_home(what)])


def _without_home(text: str) -> str:
    try:
        return text.replace(str(paths.home_folder()), "~")
    except paths.NoHomeFolderError:
        return text


def _libraries() -> str:
    """Name the versions of those that matter, as far as they are installed."""
    from importlib import metadata

    named = []
    for name in ("PySide6-Essentials", "SQLModel", "SQLAlchemy", "pydantic", "starlette", "uvicorn"):
        try:
            named.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:  # a frozen program carries no metadata of some
            continue
    return ", ".join(named)
