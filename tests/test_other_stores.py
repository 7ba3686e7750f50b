"""Other stores from the menu of the window: each is shown by a process of its own, as `plantdesk --database` does."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QProcess, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from plantdesk import DEFAULT_PORT
from plantdesk.domain.server_state import On
from plantdesk.platform import paths, settings
from plantdesk.store import location_of, remembered_location
from plantdesk.ui.single_window import SingleWindow
from plantdesk.ui.transfer.import_dialog import ImportDialog
from plantdesk.ui.widgets.dialog import FileDialog
from plantdesk.ui.window.stores import StoresFeature
from tests.support.adding import store_at
from tests.support.ports import free_port
from tests.support.program_driver import ProgramDriver, Show
from tests.support.programs import runtimes
from tests.support.window_driver import WindowDriver, plain


@pytest.fixture
def user(show: Show) -> Iterator[ProgramDriver]:
    with show() as user:
        user.until_on()
        yield user


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The options of the processes that would have been started."""
    found: list[list[str]] = []

    def start(_program: str, options: list[str]) -> tuple[bool, int]:
        found.append(options[-4:])
        return True, 1

    monkeypatch.setattr(QProcess, "startDetached", start)
    return found


def choose(user: WindowDriver, monkeypatch: pytest.MonkeyPatch, command: str, file: Path) -> None:
    """Choose a file by a command of the submenu of other stores."""
    for dialog in ("get_open_file", "get_save_file"):
        monkeypatch.setattr(FileDialog, dialog, lambda *_arguments, **_options: str(file))
    user.choose("File", "Other plants", command)


def recent(user: WindowDriver) -> dict[str, QAction]:
    """Return the list of the last stores."""
    menu = user.action("Other plants").menu()
    assert isinstance(menu, QMenu)
    menu.aboutToShow.emit()
    found = {plain(action.text()): action for action in menu.actions() if not action.isSeparator()}
    return {text: found[text] for text in [*found][[*found].index("Copy store…") + 1 :]}


