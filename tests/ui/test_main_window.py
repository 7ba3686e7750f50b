from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QSize
from pytestqt.qtbot import QtBot

from plantdesk.ui.main_window import MainWindow
from plantdesk.ui.preferences import Preferences


@pytest.mark.parametrize("saved", [None, QSize(3600, 2200)])
def test_the_window_fits_the_screen_at_first_and_as_it_was_saved_on_a_larger_one(
    qtbot: QtBot, tmp_path: Path, saved: QSize | None
) -> None:
    preferences = Preferences(tmp_path / "settings.json")
    if saved is not None:
        preferences.change(window={"width": saved.width(), "height": saved.height()})
    window = MainWindow(preferences)
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    room = window.screen().availableGeometry().size()
    assert window.frameGeometry().width() <= room.width()
    assert window.frameGeometry().height() <= room.height()


@pytest.mark.parametrize(("position", "is_restored"), [([30, 40], True), ([-5000, 40], False), ([790, 40], False)])
def test_the_window_opens_where_it_was_closed_if_that_is_on_a_screen(
    qtbot: QtBot, tmp_path: Path, position: list[int], *, is_restored: bool
) -> None:
    preferences = Preferences(tmp_path / "settings.json")
    preferences.change(window={"width": 700, "height": 500, "position": position})
    for _ in range(2):
        window = MainWindow(preferences)
        qtbot.addWidget(window)
        with qtbot.waitExposed(window):
            window.show_restored()
        assert (window.geometry().topLeft() == QPoint(*position)) is is_restored
        assert window.size() == QSize(700, 500)
        window.close_unasked()


@pytest.mark.parametrize("background", [False, True])
def test_a_window_that_was_maximised_is_again(qtbot: QtBot, tmp_path: Path, *, background: bool) -> None:
    preferences = Preferences(tmp_path / "settings.json")
    preferences.change(window={"maximized": True})
    window = MainWindow(preferences)
    qtbot.addWidget(window)
    if background:
        window.show_minimized()
        assert window.isMinimized()
        window.show_in_front()
    else:
        window.show_restored()
    assert window.isMaximized()
    assert not window.isMinimized()
