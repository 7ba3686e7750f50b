import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plantdesk.platform import display
from plantdesk.platform.display import Library, MissingLibrariesError, NoDisplayError

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere Qt brings all it needs, and there is a display"
)

NOWHERE = Library("libplantdesk-nowhere.so.9", "libplantdesk-nowhere9")


@pytest.fixture
def wayland(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A compositor that accepts connections: as far as the question goes whether there is one."""
    with socket.socket(socket.AF_UNIX) as compositor:
        compositor.bind(str(tmp_path / "wayland-7"))
        compositor.listen()
        yield {"XDG_RUNTIME_DIR": str(tmp_path), "WAYLAND_DISPLAY": "wayland-7"}


@pytest.fixture(scope="module")
def x11() -> Iterator[dict[str, str]]:
    """An X server of our own."""
    program = shutil.which("Xvfb")
    if program is None:
        pytest.skip("Xvfb is not installed")
    # -noreset: else it starts anew, and answers nobody for a moment, whenever its last client goes.
    command = [program, "-noreset", "-displayfd", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        number = server.stdout.readline().strip()
        assert number, "Xvfb did not start"
        yield {"DISPLAY": f":{number}"}
        server.terminate()


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only programs there are."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_what_the_loader_finds_is_not_missing() -> None:
    assert display.find_missing_libraries([Library("libc.so.6", "libc6"), NOWHERE]) == [NOWHERE]


@pytest.mark.parametrize(
    ("program", "line"),
    [
        ("apt-get", "sudo apt-get install --yes libxcb-cursor0"),
        ("dnf", "sudo dnf install 'libxcb-cursor.so.0()(64bit)'"),
        ("pacman", "libxcb-cursor.so.0"),
    ],
)
def test_the_line_to_type_is_that_of_the_system(program: str, line: str, programs: Path) -> None:
    (programs / program).touch(mode=0o755)
    hint = str(display.format_install_hint([Library("libxcb-cursor.so.0", "libxcb-cursor0")]))
    assert line in hint
    assert "\n" not in hint


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"DISPLAY": ""},
        {"DISPLAY": ":987"},
        {"WAYLAND_DISPLAY": "wayland-987", "XDG_RUNTIME_DIR": "/nowhere"},
        {"QT_QPA_PLATFORM": "xcb"},
    ],
    ids=str,
)
def test_without_a_display_that_answers_serve_is_offered(environment: dict[str, str]) -> None:
    with pytest.raises(NoDisplayError, match="plantdesk serve") as refused:
        display.check_display(environment)
    assert "\n" not in str(refused.value)


def test_a_platform_without_display_is_nobodys_business() -> None:
    display.check_display({"QT_QPA_PLATFORM": "offscreen"})


def test_wayland_alone_is_chosen(wayland: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display, "WAYLAND_LIBRARIES", ())
    display.check_display(wayland)
    assert wayland["QT_QPA_PLATFORM"] == "wayland"


@pytest.fixture
def offscreen() -> dict[str, str]:
    return {"QT_QPA_PLATFORM": "offscreen"}


@pytest.mark.parametrize(
    ("display_of", "libraries"),
    [("offscreen", "QT_LIBRARIES"), ("wayland", "WAYLAND_LIBRARIES"), ("x11", "X11_LIBRARIES")],
)
def test_a_library_that_qt_or_the_display_needs_is_named(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, display_of: str, libraries: str
) -> None:
    monkeypatch.setattr(display, libraries, (NOWHERE,))
    with pytest.raises(MissingLibrariesError, match=NOWHERE.file):
        display.check_display(request.getfixturevalue(display_of))


@pytest.mark.parametrize(("missing", "chosen"), [((NOWHERE,), {"QT_QPA_PLATFORM": "wayland"}), ((), {})])
def test_of_both_qt_chooses_unless_x11_lacks_libraries(
    x11: dict[str, str],
    wayland: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    missing: tuple[Library, ...],
    chosen: dict[str, str],
) -> None:
    monkeypatch.setattr(display, "X11_LIBRARIES", missing)
    monkeypatch.setattr(display, "WAYLAND_LIBRARIES", ())
    both = {**x11, **wayland}
    display.check_display(both)
    assert both == {**x11, **wayland, **chosen}


def test_it_needs_nothing_but_the_standard_library() -> None:
    """packaging/dev.py reads it on a machine where nothing is installed yet."""
    root = str(Path(display.__file__).parents[2])
    code = f"import sys; sys.path.insert(0, {root!r}); import plantdesk.platform.display"
    assert subprocess.run([sys.executable, "-I", "-S", "-c", code], check=False).returncode == 0
