"""What a release is published with: the notes for its page, the changes for packages, and SHA256SUMS."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple

import dev
import project

if TYPE_CHECKING:
    from pathlib import Path

_HEADING = re.compile(r"^## \[([^\]]+)\](?: - (\d{4}-\d{2}-\d{2}))?\s*$", re.MULTILINE)
_DOWNLOADS = (".deb", ".rpm", ".tar.gz", ".zip", ".exe", ".dmg", ".cdx.json")


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


def print_notes(*, tag: str | None = None) -> None:
    """Print the manual's page of what is new. With a tag, print nothing, and raise RefusedError if it does not fit."""
    newest = releases()[0]
    if tag is None:
        _, _, page = (project.RESOURCES / "manual" / "news.md").read_text(encoding="utf-8").partition("\n\n")
        files = f"{project.HOME_PAGE}/blob/v{project.VERSION}"
        print(re.sub(r"\]\((\w+\.md)\)", rf"]({files}/resources/manual/\1)", page))
        print(f"[All changes]({files}/CHANGELOG.md)")
    elif not tag == f"v{project.VERSION}" == f"v{newest.version}":
        raise dev.RefusedError(
            f"The tag is {tag}, the version {project.VERSION}, the newest in CHANGELOG.md {newest.version}."
        )


def sha256(file: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def write_sums() -> None:
    """Write SHA256SUMS for `sha256sum --check`."""
    files = [file for file in sorted(project.DIST.iterdir()) if file.name.endswith(_DOWNLOADS)]
    lines = [f"{sha256(file)}  {file.name}\n" for file in files]
    (project.DIST / "SHA256SUMS").write_text("".join(lines), encoding="ascii", newline="\n")
    dev.say(f"{project.DIST / 'SHA256SUMS'}: {len(lines)} files")
