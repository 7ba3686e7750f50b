"""The first paint of the window: what is imported before it, which delays it, and the picture of the content in it."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from plantdesk import __version__
from plantdesk.desktop import Desktop
from plantdesk.domain.records import FORM
from plantdesk.domain.validation import new_plant
from plantdesk.platform import paths, settings
from plantdesk.store import location_of
from plantdesk.store.sqlite.store import Store
from plantdesk.ui.first_frame import FirstFrame
from plantdesk.ui.main_window import MainWindow
from plantdesk.ui.plants import add_controller
from plantdesk.ui.plants.form_fields import NameField
from plantdesk.ui.session import Session
from plantdesk.ui.theme.colors import DARK, LIGHT
from tests.support.samples import some
from tests.test_desktop import ProgramDesk, close

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from PySide6.QtGui import QImage
    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

_FIRST_PAINT = """
import os, sys
from plantdesk.cli import main as cli
from plantdesk.ui.main_window import MainWindow

def paint(window, event):
    print(*(name for name in sys.modules if "plantdesk" in name), flush=True)
    os._exit(0)

MainWindow.paintEvent = paint
cli.main([])
"""
#: Of the window itself, its lock, its size and its background.
_NEEDED = {
    "plantdesk",
    "plantdesk.desktop",
    "plantdesk.domain",
    "plantdesk.domain.errors",
    "plantdesk.platform",
    "plantdesk.ui",
}
_NEEDED |= {f"plantdesk.{each}" for each in ("cli", "cli.main", "cli.commands", "cli.commands.start")}
_PLATFORM = ("core_dumps", "display", "output", "paths", "settings", "unsaved_file", "window_requests", "windows")
_NEEDED |= {f"plantdesk.platform.{each}" for each in _PLATFORM}
_NEEDED |= {"plantdesk.store", "plantdesk.store.locations"}
_NEEDED |= {f"plantdesk.ui.{each}" for each in ("first_frame", "main_window", "preferences", "qt", "theme")}
_NEEDED |= {f"plantdesk.ui.theme.{each}" for each in ("colors", "metrics", "style_sheet", "theme")}
_NEEDED |= {"plantdesk.ui.single_window"}


def test_before_the_first_paint_nothing_else_is_imported() -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    environment.pop("DBUS_SESSION_BUS_ADDRESS", None)  # the portal is asked where there is a session bus
    environment.pop("XDG_RUNTIME_DIR", None)
    command = [sys.executable, "-c", _FIRST_PAINT]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    assert set(done.stdout.split()) == _NEEDED


class Starts:
    """Starts of the program one after the other, and what is painted first in each."""

    def __init__(self, qtbot: QtBot, qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
        self._qtbot, self._qapp = qtbot, qapp
        self._second: list[QImage] = []
        fill = Session.fill_window

        def fill_and_grab(session: Session, *args: object, **options: object) -> None:
            fill(session, *args, **options)  # type: ignore[arg-type]
            assert session.workspace is not None
            self._second.append(session.workspace.window().grab().toImage())

        monkeypatch.setattr(Session, "fill_window", fill_and_grab)

    def frames(self, use: Callable[[ProgramDesk], object] = lambda _desk: None) -> tuple[QImage, QImage]:
        """Start, use the window when it is complete, and end; return its first and second frame."""
        desktop = Desktop(self._qapp, location_of(paths.database_file()), 0)
        assert desktop.start()
        assert desktop.window is not None
        first = desktop.window.grab().toImage()
        desk = ProgramDesk(self._qtbot, desktop)
        desk.until(lambda: desk.table.model().rowCount() > 0)
        use(desk)
        close(desk)
        return first, self._second.pop()

    def show_background(self) -> bool:
        """Start, and return whether the first frame is only the background."""
        first, _ = self.frames()
        at = [first.pixel(x, y) for x in range(0, first.width(), 7) for y in range(0, first.height(), 7)]
        return len(set(at)) == 1

    @property
    def file(self) -> Path:
        """The picture."""
        (file,) = paths.cache_folder().glob("window-*.pixels")
        return file


@pytest.fixture
def starts(qtbot: QtBot, qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[Starts]:
    monkeypatch.setattr(add_controller, "_SLOW_OPENING", 100_000)  # a busy machine is late
    qapp.setCursorFlashTime(0)
    change_settings()
    with_plants = Store(paths.database_file())
    for plant_id, tag in enumerate(["kitchen", "bed 4", "garden/bed 1", "kitchen"]):
        with_plants.add(new_plant({"id": plant_id, "name": f"Fern {plant_id}", "tag": tag}), FORM).result()
    with_plants.close()
    yield Starts(qtbot, qapp, monkeypatch)
    qapp.setCursorFlashTime(-1)


def change_settings(**values: object) -> None:
    now = settings.load(paths.settings_file())
    settings.save(now.changed(seen_version=__version__, **values), paths.settings_file())


def search(desk: ProgramDesk) -> None:
    desk.window.resize(700, 500)
    desk.field("Search by name, tag or ID").setText("-dill tag:kitchen")
    desk.sees("Fern 3", "Fern 0")


@pytest.mark.parametrize(("theme", "colors"), [("light", LIGHT), ("dark", DARK)])
def test_the_first_frame_is_the_second_frame(starts: Starts, theme: str, colors: object) -> None:
    change_settings(theme=theme)
    starts.frames(search)
    if os.name == "posix":
        assert starts.file.stat().st_mode & 0o777 == 0o600
    first, second = starts.frames()
    assert first == second
    assert first.size().toTuple() == (700, 500)
    used = {first.pixelColor(x, y).name().upper() for x in range(0, 700, 3) for y in range(0, 500, 3)}
    assert {getattr(colors, name) for name in ("window", "surface", "line")} <= used
    assert starts.frames()[0] == second, "the picture is made anew at each end"


class FocusWhenPainted(QObject):
    """Notes for each paint of Name whether it has the focus."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self.noted: list[bool] = []
        app.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Paint and isinstance(watched, NameField):
            self.noted.append(watched.hasFocus())
        return False


