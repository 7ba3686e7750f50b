"""Widgets with the real look, over real stores."""

import contextlib
import itertools
import sqlite3
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleEvent
from PySide6.QtWidgets import QApplication, QLayout, QLayoutItem
from pytestqt.qtbot import QtBot
from shiboken6 import getAllValidWrappers

from plantdesk.domain.errors import StoreUnreachableError
from plantdesk.domain.records import FORM, PlantRow
from plantdesk.domain.server_state import Off
from plantdesk.domain.validation import new_plant
from plantdesk.platform.settings import ThemeMode
from plantdesk.store import location_of
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.api_control import ApiControl
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.feature import WindowContext
from plantdesk.ui.main_window import MainWindow
from plantdesk.ui.menus import Menus
from plantdesk.ui.page import Page
from plantdesk.ui.plants.browser import PlantBrowser
from plantdesk.ui.plants.search_field import SearchField
from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.plants.table.view import PlantTableView
from plantdesk.ui.preferences import Preferences
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.undo_stack import UndoStack
from plantdesk.ui.widgets.messages import MessageLine
from plantdesk.ui.workspace import Workspace
from tests.support.adding import add_each
from tests.support.api_switch import ApiSwitch
from tests.support.window_driver import WindowDriver


class PlantsDriver(WindowDriver):
    """A window with the table of plants."""

    @property
    def table(self) -> PlantTableView:
        return self.the(PlantTableView)

    @property
    def search(self) -> SearchField:
        return self.the(SearchField)

    def names(self) -> list[str]:
        model = self.table.model()
        return [model.index(row, Column.NAME).data() for row in range(model.rowCount())]

    def expect_names(self, *names: str) -> None:
        """Wait until the table has just these names."""
        self.until(lambda: self.names() == list(names))

    def until_rows(self, count: int) -> None:
        self.until(lambda: self.table.model().rowCount() == count)


Adder = Callable[..., list[PlantRow]]
Failing = Callable[[], contextlib.AbstractContextManager[None]]


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, object, object]:
    """Fail the test if Python knows items of layouts: `add_layout` in `plantdesk/ui/qt.py` has the reason."""
    result = yield
    wrappers = getAllValidWrappers()
    assert not [each for each in wrappers if isinstance(each, QLayoutItem) and not isinstance(each, QLayout)]
    return result


@pytest.fixture(autouse=True)
def application(qapp: QApplication) -> QApplication:
    """Let each test have an application: without its event dispatcher, what listens to a socket ends the process."""
    return qapp


@pytest.fixture(autouse=True)
def locale() -> Iterator[None]:
    """Write numbers and times as in the United States, wherever the test runs."""
    before = QLocale()
    QLocale.setDefault(QLocale("en_US"))
    yield
    QLocale.setDefault(before)


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    return Theme(qapp, ThemeMode.LIGHT)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "plants.db")
    yield store
    store.close()


@pytest.fixture
def lone_bridge() -> Iterator[Bridge]:
    """A bridge without a store."""
    bridge = Bridge()
    yield bridge
    bridge.close()


@pytest.fixture
def bridge(store: SqliteStore) -> Iterator[Bridge]:
    """A bridge that gets the changes of the store."""
    bridge = Bridge()
    unsubscribe = store.subscribe(bridge.notify_changes)
    yield bridge
    unsubscribe()
    bridge.close()


@pytest.fixture
def queries(bridge: Bridge, store: SqliteStore) -> Iterator[StoreQueries]:
    queries = StoreQueries(bridge.short_tasks, store)
    yield queries
    queries.close()


