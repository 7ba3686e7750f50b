"""Licences and parts of the frozen program: the notices in it, and the SBOM beside the packages.

Runs in the environment that the program is frozen from, whose packages and versions it reads.
"""

from __future__ import annotations

import json
import platform
import re
import sqlite3
import ssl
import subprocess
import tomllib
import zlib
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import dev
import pins
import project

LEGAL = project.HERE / "bundle" / "legal"
_LICENCE_FILE = re.compile(r"(^|/)(licen[cs]e|copying|notice|authors)[^/]*$", re.IGNORECASE)
#: Libraries and programs, which need a licence.
BINARY = re.compile(r"\.(so|dll|dylib|pyd|exe)\b|^plantdesk$|/MacOS/|\.framework/")
HEADER = """\
PlantDesk is free software under the MIT licence:

{own}

It contains the following parts by others, unchanged. Each is named with its licence and where its source is; the texts
of the licences follow, each once.
"""


class Part(NamedTuple):
    """A library or package by others in the program; `texts` are its licences, `patterns` match its files."""

    name: str
    version: str | None
    licence: str
    source: str
    texts: dict[str, str]
    patterns: tuple[str, ...]
    copyright: str = "as in its licence"
    note: str = ""
    distribution: str | None = None


# --- libraries in C and C++, from legal/notices.toml --------------------------------------------


def read_libraries() -> list[Part]:
    """Return the parts of legal/notices.toml, with their versions here and the texts of their licences."""
    entries = tomllib.loads((LEGAL / "notices.toml").read_text(encoding="utf-8"))["part"]
    for entry in entries:
        entry["version"] = _version(entry)
        entry["texts"] = {name: (LEGAL / f"{name}.txt").read_text(encoding="utf-8") for name in entry["texts"]}
        entry["patterns"] = tuple(entry.pop("files"))
        entry.pop("debian", None)
    return [Part(**entry) for entry in entries]


def _version(entry: dict[str, str]) -> str | None:
    if "debian" in entry:
        return _debian_version(entry["debian"])
    known = {
        "python": platform.python_version(),
        "openssl": ssl.OPENSSL_VERSION.split()[1],
        "sqlite": sqlite3.sqlite_version,
        "zlib": zlib.ZLIB_RUNTIME_VERSION,
        "qt": _distribution_version("PySide6-Essentials"),
        "pyinstaller": _distribution_version("pyinstaller"),
    }
    return known[entry["version"]] if "version" in entry else None


def _distribution_version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _debian_version(package: str) -> str | None:
    command = ["dpkg-query", "--show", "--showformat", "${Version}", package]
    try:
        shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return re.sub(r"^\d+:|[+-].*", "", shown) or None  # upstream's part of it


# --- Python packages, from their metadata -------------------------------------------------------


def list_packages() -> list[Part]:
    """Return the pinned distributions that are here, except those in legal/notices.toml and those left out."""
    lists = tomllib.loads((project.HERE / "bundle" / "contents.toml").read_text(encoding="utf-8"))
    others = {*lists["excluded"][""], "pyside6_essentials", "shiboken6"}
    pinned = re.findall(r"^([\w-]+)==", (pins.HASHES / "run.txt").read_text(encoding="utf-8"), re.MULTILINE)
    names = [name for name in pinned if name.replace("-", "_") not in others and _distribution_version(name)]
    return [_part(metadata.distribution(name)) for name in dict.fromkeys(names)]


def _part(distribution: metadata.Distribution) -> Part:
    """Return the part that an installed Python package is, with the licences in its metadata."""
    name, about = distribution.metadata["Name"], distribution.metadata
    files = distribution.files or ()
    texts = [file for file in files if ".dist-info/" in file.as_posix() and _LICENCE_FILE.search(file.as_posix())]
    folders = {file.parts[0] for file in files if len(file.parts) > 1}
    return Part(
        name=name,
        version=distribution.version,
        licence="".join(about.get_all("License-Expression") or []) or _old_licence(about.get_all("Classifier") or []),
        source=f"https://pypi.org/project/{name}/{distribution.version}/",
        texts={f"{name} {file.name}": Path(str(file.locate())).read_text(encoding="utf-8") for file in texts},
        patterns=tuple(rf"(^|/){re.escape(folder)}/" for folder in sorted(folders) if re.fullmatch(r"\w+", folder)),
        distribution=name,
    )


