"""Licences and parts of the frozen program: the notices that go into it, and the SBOM that lies beside the packages.

    python notices.py write FILE             write the notices
    python notices.py sbom FOLDER FILE       write the SBOM of a bundle
    python notices.py check FOLDER           see that somebody's licence is named for each library in a bundle

Runs in the environment that the program is frozen from, for the packages and versions are asked of it.
"""

from __future__ import annotations

import json
import platform
import re
import sqlite3
import ssl
import subprocess
import sys
import tomllib
import zlib
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import project

if TYPE_CHECKING:
    from collections.abc import Callable

LEGAL = Path(__file__).resolve().parent / "legal"
_LICENCE_FILE = re.compile(r"(^|/)(licen[cs]e|copying|notice|authors)[^/]*$", re.IGNORECASE)
#: What a file must match to be a library or program, for which somebody's licence must be named.
BINARY = re.compile(r"\.(so|dll|dylib|pyd|exe)\b|^plantdesk$|/MacOS/|\.framework/")

HEADER = """\
PlantDesk is free software under the MIT licence:

{own}

It contains the following parts that others have made, unchanged. Each is named with its licence and where its source
is; the texts of the licences follow, each once.
"""


class Part(NamedTuple):
    """Something in the program that others have made."""

    name: str
    version: str | None
    licence: str
    copyright: str
    source: str
    note: str
    texts: dict[str, str]
    patterns: tuple[str, ...] = ()
    distribution: str | None = None


# --- libraries in C and C++, from the list kept by hand -----------------------------------------


def listed() -> list[Part]:
    """The parts of legal/notices.toml."""
    entries = tomllib.loads((LEGAL / "notices.toml").read_text(encoding="utf-8"))["part"]
    return [
        Part(
            name=entry["name"],
            version=_version(entry),
            licence=entry["licence"],
            copyright=entry["copyright"],
            source=entry["source"],
            note=entry.get("note", "").strip(),
            texts={name: (LEGAL / f"{name}.txt").read_text(encoding="utf-8") for name in entry["texts"]},
            patterns=tuple(entry["files"]),
        )
        for entry in entries
    ]


def _version(entry: dict[str, str]) -> str | None:
    known: dict[str, Callable[[], str | None]] = {
        "python": platform.python_version,
        "openssl": lambda: ssl.OPENSSL_VERSION.split()[1],
        "sqlite": lambda: sqlite3.sqlite_version,
        "zlib": lambda: zlib.ZLIB_RUNTIME_VERSION,
        "qt": lambda: _distribution_version("PySide6-Essentials"),
        "pyinstaller": lambda: _distribution_version("pyinstaller"),
    }
    if "version" in entry:
        return known[entry["version"]]()
    return _debian_version(entry["debian"]) if "debian" in entry else None


def _distribution_version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _debian_version(package: str) -> str | None:
    try:
        command = ["dpkg-query", "--show", "--showformat", "${Version}", package]
        shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return re.sub(r"^\d+:|[+-].*", "", shown) or None  # upstream's part of it
    except (OSError, subprocess.CalledProcessError):
        return None


# --- Python's packages, which tell it themselves ------------------------------------------------


def packages(root: str = "plantdesk") -> list[Part]:
    """Every distribution that the program needs here, without those that the list above speaks for."""
    found: dict[str, Part] = {}
    waiting = [root]
    while waiting:
        distribution = metadata.distribution(waiting.pop())
        name = distribution.metadata["Name"]
        if name in found:
            continue
        found[name] = _part(distribution)
        waiting += _needs(distribution)
    return [part for name, part in sorted(found.items()) if name not in (root, "PySide6_Essentials", "shiboken6")]


def _needs(distribution: metadata.Distribution) -> list[str]:
    needs = []
    for line in distribution.requires or ():
        name = re.match(r"[\w.-]+", line)
        if name and "extra ==" not in line and _distribution_version(name[0]):  # not here: for another system
            needs.append(name[0])
    return needs


def _part(distribution: metadata.Distribution) -> Part:
    name, about = distribution.metadata["Name"], distribution.metadata
    files = [file for file in distribution.files or () if ".dist-info/" in file.as_posix()]
    texts = [file for file in files if _LICENCE_FILE.search(file.as_posix())]
    return Part(
        name=name,
        version=distribution.version,
        licence="".join(about.get_all("License-Expression") or []) or _old_licence(about.get_all("Classifier") or []),
        copyright="as in its licence",
        source=_home(about),
        note="",
        texts={f"{name} {file.name}": Path(str(file.locate())).read_text(encoding="utf-8") for file in texts},
        patterns=tuple(_folders(distribution)),
        distribution=name,
    )


def _home(about: metadata.PackageMetadata) -> str:
    """Return where its source is, as its makers say: of the pages that they name, the first that fits."""
    pages = [line.partition(", ") for line in about.get_all("Project-URL") or []]
    named = {label.lower(): address for label, _, address in pages if address}
    wanted = ("source", "source code", "repository", "homepage", "code", "github")
    fitting = [named[label] for label in wanted if label in named]
    return next(iter([*fitting, *(about.get_all("Home-page") or []), *named.values()]), "as in its metadata")


