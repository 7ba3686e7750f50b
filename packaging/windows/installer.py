"""`build.py nsis`: the Windows installer; and what it shares with the archive.

It is compiled wherever makensis is, of any folder that has the form of the frozen program: so Linux checks
the recipe on every run.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import dev
import project
from bundle import freeze
from windows import signing

#: Both executables; the second opens no console beside the window.
EXECUTABLES = {"plantdesk": "PlantDesk (commands)", "plantdeskw": "PlantDesk"}
_TEMPLATE = project.HERE / "windows" / "version-info.in"
_SCRIPT = project.HERE / "windows" / "plantdesk.nsi"


def version_info(name: str) -> Path:
    """Write what Explorer and the Task Manager tell of an executable, for PyInstaller; return the file."""
    numbers = tuple([*map(int, project.version().split(".")), 0, 0][:4])
    text = _TEMPLATE.read_text(encoding="utf-8").format(
        name=name,
        numbers=numbers,
        told=EXECUTABLES[name],
        version=project.version(),
        publisher=project.publisher(),
        copyright=project.copyright_line(),
    )
    project.WORK.mkdir(parents=True, exist_ok=True)
    file = project.WORK / f"{name}.version-info"
    file.write_text(text, encoding="utf-8")
    return file


def main(arguments: list[str]) -> None:
    """Make the installer."""
    parser = argparse.ArgumentParser(prog="build.py nsis", description=__doc__)
    parser.add_argument("--of", type=Path, metavar="FOLDER", help="a frozen program (default: freeze it now)")
    parser.add_argument("--target", help="another kind of NSIS program, for tests: amd64-unicode")
    options = parser.parse_args(arguments)
    folder = options.of or frozen()
    target = {"TARGET": options.target} if options.target else {}
    told(make_installer(folder, project.DIST / f"{stem()}-setup.exe", target))


def told(file: Path) -> None:
    """Say what was made."""
    dev.say(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


def make_installer(folder: Path, out: Path, other: dict[str, str] | None = None) -> Path:
    """Pack a frozen program into an installer, with `other` definitions; warnings of makensis are errors."""
    makensis = shutil.which("makensis") or shutil.which("makensis", path=r"C:\Program Files (x86)\NSIS")
    if makensis is None:
        raise dev.RefusedError("makensis is missing. Install NSIS (Debian: nsis).")
    with tempfile.TemporaryDirectory() as name:
        payload = with_channel(folder, Path(name) / "payload", "nsis")
        listed = Path(name) / "payload.nsh"
        listed.write_text(payload_list(payload), encoding="utf-8-sig")  # the mark tells makensis the encoding
        defines = _defines(payload, listed, out) | (other or {})
        if signing.has_command():
            defines |= {"PYTHON": sys.executable, "SIGN": str(Path(signing.__file__).absolute())}
        out.parent.mkdir(parents=True, exist_ok=True)
        options = [f"-D{key}={value}" for key, value in defines.items()]
        dev.call([makensis, "-V2", "-WX", "-INPUTCHARSET", "UTF8", *options, str(_SCRIPT)])
    return out


def frozen() -> Path:
    """Freeze the program, which only Windows can do for Windows."""
    if sys.platform == "win32":
        return freeze.make()
    raise dev.RefusedError("A program for Windows is frozen on Windows. Name one that is: --of FOLDER.")


def stem() -> str:
    """How the names of what people download begin."""
    return f"{project.name()}-{project.version()}-windows-x86_64"


def with_channel(folder: Path, copy: Path, channel: str) -> Path:
    """Copy a frozen program, note in it how it reaches people, and sign it where there is a command for that."""
    shutil.copytree(folder, copy)
    note = copy / "_internal" / "resources" / "channel"
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(f"{channel}\n", encoding="ascii", newline="\n")
    if signing.has_command():
        for executable in EXECUTABLES:
            signing.sign(copy / f"{executable}.exe")
    return copy


def _defines(payload: Path, listed: Path, out: Path) -> dict[str, str]:
    return {
        "VERSION": _three_numbers(),
        "PUBLISHER": project.publisher(),
        "COPYRIGHT": project.copyright_line(),
        "HOME_PAGE": project.home_page(),
        "ICON": str(project.RESOURCES / "icons" / "plantdesk.ico"),
        "PAYLOAD_LIST": str(listed),
        "SIZE_KB": str(freeze.size(payload) // 1024),
        "OUT": str(out.absolute()),
    }


def _three_numbers() -> str:
    version = project.version()
    if version.count(".") != 2:  # noqa: PLR2004 - major, minor, patch
        raise dev.RefusedError(f"Windows wants a version of three numbers, not {version}.")
    return version


def payload_list(payload: Path) -> str:
    """Return NSIS macros that pack everything in a folder, and remove exactly that.

    Folders are packed last and removed first: while one is there, plantdesk.exe beside it shows whose it is.
    """
    entries = sorted(payload.iterdir(), key=lambda entry: (entry.is_dir(), entry.name))
    pack = [f'  File /r "{entry}"' if entry.is_dir() else f'  File "{entry}"' for entry in entries]
    remove = [f'  {"RMDir /r" if entry.is_dir() else "Delete"} "$INSTDIR\\{entry.name}"' for entry in reversed(entries)]
    lines = ["!macro pack_payload", *pack, "!macroend", "!macro remove_payload", *remove, "!macroend", ""]
    return "\n".join(lines)
