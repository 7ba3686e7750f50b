"""What CHANGELOG.md tells of the versions: the text of a release is nowhere else."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

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


def disagreement(tag: str) -> str | None:
    """Say why a tag is not that of the newest version, None when it is."""
    version, changed = project.version(), releases()[0].version if releases() else "nothing"
    if tag == f"v{version}" and changed == version:
        return None
    return f"The tag is {tag}, the program's version {version}, the newest in CHANGELOG.md {changed}."


def main() -> int:
    """Print the text of the newest release, or with --tag TAG see whether all agree on its version."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tag", help="see that this is the newest version's tag, and print nothing")
    tag = parser.parse_args().tag
    if tag is None:
        print(newest())
    elif wrong := disagreement(tag):
        print(wrong, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
