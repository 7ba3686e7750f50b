"""Where dialogs are, and that they fit on a screen that is too narrow for their texts."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from plantdesk.ui.widgets.dialog import Dialog


def test_a_dialog_that_grows_when_it_is_opened_stays_over_the_middle_of_its_window(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.setGeometry(150, 150, 500, 500)
    window.show()
    dialog = Dialog("Restore", window)
    dialog.resize_to_fit(QSize(300, 100))
    dialog.open()
    middle = dialog.geometry().center()
    dialog.move(0, 0)  # as X11 reports for a moment while the window manager frames the window
    dialog.resize_to_fit(QSize(300, 200))
    assert (dialog.geometry().center() - middle).manhattanLength() <= 1
