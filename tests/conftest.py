"""Fixtures for every test: no display is needed, and no file of the user is touched."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from pytestqt.qtbot import QtBot
from typing_extensions import override

from tests.support.waiting import MILLISECONDS

if TYPE_CHECKING:
    from PySide6.QtCore import QUrl
    from PySide6.QtWidgets import QApplication

    from tests.support.postgres_server import PostgresServer
    from tests.support.program_driver import Show

#: Runs a command in this process; returns its exit code and what it printed.
Run = Callable[..., tuple[int, str, str]]
#: Runs a command that fails; returns what it printed to standard error.
Refused = Callable[..., str]

# Before anything imports Qt. A test that needs another platform starts a process of its own.
os.environ["QT_QPA_PLATFORM"] = "offscreen"
if sys.platform == "win32":
    # The offscreen platform has no fonts of its own.
    os.environ.setdefault("QT_QPA_FONTDIR", os.path.expandvars(r"%WINDIR%\Fonts"))


# A job in the background of a shell, or under nohup, begins with these ignored, and so would the programs that tests
# start: they leave ignored signals alone.
for _name in ("SIGINT", "SIGHUP"):
    if hasattr(signal, _name) and signal.getsignal(getattr(signal, _name)) is signal.SIG_IGN:
        signal.signal(getattr(signal, _name), signal.default_int_handler)

# The tests write thousands of stores, in memory in half of the time. What a disk does, the tests of faults decide.
_MEMORY, _ENOUGH = Path("/dev/shm"), 4 * 2**30  # noqa: S108
if os.name == "posix" and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ENOUGH:
    may_execute = not os.statvfs(_MEMORY).f_flag & os.ST_NOEXEC  # some tests start programs that they made
    if may_execute:
        tempfile.tempdir = os.environ["TMPDIR"] = str(_MEMORY)


# Hypothesis would fail an example that takes 200 ms.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")


def remove_folders_of_killed_runs(parent: Path) -> None:
    """Remove the folders for temporary files of processes that are gone: they would stay in memory."""
    for folder in parent.glob("plantdesk-tests-*-*"):
        try:
            os.kill(int(folder.name.split("-")[2]), 0)
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except PermissionError:
            pass  # another user's process


@pytest.fixture(autouse=True, scope="session")
def temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Remove what killed programs leave in the folder for temporary files, which all users may use."""
    tmp_path_factory.getbasetemp()  # is made beside this folder
    if os.name == "posix":
        remove_folders_of_killed_runs(Path(tempfile.gettempdir()))
    folders = tempfile.TemporaryDirectory(prefix=f"plantdesk-tests-{os.getpid()}-", ignore_cleanup_errors=True)
    with folders as folder, pytest.MonkeyPatch.context() as patch:
        Path(folder).chmod(0o1777)
        for name in ("TMPDIR", "TEMP", "TMP"):  # SQLite reads the first one, Windows the others
            patch.setenv(name, folder)
        patch.setattr(tempfile, "tempdir", folder)
        yield


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep all files of PlantDesk in the test's own folder."""
    folder = tmp_path / "home"
    monkeypatch.setenv("PLANTDESK_HOME", str(folder))
    return folder


@pytest.fixture
def environment(home: Path) -> dict[str, str]:
    """Return the variables of a program of its own with the same folder, without a screen."""
    return {**os.environ, "PLANTDESK_HOME": str(home), "QT_QPA_PLATFORM": "offscreen"}


@pytest.fixture
def no_umask() -> Iterator[None]:
    """Let new files have all rights, unless the program gives them others."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def opened_files(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files and folders that the programs of the desktop have been asked to open."""
    from PySide6.QtGui import QDesktopServices

    opened: list[str] = []

    def open_url(url: QUrl) -> bool:
        opened.append(url.toLocalFile())
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    return opened


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server for all tests of the run; each test has a database of its own."""
    from tests.support.postgres_server import running_server

    with running_server() as server:
        yield server


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    from plantdesk.cli.main import main

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        return code, *capfd.readouterr()

    return run


@pytest.fixture
def refused(run: Run) -> Refused:
    def refused(*arguments: str) -> str:
        code, _, errors = run(*arguments)
        assert code == 1
        return errors

    return refused


class PatientBot(QtBot):
    """Waits as long for what must happen as other tests, instead of five seconds, and says where keys went."""

    @override
    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = MILLISECONDS) -> None:
        from PySide6.QtWidgets import QApplication, QLabel

        try:
            super().waitUntil(callback, timeout=timeout)
        except self.TimeoutError as error:
            labels = [widget for widget in QApplication.allWidgets() if isinstance(widget, QLabel)]
            texts = [label.text() for label in labels if label.isVisible()]
            error.add_note(
                f"Active window: {QApplication.activeWindow()}; focus: {QApplication.focusWidget()};"
                f" popup: {QApplication.activePopupWidget()}; modal dialog: {QApplication.activeModalWidget()};"
                f" labels: {texts}"
            )
            raise

    @override
    def waitSignal(self, signal: Any, *, timeout: int = MILLISECONDS, **options: Any) -> Any:
        return super().waitSignal(signal, timeout=timeout, **options)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:  # noqa: ARG001  it must be there
    """Drive widgets as pytest-qt does."""
    return PatientBot(request)


@pytest.fixture
def show(qtbot: QtBot) -> Show:
    from tests.support.program_driver import running

    return partial(running, qtbot)


@pytest.fixture(autouse=True)
def application_state(request: pytest.FixtureRequest) -> Iterator[None]:
    """Leave font, modifiers, mouse button and pointer as they were before.

    The next theme takes the font for that of the system. A message under the pointer stays. Qt remembers modifiers, so
    that a later test would add a row to the selection, and the button of `QTest.mouseDClick`.
    """
    if "qapp" not in request.fixturenames:
        yield
        return
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QCursor
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QWidget

    monkeypatch = request.getfixturevalue("monkeypatch")
    monkeypatch.setattr("plantdesk.ui.held_keys._TIMEOUT_MS", MILLISECONDS)  # a machine may stand still for seconds
    app: QApplication = request.getfixturevalue("qapp")
    before = app.font()
    yield
    app.setFont(before)
    QTest.keyRelease(QWidget(), Qt.Key.Key_Shift)
    QTest.mouseRelease(QWidget(), Qt.MouseButton.LeftButton)
    QCursor.setPos(0, 0)


@pytest.fixture(autouse=True)
def collector(request: pytest.FixtureRequest) -> Iterator[None]:
    """Collect the garbage of a test with widgets on the main thread only, as the window does.

    pytest-qt deletes its widgets later, when an event loop runs: a question that one of them asks when it is closed
    would block the windows of the next test until then.

    A command that a test runs in this process sets the thresholds of its own, and some collect nothing.
    """
    thresholds = gc.get_threshold()
    if "qapp" not in request.fixturenames:
        yield
        gc.set_threshold(*thresholds)
        gc.enable()
        return
    from PySide6.QtCore import QCoreApplication, QEvent

    gc.disable()
    yield
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()
    gc.freeze()  # what is left stays, and would make each collection slower
    gc.enable()
