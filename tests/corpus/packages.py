"""Fetches packages by the clients of their registries, and takes files out of them."""

import subprocess
import sys
import tarfile
from pathlib import Path
from typing import NamedTuple

#: Fetched packages, unpacked.
CACHE = Path(__file__).parents[2] / ".dev" / "corpus"
_TIMEOUT = 300
#: The environment of the tests has no pip of its own.
_PIP = (sys._base_executable, "-m", "pip")  # type: ignore[attr-defined]  # noqa: SLF001


class Package(NamedTuple):
    """A package of a registry: `pypi` (its source distribution), `npm` or `debian`."""

    registry: str
    name: str
    version: str


class UnreachableError(Exception):
    """A package cannot be fetched: its registry, or the client, is not there, or has another version."""


def unpacked(package: Package) -> Path:
    """Return the folder with the files of a package, which is fetched once. Raises UnreachableError."""
    folder = CACHE / "-".join(package).replace("/", "+")
    done = folder / ".done"
    if not done.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        _fetch(package, folder)
        done.touch()
    return folder


def _fetch(package: Package, folder: Path) -> None:
    _, name, version = package
    commands = {
        "pypi": [*_PIP, "download", "-q", "--no-deps", "--no-binary", ":all:", f"{name}=={version}"],
        "npm": ["npm", "pack", "--silent", f"{name}@{version}"],
        "debian": ["apt-get", "download", f"{name}={version}"],
    }
    try:
        subprocess.run(commands[package.registry], cwd=folder, check=True, capture_output=True, timeout=_TIMEOUT)
    except (OSError, subprocess.SubprocessError) as error:
        raise UnreachableError(f"{' '.join(package)}: {error}") from error
    for file in [*folder.glob("*.tar.gz"), *folder.glob("*.tgz")]:
        with tarfile.open(file) as archive:
            # Python before 3.11.4 has no filters; the archives are those of registries, pinned.
            archive.extraction_filter = getattr(tarfile, "data_filter", None)
            archive.extractall(folder)  # noqa: S202
    for file in folder.glob("*.deb"):
        subprocess.run(["dpkg-deb", "--extract", str(file), str(folder)], check=True)
