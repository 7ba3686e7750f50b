"""`build.py sums`: the file SHA256SUMS over what people download, for `sha256sum --check`."""

from __future__ import annotations

import argparse
import hashlib

import dev
import project

_DOWNLOADS = (".deb", ".rpm", ".tar.gz", ".zip", ".exe", ".dmg", ".cdx.json")


def main(arguments: list[str]) -> None:
    """Write the sums of all packages that there are."""
    argparse.ArgumentParser(prog="build.py sums", description=__doc__).parse_args(arguments)
    files = [file for file in sorted(project.DIST.iterdir()) if file.name.endswith(_DOWNLOADS)]
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (project.DIST / "SHA256SUMS").write_text("".join(lines), encoding="ascii", newline="\n")
    dev.say(f"{project.DIST / 'SHA256SUMS'}: {len(lines)} files")