@pytest.mark.skipif(os.name != "posix", reason="a window on Windows ends by its window")
def test_another_store_opens_in_a_window_of_its_own_once(
    user: ProgramDriver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "Ä & user=x"
    folder.mkdir()
    store_at(folder / "gärten.db", "Aloe")
    user.add("Mine")
    user.expect_names("Mine")
    choose(user, monkeypatch, "Open store…", folder / "gärten.db")

    def others() -> list[dict[str, object]]:
        return [runtime for runtime in runtimes(paths.runtime_folder()) if runtime["pid"] != os.getpid()]

    user.until(lambda: bool(others()))
    (other,) = others()
    try:
        assert other["database"] == str(folder / "gärten.db")
        assert user.window.windowTitle() == "PlantDesk"
        user.expect_names("Mine")
        preferences = user.desktop.preferences  # the other window changes them
        user.until(lambda: preferences.settings.recent_stores == [str(folder / "gärten.db")])
        assert [title.partition(" — ")[0] for title in recent(user)] == ["gärten.db", "Clear list"]
        assert not preferences.settings.opens_shared_store
    finally:
        os.kill(int(str(other["pid"])), signal.SIGTERM)
        user.until(lambda: not others())


def test_a_new_store_opens_in_a_window_of_its_own(
    user: ProgramDriver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, started: list[list[str]]
) -> None:
    choose(user, monkeypatch, "New store…", tmp_path / "balcony user=x")
    user.until(lambda: bool(started))
    assert started == [["--port", "0", "--database", str(tmp_path / "balcony user=x.db")]]


def test_a_store_that_is_there_is_not_made_anew(
    user: ProgramDriver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, started: list[list[str]]
) -> None:
    file = store_at(tmp_path / "garden.db", "Aloe")
    choose(user, monkeypatch, "New store…", file)
    user.until(lambda: "“garden.db” is there already." in user.texts())
    assert not started
    user.button("Open it").click()
    assert started == [["--port", "0", "--database", str(file)]]


def test_another_store_keeps_the_port_that_was_chosen_for_it(
    show: Show, user: ProgramDriver, qtbot: QtBot, tmp_path: Path, started: list[list[str]]
) -> None:
    file = store_at(tmp_path / "garden.db", "Aloe")
    port = free_port()
    with show(file, port=0) as other:
        other.until_on()
        other.choose("Edit", "Settings…")
        edit = other.field("Port")
        other.type(edit, str(port))
        qtbot.keyClick(edit, Qt.Key.Key_Return)
        other.until(lambda: other.session.api.state == On(f"http://127.0.0.1:{port}", port))
        other.until(lambda: other.desktop.preferences.of_store(location_of(file).key).get("port") == port)
    preferences = user.desktop.preferences
    user.until(lambda: "port" in preferences.of_store(location_of(file).key))
    assert preferences.settings.port == DEFAULT_PORT
    user.window.activateWindow()
    (stores,) = user.window.findChildren(StoresFeature)
    stores.open(str(file))
    user.until(lambda: bool(started))
    assert started == [["--port", str(port), "--database", str(file)]]


def test_the_store_of_the_window_opens_no_other_window(
    user: ProgramDriver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, started: list[list[str]]
) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(paths.database_file())
    choose(user, monkeypatch, "Open store…", link)
    user.until(lambda: "“plants.db” is open in this window." in user.texts())
    assert not started


def test_a_file_of_plants_is_left_as_it_is_and_can_be_imported(
    user: ProgramDriver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, started: list[list[str]]
) -> None:
    file = tmp_path / "list.csv"
    file.write_text("name,tag\nRose,Bed\n", encoding="utf-8")
    choose(user, monkeypatch, "Open store…", file)
    user.until(lambda: any("is not a PlantDesk store" in text for text in user.texts()))
    assert not started
    WindowDriver(user.qtbot, user.toast).button("Import…").click()
    user.the(ImportDialog).reject()
    assert sorted(file.name for file in tmp_path.iterdir() if file.is_file()) == ["list.csv"]
    assert file.read_text(encoding="utf-8") == "name,tag\nRose,Bed\n"


def test_a_recent_store_that_is_gone_is_reported_and_can_be_removed(
    user: ProgramDriver, tmp_path: Path, started: list[list[str]]
) -> None:
    gone, here = tmp_path / "gone.db", store_at(tmp_path / "here.db")
    user.desktop.preferences.change(recent_stores=[str(gone), str(here), "postgresql://anna@plants.example/garden"])
    texts = [text for text in recent(user) if text]
    assert [text.partition(" — ")[0] for text in texts] == [
        "gone.db",
        "here.db",
        "garden on plants.example",
        "Clear list",
    ]
    assert texts[0].endswith(tmp_path.name)
    recent(user)[texts[0]].trigger()
    user.until(lambda: any(text.startswith("“gone.db” is not there any more") for text in user.texts()))
    user.button("Remove from the list").click()
    assert texts[0] not in recent(user)
    recent(user)[texts[1]].trigger()
    recent(user)[texts[2]].trigger()
    user.until(lambda: len(started) == 2)
    assert {command[-1] for command in started} == {str(here), "postgresql://anna@plants.example/garden"}
    recent(user)["Clear list"].trigger()
    assert "Clear list" not in recent(user)


def test_own_plants_that_another_window_shows_come_to_the_front(show: Show, qtbot: QtBot, tmp_path: Path) -> None:
    own = SingleWindow(location_of(None), paths.data_folder())
    assert own.try_lock()
    own.listen()
    with show(store_at(tmp_path / "garden.db", "Aloe")) as user:
        user.expect_names("Aloe")
        with qtbot.waitSignal(own.request_received):
            user.choose("File", "Other plants", "My own plants")
        user.add("Fern")
        user.expect_names("Fern", "Aloe")
        assert user.window.windowTitle() == "garden.db — PlantDesk"
    own.release()


def test_the_title_names_another_store_also_while_it_cannot_be_opened(show: Show, tmp_path: Path) -> None:
    (tmp_path / "list.db").write_bytes(b"no store" * 1000)
    with show(tmp_path / "list.db") as user:
        user.until_bar(shown=True)
        assert user.window.windowTitle() == "list.db — PlantDesk"
        assert settings.load(paths.settings_file()).recent_stores == []


def test_without_an_address_of_a_shared_store_the_own_one_is_opened() -> None:
    own = location_of(None)
    assert remembered_location(own, settings.Settings(opens_shared_store=True)) is own
