"""The releases in CHANGELOG.md, and the notes for the page of the newest one."""

from __future__ import annotations

import re
from typing import NamedTuple

import project

_HEADING = re.compile(r"^## \[([^\]]+)\](?: - (\d{4}-\d{2}-\d{2}))?\s*$", re.MULTILINE)


class Release(NamedTuple):
    """A version, its date, and its changes."""

    version: str
    day: str
    text: str


def releases() -> list[Release]:
    """Return the released versions, newest first."""
    parts = _HEADING.split((project.ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))[1:]
    found = zip(parts[0::3], parts[1::3], parts[2::3], strict=True)
    return [Release(version, day, text.strip()) for version, day, text in found if day]


def print_notes() -> None:
    """Print the manual's page of what is new, for the page of the release."""
    _, _, page = (project.RESOURCES / "manual" / "news.md").read_text(encoding="utf-8").partition("\n\n")
    files = f"{project.HOME_PAGE}/blob/v{project.VERSION}"
    print(re.sub(r"\]\((\w+\.md)\)", rf"]({files}/resources/manual/\1)", page))
    print(f"[All changes]({files}/CHANGELOG.md)")
