"""The Windows packages, as far as any system can make them; package_tests/windows_installer.py uses them."""

import ast
import hashlib
import json
import re
import shutil
import sys
import zipfile
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]  # schemathesis brings it

import build
import dev
import project
from bundle import freeze
from plantdesk import __version__
from plantdesk.platform import windows
from windows import installer

SCRIPT = project.HERE / "windows" / "plantdesk.nsi"
NEEDS_MAKENSIS = pytest.mark.skipif(shutil.which("makensis") is None, reason="makensis is not installed")
NEEDS_SHELL = pytest.mark.skipif(sys.platform == "win32", reason="the sign commands here are for a POSIX shell")


@pytest.fixture
def frozen(tmp_path: Path) -> Path:
    """A folder with the layout of the frozen program."""
    folder = tmp_path / "plantdesk"
    (folder / "_internal" / "resources").mkdir(parents=True)
    for name in ("plantdesk.exe", "plantdeskw.exe", "_internal/python313.dll"):
        (folder / name).write_bytes(b"MZ")
    return folder


def test_each_executable_has_a_version_resource() -> None:
    for name, description in installer.EXECUTABLES.items():
        text = installer.version_info(name).read_text(encoding="utf-8")
        ast.parse(text)  # PyInstaller evaluates it
        assert f'"FileDescription", "{description}"' in text
        assert f'"OriginalFilename", "{name}.exe"' in text
        assert f'"ProductVersion", "{__version__}"' in text


def test_the_archive_holds_one_folder_and_is_the_same_each_time(frozen: Path, tmp_path: Path) -> None:
    first, again = (installer.make_zip(of=frozen, out=tmp_path / name) for name in ("a.zip", "b.zip"))
    assert first.read_bytes() == again.read_bytes()
    with zipfile.ZipFile(first) as archive:
        top = f"PlantDesk-{__version__}"
        assert {name.partition("/")[0] for name in archive.namelist()} == {top}
        assert archive.read(f"{top}/_internal/resources/channel") == b"zip\n"
    assert not (frozen / "_internal" / "resources" / "channel").exists()


@NEEDS_MAKENSIS
def test_the_installer_compiles_without_a_warning(frozen: Path, tmp_path: Path) -> None:
    made = installer.compile_installer(frozen, tmp_path / "PlantDesk-test.exe", {"QUICK": "1"})
    assert made.read_bytes()[:2] == b"MZ"


@NEEDS_MAKENSIS
def test_a_warning_of_makensis_is_an_error(frozen: Path, tmp_path: Path) -> None:
    with pytest.raises(dev.RefusedError, match="makensis"):
        installer.compile_installer(frozen, tmp_path / "PlantDesk-test.exe", {"VERSION": "one"})


def test_only_windows_freezes_for_windows() -> None:
    if sys.platform == "win32":
        pytest.skip("this is Windows")
    with pytest.raises(dev.RefusedError, match="on Windows"):
        installer.make()


def test_the_uninstaller_removes_what_was_packed_by_name_and_nothing_else(frozen: Path) -> None:
    listed = installer.payload_list(frozen)
    removed = listed.partition("!macro remove_payload")[2]
    assert re.findall(r"(Delete|RMDir /r) \"\$INSTDIR\\(.+)\"", removed) == [
        ("RMDir /r", "_internal"),  # first: plantdesk.exe shows whose it is
        ("Delete", "plantdeskw.exe"),
        ("Delete", "plantdesk.exe"),
    ]
    packed = re.findall(r"File .*[\\/]([\w.]+)\"", listed.partition("!macro remove_payload")[0])
    assert packed == ["plantdesk.exe", "plantdeskw.exe", "_internal"]
    assert not re.search(r'RMDir /r "\$INSTDIR"', SCRIPT.read_text(encoding="utf-8"))


def test_the_installer_looks_for_the_mutex_that_the_program_holds() -> None:
    assert f'!define RUNNING_MUTEX "{windows.MUTEX_NAME}"' in SCRIPT.read_text(encoding="utf-8")


