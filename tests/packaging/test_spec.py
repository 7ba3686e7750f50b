"""PyInstaller's recipe, run for each system with stand-ins; PyInstaller itself only works for the current one."""

import plistlib
import runpy
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from PySide6.QtGui import QIcon, QImage, QImageReader

import project
from macos import dmg
from plantdesk import APP_ID, URL_SCHEME, __version__

SYSTEMS = ("linux", "win32", "darwin")


class Found:
    """What PyInstaller finds."""

    binaries = datas = pure = scripts = ()


class Recipe:
    """The arguments that the recipe passes to PyInstaller, by step."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, system: str) -> None:
        self.calls: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {}
        monkeypatch.setattr(sys, "platform", system)
        for name in ("", ".depend", ".depend.bindepend", ".utils", ".utils.hooks"):
            monkeypatch.setitem(sys.modules, f"PyInstaller{name}", ModuleType(f"PyInstaller{name}"))
        vars(sys.modules["PyInstaller.depend.bindepend"])["get_imports"] = None
        vars(sys.modules["PyInstaller.utils.hooks"])["copy_metadata"] = lambda _name: []
        steps = {name: self._step(name) for name in ("Analysis", "PYZ", "EXE", "COLLECT", "BUNDLE")}
        runpy.run_path(str(project.HERE / "plantdesk.spec"), steps | {"SPECPATH": str(project.HERE)})

    def _step(self, name: str) -> object:
        def step(*args: object, **options: object) -> object:
            self.calls.setdefault(name, []).append((args, options))
            return Found() if name == "Analysis" else name

        return step

    def options(self, name: str) -> list[dict[str, Any]]:
        return [options for _, options in self.calls.get(name, [])]


@pytest.fixture(params=SYSTEMS)
def system(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch, system: str) -> Recipe:
    return Recipe(monkeypatch, system)


def test_every_file_that_it_names_is_there(recipe: Recipe) -> None:
    for step, options in (("EXE", "icon version"), ("BUNDLE", "icon")):
        named = [calls[name] for calls in recipe.options(step) for name in options.split()]
        assert all(Path(file).is_file() for file in named if file)
    for source, _ in recipe.options("Analysis")[0]["datas"]:
        assert Path(source).is_file() or source == str(project.NOTICES)  # these are written first


def test_no_two_executables_differ_by_case_alone(recipe: Recipe, system: str) -> None:
    names = [options["name"] for options in recipe.options("EXE")]
    assert len({name.lower() for name in names}) == len(names)
    assert names == (["plantdesk", "plantdeskw"] if system == "win32" else ["plantdesk"])


def test_one_executable_has_a_console_and_the_window_has_none(recipe: Recipe, system: str) -> None:
    consoles = [options["console"] for options in recipe.options("EXE")]
    assert consoles == {"linux": [True], "win32": [True, False], "darwin": [False]}[system]


def test_only_linux_is_stripped_and_nothing_is_packed(recipe: Recipe, system: str) -> None:
    for options in (*recipe.options("EXE"), *recipe.options("COLLECT")):
        assert options["strip"] == (system == "linux")
        assert not options["upx"]


def test_the_macos_program_has_its_properties(monkeypatch: pytest.MonkeyPatch) -> None:
    (options,) = Recipe(monkeypatch, "darwin").options("BUNDLE")
    assert options["bundle_identifier"] == APP_ID
    read = plistlib.loads(plistlib.dumps(options["info_plist"]))
    assert read["CFBundleShortVersionString"] == __version__
    assert read["NSRequiresAquaSystemAppearance"] is False
    assert [f"{each}:" for kind in read["CFBundleURLTypes"] for each in kind["CFBundleURLSchemes"]] == [URL_SCHEME]
    assert read["LSMinimumSystemVersion"] >= "14.0"


def test_every_file_with_machine_code_is_signed_from_the_inside(tmp_path: Path) -> None:
    inner = tmp_path / "Contents" / "Frameworks" / "PySide6" / "QtCore"
    outer = tmp_path / "Contents" / "MacOS" / "plantdesk"
    for file, begins in ((inner, b"\xca\xfe\xba\xbe"), (outer, b"\xcf\xfa\xed\xfe")):
        file.parent.mkdir(parents=True)
        file.write_bytes(begins + b"code")
    inner.with_name("notes.txt").write_text("text", encoding="ascii")
    inner.with_name("empty").touch()
    if sys.platform != "win32":
        (outer.parent / "link").symlink_to(inner)
    assert dmg.machine_code(tmp_path) == [inner, outer]


def test_freezing_needs_no_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MACOS_SIGN_IDENTITY", "Developer ID")
    (options,) = Recipe(monkeypatch, "darwin").options("EXE")
    assert "codesign_identity" not in options


# --- icons ------------------------------------------------------------------------------------------------------------


ICONS = project.RESOURCES / "icons"


@pytest.mark.parametrize("size", [16, 24, 32, 48, 64, 128, 256, 512])
def test_a_png_has_its_size_and_clear_corners(size: int) -> None:
    image = QImage(str(ICONS / f"plantdesk-{size}.png"))
    assert (image.width(), image.height()) == (size, size)
    assert image.pixelColor(0, 0).alpha() < 128
    assert image.pixelColor(size // 2, size * 5 // 8).red() > 180  # the pot


def test_the_icons_of_windows_and_macos_hold_each_size() -> None:
    assert {image.width() for image in images("ico")} == {16, 24, 32, 48, 64, 128, 256}
    assert {image.width() for image in images("icns")} >= {16, 32, 128, 256, 512, 1024}


def images(kind: str) -> list[QImage]:
    reader = QImageReader(str(ICONS / f"plantdesk.{kind}"))
    return [reader.read() for at in range(reader.imageCount()) if reader.jumpToImage(at)]


@pytest.mark.usefixtures("qapp")
def test_the_committed_icons_are_those_of_the_drawings() -> None:
    for size, drawing in ((16, "plantdesk-small"), (256, "plantdesk")):
        drawn = QIcon(str(ICONS / f"{drawing}.svg")).pixmap(size, size).toImage()
        committed = QImage(str(ICONS / f"plantdesk-{size}.png"))
        converted = [each.convertToFormat(drawn.format()) for each in (drawn, committed)]  # their bits are not copied
        one, two = (bytes(each.constBits()) for each in converted)
        difference = sum(abs(a - b) for a, b in zip(one, two, strict=True)) / len(one)
        assert difference < 2, "run packaging/icons.sh"