def test_in_a_window_that_gets_active_after_its_first_frame_name_has_the_focus_at_once(
    starts: Starts, qtbot: QtBot, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on X11, where the window manager activates a window a moment after it is shown."""
    starts.frames()
    other = QWidget()
    qtbot.addWidget(other)
    fill, painted = Session.fill_window, FocusWhenPainted(qapp)

    def fill_inactive(session: Session, *args: object, **options: object) -> None:
        window = next(each for each in qapp.topLevelWidgets() if isinstance(each, MainWindow) and each.isVisible())
        with qtbot.waitActive(other):
            other.show()
            other.activateWindow()
        window.activateWindow()
        painted.noted.clear()
        fill(session, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Session, "fill_window", fill_inactive)
    starts.frames()
    painted.deleteLater()
    assert painted.noted[0]


@pytest.mark.parametrize(
    "values",
    some(
        [
            {"theme": "dark"},
            {"language": "de"},
            {"text_scale": 1.1},
            {"window": {"width": 720}},
            {"window": {"maximized": True}},
            {"api_enabled": False},
            {"layouts": {}},
        ],
        1,
    ),
)
def test_a_picture_of_another_window_is_not_painted(starts: Starts, values: dict[str, object]) -> None:
    """As where a killed window has changed settings, which makes no picture."""
    change_settings(theme="light")
    starts.frames()
    change_settings(**values)
    assert starts.show_background()


def test_the_picture_of_another_version_is_not_painted(starts: Starts, monkeypatch: pytest.MonkeyPatch) -> None:
    starts.frames()
    monkeypatch.setattr("plantdesk.desktop.__version__", "0.0.9")
    assert starts.show_background()


def garbage(file: Path) -> None:
    heading = file.read_bytes().partition(b"\n")[0]
    file.write_bytes(heading + b"\n" + os.urandom(file.stat().st_size))


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size - 1)


def nearly_empty(file: Path) -> None:
    os.truncate(file, 50)


def pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def link(file: Path) -> None:
    file.rename(file.with_name("moved"))
    file.symlink_to("moved")


@pytest.mark.parametrize("damage", some([garbage, cut, nearly_empty, *([pipe, link] if os.name == "posix" else [])], 1))
def test_a_damaged_picture_is_replaced(starts: Starts, damage: Callable[[Path], None]) -> None:
    starts.frames()
    damage(starts.file)
    assert starts.show_background()
    assert not starts.file.is_symlink()
    assert not starts.show_background()


def test_where_no_picture_can_be_saved_the_program_ends_as_usual(
    starts: Starts, caplog: pytest.LogCaptureFixture
) -> None:
    paths.cache_folder().write_bytes(b"")
    with caplog.at_level(logging.WARNING):
        assert starts.show_background()
    assert "The picture for the next start cannot be saved" in caplog.text
    caplog.clear()


def test_the_pictures_of_eight_stores_are_kept(starts: Starts, qtbot: QtBot) -> None:
    starts.frames()
    oldest = starts.file
    os.utime(oldest, (1, 1))
    widget = QWidget()
    qtbot.addWidget(widget)
    for number in range(8):
        FirstFrame(paths.cache_folder(), f"store {number}", "").save(widget)
    assert len([*paths.cache_folder().glob("window-*.pixels")]) == 8
    assert not oldest.exists()


_TWO_STARTS = """
import sys
from PySide6.QtWidgets import QApplication
from plantdesk.cli import main as cli
from plantdesk.ui.session import Session
from plantdesk.ui.main_window import MainWindow
from plantdesk.ui.plants import add_controller

def fill_and_compare(session, *args, **options):
    first = session._window.grab().toImage()
    fill(session, *args, **options)
    QApplication.setCursorFlashTime(0)
    second = session._window.grab().toImage()
    print(first == second, second.width(), second.devicePixelRatio(), flush=True)
    session._window.close_at_once()

add_controller._SLOW_OPENING = 100_000
fill, Session.fill_window = Session.fill_window, fill_and_compare
cli.main([])
"""


@pytest.mark.usefixtures("starts")
def test_at_150_percent_the_pixels_are_the_same() -> None:
    change_settings(window={"width": 511, "height": 501}, theme="light")
    environment = {**os.environ, "QT_SCALE_FACTOR": "1.5"}
    command = [sys.executable, "-c", _TWO_STARTS]
    seen = [subprocess.check_output(command, env=environment, text=True).split() for _ in range(2)]
    assert seen[0][0] == "False"
    assert seen[1] == ["True", seen[0][1], "1.5"]
