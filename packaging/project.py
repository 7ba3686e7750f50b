"""What the recipes know of PlantDesk, each fact from the one place where it is kept."""

from __future__ import annotations

import ast
import os
import platform
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "packaging"
RESOURCES = ROOT / "resources"
#: Where the recipes put what they make.
DIST = ROOT / ".dev" / "dist"
#: Where they keep what they need on the way.
WORK = ROOT / ".dev" / "build"
#: The licences of all that is in the program: made for every bundle.
NOTICES = WORK / "NOTICES.txt"
#: The name that people read.
TITLE = "PlantDesk"


@cache
def _metadata() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project


def name() -> str:
    """The program's name, as it is typed."""
    told: str = _metadata()["name"]
    return told


def description() -> str:
    """One sentence on what it is for."""
    told: str = _metadata()["description"]
    return told


def publisher() -> str:
    """Who makes it."""
    authors: list[dict[str, str]] = _metadata()["authors"]
    return authors[0]["name"]


def copyright_line() -> str:
    """The line of the licence that says whose it is."""
    return next(line for line in (ROOT / "LICENSE").read_text(encoding="utf-8").splitlines() if "Copyright" in line)


def home_page() -> str:
    """Where people find out more."""
    urls: dict[str, str] = _metadata()["urls"]
    return urls["Homepage"]


def _constant(module: str, wanted: str) -> str:
    """Read a constant without importing its module, which may need what is not installed here."""
    for node in ast.parse((ROOT / "plantdesk" / module).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [wanted]:
            return str(ast.literal_eval(node.value))
    raise LookupError(f"{module} has no {wanted}")


def version() -> str:
    """The version, as the program tells it."""
    return _constant("__init__.py", "__version__")


def desktop_id() -> str:
    """The identifier of desktop entry, metainfo and macOS bundle."""
    return _constant("__init__.py", "APP_ID")


def epoch() -> int:
    """Seconds since 1970 that stand for "now" in all that is built: the commit's, so that two builds are the same."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    shown = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False)
    # An unpacked source archive has no history: its changelog's time is as old as the archive.
    return int(shown.stdout) if shown.returncode == 0 else int((ROOT / "CHANGELOG.md").stat().st_mtime)


def modules() -> list[str]:
    """Every module of the program: most are imported only when they are needed, some by name."""
    files = sorted((ROOT / "plantdesk").rglob("*.py"))
    dotted = [".".join(file.relative_to(ROOT).with_suffix("").parts) for file in files]
    return [re.sub(r"\.__init__$", "", each) for each in dotted if not each.endswith(".__main__")]


def is_fresh(made: Path) -> bool:
    """Whether something was made after the last change of anything that it may be made of."""
    if not made.exists():
        return False
    sources = [ROOT / "pyproject.toml", ROOT / "CHANGELOG.md"]
    for folder in ("plantdesk", "resources", "packaging"):
        files = (ROOT / folder).rglob("*")
        sources += [file for file in files if file.is_file() and file.suffix not in (".pyc", ".md")]
    return made.stat().st_mtime >= max(file.stat().st_mtime for file in sources)


def machine() -> str:
    """The processor that is built for, in the usual word."""
    return {"AMD64": "x86_64", "ARM64": "arm64"}.get(platform.machine(), platform.machine())


def file_stem() -> str:
    """How the files begin that people download."""
    system = {"darwin": "macos", "win32": "windows"}.get(sys.platform, "linux")
    return f"{name()}-{version()}-{system}-{machine()}"


def sbom() -> Path:
    """The list of the frozen program's parts; written last, so that it is as old as the bundle."""
    return DIST / f"{file_stem()}.cdx.json"


def folder_of_program() -> Path:
    """The frozen program, as `bundle` leaves it."""
    return DIST / (f"{TITLE}.app" if sys.platform == "darwin" else name())


def executable() -> Path:
    """The frozen program's command."""
    inside = {"darwin": "Contents/MacOS/plantdesk", "win32": "plantdesk.exe"}
    return folder_of_program() / inside.get(sys.platform, "plantdesk")