def test_the_size_is_that_of_the_files(frozen: Path) -> None:
    assert freeze.measure_size(frozen) == 6


@NEEDS_SHELL
def test_both_executables_are_signed_where_there_is_a_command(
    frozen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed = tmp_path / "signed"
    monkeypatch.setenv("WINDOWS_SIGN_COMMAND", f"sh -c 'basename \"$0\" >> {signed}'")
    installer.make_zip(of=frozen, out=tmp_path / "a.zip")
    assert signed.read_text(encoding="utf-8").split() == ["plantdesk.exe", "plantdeskw.exe"]


@NEEDS_SHELL
@NEEDS_MAKENSIS
def test_installer_and_uninstaller_are_signed_by_a_command_unknown_to_makensis(
    frozen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed = tmp_path / "signed"
    commands: list[list[str]] = []
    call = dev.call

    def recorded(command: list[str]) -> None:
        commands.append(command)
        call(command)

    monkeypatch.setattr(dev, "call", recorded)
    monkeypatch.setenv("WINDOWS_SIGN_COMMAND", f"sh -c 'echo \"$1\" >> {signed}' s3cret")
    made = installer.compile_installer(frozen, tmp_path / "PlantDesk-test.exe", {"QUICK": "1"})
    files = signed.read_text(encoding="utf-8").splitlines()
    assert len(files) == 4  # two executables, uninstaller, installer
    assert files[-1] == str(made)
    assert "s3cret" not in str(commands)


@NEEDS_SHELL
@pytest.mark.parametrize("command", ["false s3cret", "there-is-no-s3cret", "echo s3cret; exit 3;"])
def test_a_sign_command_that_fails_is_not_shown(
    command: str, frozen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WINDOWS_SIGN_COMMAND", command)
    monkeypatch.setattr(sys, "argv", ["build.py", "zip", "--of", str(frozen)])
    monkeypatch.setattr(project, "DIST", tmp_path)
    assert build.main() == 1
    printed = "".join(capfd.readouterr())
    assert "plantdesk.exe failed" in printed
    assert "s3cret" not in printed


@NEEDS_SHELL
@NEEDS_MAKENSIS
def test_an_installer_that_cannot_be_signed_is_an_error(
    frozen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    # The executables are signed, the uninstaller is not.
    monkeypatch.setenv("WINDOWS_SIGN_COMMAND", "sh -c 'case $1 in */plantdesk*.exe) ;; *) exit 3 ;; esac' s3cret")
    with pytest.raises(dev.RefusedError, match="makensis"):
        installer.compile_installer(frozen, tmp_path / "out.exe", {"QUICK": "1"})
    assert "s3cret" not in "".join(capfd.readouterr())


def test_winget_and_scoop_are_told_the_sums_of_the_downloads(tmp_path: Path) -> None:
    for kind in ("setup.exe", "portable.zip"):
        (tmp_path / f"{installer.stem()}-{kind}").write_bytes(kind.encode())
    installer.write_manifests(folder=tmp_path)
    winget = {file.name: yaml.safe_load(file.read_text("utf-8")) for file in tmp_path.glob("*.yaml")}
    (setup,) = winget["PlantDesk.PlantDesk.installer.yaml"]["Installers"]
    assert [value["PackageVersion"] for value in winget.values()] == [project.VERSION] * 3
    scoop = json.loads((tmp_path / "plantdesk.json").read_text("utf-8"))
    portable = scoop["architecture"]["64bit"]
    assert setup["InstallerSha256"] == hashlib.sha256(b"setup.exe").hexdigest()
    assert portable["hash"] == hashlib.sha256(b"portable.zip").hexdigest()
    for url in (setup["InstallerUrl"], portable["url"]):
        assert url.startswith(f"{project.HOME_PAGE}/releases/download/v{project.VERSION}/{installer.stem()}-")
    assert scoop["version"] == project.VERSION
