"""The contents of the frozen program, for plantdesk.spec, and the limits of the finished bundle."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import dev
import project
from bundle import elf, freeze

if TYPE_CHECKING:
    #: An entry of PyInstaller's tables: destination, source, type.
    Entry = tuple[str, str, str]

_LISTS = tomllib.loads((project.HERE / "bundle" / "contents.toml").read_text(encoding="utf-8"))
#: The languages of PlantDesk, for which Qt's translations are included.
LANGUAGES = ["en", *sorted(file.stem for file in (project.RESOURCES / "languages").glob("*.po"))]
EXCLUDED = [f"{package}.{name}".lstrip(".") for package, names in _LISTS["excluded"].items() for name in names]

# Widgets paint without OpenGL. Of distributions, psycopg reads its version, which SQLAlchemy checks.
_NEVER = re.compile(r"opengl32sw|d3dcompiler|(^|/)(?!psycopg-)[^/]*\.dist-info/", re.IGNORECASE)
#: Files of resources that only installers and translators read.
_NOT_READ = (".icns", ".ico", ".po", ".pot")
_TRANSLATION = re.compile(r"translations/(.+)\.qm$")
_PLUGIN = re.compile(r"PySide6/(?:Qt/)?plugins/([^/]+)/(?:lib)?([^/]+?)\.(?:so|dll|dylib)$")


def keeps_hook(hook: str) -> bool:
    """Return whether to keep a run-time hook of PyInstaller.

    The hook for Qt imports Qt at every start, to set the path of plugins, which Qt finds by itself on Linux.
    """
    return hook not in _LISTS["skipped_hooks"] and not (hook == "pyi_rth_pyside6" and sys.platform.startswith("linux"))


def list_imported_modules() -> list[str]:
    """Return the modules to include, whether PyInstaller finds an import of them or not."""
    by_name = _LISTS["imported_by_name"] + ([] if sys.platform == "linux" else _LISTS["imported_off_linux"])
    return [name for name in project.list_modules() + by_name if name not in EXCLUDED]


def list_data() -> list[tuple[str, str]]:
    """Return the files of resources/ that the program reads, each with its folder in the bundle."""
    return [
        (str(file), str(file.parent.relative_to(project.ROOT)))
        for folder in ("icons", "languages", "manual")
        for file in sorted((project.RESOURCES / folder).rglob("*"))
        if file.is_file() and file.suffix not in _NOT_READ
    ]


def read_host_libraries() -> frozenset[str]:
    """Return the names of the libraries that a bundle for Linux leaves out, as those of the system are used."""
    lines = (project.HERE / "linux" / "host-libraries.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def belongs_in_bundle(entry: Entry, host: frozenset[str] = frozenset()) -> bool:
    """Return whether the program may need an entry: no library of `host`, no unused plugin or language of Qt."""
    destination = entry[0].replace("\\", "/")
    file = PurePosixPath(destination).name
    if file in host or _NEVER.search(destination):
        return False
    if found := _PLUGIN.search(destination):
        return found[2] in _LISTS["plugins"].get(found[1], [])
    if found := _TRANSLATION.search(destination):
        return found[1] in [f"qtbase_{language}" for language in LANGUAGES]
    return True


def drop_unlinked_libraries(entries: Iterable[Entry], imports: Callable[[str], Iterable[str]]) -> list[Entry]:
    """Return the entries without the shared libraries that no other entry links to.

    `imports` returns the libraries that a file links to. Extension modules and Qt's plugins are loaded by name; a
    library is needed if one of them, or another needed library, links to it.
    """
    table = list(entries)
    libraries = {_key(entry[0]): entry for entry in table if _is_library(entry)}
    pending = [entry for entry in table if not _is_library(entry) and entry[2] in ("BINARY", "EXTENSION")]
    reached: set[str] = set()
    while pending:
        for linked in map(_key, imports(pending.pop()[1])):
            if linked in libraries and linked not in reached:
                reached.add(linked)
                pending.append(libraries[linked])
    kept = [entry for entry in table if not _is_library(entry) or _key(entry[0]) in reached]
    targets = {_key(entry[0]) for entry in kept if entry[2] != "SYMLINK"}
    return [entry for entry in kept if entry[2] != "SYMLINK" or _key(entry[1]) in targets]


def _key(path: str) -> str:
    return Path(path.replace("\\", "/")).name.lower()


def _is_library(entry: Entry) -> bool:
    """Return whether an entry is there for linking only: no plugin, no extension module, not Python itself."""
    destination = entry[0].replace("\\", "/")
    is_loaded_by_name = _PLUGIN.search(destination) or re.search(r"(^|/)(lib)?python3|(^|/)Python$", destination)
    return entry[2] == "BINARY" and not is_loaded_by_name


# --- limits of the finished bundle --------------------------------------------------------------

#: Ubuntu 22.04, Debian 12 and Fedora 36 have it; one function of Python requires it.
MAX_GLIBC = (2, 35)
#: MiB of the folder, as du counts.
MAX_FOLDER_SIZE = 155


def check_bundle() -> None:
    """Raise RefusedError if the bundle is too large, or needs a newer glibc than MAX_GLIBC."""
    folder = freeze.ensure_frozen()
    size = freeze.measure_size(folder) / 2**20
    problems = [f"The folder has {size:.1f} MiB; the limit is {MAX_FOLDER_SIZE}."] if size > MAX_FOLDER_SIZE else []
    required = {file: elf.find_required_glibc(file) for file in sorted(folder.rglob("*")) if elf.is_elf(file)}
    problems += [f"{file} requires glibc {version}" for file, version in required.items() if version > MAX_GLIBC]
    if problems:
        raise dev.RefusedError("\n".join(problems))
    dev.say(f"{folder} is within its limits: {size:.1f} MiB, glibc {'.'.join(map(str, max(required.values())))}")
