"""Windows of several stores share one file of settings."""

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QFileSystemWatcher, QObject
from pytestqt.qtbot import QtBot

from plantdesk.platform import settings
from plantdesk.ui.preferences import Preferences
from tests.support.disks import mounted

_A, _B = Path("/plants/a.db"), Path("/plants/b.db")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings.json"


def test_windows_keep_what_others_have_changed(file: Path) -> None:
    window_a, window_b = Preferences(file), Preferences(file)
    window_b.change_store(str(_B), searches=["dry"])
    window_a.change(theme="dark")
    window_a.change_store(str(_A), card=True)
    window_b.change(window={"width": 900})
    window_b.change_store(str(_B), card=False)
    saved = Preferences(file)
    assert (saved.settings.theme, saved.settings.window.width) == ("dark", 900)
    assert saved.of_store(str(_A)) == {"card": True}
    assert saved.of_store(str(_B)) == {"searches": ["dry"], "card": False}
    assert window_b.settings.theme == "system"  # it does not follow yet


def test_a_window_follows_what_another_one_changes(tmp_path: Path, qtbot: QtBot) -> None:
    file = tmp_path / "new" / "settings.json"
    window_a, window_b = Preferences(file), Preferences(file)
    window_a.watch_file(window_a)
    with qtbot.waitSignal(window_a.changed):
        window_b.change(theme="dark")
    assert window_a.settings.theme == "dark"
    window_a.change(text_scale=1.5)
    with qtbot.waitSignal(window_a.changed):
        window_b.change(theme="light")
    assert (window_a.settings.theme, window_a.settings.text_scale) == ("light", 1.5)


def test_the_watch_ends_with_the_window(tmp_path: Path, qtbot: QtBot) -> None:
    """A user may have 128 on Linux, and each open file of plants needs one."""
    window, preferences = QObject(), Preferences(tmp_path / "settings.json")
    preferences.watch_file(window)
    (watcher,) = window.findChildren(QFileSystemWatcher)
    with qtbot.waitSignal(watcher.destroyed):
        window.deleteLater()


@pytest.mark.parametrize("options", ["rw", "ro"])
def test_it_is_known_from_the_start_that_nothing_can_be_kept_on_a_read_only_disk(tmp_path: Path, options: str) -> None:
    with mounted(tmp_path / "disk", "-t", "tmpfs", "-o", options, "tmpfs") as disk:
        assert Preferences(disk / "settings.json").keeps_unsaved == (options == "rw")


@pytest.mark.parametrize("content", ['{"theme": "li', "", "[1]", None])
def test_a_file_that_is_damaged_while_the_window_is_open_changes_nothing(
    tmp_path: Path, qtbot: QtBot, content: str | None
) -> None:
    """As by an editor that writes another file and moves it here; None: a folder, which cannot be read."""
    file, edited = tmp_path / "settings.json", tmp_path / "edited"
    window = Preferences(file)
    window.change(theme="dark")
    window.watch_file(window)
    assert window._watcher is not None  # noqa: SLF001
    with qtbot.waitSignal(window._watcher.directoryChanged):  # noqa: SLF001
        if content is None:
            file.unlink()
            file.mkdir()
        else:
            edited.write_text(content)
            edited.replace(file)
    assert window.settings.theme == "dark"
    assert file.is_dir() if content is None else file.read_text() == content
    if content is None:
        file.rmdir()
    edited.write_text('{"theme": "light"}')
    edited.replace(file)
    qtbot.waitUntil(lambda: window.settings.theme == "light")


def test_what_could_not_be_saved_is_not_lost_by_following(
    file: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "_LOCK_TIMEOUT", 0.05)
    window_a, window_b = Preferences(file), Preferences(file)
    window_b.change(language="de")
    window_a.watch_file(window_a)
    with settings.lock_file(file):
        window_a.change(theme="dark")
    window_b.change(language="fr")
    qtbot.waitUntil(lambda: Preferences(file).settings.language == "fr")
    assert window_a.settings.theme == "dark"
    window_a.change(text_scale=1.5)
    assert Preferences(file).settings.text_scale == 1.5


def test_no_change_is_lost_when_windows_write_at_once(file: Path) -> None:

    def write(window: int) -> None:
        preferences = Preferences(file)
        for number in range(10):
            preferences.change_store(str(Path(f"/plants/{window}.db")), **{f"{number}": number})

    windows = [threading.Thread(target=write, args=(window,)) for window in range(4)]
    for each in windows:
        each.start()
    for each in windows:
        each.join()
    saved = Preferences(file)
    assert all(len(saved.of_store(str(Path(f"/plants/{window}.db")))) == 10 for window in range(4))


def test_a_change_is_kept_in_memory_while_the_file_islocked(
    file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(settings, "_LOCK_TIMEOUT", 0.05)
    preferences = Preferences(file)
    with settings.lock_file(file):
        preferences.change(theme="dark")
    assert preferences.settings.theme == "dark"
    assert not file.exists()
    assert "cannot be saved" in caplog.text
