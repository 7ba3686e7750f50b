"""Starts the window program, with its store and its server, in this process."""

import gc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from plantdesk import __version__
from plantdesk.desktop import Desktop
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.server_state import On
from plantdesk.platform.window_requests import WindowRequest
from plantdesk.store import location_of
from plantdesk.ui.api_access.status import ApiStatus
from plantdesk.ui.plants.form import PlantForm
from plantdesk.ui.widgets.messages import InfoBar
from tests.ui.conftest import PlantsDriver


class ProgramDriver(PlantsDriver):
    """The running window program."""

    def __init__(self, qtbot: QtBot, desktop: Desktop) -> None:
        qtbot.waitUntil(lambda: desktop.workspace is not None)
        assert desktop.window is not None
        assert desktop.workspace is not None
        assert desktop.session is not None
        super().__init__(qtbot, desktop.window)
        self.desktop = desktop
        self.main_window = desktop.window
        self.session = desktop.session
        self.workspace = desktop.workspace
        self.form = self.the(PlantForm)
        self.status = self.the(ApiStatus)

    @property
    def bar(self) -> InfoBar:
        """The one that is shown, if there is one."""
        return self.the(InfoBar)

    def until_store(self, name: str) -> None:
        """Wait until the window shows another store, and use its widgets from now on."""
        before = self.session

        def is_there() -> bool:
            now = self.desktop.session
            return now is not None and now is not before and now.workspace is not None and now.location.name == name

        self.until(is_there)
        self.__init__(self.qtbot, self.desktop)  # type: ignore[misc]

    def until_on(self) -> On:
        self.until(lambda: isinstance(self.session.api.state, On))
        self.until(lambda: self.status.text.startswith(("API on", "API waits")))
        state = self.session.api.state
        assert isinstance(state, On)
        return state

    def until_bar(self, *, shown: bool) -> None:
        self.until(lambda: self.bar.isVisible() is shown)


_WINDOW = WindowRequest()

#: Shows the window of a database, or that of the user; see `running`.
Show = Callable[..., AbstractContextManager[ProgramDriver]]


@contextmanager
def running(
    qtbot: QtBot,
    database: Path | StoreLocation | None = None,
    port: int | None = 0,
    *,
    background: bool = False,
    request: WindowRequest = _WINDOW,
    when_started: Callable[[Desktop], object] = id,
    **preferences: object,
) -> Iterator[ProgramDriver]:
    location = location_of(database) if database is None or isinstance(database, Path) else database
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    desktop = Desktop(app, location, port, request)
    desktop.preferences.change(**{"seen_version": __version__, **preferences})
    assert desktop.start(background=background)
    when_started(desktop)
    with closing_at_end(ProgramDriver(qtbot, desktop)) as user:
        yield user


@contextmanager
def closing_at_end(user: ProgramDriver) -> Iterator[ProgramDriver]:
    try:
        yield user
    finally:
        close(user)
        del user
        gc.collect()  # a timer in a reference cycle must not be destroyed by the collector on another thread


def close(user: ProgramDriver) -> None:
    user.window.close()
    user.desktop.close()
    user.window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
