"""A start beside a window that is open: of the window, of a plant's URL, and of the small window for one plant."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtNetwork import QLocalSocket
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from plantdesk.platform import paths
from plantdesk.platform.window_requests import WindowRequest
from plantdesk.store import location_of
from plantdesk.ui.plants.quick_entry import QuickEntry
from plantdesk.ui.single_window import SingleWindow
from tests.support.adding import store_at
from tests.support.program_driver import ProgramDriver, Show
from tests.support.programs import runtimes
from tests.support.waiting import SECONDS

_STUCK = """
import sys, time
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from plantdesk.store import location_of
from plantdesk.ui.single_window import SingleWindow
app = QCoreApplication([])
single = SingleWindow(location_of(sys.argv[1]), Path(sys.argv[2]))
assert single.try_lock()
print("taken", flush=True)
sys.stdin.read()
"""


@contextmanager
def stuck_window(database: Path) -> Iterator[None]:
    """Another process has the window of `database` and does not answer."""
    command = [sys.executable, "-c", _STUCK, str(database), str(paths.data_folder())]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "taken\n"
        yield
        other.communicate()


def test_a_window_that_does_not_answer_is_reported(show: Show, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plantdesk.ui.single_window._ANSWER_TIMEOUT_MS", 100)
    (tmp_path / "list.txt").write_text("a shopping list", encoding="utf-8")
    with stuck_window(tmp_path / "other.db"), show(tmp_path / "list.txt") as user:
        user.until_bar(shown=True)
        user.workspace.file_chosen.emit(str(tmp_path / "other.db"))
        user.until(lambda: "“other.db” is open in another PlantDesk" in user.bar.text)


_CLOSING_BOXES = """
import sys
from PySide6.QtCore import QTimer
from plantdesk import desktop
from plantdesk.cli import main as cli
from plantdesk.ui import single_window as single_window
from plantdesk.ui.widgets.dialog import MessageBox

class ClosingApplication(desktop.DesktopApplication):
    def exec(self):
        self.clock = QTimer(interval=10)
        self.clock.timeout.connect(self.close_box)
        self.clock.start()
        return super().exec()

    def close_box(self):
        for box in self.topLevelWidgets():
            if isinstance(box, MessageBox) and box.isVisible():
                print(box.text)
                box.close()

desktop.DesktopApplication = ClosingApplication
single_window._ANSWER_TIMEOUT_MS = single_window._CLOSING_TIMEOUT_MS = 100
sys.exit(cli.main())
"""


def test_a_start_beside_a_window_that_does_not_answer_ends_with_a_box(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    with stuck_window(tmp_path / "plants.db"):
        command = [sys.executable, "-c", _CLOSING_BOXES, "--database", str(tmp_path / "plants.db")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 1
    assert "does not answer" in done.stdout
    assert "does not answer" in done.stderr


def start_program(environment: dict[str, str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "plantdesk", "--port", "0"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_start_while_the_window_closes_waits_for_its_end_and_takes_the_lock(show: Show, qtbot: QtBot) -> None:
    database, folder = paths.database_file(), paths.path_or_none(paths.data_folder)
    with show(database) as user:
        user.until_on()
        second = SingleWindow(location_of(database), folder)
        assert not second.try_lock()
        user.window.close()
        answers: list[bool] = []
        errors: list[QLocalSocket.LocalSocketError] = []
        other = second.ask_other()
        other.answered.connect(answers.append)
        other.findChildren(QLocalSocket)[0].errorOccurred.connect(errors.append)
        user.until(lambda: bool(answers or errors))
        assert not answers
    qtbot.waitUntil(lambda: bool(answers))
    assert second.is_locked
    second.release()


@pytest.mark.skipif(sys.platform != "linux", reason="the libraries that a process has loaded are read from /proc")
@pytest.mark.parametrize("library", ["libshiboken6", "QtCore.abi3", "libQt6Widgets", "QtWidgets.abi3"])
def test_an_interrupt_while_qt_is_imported_ends_the_program(
    qtbot: QtBot, environment: dict[str, str], library: str
) -> None:
    process = start_program(environment)
    qtbot.waitUntil(lambda: library in Path(f"/proc/{process.pid}/maps").read_text())
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=SECONDS)
    assert (process.returncode in {0, -signal.SIGINT}, "Traceback" in err) == (True, False)


@pytest.mark.skipif(os.name != "posix", reason="a window on Windows ends by its window")
def test_a_second_start_ends_at_once_and_a_signal_closes_the_window(qtbot: QtBot, environment: dict[str, str]) -> None:
    first = start_program(environment)
    qtbot.waitUntil(lambda: any(runtimes(paths.runtime_folder())))
    second = start_program(environment)
    assert second.wait(SECONDS) == 0
    assert first.poll() is None
    first.send_signal(signal.SIGTERM)
    out, err = first.communicate(timeout=SECONDS)
    messages = [line for line in err.splitlines() if not line.startswith("This plugin does not support")]
    assert (first.returncode, out, messages) == (0, "", [])
    second.communicate()
    assert not paths.runtime_folder().exists()
    assert [file.name for file in paths.data_folder().iterdir() if "lock" not in file.name] == ["plants.db"]


def test_the_address_of_a_plant_is_shown_by_the_first_start_and_by_later_ones(
    show: Show, environment: dict[str, str]
) -> None:
    store_at(paths.database_file(), "Aloe", "Ficus", "Salvia")
    with show(request=WindowRequest(address="plantdesk:2")) as user:
        user.until(lambda: [*user.table.selected_ids()] == [2])
        command = [sys.executable, "-m", "plantdesk", "plantdesk:1"]
        later = subprocess.Popen(command, env=environment)
        user.until(lambda: [*user.table.selected_ids()] == [1])
        user.until(lambda: later.poll() == 0)
        hostile = ["plantdesk:3", "--database", "postgresql://evil.example/plants"]  # quotes in a URL
        later = subprocess.Popen([*command[:-1], *hostile], env=environment)
        sentence = "“plantdesk:3 --database postgresql://evil.example/plants” is not the address of a plant."
        user.until(lambda: user.toast.text.startswith(sentence))
        user.until(lambda: later.poll() == 0)
        assert [*user.table.selected_ids()] == [1]
        user.desktop.open_plant_url("plantdesk:3")  # macOS
        user.until(lambda: [*user.table.selected_ids()] == [3])


_FILE_OPEN = """
import sys
from PySide6.QtCore import QCoreApplication, QUrl
from PySide6.QtGui import QFileOpenEvent
from plantdesk.desktop import DesktopApplication
app = DesktopApplication([])
app.plant_url_opened.connect(print)
for url in ("plantdesk:42", "https://plantdesk.example/plantdesk:1"):
    QCoreApplication.sendEvent(app, QFileOpenEvent(QUrl(url)))
