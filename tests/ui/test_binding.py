"""What PlantDesk needs of PySide6 itself."""

import sys

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

CALLS = 500


def test_calls_that_return_nothing_leave_nothing_alone(qtbot: QtBot) -> None:
    """PySide6 6.12.0 on Python 3.11 takes a reference to None away with each; some thousands abort the program."""
    label = QLabel()
    qtbot.addWidget(label)
    before = sys.getrefcount(None)
    for _ in range(CALLS):
        label.setText("x")
    assert sys.getrefcount(None) > before - CALLS // 2
