"""What CHANGELOG.md tells of the versions: the text of a release is nowhere else."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

import project

_HEADING = re.compile(r"^## \[([^\]]+)\](?: - (\d{4}-\d{2}-\d{2}))?\s*$", re.MULTILINE)


class Release(NamedTuple):
    """One version, its day, and what is new."""

    version: str
    day: str
    text: str


def releases() -> list[Release]:
    """Return the versions, newest first; what is not released yet is none."""
    parts = _HEADING.split((project.ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))[1:]
    found = zip(parts[0::3], parts[1::3], parts[2::3], strict=True)
    return [Release(version, day, text.strip()) for version, day, text in found if day]


def newest() -> str:
    """Return what is new in the newest version: the text of its release."""
    return releases()[0].text


if __name__ == "__main__":
    print(newest())