@pytest.fixture
def context(qtbot: QtBot, theme: Theme, bridge: Bridge, tmp_path: Path) -> Iterator[WindowContext]:
    """What a feature gets, in an empty window on the screen."""
    preferences = Preferences(tmp_path / "settings.json")
    window = MainWindow(preferences)
    qtbot.addWidget(window)
    page = Page(theme, window)
    message = MessageLine(theme)
    page.add_top_pane(message)
    window.setCentralWidget(page)
    with qtbot.waitExposed(window):
        window.show()
    context = WindowContext(
        theme=theme,
        bridge=bridge,
        preferences=preferences,
        page=page,
        menus=Menus(window.menuBar()),
        status_bar=window.statusBar(),
        message=message,
        undo_stack=UndoStack(bridge, window),
        location=location_of(tmp_path / "plants.db"),
    )
    yield context
    window.close()


@pytest.fixture
def bare(qtbot: QtBot, theme: Theme, bridge: Bridge, tmp_path: Path) -> Iterator[Workspace]:
    """The window before a store is open."""
    preferences = Preferences(tmp_path / "settings.json")
    window = MainWindow(preferences)
    qtbot.addWidget(window)
    with qtbot.waitActive(window):
        window.show()
    control = cast("ApiControl", ApiSwitch(bridge, Off()))
    workspace = Workspace(theme, bridge, preferences, control, location_of(tmp_path / "plants.db"), window)
    qtbot.waitUntil(workspace.isVisible)
    yield workspace
    workspace.release_store()


def unreachable(*_: object, **__: object) -> None:
    """Fail as a method of a reader does whose store is away."""
    raise StoreUnreachableError


def open_store(workspace: Workspace, store: SqliteStore) -> None:
    """Fill the window, and show the plants of a store."""
    workspace.set_up()
    workspace.show_and_focus()
    workspace.set_store(store)


@pytest.fixture
def add(store: SqliteStore) -> Adder:
    """Add plants of these names, with ids in their order, and wait until they are durable."""
    with contextlib.closing(store.reader()) as reader:
        ids = itertools.count(reader.next_free_id())

    def add_plants(*names: str, tag: str | None = None) -> list[PlantRow]:
        values = {} if tag is None else {"tag": tag}
        entries = [(new_plant({"id": next(ids), "name": name, **values}), FORM) for name in names]
        rows = add_each(store, entries)
        return [row for row in rows if isinstance(row, PlantRow)]

    return add_plants


@pytest.fixture
def other_program(store: SqliteStore) -> Iterator[sqlite3.Connection]:
    """Another program's connection to the store's file."""
    connection = sqlite3.connect(store.path)
    yield connection
    connection.close()


@pytest.fixture
def failing(store: SqliteStore) -> Failing:
    """A context in which every query of the plants fails; the data is untouched."""

    @contextlib.contextmanager
    def no_plants() -> Iterator[None]:
        with contextlib.closing(sqlite3.connect(store.path, isolation_level=None)) as other:
            schema = other.execute("SELECT sql, name FROM sqlite_schema").fetchall()
            other.execute("ALTER TABLE plant RENAME TO away")
            yield
            other.execute("ALTER TABLE away RENAME TO plant")
            other.execute("PRAGMA writable_schema = ON")
            other.executemany("UPDATE sqlite_schema SET sql = ? WHERE name = ?", schema)  # without quotes, as before
            other.execute("PRAGMA writable_schema = RESET")

    return no_plants


@pytest.fixture
def spoken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What screen readers are asked to speak."""
    sentences: list[str] = []

    def take(event: QAccessibleEvent) -> None:
        if isinstance(event, QAccessibleAnnouncementEvent):
            sentences.append(event.message())

    monkeypatch.setattr(QAccessible, "updateAccessibility", take)
    return sentences


@pytest.fixture
def browser(qtbot: QtBot, theme: Theme, bridge: Bridge) -> Iterator[PlantBrowser]:
    """A browser on the screen, without a store yet, that gets the changes of the store."""
    browser = PlantBrowser(theme, bridge)
    qtbot.addWidget(browser)
    bridge.changed.connect(browser.apply)
    browser.resize(1000, 600)
    browser.show()
    yield browser
    browser.release_store()
