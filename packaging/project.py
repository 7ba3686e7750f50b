"""Facts about PlantDesk for the recipes, each read from the one place where it is kept."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "packaging"
RESOURCES = ROOT / "resources"
#: Where the recipes put packages, and what they need on the way.
DIST = ROOT / ".dev" / "dist"
WORK = ROOT / ".dev" / "build"
#: The licences of everything in the program, generated for every bundle.
NOTICES = WORK / "NOTICES.txt"

_METADATA = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAME: str = _METADATA["name"]
DESCRIPTION: str = _METADATA["description"]
PUBLISHER: str = _METADATA["authors"][0]["name"]
HOME_PAGE: str = _METADATA["urls"]["Homepage"]
COPYRIGHT = re.findall("^.*Copyright.*$", (ROOT / "LICENSE").read_text(encoding="utf-8"), re.MULTILINE)[0]
#: The name as users read it.
TITLE = "PlantDesk"
# Read, not imported: under PyInstaller another version of the package may be installed.
_SOURCE = (ROOT / "plantdesk" / "__init__.py").read_text(encoding="utf-8")
_CONSTANTS = dict(re.findall(r'^(\w+) = "(.+)"$', _SOURCE, re.MULTILINE))
VERSION = _CONSTANTS["__version__"]
#: The identifier of desktop entry, metainfo and macOS bundle.
APP_ID = _CONSTANTS["APP_ID"]
#: The oldest macOS that PySide6's wheels run on.
OLDEST_MACOS = "14.0"


def epoch() -> int:
    """Return the commit's time, which every built file gets, so that two builds are equal."""
    configured = os.environ.get("SOURCE_DATE_EPOCH")
    if configured:
        return int(configured)
    try:
        command = ["git", "log", "-1", "--format=%ct"]
        return int(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    except (OSError, subprocess.CalledProcessError):  # an unpacked source archive has no history
        return int((ROOT / "CHANGELOG.md").stat().st_mtime)


def list_modules() -> list[str]:
    """Return every module of the program; many are imported by name or inside functions."""
    files = sorted((ROOT / "plantdesk").rglob("*.py"))
    dotted = [".".join(file.relative_to(ROOT).with_suffix("").parts) for file in files]
    return [re.sub(r"\.__init__$", "", module) for module in dotted if not module.endswith(".__main__")]


def is_fresh(made: Path) -> bool:
    """Return whether a file exists, and is newer than all sources of the program and of the recipes."""
    if not made.exists():
        return False
    sources = [ROOT / "pyproject.toml", ROOT / "CHANGELOG.md"]
    for folder in ("plantdesk", "resources", "packaging"):
        files = (ROOT / folder).rglob("*")
        sources += [source for source in files if source.is_file() and source.suffix not in (".pyc", ".md")]
    return made.stat().st_mtime >= max(source.stat().st_mtime for source in sources)


def machine() -> str:
    """Return the processor that packages are built for."""
    return {"AMD64": "x86_64", "ARM64": "arm64"}.get(platform.machine(), platform.machine())


def file_stem() -> str:
    """Return the name of a download without suffix, such as plantdesk-1.0.0-linux-x86_64."""
    system = {"darwin": "macos", "win32": "windows"}.get(sys.platform, "linux")
    return f"{NAME}-{VERSION}-{system}-{machine()}"


def sbom() -> Path:
    """Return the path of the bundle's SBOM, which is written last, so that its age is that of the bundle."""
    return DIST / f"{file_stem()}.cdx.json"


def program_folder() -> Path:
    """Return where the frozen program is put."""
    return DIST / (f"{TITLE}.app" if sys.platform == "darwin" else NAME)


def fill_template(template: Path, values: dict[str, str]) -> str:
    """Return the text of a template with each @NAME@ replaced."""
    return re.sub(r"@([A-Z_]+)@", lambda found: values[found[1]], template.read_text(encoding="utf-8"))
