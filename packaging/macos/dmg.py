"""The disk image for macOS, for the processor that it is made on.

Signed with the certificate that MACOS_SIGN_IDENTITY names in the keychain, else ad hoc, as macOS requires it of every
program. Notarised if MACOS_NOTARY_KEY (a file), MACOS_NOTARY_KEY_ID and MACOS_NOTARY_ISSUER are set as well. All files
are signed here, so that freezing needs no certificate.
"""

from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING

import dev
import project
from bundle import freeze

if TYPE_CHECKING:
    from pathlib import Path

#: The first bytes of files with machine code, for one processor or several.
_MACH_O = (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf")
_NOTARY = ("MACOS_NOTARY_KEY", "MACOS_NOTARY_KEY_ID", "MACOS_NOTARY_ISSUER")


def make(*, of: Path | None = None) -> Path:
    """Sign and notarise the program as far as there is a certificate, and return an image of it."""
    if shutil.which("hdiutil") is None:
        raise dev.RefusedError("A disk image can only be made on macOS.")
    began = time.monotonic()
    folder = project.WORK / "dmg"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    app = folder / f"{project.TITLE}.app"
    dev.call(["ditto", str(of or freeze.ensure_frozen()), str(app)])
    # Before it is signed. The program reads it under Frameworks, by PyInstaller's links.
    freeze.note_channel("dmg", app / "Contents" / "Resources" / "resources")
    if not (app / "Contents" / "Frameworks" / "resources" / "channel").is_file():
        raise dev.RefusedError("The program would not find its channel.")
    for file in machine_code(app):
        _sign(file, as_program=True)
    _sign(app, as_program=True)
    dev.call(["codesign", "--verify", "--strict", "--deep", str(app)])
    (folder / "Applications").symlink_to("/Applications")
    image = project.DIST / f"{project.file_stem()}.dmg"
    _pack(folder, image)
    _sign(image, as_program=False)
    _notarise(image)
    freeze.report_size(image, began)
    return image


def machine_code(app: Path) -> list[Path]:
    """Return the libraries and programs in a program, innermost first: a signature covers what is below it."""
    files = [file for file in app.rglob("*") if file.is_file() and not file.is_symlink()]
    found = [file for file in files if file.read_bytes()[:4] in _MACH_O]
    return sorted(found, key=lambda file: (-len(file.parts), file))


def _sign(path: Path, *, as_program: bool) -> None:
    """Sign a file, a program, or the image; code is signed ad hoc without a certificate.

    The hardened runtime needs no exception: all libraries have the same team's signature, and no code is generated.
    """
    identity = os.environ.get("MACOS_SIGN_IDENTITY")
    command = ["codesign", "--force", "--sign", identity or "-"]
    if identity:
        command += ["--timestamp", *(["--options", "runtime"] if as_program else [])]
    if identity or as_program:
        dev.call([*command, str(path)])


def _notarise(path: Path) -> None:
    """Have Apple check an image with all that is in it, and staple its ticket to it."""
    key, key_id, issuer = (os.environ.get(name) for name in _NOTARY)
    if not (key and key_id and issuer and os.environ.get("MACOS_SIGN_IDENTITY")):
        dev.say(f"{path.name} is not notarised: certificate or key are missing.")
        return
    account = ["--key", key, "--key-id", key_id, "--issuer", issuer]
    dev.call(["xcrun", "notarytool", "submit", str(path), *account, "--wait", "--timeout", "45m"])
    dev.call(["xcrun", "stapler", "staple", str(path)])


def _pack(folder: Path, image: Path) -> None:
    image.parent.mkdir(parents=True, exist_ok=True)
    command = ["hdiutil", "create", "-volname", project.TITLE, "-srcfolder", str(folder), "-fs", "HFS+"]
    dev.call([*command, "-format", "UDZO", "-ov", str(image)])