"""


def test_macos_hands_over_an_address_by_an_event(environment: dict[str, str]) -> None:
    done = subprocess.run([sys.executable, "-c", _FILE_OPEN], env=environment, capture_output=True, check=True)
    assert done.stdout.decode().split() == ["plantdesk:42"]


_QUICK = """
import atexit, sys
from plantdesk.cli.main import main
atexit.register(lambda: print(*(name for name in sys.modules if name in {"PySide6", "sqlite3"})))
sys.exit(main(["quick"]))
"""


def quick_window() -> QuickEntry | None:
    found = [entry for entry in QApplication.topLevelWidgets() if isinstance(entry, QuickEntry) and entry.isVisible()]
    return found[0] if found else None


def test_quick_opens_the_small_window_of_the_program_that_runs_and_needs_no_qt(
    show: Show, environment: dict[str, str]
) -> None:
    with show() as user:
        user.until_on()
        asking = subprocess.Popen([sys.executable, "-c", _QUICK], env=environment, stdout=subprocess.PIPE, text=True)
        user.until(lambda: quick_window() is not None)
        user.until(lambda: asking.poll() is not None)
        printed, _ = asking.communicate()
        assert (asking.returncode, printed) == (0, "\n")
        window = quick_window()
        assert window is not None
        QTest.keyClicks(window.focusWidget(), "Fern")
        QTest.keyClick(window.focusWidget(), Qt.Key.Key_Return)
        user.expect_names("Fern")
        assert quick_window() is None
        assert user.window.isVisible()


@contextmanager
def quick_alone(show: Show) -> Iterator[tuple[ProgramDriver, QuickEntry]]:
    """The program with nothing but its small window, as `plantdesk quick` starts it where none runs."""
    with show(request=WindowRequest(quick=True)) as user:
        user.until(lambda: quick_window() is not None)
        window = quick_window()
        assert window is not None
        yield user, window


def test_quick_without_a_window_adds_the_plant_and_ends_without_an_api(show: Show, qtbot: QtBot) -> None:
    with quick_alone(show) as (user, window):
        assert not user.window.isVisible()
        with qtbot.waitSignal(user.session.quit_requested):
            QTest.keyClicks(window.focusWidget(), "Fern")
            QTest.keyClick(window.focusWidget(), Qt.Key.Key_Return)
        assert not any(runtimes(paths.runtime_folder()))
        assert not user.window.isVisible()
    with closing(sqlite3.connect(paths.database_file())) as connection:
        assert connection.execute("SELECT name FROM plant").fetchall() == [("Fern",)]


def test_text_typed_into_quick_survives_it_and_a_start_shows_the_window(
    show: Show, qtbot: QtBot, environment: dict[str, str]
) -> None:
    with quick_alone(show) as (user, window):
        QTest.keyClicks(window.focusWidget(), "Half a na")
        with qtbot.waitSignal(user.session.quit_requested):
            QTest.keyClick(window.focusWidget(), Qt.Key.Key_Escape)
    with quick_alone(show) as (user, window):
        assert window.form.name_field.text() == "Half a na"
        second = start_program(environment)
        qtbot.waitUntil(user.window.isVisible)
        user.until_on()
        qtbot.waitUntil(lambda: second.poll() == 0)
        second.communicate()
        QTest.keyClick(window.focusWidget(), Qt.Key.Key_Escape)
        assert user.window.isVisible()


def test_a_plant_of_quick_waits_for_a_store_that_cannot_be_opened(show: Show, qtbot: QtBot) -> None:
    paths.database_file().write_text("a shopping list", encoding="utf-8")
    with quick_alone(show) as (user, window):
        qtbot.waitUntil(lambda: bool(user.bars))
        with qtbot.waitSignal(user.session.quit_requested):
            QTest.keyClicks(window.focusWidget(), "Fern")
            QTest.keyClick(window.focusWidget(), Qt.Key.Key_Return)
    paths.database_file().unlink()
    with show() as user:
        user.until(lambda: "Fern" in user.texts() or user.names() == ["Fern"])
