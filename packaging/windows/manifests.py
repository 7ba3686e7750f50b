"""The manifests for winget and Scoop, of the installer and the archive in a folder of downloads.

They are written for the release's page; somebody submits them to microsoft/winget-pkgs, or puts the one for Scoop into
a bucket. Their shape was checked against the JSON schemas of both; no Windows has installed from them yet.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import dev
import project
from windows import installer

if TYPE_CHECKING:
    from pathlib import Path

#: The version of winget's schemas.
_SCHEMA = "1.10.0"
_WINGET = f"{project.TITLE}.{project.TITLE}"
_SUMMARY = "Keep your plants in one place"


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def write(*, folder: Path) -> None:
    """Write the manifests into the folder of the downloads. Raises OSError where one of the two is missing."""
    downloads = f"{project.HOME_PAGE}/releases/download"
    setup, portable = f"{installer.stem()}-setup.exe", f"{installer.stem()}-portable.zip"
    common = {"PackageIdentifier": _WINGET, "PackageVersion": project.VERSION, "ManifestVersion": _SCHEMA}
    manifests: dict[str, dict[str, object]] = {
        f"{_WINGET}.yaml": {**common, "ManifestType": "version", "DefaultLocale": "en-US"},
        f"{_WINGET}.installer.yaml": {
            **common,
            "ManifestType": "installer",
            "InstallerType": "nullsoft",
            "Scope": "user",
            "Commands": [project.NAME],
            "Installers": [
                {
                    "Architecture": "x64",
                    "InstallerUrl": f"{downloads}/v{project.VERSION}/{setup}",
                    "InstallerSha256": _sha256(folder / setup).upper(),
                }
            ],
        },
        f"{_WINGET}.locale.en-US.yaml": {
            **common,
            "ManifestType": "defaultLocale",
            "PackageLocale": "en-US",
            "Publisher": project.PUBLISHER,
            "PackageName": project.TITLE,
            "PackageUrl": project.HOME_PAGE,
            "License": "MIT",
            "ShortDescription": _SUMMARY,
        },
        "plantdesk.json": {
            "version": project.VERSION,
            "description": _SUMMARY,
            "homepage": project.HOME_PAGE,
            "license": "MIT",
            "architecture": {
                "64bit": {"url": f"{downloads}/v{project.VERSION}/{portable}", "hash": _sha256(folder / portable)}
            },
            "extract_dir": f"{project.TITLE}-{project.VERSION}",
            "bin": "plantdesk.exe",
            "shortcuts": [["plantdeskw.exe", project.TITLE]],
            "checkver": "github",
            "autoupdate": {
                "architecture": {
                    "64bit": {"url": f"{downloads}/v$version/{portable.replace(project.VERSION, '$version')}"}
                },
                "extract_dir": f"{project.TITLE}-$version",
            },
        },
    }
    for name, manifest in manifests.items():  # what is JSON is YAML as well
        text = json.dumps(manifest, indent=2)
        (folder / name).write_text(f"{text}\n", encoding="utf-8", newline="\n")
    dev.say(f"{folder}: {', '.join(manifests)}")
