"""The smoke test itself, with the unpackaged program: it must also find what is wrong."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import dev
import project
from package_tests import screens, smoke

BLACK = screens.Picture(4, 2, bytes(32))


def with_pixel(x: int, y: int) -> screens.Picture:
    pixels = bytearray(32)
    pixels[(y * 4 + x) * 4] = 255
    return screens.Picture(4, 2, bytes(pixels))


def test_changed_pixels_are_found() -> None:
    assert BLACK.changes(BLACK) == set()
    assert with_pixel(3, 1).changes(BLACK) == {(3, 1)}


def test_a_picture_is_saved(tmp_path: Path) -> None:
    from PySide6.QtGui import QImage

    with_pixel(3, 1).save(tmp_path / "screen.ppm")
    image = QImage(str(tmp_path / "screen.ppm"))
    assert (image.width(), image.height()) == (4, 2)
    assert image.pixelColor(3, 1).name() == "#0000ff"
    assert image.pixelColor(0, 0).name() == "#000000"


@pytest.mark.parametrize("line", ["", "libEGL warning: no driver"])
def test_harmless_lines_are_accepted(line: str) -> None:
    smoke.check_stderr(f"{line}\n")


def test_anything_else_on_standard_error_fails() -> None:
    with pytest.raises(dev.RefusedError, match="could not load"):
        smoke.check_stderr("qt.qpa.plugin: could not load\n")


def program(folder: Path, code: str) -> Path:
    """Write a `plantdesk` that runs some code first."""
    file = folder / "plantdesk"
    text = f"#!{sys.executable}\nimport sys\n{code}\nfrom plantdesk.cli.main import main\nsys.exit(main())\n"
    file.write_text(text, encoding="utf-8")
    file.chmod(0o755)
    return file


def verify(executable: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(project.HERE / "build.py"), "smoke", str(executable), "--blind"]
    environment = {name: value for name, value in os.environ.items() if name != "PLANTDESK_HOME"}
    environment |= {"QT_QPA_PLATFORM": "offscreen"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="a script is no program there")
def test_a_program_that_works_passes(tmp_path: Path) -> None:
    done = verify(program(tmp_path, ""))
    assert (done.returncode, done.stderr) == (0, "")
    assert "works" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a script is no program there")
@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("print('hello', file=sys.stderr)", "on standard error: hello"),
        (
            "from plantdesk.cli.commands import program\nprogram._find_qt_problems = lambda _: ['no Qt']",
            "no Qt|ended with 1",
        ),
        ("if len(sys.argv) > 1 and sys.argv[1] == '--port': sys.exit(3)", "running program: 3"),
    ],
    ids=["prints errors", "is incomplete", "ends at once"],
)
def test_a_broken_program_fails(code: str, message: str, tmp_path: Path) -> None:
    done = verify(program(tmp_path, code))
    assert done.returncode == 1
    assert re.search(message, done.stderr)


# --- the frozen program's entry -----------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="for Linux's loader")
def test_the_entry_restores_the_library_path_and_keeps_its_archive_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable = tmp_path / "plantdesk"
    executable.write_bytes(b"modules")
    archive = SimpleNamespace(_filename=str(executable))
    monkeypatch.setitem(sys.modules, "pyimod02_importers", SimpleNamespace(pyz_archive=archive))
    monkeypatch.setattr("plantdesk.cli.main.main", lambda: 0)
    monkeypatch.setenv("LD_LIBRARY_PATH", "/bundle/_internal")
    monkeypatch.setenv("LD_LIBRARY_PATH_ORIG", "/the/users")
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(project.HERE / "bundle" / "entry.py"), run_name="__main__")
    assert ended.value.code == 0
    assert os.environ["LD_LIBRARY_PATH"] == "/the/users"
    shutil.copy(project.HERE / "bundle" / "entry.py", tmp_path / "newer")
    (tmp_path / "newer").replace(executable)  # an upgrade
    held = Path(archive._filename)  # noqa: SLF001
    assert held.read_bytes() == b"modules"
    os.close(int(held.name))