def _old_licence(classifiers: list[str]) -> str:
    names = [line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License ::")]
    spdx = {"MIT License": "MIT", "BSD License": "BSD-3-Clause", "Apache Software License": "Apache-2.0"}
    return " OR ".join(spdx.get(name, name) for name in names) or "NOASSERTION"


def _folders(distribution: metadata.Distribution) -> list[str]:
    """What matches the files of its import packages, wherever they are put."""
    tops = {file.parts[0] for file in distribution.files or () if len(file.parts) > 1}
    return [rf"(^|/){re.escape(top)}/" for top in sorted(tops) if re.fullmatch(r"\w+", top)]


# --- what is made of them -----------------------------------------------------------------------


def uncovered(files: list[str], parts: list[Part]) -> list[str]:
    """Return those of the bundle's libraries and programs that no part speaks for."""
    patterns = [re.compile(pattern) for part in parts for pattern in part.patterns]
    return [file for file in files if BINARY.search(file) and not any(each.search(file) for each in patterns)]


def present(files: list[str], parts: list[Part]) -> list[Part]:
    """Return the parts that are in these files; one without files of its own is inside another's."""
    return [
        part
        for part in parts
        if not part.patterns or any(re.search(pattern, file) for pattern in part.patterns for file in files)
    ]


def notices(parts: list[Part], own: str) -> str:
    """Return one text: each part, then each licence's text, once."""
    lines = [HEADER.format(own=own.strip()), ""]
    for part in parts:
        lines += [f"{part.name} {part.version or ''}".rstrip(), f"    Licence: {part.licence}"]
        lines += [f"    Copyright: {part.copyright}", f"    Source: {part.source}"]
        lines += [f"    {line}".rstrip() for line in part.note.splitlines()]
        lines += [f"    Text: {', '.join(part.texts)}" if part.texts else "", ""]
    texts = {name: text for part in parts for name, text in part.texts.items()}
    for name, text in texts.items():
        lines += ["=" * 100, name, "=" * 100, "", text.rstrip(), "", ""]
    return "\n".join(lines)


def sbom(parts: list[Part], name: str, version: str, description: str) -> dict[str, object]:
    """Return a CycloneDX 1.6 document. Own code, for tools that write one know Python's packages only."""
    program = {"type": "application", "bom-ref": name, "name": name, "version": version, "description": description}
    program["licenses"] = [{"license": {"id": "MIT"}}]  # type: ignore[assignment]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": program},
        "components": [_component(part) for part in parts],
        "dependencies": [{"ref": name, "dependsOn": [_reference(part) for part in parts]}],
    }


def _reference(part: Part) -> str:
    if part.distribution:
        return f"pkg:pypi/{part.distribution.lower().replace('_', '-')}@{part.version}"
    return f"pkg:generic/{re.sub(r'[^a-z0-9]+', '-', part.name.lower())}" + (f"@{part.version}" if part.version else "")


def _component(part: Part) -> dict[str, object]:
    component: dict[str, object] = {"type": "library", "bom-ref": _reference(part), "name": part.name}
    if part.version:
        component["version"] = part.version
    single = re.fullmatch(r"[A-Za-z0-9.-]+", part.licence) and not part.licence.startswith("LicenseRef")
    licence = {"license": {"id": part.licence}} if single else {"license": {"name": part.licence}}
    component["licenses"] = [licence]
    component["purl"] = _reference(part)
    component["externalReferences"] = [{"type": "website", "url": part.source}]
    return component


def write(file: Path) -> int:
    """Write the notices."""
    own = (project.ROOT / "LICENSE").read_text(encoding="utf-8")
    return _put(file, notices([*listed(), *packages()], own))


def write_sbom(folder: Path, file: Path) -> int:
    """Write the SBOM of a bundle."""
    parts = [*present(_files(folder), listed()), *packages()]
    document = sbom(parts, project.name(), project.version(), project.description())
    return _put(file, json.dumps(document, indent=2) + "\n")


def check(folder: Path) -> int:
    """Name the libraries in a bundle that nobody's licence is given for; return the exit code."""
    strange = uncovered(_files(folder), [*listed(), *packages()])
    for file in strange:
        print(f"{file}: whose is it? Add it to packaging/bundle/legal/notices.toml.")
    return 1 if strange else 0


def _files(folder: Path) -> list[str]:
    return [file.relative_to(folder).as_posix() for file in sorted(folder.rglob("*")) if file.is_file()]


def _put(file: Path, text: str) -> int:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    commands: dict[str, Callable[..., int]] = {"write": write, "sbom": write_sbom, "check": check}
    sys.exit(commands[sys.argv[1]](*map(Path, sys.argv[2:])))
