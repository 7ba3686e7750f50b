from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot
from typing_extensions import override

from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.messages import Toast
from plantdesk.ui.widgets.plain_text import PlainLabel
from tests.support.desk import Desk

WIDTH = 600


class ToastDesk(Desk):
    """A window with a field and a toast whose messages disappear at once."""

    def __init__(self, qtbot: QtBot, theme: Theme) -> None:
        super().__init__(qtbot, QWidget())
        qtbot.addWidget(self.widget)
        self.widget.resize(800, 600)
        self.edit = QLineEdit()
        self.chosen: list[str] = []
        toast = Toast(theme, shown_ms=0)
        toast.setParent(self.widget)
        toast.set_area(QRect(100, 0, WIDTH, 300))
        layout = QVBoxLayout(self.widget)
        layout.addWidget(self.edit, 1)
        with qtbot.waitActive(self.widget):
            self.widget.show()
        self.edit.setFocus()

    def undo(self) -> None:
        self.chosen.append("undo")


@pytest.fixture
def desk(qtbot: QtBot, theme: Theme) -> ToastDesk:
    return ToastDesk(qtbot, theme)


def test_a_message_disappears_by_itself_and_a_problem_stays(desk: ToastDesk) -> None:
    desk.toast.show_message("Copied 2 plants.")
    assert desk.toast.isVisible()
    desk.until(desk.toast.isHidden)
    desk.toast.show_problem("Nothing was copied.")
    QApplication.processEvents()
    assert desk.toast.isVisible()
    desk.button("Close this message").click()
    assert desk.toast.isHidden()


def test_the_key_of_undo_is_shown_where_it_undoes_no_typing(desk: ToastDesk) -> None:
    for typed, shown in (("", True), ("fern", False)):
        desk.qtbot.keyClicks(desk.edit, typed)
        desk.toast.show_message("Imported 2 plants.", ("Undo", desk.undo), key="Ctrl+Z")
        assert ("Ctrl+Z" in Desk(desk.qtbot, desk.toast).texts()) is shown
    desk.edit.undo()
    desk.toast.show_message("Taken back.", ("Redo", desk.undo), key="Ctrl+Shift+Z")
    assert "Ctrl+Shift+Z" not in Desk(desk.qtbot, desk.toast).texts(), "it brings back what was typed"


def test_its_action_is_done_once(desk: ToastDesk) -> None:
    desk.toast.show_problem("Deleted 2 plants.", ("Undo", desk.undo))
    desk.toast.focus_first()
    desk.press(Qt.Key.Key_Space)
    assert (desk.chosen, desk.toast.isHidden(), desk.edit.hasFocus()) == (["undo"], True, True)


def test_it_is_as_wide_as_its_text_and_wraps_what_is_too_long(desk: ToastDesk) -> None:
    desk.toast.show_problem("Short.")
    desk.until(lambda: 0 < desk.toast.width() < WIDTH // 2)
    height = desk.toast.height()
    desk.toast.show_problem("Long words. " * 40, ("Undo", desk.undo))
    desk.until(lambda: desk.toast.height() > height)
    assert desk.toast.width() <= WIDTH


def test_in_little_room_the_buttons_are_below_the_text(desk: ToastDesk) -> None:
    actions = [("Show these plants", desk.undo), ("Undo", desk.undo)]
    text = "Changed 2 plants. 3 plants have been changed since and were left as they are."
    desk.toast.show_problem(text, *actions)
    desk.until(desk.toast.isVisible)
    label = next(each for each in desk.toast.findChildren(PlainLabel) if each.text() == text)
    button = desk.button("Undo")
    assert button.x() > label.geometry().right()
    desk.toast.set_area(QRect(100, 0, 360, 300))
    desk.until(lambda: button.y() > label.geometry().bottom())
    assert label.height() <= 3 * label.fontMetrics().lineSpacing()
    assert desk.toast.geometry().right() <= 100 + 360
    desk.toast.show_message("Short.", *actions)
    desk.until(lambda: desk.button("Undo").x() > label.geometry().right())


def test_its_layout_comes_to_rest(desk: ToastDesk) -> None:
    desk.toast.show_problem("Nothing was copied.", ("Undo", desk.undo))
    for _ in range(10):
        QApplication.processEvents()
    requests = LayoutRequests(desk.toast)
    desk.toast.clear()
    for _ in range(50):
        QApplication.processEvents()
    assert requests.count < 5


class LayoutRequests(QObject):
    """Counts the requests of a widget for a layout."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.count = 0
        widget.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() is QEvent.Type.LayoutRequest
        return False


def test_progress_is_shown_only_where_it_takes_time(desk: ToastDesk, theme: Theme) -> None:
    desk.toast.show_progress("Deleting…")
    assert desk.toast.isHidden()
    desk.until(lambda: desk.toast.isVisible() and desk.toast.text == "Deleting…")
    desk.toast.clear()
    desk.toast.show_progress("Undoing…")
    desk.toast.show_problem("Nothing was undone.")
    later = ToastDesk(desk.qtbot, theme)
    later.toast.show_progress("Undoing…")
    desk.until(later.toast.isVisible)
    assert desk.toast.text == "Nothing was undone."


def test_progress_stays_where_the_message_before_would_have_disappeared(desk: ToastDesk, theme: Theme) -> None:
    desk.toast.show_message("Imported 2 plants.")
    desk.toast.show_progress("Deleting…")
    desk.until(lambda: desk.toast.isVisible() and desk.toast.text == "Deleting…")
    later = ToastDesk(desk.qtbot, theme)
    later.toast.show_message("Copied 2 plants.")
    desk.until(later.toast.isHidden)
    assert desk.toast.isVisible()


def test_a_file_without_a_program_for_it_is_reported(desk: ToastDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _url: False)
    desk.toast.open_file(Path("labels.pdf"))
    assert desk.toast.text == "No program was found that opens “labels.pdf”."
