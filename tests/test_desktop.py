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
def desk(show: Show) -> Iterator[ProgramDriver]:
    with show() as desk:
        yield desk


def test_a_plant_of_a_script_appears_without_disturbing_anything(token: str, desk: ProgramDriver) -> None:
    port = desk.until_on().port
    assert desk.name.hasFocus()
    desk.until(lambda: desk.id.placeholderText() == "1")
    for name in ("One", "Two", "Three"):
        desk.add(name)
        desk.until(lambda: desk.name.text() == "")
    desk.expect_names("Three", "Two", "One")
    desk.table.selectRow(1)
    desk.qtbot.keyClicks(desk.name, "half a na")
    assert post(port, token, {"id": 70, "name": "Posted"}).status == 200
    desk.expect_names("Posted", "Three", "Two", "One")
    assert [index.data() for index in desk.table.selectionModel().selectedRows(1)] == ["Two"]
    desk.until(lambda: desk.id.placeholderText() == "71")
    assert desk.name.text() == "half a na"
    assert desk.name.hasFocus()
    names = [button.accessibleName() for button in desk.status.findChildren(QAbstractButton)]
    assert any("“Posted” from greenhouse" in name for name in names)


@pytest.mark.parametrize(("mode", "colors"), [("light", LIGHT), ("dark", DARK)])
def test_the_first_frame_has_the_background_of_the_finished_window(show: Show, mode: str, colors: Colors) -> None:
    settings.save(settings.Settings(theme=mode), paths.settings_file())
    frames = []

    def grab(desktop: Desktop) -> None:
        assert desktop.window is not None
        assert desktop.workspace is None
        frames.append(desktop.window.grab().toImage())

    with show(when_started=grab) as desk:
        frames.append(desk.window.grab().toImage())
    backgrounds = {frame.pixelColor(frame.width() // 2, 4).name().upper() for frame in frames}
    assert backgrounds == {colors.window}


def test_keys_pressed_while_the_window_is_filled_go_to_name_and_run_commands(show: Show) -> None:
    keys = (Qt.Key.Key_A, Qt.Key.Key_L, Qt.Key.Key_O, Qt.Key.Key_E, Qt.Key.Key_Return, Qt.Key.Key_F1)

    def press(desktop: Desktop) -> None:
        assert desktop.window is not None
        handle = desktop.window.windowHandle()
        desktop.window.shown.connect(lambda: [QTest.keyClick(handle, key) for key in keys])

    with show(when_started=press) as desk:
        desk.expect_names("aloe")
        desk.until(lambda: bool(desk.window.findChildren(ManualDialog)))
        assert desk.window.focusWidget() is desk.name


def test_in_the_background_the_window_waits_and_the_api_is_on(show: Show, qapp: QApplication) -> None:
    with show(None, background=True) as desk:
        assert desk.window.isMinimized()
        desk.until_on()
        again = Desktop(qapp, location_of(paths.database_file()), 0)
        assert not again.start(background=True)
        again.close()
        assert desk.window.isMinimized()
        desk.main_window.show_in_front()
        assert not desk.window.isMinimized()
        desk.add("Fern")
        desk.expect_names("Fern")


def test_a_newer_version_is_reported_to_a_user_who_enabled_it(show: Show, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.save(settings.Settings(ask_for_updates=True), paths.settings_file())
    with release_server(release("v99.0.0")) as (address, _):
        monkeypatch.setattr(updates, "LATEST_RELEASE_URL", address)
        with show() as desk:
            desk.until_bar(shown=True)
            assert desk.bar.title == "PlantDesk 99.0.0 is available"


@pytest.mark.usefixtures("token")
def test_a_port_in_use_is_reported_with_another_one(show: Show) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, show(None, taken.getsockname()[1]) as desk:
        port = taken.getsockname()[1]
        desk.until(lambda: isinstance(desk.session.api.state, Failed))
        desk.until_bar(shown=True)
        assert desk.bar.title == f"API is off: port {port} is in use"
        assert desk.status.text == f"API off: port {port} is in use"
        desk.add("Still here")
        desk.expect_names("Still here")
        offered = next(button for text, button in desk.buttons().items() if text.startswith("Use port"))
        offered.click()
        assert str(desk.until_on().port) in offered.text()
        desk.until_bar(shown=False)


@pytest.mark.usefixtures("token")
def test_a_port_that_gets_free_is_used_by_itself(show: Show, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_control, "_RETRY_MS", 50)
    with socket.create_server(("127.0.0.1", 0)) as taken, show(None, taken.getsockname()[1]) as desk:
        port = taken.getsockname()[1]
        desk.until_bar(shown=True)
        assert "tried again by itself" in desk.bar.text
        states: list[object] = []
        desk.session.bridge.server_changed.connect(states.append)
        taken.close()
        assert desk.until_on().port == port
        desk.until_bar(shown=False)
        assert not [state for state in states if isinstance(state, Failed)], "attempts are not seen"


def test_the_api_is_starting_until_it_is_on(show: Show) -> None:
    states: list[object] = []

    def record(desktop: Desktop) -> None:
        assert desktop.session is not None
        desktop.session.bridge.server_changed.connect(states.append)

    with show(when_started=lambda desktop: desktop.window_shown.connect(partial(record, desktop))) as desk:
        desk.until_on()
        assert {type(state) for state in states[:-1]} == {Starting}, "without “Turn on” in between"


def test_the_api_is_switched_off_and_on_and_stays_as_it_was_left(show: Show) -> None:
    with show() as desk:
        desk.until_on()
        desk.choose("Tools", "API on")
        desk.until(lambda: desk.status.text == "API off")
    with show() as desk:
        desk.until(lambda: desk.id.placeholderText() == "1")
        assert desk.session.api.state == Off()
        desk.choose("Tools", "API on")
        desk.until_on()


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
    with show(path) as desk:
        desk.until_bar(shown=True)
        assert expected in desk.bar.text
        desk.add("Typed in vain?")
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        desk.button("Try again").click()
        desk.expect_names("Typed in vain?")
        desk.until_bar(shown=False)


def test_try_again_pressed_often_opens_the_store_once(show: Show, tmp_path: Path) -> None:
    path = tmp_path / "plants.db"
    foreign(path)
    before = set(threading.enumerate())
    with show(path) as desk:
        desk.until_bar(shown=True)
        path.unlink()
        for _ in range(5):
            desk.workspace.try_again_requested.emit()  # the presses of an impatient user
        desk.until_on()
        desk.workspace.try_again_requested.emit()
        desk.add("Fern")
        desk.expect_names("Fern")
        started = [thread.name for thread in set(threading.enumerate()) - before]
        assert [started.count(name) for name in ("store-writer", "store-backups", "server")] == [1, 1, 1]
        assert desk.session.api.state == desk.until_on()


def test_without_a_store_the_window_shows_nothing_false(show: Show, tmp_path: Path) -> None:
    path = tmp_path / "plants.db"
    foreign(path)
    with show(path) as desk:
        desk.until_bar(shown=True)
        desk.until(lambda: desk.status.text == "API off: no plants are open")
        desk.add("Fern")
        desk.until(lambda: "waits until the store can be opened" in desk.unsaved().values())
        labels = set(desk.texts())
        assert not labels & {"API starting…", "Saved", "Saving…", "…", "Opening your plants…"}
        assert not any("next free ID" in label for label in labels)
        assert (desk.name.isEnabled(), desk.name.text()) == (True, "")
        desk.choose("Tools", "API on")
        assert not desk.action("API on").isChecked()
        path.unlink()
        desk.expect_names("Fern")
        desk.until_on()
        assert desk.action("API on").isChecked()


@pytest.mark.parametrize("restored", [True, False])
def test_where_a_file_is_gone_its_backup_is_restored_or_a_new_store_started(
    show: Show, qtbot: QtBot, tmp_path: Path, *, restored: bool
) -> None:
    path = tmp_path / "plants.db"
    store_at(path, "Fern")
    backup = FileBackups(path).make()
    path.unlink()
    with show(path) as desk:
        desk.until_bar(shown=True)
        assert not path.exists()
        if restored:
            restore_newest(desk)
            desk.expect_names("Fern")
        else:
            qtbot.mouseClick(desk.button("Start without plants"), Qt.MouseButton.LeftButton)
            desk.until_bar(shown=False)
            desk.add("Aloe")
            desk.expect_names("Aloe")
        desk.until_on()
    assert backup.path.exists()


@pytest.mark.skipif(os.name != "posix", reason="Windows removes no file that is open")
def test_a_file_that_is_removed_while_it_is_open_can_be_restored_from_the_bar(show: Show, tmp_path: Path) -> None:
    path = tmp_path / "plants.db"
    with show(path) as desk:
        desk.until_on()
        desk.add("Fern")
        desk.expect_names("Fern")
        path.unlink()
        desk.until_bar(shown=True)
        restore_newest(desk)
        desk.until(lambda: "Restored 1 plant." in desk.toast.text)
        desk.add("Aloe")
        desk.expect_names("Aloe", "Fern")


def restore_newest(desk: ProgramDriver) -> None:
    desk.button("Restore a backup…").click()
    restore = WindowDriver(desk.qtbot, desk.the(RestoreDialog)).button("Restore")
    desk.until(restore.isEnabled)
    restore.click()


def test_where_no_folder_can_be_made_the_window_opens_and_says_so(show: Show, qapp: QApplication, home: Path) -> None:
    home.write_text("in the way")
    with show() as desk:
        desk.until_bar(shown=True)
        assert "cannot create its folder" in desk.bar.text
        home.unlink()
        desk.until_bar(shown=False)
        desk.add("Fern")
        desk.expect_names("Fern")
        again = Desktop(qapp, location_of(None), 0)
        assert not again.start(background=True)  # the window is locked by now
        again.close()


@pytest.mark.parametrize("file", ["plants.db", "no-folder/plants.db"])
def test_garbage_is_collected_whether_the_store_opens_or_not(show: Show, tmp_path: Path, file: str) -> None:
    class Cycle:
        def __init__(self) -> None:
            self.itself = self

    with show(tmp_path / file) as desk:
        desk.until(lambda: isinstance(desk.session.api.state, On | Failed))
        reference = weakref.ref(Cycle())
        kept = [[number] for number in range(100_000)]
        desk.until(lambda: reference() is None)
        del kept


@pytest.mark.no_qt_log
def test_a_server_that_cannot_be_made_is_reported_and_can_be_tried_again(
    show: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object, **_named: object) -> None:
        raise OSError("no sockets today")

    monkeypatch.setattr("plantdesk.api.server.Server.__init__", fail)
    with show() as desk:
        desk.until(lambda: desk.status.text.startswith("API off: The server could not"))
        monkeypatch.undo()
        desk.button("Try again").click()
        desk.until_on()


def test_api_access_asked_for_before_the_store_is_open_opens_with_it(show: Show, tmp_path: Path) -> None:
    with show(tmp_path / "plants.db") as desk:
        desk.choose("File", "API access…")
        desk.until(lambda: bool(desk.window.findChildren(ApiDialog)))
        desk.choose("File", "API access…")
        assert len(desk.window.findChildren(ApiDialog)) == 1
        assert desk.window.close(), "the dialog does not keep the window"


_DAMAGED = "The settings are back to their defaults"


def test_damaged_settings_are_reported(show: Show) -> None:
    paths.create_folder(paths.settings_folder())
    paths.settings_file().write_text("{")
    with show() as desk:
        desk.until(lambda: [bar.title for bar in desk.bars if bar.isVisible()] == [_DAMAGED])
        assert "settings.damaged.json" in desk.bar.text


def test_the_table_of_threads_is_true(show: Show, tmp_path: Path) -> None:
    text = (ROOT / "plantdesk" / "ui" / "README.md").read_text(encoding="utf-8")
    table = text.partition("## Threads")[2].partition("\n## ")[0]
    documented = set(re.findall(r"^\| `(.+?)` \|", table, re.MULTILINE))
    others = set(threading.enumerate()) - {threading.main_thread()}
    released = threading.Event()

    def running_threads() -> set[str]:
        return {re.sub(r"_\d+$", "", thread.name) for thread in set(threading.enumerate()) - others}

    store_at(tmp_path / "plants.db", "Fern")
    with show(tmp_path / "plants.db") as desk:
        desk.until_on()
        desk.expect_names("Fern")
        desk.session.bridge.long_tasks.run(desk.window, lambda _task: released.wait())
        desk.until(lambda: running_threads() == documented)
        released.set()


def test_the_api_starts_when_rows_are_shown_and_does_not_wait_for_ever(
    show: Show, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_at(tmp_path / "plants.db", "Fern")
    names: list[list[str]] = []
    monkeypatch.setattr("plantdesk.ui.session._MAX_SERVE_DELAY_MS", MILLISECONDS)
    with show(tmp_path / "plants.db") as desk:
        desk.session.bridge.server_changed.connect(lambda _state: names.append(desk.names()))
        desk.until_on()
    assert names[0] == ["Fern"]
    monkeypatch.setattr("plantdesk.ui.session._MAX_SERVE_DELAY_MS", 0)
    monkeypatch.setattr("plantdesk.ui.plants.browser.PlantBrowser._notify_shown", lambda _browser: None)
    with show(tmp_path / "plants.db") as desk:
        desk.until_on()


def test_another_file_can_be_chosen(show: Show, tmp_path: Path) -> None:
    store_at(tmp_path / "other.db", "Of the other")
    foreign(tmp_path / "list.txt")
    with show(tmp_path / "list.txt") as desk:
        desk.until_bar(shown=True)
        desk.workspace.file_chosen.emit(str(tmp_path / "other.db"))  # the result of the file dialog
        desk.expect_names("Of the other")
        assert "other.db" in desk.window.windowTitle()
        desk.until_on()
        desk.until(lambda: desk.id.placeholderText() == "2")


@pytest.mark.no_qt_log
def test_a_defect_is_told_with_a_report_and_the_program_goes_on(
    desk: ProgramDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, private = "plantdesk_" + "x" * 43, f"{Path.home()}/plants.db"

    def defect(*_arguments: object, **_options: object) -> None:
        raise RuntimeError(f"{secret} at {private}")

    with logs.log_to(tmp_path / "window.log"), logs.report_defects_to(desk.desktop.report_defect):
        monkeypatch.setattr("plantdesk.store.base.insert_as_next", defect)
        desk.until(lambda: desk.id.placeholderText() == "1")
        desk.add("Aloe")
        desk.until_bar(shown=True)
        assert "unexpected" in desk.bar.title
        desk.button("Copy report").click()
        monkeypatch.undo()
    report = QGuiApplication.clipboard().text()
    assert all(part in report for part in (f"PlantDesk: {__version__}", "RuntimeError", "in defect", "Traceback"))
    assert secret not in report
    assert str(Path.home()) not in report
    desk.button("Try again").click()
    desk.expect_names("Aloe")


@pytest.mark.skipif(os.name != "posix", reason="Windows always knows a home folder")
def test_without_a_home_folder_a_named_store_works_and_a_defect_is_reported(
    show: Show, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened_files: list[str]
) -> None:
    def no_user(_uid: int) -> None:
        raise KeyError

    for name in ("PLANTDESK_HOME", "HOME"):
        monkeypatch.delenv(name)
    monkeypatch.setattr("pwd.getpwuid", no_user)
    with show(tmp_path / "plants.db") as desk:
        desk.until(lambda: desk.id.placeholderText() == "1")
        desk.add("Fern")
        desk.expect_names("Fern")
        desk.action("Open data folder").trigger()
        assert opened_files == [str(tmp_path)]
        desk.workspace.show_defect("ERROR test")
        assert [button.text() for button in desk.bar.findChildren(QPushButton)] == ["Copy report"]
        desk.button("Copy report").click()
    assert "ERROR test" in QGuiApplication.clipboard().text()


def test_a_plant_that_waits_for_the_store_is_added_at_the_next_start(show: Show) -> None:
    SqliteStore(paths.database_file()).close()
    with closing(sqlite3.connect(paths.database_file(), isolation_level=None)) as other_program:
        other_program.execute("BEGIN EXCLUSIVE")
        with show() as desk:
            desk.type(desk.name, "Aloe")
            desk.press(Qt.Key.Key_Return)
    with show() as desk:
        desk.expect_names("Aloe")
        desk.until(lambda: not desk.unsaved())


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


def test_size_place_search_and_what_is_typed_are_there_after_a_kill_unless_it_is_added(
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
    with show() as desk:
        assert desk.window.geometry() == QRect(60, 50, 700, 500)
        desk.until(lambda: desk.the(SearchField).text() == "fern")


def test_typed_terms_stay_text_and_chips_stay_chips_over_a_restart(show: Show) -> None:
    def search(desk: ProgramDriver) -> tuple[str, list[str]]:
        chips = [chip.text().removesuffix("  ✕") for chip in desk.the(FilterChips).actions()]
        return desk.the(SearchField).text(), chips

    with show() as desk:
        desk.until_on()
        desk.the(SearchField).setFocus()
        QTest.keyClicks(desk.the(SearchField), "added:today")
        desk.press(Qt.Key.Key_Return)
        QTest.keyClicks(desk.the(SearchField), "fern tag:kitchen")
        assert search(desk) == ("fern tag:kitchen", ["Today"])
    with show() as desk:
        desk.until_on()
        assert search(desk) == ("fern tag:kitchen", ["Today"])
        desk.the(SearchField).selectAll()
        QTest.keyClicks(desk.the(SearchField), "rose")
        assert search(desk) == ("rose", ["Today"])
