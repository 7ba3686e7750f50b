"""The whole window program: real store, real server, real window."""

import os
import re
import socket
import sqlite3
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QPushButton
from pytestqt.qtbot import QtBot

from plantdesk import __version__
from plantdesk.desktop import Desktop
from plantdesk.domain.server_state import Failed, Off, On, Starting
from plantdesk.platform import logs, paths, settings, updates
from plantdesk.store import location_of
from plantdesk.store.sqlite.backups import FileBackups
from plantdesk.store.sqlite.migrations import SCHEMA_VERSION
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui import api_control
from plantdesk.ui.api_access.dialog import ApiDialog
from plantdesk.ui.plants.search_bar import FilterChips
from plantdesk.ui.plants.search_field import SearchField
from plantdesk.ui.preferences import Preferences
from plantdesk.ui.theme.colors import DARK, LIGHT, Colors
from plantdesk.ui.window.backups import RestoreDialog
from plantdesk.ui.window.help_dialogs import ManualDialog
from tests.platform.test_updates import release, release_server
from tests.support.adding import store_at
from tests.support.architecture import ROOT
from tests.support.program_driver import ProgramDriver, Show
from tests.support.programs import post
from tests.support.waiting import MILLISECONDS, SECONDS
from tests.support.window_driver import WindowDriver


@pytest.fixture
def token() -> str:
    with closing(SqliteStore(paths.database_file())) as store:
        return store.tokens.create("greenhouse").result(SECONDS).token


@pytest.fixture
def user(show: Show) -> Iterator[ProgramDriver]:
    with show() as user:
        yield user


def test_a_plant_of_a_script_appears_without_disturbing_anything(token: str, user: ProgramDriver) -> None:
    port = user.until_on().port
    assert user.name.hasFocus()
    user.until(lambda: user.id.placeholderText() == "1")
    for name in ("One", "Two", "Three"):
        user.add(name)
        user.until(lambda: user.name.text() == "")
    user.expect_names("Three", "Two", "One")
    user.table.selectRow(1)
    user.qtbot.keyClicks(user.name, "half a na")
    assert post(port, token, {"id": 70, "name": "Posted"}).status == 200
    user.expect_names("Posted", "Three", "Two", "One")
    assert [index.data() for index in user.table.selectionModel().selectedRows(1)] == ["Two"]
    user.until(lambda: user.id.placeholderText() == "71")
    assert user.name.text() == "half a na"
    assert user.name.hasFocus()
    names = [button.accessibleName() for button in user.status.findChildren(QAbstractButton)]
    assert any("“Posted” from greenhouse" in name for name in names)


