"""The text of a bug report: the error, versions and the system, without private data."""

from __future__ import annotations

import platform
import sqlite3
from datetime import UTC, datetime

from plantdesk import __version__
from plantdesk.platform import paths


def bug_report(error: str) -> str:
    """Return the report of `error`, a masked log record with its traceback; the home folder becomes `~`."""
    facts = [("Time", datetime.now(UTC).isoformat(timespec="seconds")), *system_facts()]
    lines = [f"{name}: {value}" for name, value in facts]
    return "\n".join([*lines, "", _without_home(error)])


def system_facts() -> list[tuple[str, str]]:
    """Return names and values: the versions of PlantDesk, of the system and of the main libraries."""
    return [
        ("PlantDesk", __version__),
        ("System", platform.platform()),
        ("Python", platform.python_version()),
        ("SQLite", sqlite3.sqlite_version),
        ("Libraries", _libraries()),
    ]


def _without_home(text: str) -> str:
    try:
        return text.replace(str(paths.home_folder()), "~")
    except paths.NoHomeFolderError:
        return text


def _libraries() -> str:
    """Return names and versions of the main libraries that have metadata."""
    from importlib import metadata

    named = []
    for name in ("PySide6-Essentials", "SQLModel", "SQLAlchemy", "pydantic", "starlette", "uvicorn"):
        try:
            named.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:  # a frozen program has the metadata of some only
            continue
    return ", ".join(named)
