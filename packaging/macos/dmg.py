"""`build.py dmg`: the program for macOS in a disk image, for the processor that it is made on.

Signed where MACOS_SIGN_IDENTITY names a certificate of the keychain, else only in form, as macOS wants it of every
program. Apple is asked to notarise it where MACOS_NOTARY_KEY (a file), MACOS_NOTARY_KEY_ID and MACOS_NOTARY_ISSUER are
set, too. PyInstaller signs only in form, so that freezing needs no certificate; every file is signed here.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from pathlib import Path

import dev
import project
from bundle import freeze

#: How a file with machine code begins: for one processor, or for several.
_MACH_O = (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf")
_NOTARY = ("MACOS_NOTARY_KEY", "MACOS_NOTARY_KEY_ID", "MACOS_NOTARY_ISSUER")
#: hdiutil says “Resource busy” now and then, for as long as something still looks at new files.
_TRIES, _PAUSE = 5, 5.0


def main(arguments: list[str]) -> None:
    """Make the disk image."""
    parser = argparse.ArgumentParser(prog="build.py dmg", description=__doc__)
    parser.add_argument("--of", type=Path, metavar="APP", help="a frozen program (default: freeze it now)")
    options = parser.parse_args(arguments)
    if sys.platform == "darwin":
        image = make(options.of or freeze.ready())
        dev.say(f"{image}: {image.stat().st_size / 1e6:.1f} MB")
    else:
        raise dev.RefusedError("A disk image can only be made on macOS.")


def make(frozen: Path) -> Path:
    """Sign the program, have it notarised, and put it into an image; each as far as there is a certificate."""
    folder = project.WORK / "dmg"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    app = folder / f"{project.TITLE}.app"
    dev.call(["ditto", str(frozen), str(app)])
    note_channel(app)
    for file in machine_code(app):
        sign(file, as_program=True)
    sign(app, as_program=True)
    dev.call(["codesign", "--verify", "--strict", "--deep", str(app)])
    notarise(app)
    (folder / "Applications").symlink_to("/Applications")
    image = project.DIST / f"{project.file_stem()}.dmg"
    image.parent.mkdir(parents=True, exist_ok=True)
    pack(folder, image)
    sign(image, as_program=False)
    notarise(image)
    return image


def note_channel(app: Path) -> None:
    """Note in the program how it reaches people; before it is signed."""
    (app / "Contents" / "Resources" / "resources" / "channel").write_text("dmg\n", encoding="ascii")
    seen = app / "Contents" / "Frameworks" / "resources" / "channel"  # where the program looks, by PyInstaller's links
    if not seen.is_file():
        raise dev.RefusedError(f"The program would not find {seen}.")


def machine_code(app: Path) -> list[Path]:
    """Return the libraries and programs in a program, innermost first: a signature covers what is below it."""
    files = [file for file in app.rglob("*") if file.is_file() and not file.is_symlink()]
    found = [file for file in files if _begins(file).startswith(_MACH_O)]
    return sorted(found, key=lambda file: (-len(file.parts), file))


def _begins(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(4)


def sign(path: Path, *, as_program: bool) -> None:
    """Sign a file, a program, or the image around it. Without a certificate code gets a signature of no one.

    The hardened runtime is used without an exception: all libraries have the signature of one team, and nothing makes
    code at run time.
    """
    identity = os.environ.get("MACOS_SIGN_IDENTITY")
    command = ["codesign", "--force", "--sign", identity or "-"]
    if identity:
        command += ["--timestamp"]
    if identity and as_program:
        command += ["--options", "runtime"]
    if identity or as_program:
        dev.call([*command, str(path)], private=True)


def notarise(path: Path) -> None:
    """Have Apple look at a program or an image, and fasten its word to it."""
    key, key_id, issuer = (os.environ.get(name) for name in _NOTARY)
    if not (key and key_id and issuer and os.environ.get("MACOS_SIGN_IDENTITY")):
        dev.say(f"{path.name} is not notarised: there is no certificate and key for it.")
        return
    sent = path
    if path.is_dir():
        sent = project.WORK / "notarise.zip"
        dev.call(["ditto", "-c", "-k", "--keepParent", str(path), str(sent)])
    who = ["--key", key, "--key-id", key_id, "--issuer", issuer]
    dev.call(["xcrun", "notarytool", "submit", str(sent), *who, "--wait", "--timeout", "45m"], private=True)
    dev.call(["xcrun", "stapler", "staple", str(path)])


def pack(folder: Path, image: Path) -> None:
    """Make a compressed image of a folder."""
    image.unlink(missing_ok=True)
    command = ["hdiutil", "create", "-volname", project.TITLE, "-srcfolder", str(folder), "-fs", "HFS+"]
    command += ["-format", "UDZO", "-ov", str(image)]
    for left in reversed(range(_TRIES)):
        try:
            dev.call(command)
        except dev.RefusedError:
            if not left:
                raise
            time.sleep(_PAUSE)
        else:
            return
