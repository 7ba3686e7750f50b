"""Where dialogs are, and that they fit on a screen that is too narrow for their texts."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from plantdesk.ui.qt import fill
from plantdesk.ui.widgets.containers import ScrollArea
from plantdesk.ui.widgets.dialog import Dialog


def test_a_row_that_is_scrolled_is_broken_on_a_narrow_screen(qtbot: QtBot) -> None:
    dialog, content = Dialog("Import"), QWidget()
    qtbot.addWidget(dialog)
    room = dialog.screen().availableGeometry().width()
    wide, narrow = QPushButton("Import"), QPushButton("Cancel")
    wide.setMinimumWidth(room - 300)
    row = fill(QHBoxLayout(), wide, narrow)
    fill(QVBoxLayout(content), row, margins=0)
    area = ScrollArea(content)
    fill(QVBoxLayout(dialog), area, dialog.buttons, margins=0)
    dialog.break_rows(row)
    dialog.show()
    qtbot.waitUntil(lambda: area.horizontalScrollBar().maximum() == 0)
    assert row.direction() is QBoxLayout.Direction.LeftToRight
    narrow.setText("Cancel" * 10)
    qtbot.waitUntil(lambda: row.direction() is QBoxLayout.Direction.TopToBottom)
    qtbot.waitUntil(lambda: dialog.width() <= room)
    qtbot.waitUntil(lambda: area.horizontalScrollBar().maximum() == 0)


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
