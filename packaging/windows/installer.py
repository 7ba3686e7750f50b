"""The packages for Windows: the installer, made by NSIS, and the archive.

NSIS also runs on Linux, and takes any folder with the layout of the frozen program, so tests compile the script there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import dev
import project
from bundle import freeze
from windows import signing

#: Both executables; the second opens no console beside the window.
EXECUTABLES = {"plantdesk": "PlantDesk (commands)", "plantdeskw": "PlantDesk"}
_FOLDER = project.HERE / "windows"
_FACTS = {"VERSION": project.VERSION, "PUBLISHER": project.PUBLISHER, "COPYRIGHT": project.COPYRIGHT}


def version_info(name: str) -> Path:
    """Write an executable's version resource for PyInstaller, as Explorer and Task Manager show it; return the file."""
    numbers = str(tuple([*map(int, project.VERSION.split(".")), 0, 0][:4]))
    values = {**_FACTS, "NAME": name, "NUMBERS": numbers, "DESCRIPTION": EXECUTABLES[name]}
    project.WORK.mkdir(parents=True, exist_ok=True)
    file = project.WORK / f"{name}.version-info"
    file.write_text(project.fill_template(_FOLDER / "version-info.in", values), encoding="utf-8")
    return file


def make(*, of: Path | None = None) -> Path:
    """Make the installer of the frozen program in the folder `of` (None: freeze one), and return its path."""
    began = time.monotonic()
    file = compile_installer(of or frozen(), project.DIST / f"{stem()}-setup.exe")
    freeze.report_size(file, began)
    return file


def compile_installer(folder: Path, out: Path, other: dict[str, str] | None = None) -> Path:
    """Pack a frozen program into an installer, with `other` definitions; warnings of makensis are errors."""
    makensis = shutil.which("makensis") or shutil.which("makensis", path=r"C:\Program Files (x86)\NSIS")
    if makensis is None:
        raise dev.RefusedError("makensis is missing. Install NSIS (Debian: nsis).")
    if project.VERSION.count(".") != 2:  # noqa: PLR2004 - major, minor, patch
        raise dev.RefusedError(f"Windows needs a version of three numbers, not {project.VERSION}.")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        payload, listed = Path(name) / "payload", Path(name) / "payload.nsh"
        stage("nsis", folder, payload)
        listed.write_text(payload_list(payload), encoding="utf-8-sig")  # the mark tells makensis the encoding
        defines = {
            **_FACTS,
            "HOME_PAGE": project.HOME_PAGE,
            "ICON": str(project.RESOURCES / "icons" / "plantdesk.ico"),
            "PAYLOAD_LIST": str(listed),
            "SIZE_KB": str(freeze.measure_size(payload) // 1024),
            "OUT": str(out.absolute()),
        }
        if os.environ.get("WINDOWS_SIGN_COMMAND"):
            defines |= {"PYTHON": sys.executable, "SIGN": str(Path(signing.__file__).absolute())}
        options = [f"-D{key}={value}" for key, value in (defines | (other or {})).items()]
        dev.call([makensis, "-V2", "-WX", "-INPUTCHARSET", "UTF8", *options, str(_FOLDER / "plantdesk.nsi")])
    return out


def frozen() -> Path:
    """Freeze the program and return its folder. Raises RefusedError except on Windows."""
    if sys.platform == "win32":
        return freeze.make()
    raise dev.RefusedError("A program for Windows can only be frozen on Windows. Name a frozen one: --of FOLDER.")


def stem() -> str:
    """Return the name of a download without suffix, such as plantdesk-1.0.0-windows-x86_64."""
    return f"{project.NAME}-{project.VERSION}-windows-x86_64"


def stage(channel: str, folder: Path, copy: Path) -> None:
    """Copy a frozen program as it goes into a package of that channel, signed if there is a command for it."""
    shutil.copytree(folder, copy)
    freeze.note_channel(channel, copy / "_internal" / "resources")
    if os.environ.get("WINDOWS_SIGN_COMMAND"):
        for executable in EXECUTABLES:
            signing.sign(copy / f"{executable}.exe")


def payload_list(payload: Path) -> str:
    """Return NSIS macros that pack everything in a folder, and remove exactly that.

    Folders are packed last and removed first: while one is there, plantdesk.exe beside it identifies it.
    """
    entries = sorted(payload.iterdir(), key=lambda entry: (entry.is_dir(), entry.name))
    pack = [f'  File /r "{entry}"' if entry.is_dir() else f'  File "{entry}"' for entry in entries]
    remove = [f'  {"RMDir /r" if entry.is_dir() else "Delete"} "$INSTDIR\\{entry.name}"' for entry in reversed(entries)]
    lines = ["!macro pack_payload", *pack, "!macroend", "!macro remove_payload", *remove, "!macroend", ""]
    return "\n".join(lines)


def make_zip(*, of: Path | None = None, out: Path | None = None) -> Path:
    """Make the archive of the program in the folder `of` (None: freeze it), the same bytes from the same commit."""
    began = time.monotonic()
    out = out or project.DIST / f"{stem()}-portable.zip"
    out.parent.mkdir(parents=True, exist_ok=True)
    timestamp = time.gmtime(project.epoch())[:6]
    with tempfile.TemporaryDirectory() as name, zipfile.ZipFile(out, "w") as archive:
        payload = Path(name) / f"{project.TITLE}-{project.VERSION}"
        stage("zip", of or frozen(), payload)
        for file in sorted(each for each in payload.rglob("*") if each.is_file()):
            entry = zipfile.ZipInfo(file.relative_to(payload.parent).as_posix(), timestamp)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED, 9)
    freeze.report_size(out, began)
    return out


def write_manifests(*, folder: Path) -> None:
    """Write the manifests for winget and Scoop, of the installer and the archive in a folder of downloads.

    Somebody submits them to microsoft/winget-pkgs, and puts the one for Scoop into a bucket. Their shape was checked
    against the JSON schemas of both; no Windows has installed from them yet. Raises OSError for a missing download.
    """
    setup, portable = folder / f"{stem()}-setup.exe", folder / f"{stem()}-portable.zip"
    values = {**_FACTS, "HOME_PAGE": project.HOME_PAGE, "SETUP": setup.name, "PORTABLE": portable.name}
    values["NEXT_PORTABLE"] = portable.name.replace(project.VERSION, "$version")
    for name, file in (("SETUP_SUM", setup), ("PORTABLE_SUM", portable)):
        values[name] = hashlib.sha256(file.read_bytes()).hexdigest()
    for template in (_FOLDER / "manifests").iterdir():
        (folder / template.stem).write_text(project.fill_template(template, values), encoding="utf-8", newline="\n")