def _old_licence(classifiers: list[str]) -> str:
    names = [line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License ::")]
    spdx = {"MIT License": "MIT", "BSD License": "BSD-3-Clause", "Apache Software License": "Apache-2.0"}
    return " OR ".join(spdx.get(name, name) for name in names) or "NOASSERTION"


# --- notices and SBOM ---------------------------------------------------------------------------


def find_uncovered(files: list[str], parts: list[Part]) -> list[str]:
    """Return the libraries and programs among the files that belong to no part."""
    patterns = [re.compile(pattern) for part in parts for pattern in part.patterns]
    return [file for file in files if BINARY.search(file) and not any(each.search(file) for each in patterns)]


def select_present(files: list[str], parts: list[Part]) -> list[Part]:
    """Return the parts with at least one of the files; a part without patterns is inside another's files."""
    return [
        part
        for part in parts
        if not part.patterns or any(re.search(pattern, file) for pattern in part.patterns for file in files)
    ]


def format_notices(parts: list[Part], own: str) -> str:
    """Return one text: each part, then the text of each licence once."""
    lines = [HEADER.format(own=own.strip()), ""]
    for part in parts:
        lines += [f"{part.name} {part.version or ''}".rstrip(), f"    Licence: {part.licence}"]
        lines += [f"    Copyright: {part.copyright}", f"    Source: {part.source}"]
        lines += [f"    {line}".rstrip() for line in part.note.strip().splitlines()]
        lines += [f"    Text: {', '.join(part.texts)}" if part.texts else "", ""]
    texts: dict[str, dict[str, str]] = {}  # by their words: copies differ in blanks
    for part in parts:
        for name, text in part.texts.items():
            texts.setdefault(" ".join(text.split()), {})[name] = text
    for copies in texts.values():
        lines += ["=" * 100, ", ".join(copies), "=" * 100, "", next(iter(copies.values())).rstrip(), "", ""]
    return "\n".join(lines)


def build_sbom(parts: list[Part]) -> dict[str, object]:
    """Return the bill of materials of the program with these parts, as a CycloneDX 1.6 document."""
    own = {"type": "application", "bom-ref": project.NAME, "name": project.NAME, "version": project.VERSION}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {**own, "description": project.DESCRIPTION, "licenses": [{"license": {"id": "MIT"}}]}
        },
        "components": [_component(part) for part in parts],
        "dependencies": [{"ref": project.NAME, "dependsOn": [_package_url(part) for part in parts]}],
    }


def _package_url(part: Part) -> str:
    if part.distribution:
        return f"pkg:pypi/{part.distribution.lower().replace('_', '-')}@{part.version}"
    return f"pkg:generic/{re.sub(r'[^a-z0-9]+', '-', part.name.lower())}" + (f"@{part.version}" if part.version else "")


def _component(part: Part) -> dict[str, object]:
    is_single = re.fullmatch(r"[A-Za-z0-9.-]+", part.licence) and not part.licence.startswith("LicenseRef")
    return {
        "type": "library",
        "bom-ref": _package_url(part),
        "name": part.name,
        **({"version": part.version} if part.version else {}),
        "licenses": [{"license": {"id" if is_single else "name": part.licence}}],
        "purl": _package_url(part),
        "externalReferences": [{"type": "website", "url": part.source}],
    }


def write(*, to: Path) -> None:
    """Write the licence of PlantDesk, and the notices of all libraries and packages, to a file."""
    text = format_notices([*read_libraries(), *list_packages()], (project.ROOT / "LICENSE").read_text(encoding="utf-8"))
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(text, encoding="utf-8", newline="\n")


def write_sbom(*, of: Path, to: Path) -> None:
    """Write the SBOM of a bundle. Raises RefusedError for a library in it without a licence."""
    files = [file.relative_to(of).as_posix() for file in sorted(of.rglob("*")) if file.is_file()]
    if missing := find_uncovered(files, [*read_libraries(), *list_packages()]):
        raise dev.RefusedError(f"no licence in packaging/bundle/legal/notices.toml: {', '.join(missing)}")
    document = build_sbom([*select_present(files, read_libraries()), *list_packages()])
    to.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8", newline="\n")