@pytest.mark.parametrize(("mode", "colors"), [("light", LIGHT), ("dark", DARK)])
def test_the_first_frame_has_the_background_of_the_finished_window(show: Show, mode: str, colors: Colors) -> None:
    settings.save(settings.Settings(theme=mode), paths.settings_file())
    frames = []

    def grab(desktop: Desktop) -> None:
        assert desktop.window is not None
        assert desktop.workspace is None
        frames.append(desktop.window.grab().toImage())

    with show(when_started=grab) as user:
        frames.append(user.window.grab().toImage())
    backgrounds = {frame.pixelColor(frame.width() // 2, 4).name().upper() for frame in frames}
    assert backgrounds == {colors.window}


def test_keys_pressed_while_the_window_is_filled_go_to_name_and_run_commands(show: Show) -> None:
    keys = (Qt.Key.Key_A, Qt.Key.Key_L, Qt.Key.Key_O, Qt.Key.Key_E, Qt.Key.Key_Return, Qt.Key.Key_F1)

    def press(desktop: Desktop) -> None:
        assert desktop.window is not None
        handle = desktop.window.windowHandle()
        desktop.window.shown.connect(lambda: [QTest.keyClick(handle, key) for key in keys])

    with show(when_started=press) as user:
        user.expect_names("aloe")
        user.until(lambda: bool(user.window.findChildren(ManualDialog)))
        assert user.window.focusWidget() is user.name


def test_in_the_background_the_window_waits_and_the_api_is_on(show: Show, qapp: QApplication) -> None:
    with show(None, background=True) as user:
        assert user.window.isMinimized()
        user.until_on()
        again = Desktop(qapp, location_of(paths.database_file()), 0)
        assert not again.start(background=True)
        again.close()
        assert user.window.isMinimized()
        user.main_window.show_in_front()
        assert not user.window.isMinimized()
        user.add("Fern")
        user.expect_names("Fern")


def test_a_newer_version_is_reported_to_a_user_who_enabled_it(show: Show, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.save(settings.Settings(ask_for_updates=True), paths.settings_file())
    with release_server(release("v99.0.0")) as (address, _):
        monkeypatch.setattr(updates, "LATEST_RELEASE_URL", address)
        with show() as user:
            user.until_bar(shown=True)
            assert user.bar.title == "PlantDesk 99.0.0 is available"


@pytest.mark.usefixtures("token")
def test_a_port_in_use_is_reported_with_another_one(show: Show) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, show(None, taken.getsockname()[1]) as user:
        port = taken.getsockname()[1]
        user.until(lambda: isinstance(user.session.api.state, Failed))
        user.until_bar(shown=True)
        assert user.bar.title == f"API is off: port {port} is in use"
        assert user.status.text == f"API off: port {port} is in use"
        user.add("Still here")
        user.expect_names("Still here")
        offered = next(button for text, button in user.buttons().items() if text.startswith("Use port"))
        offered.click()
        assert str(user.until_on().port) in offered.text()
        user.until_bar(shown=False)


@pytest.mark.usefixtures("token")
def test_a_port_that_gets_free_is_used_by_itself(show: Show, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_control, "_RETRY_MS", 50)
    with socket.create_server(("127.0.0.1", 0)) as taken, show(None, taken.getsockname()[1]) as user:
        port = taken.getsockname()[1]
        user.until_bar(shown=True)
        assert "tried again by itself" in user.bar.text
        states: list[object] = []
        user.session.bridge.server_changed.connect(states.append)
        taken.close()
        assert user.until_on().port == port
        user.until_bar(shown=False)
        assert not [state for state in states if isinstance(state, Failed)], "attempts are not seen"


def test_the_api_is_starting_until_it_is_on(show: Show) -> None:
    states: list[object] = []

    def record(desktop: Desktop) -> None:
        assert desktop.session is not None
        desktop.session.bridge.server_changed.connect(states.append)

    with show(when_started=lambda desktop: desktop.window_shown.connect(partial(record, desktop))) as user:
        user.until_on()
        assert {type(state) for state in states[:-1]} == {Starting}, "without “Turn on” in between"


def test_the_api_is_switched_off_and_on_and_stays_as_it_was_left(show: Show) -> None:
    with show() as user:
        user.until_on()
        user.choose("Tools", "API on")
        user.until(lambda: user.status.text == "API off")
    with show() as user:
        user.until(lambda: user.id.placeholderText() == "1")
        assert user.session.api.state == Off()
        user.choose("Tools", "API on")
        user.until_on()


def damaged(path: Path) -> None:
    store_at(path, "x" * 9000)
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xa5" * (len(content) - 4096))


def newer(path: Path) -> None:
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")


def foreign(path: Path) -> None:
    path.write_text("a shopping list", encoding="utf-8")


def gone(path: Path) -> None:
    path.parent.rmdir()


@pytest.mark.parametrize(
    ("make", "expected"),
    [(damaged, "damaged"), (newer, "newer PlantDesk"), (foreign, "not a PlantDesk store"), (gone, "does not exist")],
)
def test_a_file_that_cannot_be_opened_is_reported_with_an_action(
    show: Show, tmp_path: Path, make: object, expected: str
) -> None:
    path = tmp_path / "kept" / "plants.db"
    path.parent.mkdir()
    make(path)  # type: ignore[operator]
    with show(path) as user:
        user.until_bar(shown=True)
        assert expected in user.bar.text
        user.add("Typed in vain?")
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        user.button("Try again").click()
        user.expect_names("Typed in vain?")
        user.until_bar(shown=False)


def test_try_again_pressed_often_opens_the_store_once(show: Show, tmp_path: Path) -> None:
    path = tmp_path / "plants.db"
    foreign(path)
    before = set(threading.enumerate())
    with show(path) as user:
        user.until_bar(shown=True)
        path.unlink()
        for _ in range(5):
            user.workspace.try_again_requested.emit()  # the presses of an impatient user
        user.until_on()
        user.workspace.try_again_requested.emit()
        user.add("Fern")
        user.expect_names("Fern")
        started = [thread.name for thread in set(threading.enumerate()) - before]
        assert [started.count(name) for name in ("store-writer", "store-backups", "server")] == [1, 1, 1]
        assert user.session.api.state == user.until_on()


def test_without_a_store_the_window_shows_nothing_false(show: Show, tmp_path: Path) -> None:
    path = tmp_path / "plants.db"
    foreign(path)
    with show(path) as user:
        user.until_bar(shown=True)
        user.until(lambda: user.status.text == "API off: no plants are open")
        user.add("Fern")
        user.until(lambda: "waits until the store can be opened" in user.unsaved().values())
        labels = set(user.texts())
        assert not labels & {"API starting…", "Saved", "Saving…", "…", "Opening your plants…"}
        assert not any("next free ID" in label for label in labels)
        assert (user.name.isEnabled(), user.name.text()) == (True, "")
        user.choose("Tools", "API on")
        assert not user.action("API on").isChecked()
        path.unlink()
        user.expect_names("Fern")
        user.until_on()
        assert user.action("API on").isChecked()


@pytest.mark.parametrize("restored", [True, False])
def test_where_a_file_is_gone_its_backup_is_restored_or_a_new_store_started(
    show: Show, qtbot: QtBot, tmp_path: Path, *, restored: bool
) -> None:
    path = tmp_path / "plants.db"
    store_at(path, "Fern")
    backup = FileBackups(path).make()
    path.unlink()
    with show(path) as user:
        user.until_bar(shown=True)
        assert not path.exists()
        if restored:
            restore_newest(user)
            user.expect_names("Fern")
        else:
            qtbot.mouseClick(user.button("Start without plants"), Qt.MouseButton.LeftButton)
            user.until_bar(shown=False)
            user.add("Aloe")
            user.expect_names("Aloe")
        user.until_on()
    assert backup.path.exists()


@pytest.mark.skipif(os.name != "posix", reason="Windows removes no file that is open")
def test_a_file_that_is_removed_while_it_is_open_can_be_restored_from_the_bar(show: Show, tmp_path: Path) -> None:
    path = tmp_path / "plants.db"
    with show(path) as user:
        user.until_on()
        user.add("Fern")
        user.expect_names("Fern")
        path.unlink()
        user.until_bar(shown=True)
        restore_newest(user)
        user.until(lambda: "Restored 1 plant." in user.toast.text)
        user.add("Aloe")
        user.expect_names("Aloe", "Fern")


def restore_newest(user: ProgramDriver) -> None:
    user.button("Restore a backup…").click()
    restore = WindowDriver(user.qtbot, user.the(RestoreDialog)).button("Restore")
    user.until(restore.isEnabled)
    restore.click()


def test_where_no_folder_can_be_made_the_window_opens_and_says_so(show: Show, qapp: QApplication, home: Path) -> None:
    home.write_text("in the way")
    with show() as user:
        user.until_bar(shown=True)
        assert "cannot create its folder" in user.bar.text
        home.unlink()
        user.until_bar(shown=False)
        user.add("Fern")
        user.expect_names("Fern")
        again = Desktop(qapp, location_of(None), 0)
        assert not again.start(background=True)  # the window is locked by now
        again.close()


@pytest.mark.parametrize("file", ["plants.db", "no-folder/plants.db"])
def test_garbage_is_collected_whether_the_store_opens_or_not(show: Show, tmp_path: Path, file: str) -> None:
    class Cycle:
        def __init__(self) -> None:
            self.itself = self

    with show(tmp_path / file) as user:
        user.until(lambda: isinstance(user.session.api.state, On | Failed))
        reference = weakref.ref(Cycle())
        kept = [[number] for number in range(100_000)]
        user.until(lambda: reference() is None)
        del kept


@pytest.mark.no_qt_log
def test_a_server_that_cannot_be_made_is_reported_and_can_be_tried_again(
    show: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object, **_named: object) -> None:
        raise OSError("no sockets today")

    monkeypatch.setattr("plantdesk.api.server.Server.__init__", fail)
    with show() as user:
        user.until(lambda: user.status.text.startswith("API off: The server could not"))
        monkeypatch.undo()
        user.button("Try again").click()
        user.until_on()


def test_api_access_asked_for_before_the_store_is_open_opens_with_it(show: Show, tmp_path: Path) -> None:
    with show(tmp_path / "plants.db") as user:
        user.choose("File", "API access…")
        user.until(lambda: bool(user.window.findChildren(ApiDialog)))
        user.choose("File", "API access…")
        assert len(user.window.findChildren(ApiDialog)) == 1
        assert user.window.close(), "the dialog does not keep the window"


_DAMAGED = "The settings are back to their defaults"


def test_damaged_settings_are_reported(show: Show) -> None:
    paths.create_folder(paths.settings_folder())
    paths.settings_file().write_text("{")
    with show() as user:
        user.until(lambda: [bar.title for bar in user.bars if bar.isVisible()] == [_DAMAGED])
        assert "settings.damaged.json" in user.bar.text


def test_the_table_of_threads_is_true(show: Show, tmp_path: Path) -> None:
    text = (ROOT / "plantdesk" / "ui" / "README.md").read_text(encoding="utf-8")
    table = text.partition("## Threads")[2].partition("\n## ")[0]
    documented = set(re.findall(r"^\| `(.+?)` \|", table, re.MULTILINE))
    others = set(threading.enumerate()) - {threading.main_thread()}
    released = threading.Event()

    def running_threads() -> set[str]:
        return {re.sub(r"_\d+$", "", thread.name) for thread in set(threading.enumerate()) - others}

    store_at(tmp_path / "plants.db", "Fern")
    with show(tmp_path / "plants.db") as user:
        user.until_on()
        user.expect_names("Fern")
        user.session.bridge.long_tasks.run(user.window, lambda _task: released.wait())
        user.until(lambda: running_threads() == documented)
        released.set()


def test_the_api_starts_when_rows_are_shown_and_does_not_wait_for_ever(
    show: Show, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_at(tmp_path / "plants.db", "Fern")
    names: list[list[str]] = []
    monkeypatch.setattr("plantdesk.ui.session._MAX_SERVE_DELAY_MS", MILLISECONDS)
    with show(tmp_path / "plants.db") as user:
        user.session.bridge.server_changed.connect(lambda _state: names.append(user.names()))
        user.until_on()
    assert names[0] == ["Fern"]
    monkeypatch.setattr("plantdesk.ui.session._MAX_SERVE_DELAY_MS", 0)
    monkeypatch.setattr("plantdesk.ui.plants.browser.PlantBrowser._notify_shown", lambda _browser: None)
    with show(tmp_path / "plants.db") as user:
        user.until_on()


def test_another_file_can_be_chosen(show: Show, tmp_path: Path) -> None:
    store_at(tmp_path / "other.db", "Of the other")
    foreign(tmp_path / "list.txt")
    with show(tmp_path / "list.txt") as user:
        user.until_bar(shown=True)
        user.workspace.file_chosen.emit(str(tmp_path / "other.db"))  # the result of the file dialog
        user.expect_names("Of the other")
        assert "other.db" in user.window.windowTitle()
        user.until_on()
        user.until(lambda: user.id.placeholderText() == "2")


@pytest.mark.no_qt_log
def test_a_defect_is_told_with_a_report_and_the_program_goes_on(
    user: ProgramDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, private = "plantdesk_" + "x" * 43, f"{Path.home()}/plants.db"

    def defect(*_arguments: object, **_options: object) -> None:
        raise RuntimeError(f"{secret} at {private}")

    with logs.log_to(tmp_path / "window.log"), logs.report_defects_to(user.desktop.report_defect):
        monkeypatch.setattr("plantdesk.store.base.insert_as_next", defect)
        user.until(lambda: user.id.placeholderText() == "1")
        user.add("Aloe")
        user.until_bar(shown=True)
        assert "unexpected" in user.bar.title
        user.button("Copy report").click()
        monkeypatch.undo()
    report = QGuiApplication.clipboard().text()
    assert all(part in report for part in (f"PlantDesk: {__version__}", "RuntimeError", "in defect", "Traceback"))
    assert secret not in report
    assert str(Path.home()) not in report
    user.button("Try again").click()
    user.expect_names("Aloe")


@pytest.mark.skipif(os.name != "posix", reason="Windows always knows a home folder")
def test_without_a_home_folder_a_named_store_works_and_a_defect_is_reported(
    show: Show, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened_files: list[str]
) -> None:
    def no_user(_uid: int) -> None:
        raise KeyError

    for name in ("PLANTDESK_HOME", "HOME"):
        monkeypatch.delenv(name)
    monkeypatch.setattr("pwd.getpwuid", no_user)
    with show(tmp_path / "plants.db") as user:
        user.until(lambda: user.id.placeholderText() == "1")
        user.add("Fern")
        user.expect_names("Fern")
        user.action("Open data folder").trigger()
        assert opened_files == [str(tmp_path)]
        user.workspace.show_defect("ERROR test")
        assert [button.text() for button in user.bar.findChildren(QPushButton)] == ["Copy report"]
        user.button("Copy report").click()
    assert "ERROR test" in QGuiApplication.clipboard().text()


def test_a_plant_that_waits_for_the_store_is_added_at_the_next_start(show: Show) -> None:
    SqliteStore(paths.database_file()).close()
    with closing(sqlite3.connect(paths.database_file(), isolation_level=None)) as other_program:
        other_program.execute("BEGIN EXCLUSIVE")
        with show() as user:
            user.type(user.name, "Aloe")
            user.press(Qt.Key.Key_Return)
    with show() as user:
        user.expect_names("Aloe")
        user.until(lambda: not user.unsaved())


_FORM = """
import os, sys
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from plantdesk.cli import main as cli
from plantdesk.ui.plants.form_fields import NameField
from plantdesk.ui.plants.search_field import SearchField
from plantdesk.ui.session import Session

def use_form(session, store):
    store.subscribe(lambda _changes: os._exit(9))  # before the window knows of the plant
    on_opened(session, store)
    name = session.workspace.findChild(NameField)
    print(name.text(), flush=True)
    if sys.argv[1] == "Dill":
        session.workspace.window().setGeometry(60, 50, 700, 500)
        QTest.keyClicks(session.workspace.findChild(SearchField), "fern")
    QTest.keyClicks(name, sys.argv[1]) if sys.argv[1] else QTest.keyClick(name, Qt.Key.Key_Return)

on_opened, Session._on_opened = Session._on_opened, use_form
cli.main(["--port", "0"])
"""


def test_size_place_search_and_unadded_text_are_there_after_a_kill(
    show: Show, qtbot: QtBot, environment: dict[str, str]
) -> None:
    def start(keys: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", _FORM, keys]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)

    def remembered(name: str) -> object:
        return Preferences(paths.settings_file()).of_store(location_of(None).key).get(name)

    with start("Dill") as typing:
        qtbot.waitUntil(lambda: (remembered("draft"), remembered("search")) == (["", "Dill", ""], "fern"))
        qtbot.waitUntil(lambda: Preferences(paths.settings_file()).settings.window.position == (60, 50))
        typing.kill()
    with start("") as adding:  # Enter
        assert (adding.communicate(timeout=MILLISECONDS)[0], adding.returncode) == ("Dill\n", 9)
    unsaved = remembered("unsaved")
    assert isinstance(unsaved, list)
    assert [(item["texts"], item["waits"]) for item in unsaved] == [(["", "Dill", ""], False)], "it is not sent again"
    assert remembered("draft") is None
    with start("x") as after, closing(sqlite3.connect(paths.database_file())) as connection:
        assert after.stdout is not None
        assert after.stdout.readline() == "\n"
        qtbot.waitUntil(lambda: not remembered("unsaved"))  # the store has it
        after.kill()
        assert connection.execute("SELECT name FROM plant").fetchall() == [("Dill",)]
    with show() as user:
        assert user.window.geometry() == QRect(60, 50, 700, 500)
        user.until(lambda: user.the(SearchField).text() == "fern")


def test_typed_terms_stay_text_and_chips_stay_chips_over_a_restart(show: Show) -> None:
    def search(user: ProgramDriver) -> tuple[str, list[str]]:
        chips = [chip.text().removesuffix("  ✕") for chip in user.the(FilterChips).actions()]
        return user.the(SearchField).text(), chips

    with show() as user:
        user.until_on()
        user.the(SearchField).setFocus()
        QTest.keyClicks(user.the(SearchField), "added:today")
        user.press(Qt.Key.Key_Return)
        QTest.keyClicks(user.the(SearchField), "fern tag:kitchen")
        assert search(user) == ("fern tag:kitchen", ["Today"])
    with show() as user:
        user.until_on()
        assert search(user) == ("fern tag:kitchen", ["Today"])
        user.the(SearchField).selectAll()
        QTest.keyClicks(user.the(SearchField), "rose")
        assert search(user) == ("rose", ["Today"])
