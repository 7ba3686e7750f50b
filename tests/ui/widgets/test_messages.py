import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.messages import InfoBar, MessageLine, Toast, Tone
from plantdesk.ui.widgets.plain_text import PlainLabel
from tests.support.window_driver import WindowDriver

WIDTH = 600


class ToastDriver(WindowDriver):
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
def user(qtbot: QtBot, theme: Theme) -> ToastDriver:
    return ToastDriver(qtbot, theme)


def test_a_message_disappears_by_itself_and_a_problem_stays(user: ToastDriver) -> None:
    user.toast.show_message("Copied 2 plants.")
    assert user.toast.isVisible()
    user.until(user.toast.isHidden)
    user.toast.show_problem("Nothing was copied.")
    QApplication.processEvents()
    assert user.toast.isVisible()
    user.button("Close this message").click()
    assert user.toast.isHidden()


def test_the_key_of_undo_is_shown_where_it_undoes_no_typing(user: ToastDriver) -> None:
    for typed, shown in (("", True), ("fern", False)):
        user.qtbot.keyClicks(user.edit, typed)
        user.toast.show_message("Imported 2 plants.", ("Undo", user.undo), key="Ctrl+Z")
        assert ("Ctrl+Z" in WindowDriver(user.qtbot, user.toast).texts()) is shown
    user.edit.undo()
    user.toast.show_message("Taken back.", ("Redo", user.undo), key="Ctrl+Shift+Z")
    assert "Ctrl+Shift+Z" not in WindowDriver(user.qtbot, user.toast).texts(), "it brings back what was typed"


def test_the_action_of_a_toast_runs_once(user: ToastDriver) -> None:
    user.toast.show_problem("Deleted 2 plants.", ("Undo", user.undo))
    user.toast.focus_first()
    user.press(Qt.Key.Key_Space)
    assert (user.chosen, user.toast.isHidden(), user.edit.hasFocus()) == (["undo"], True, True)


def test_in_little_room_the_buttons_are_below_the_text(user: ToastDriver) -> None:
    actions = [("Show these plants", user.undo), ("Undo", user.undo)]
    text = "Changed 2 plants. 3 plants have been changed since and were left as they are."
    user.toast.show_problem(text, *actions)
    user.until(user.toast.isVisible)
    label = next(each for each in user.toast.findChildren(PlainLabel) if each.text() == text)
    button = user.button("Undo")
    assert button.x() > label.geometry().right()
    user.toast.set_area(QRect(100, 0, 360, 300))
    user.until(lambda: button.y() > label.geometry().bottom())
    assert label.height() <= 3 * label.fontMetrics().lineSpacing()
    assert user.toast.geometry().right() <= 100 + 360
    user.toast.show_message("Short.", *actions)
    user.until(lambda: user.button("Undo").x() > label.geometry().right())


def test_progress_is_shown_only_where_it_takes_time(user: ToastDriver, theme: Theme) -> None:
    user.toast.show_progress("Deleting…")
    assert user.toast.isHidden()
    user.until(lambda: user.toast.isVisible() and user.toast.text == "Deleting…")
    user.toast.clear()
    user.toast.show_progress("Undoing…")
    user.toast.show_problem("Nothing was undone.")
    later = ToastDriver(user.qtbot, theme)
    later.toast.show_progress("Undoing…")
    user.until(later.toast.isVisible)
    assert user.toast.text == "Nothing was undone."


def test_progress_stays_where_the_message_before_would_have_disappeared(user: ToastDriver, theme: Theme) -> None:
    user.toast.show_message("Imported 2 plants.")
    user.toast.show_progress("Deleting…")
    user.until(lambda: user.toast.isVisible() and user.toast.text == "Deleting…")
    later = ToastDriver(user.qtbot, theme)
    later.toast.show_message("Copied 2 plants.")
    user.until(later.toast.isHidden)
    assert user.toast.isVisible()


# --- the line below the form ------------------------------------------------------------------------------------------


@pytest.fixture
def lines(qtbot: QtBot, theme: Theme) -> list[MessageLine]:
    """Two lines away from the pointer, whose messages of success go at once."""
    lines = [MessageLine(theme, shown_ms=0) for _ in range(2)]
    for line in lines:
        qtbot.addWidget(line)
        line.setGeometry(300, 300, 800, 30)
        line.set_hint("Type a name.")
        line.show()
    return lines


@pytest.fixture
def line(lines: list[MessageLine]) -> MessageLine:
    return lines[0]


def until_gone(qtbot: QtBot, line: MessageLine) -> None:
    line.show_message(Tone.OK, "Copied 2 plants.")
    assert line.text == "Copied 2 plants."
    qtbot.waitUntil(lambda: (line.tone, line.text) == (Tone.HINT, "Type a name."))


def nothing() -> None:
    """Do nothing."""


@pytest.mark.parametrize("tone", [Tone.ERROR, Tone.WARNING])
def test_the_message_of_a_failure_stays(qtbot: QtBot, lines: list[MessageLine], tone: Tone) -> None:
    line, later_line = lines
    line.show_message(Tone.OK, "Copied 2 plants.")
    line.show_message(tone, "Not copied.")
    until_gone(qtbot, later_line)
    assert line.text == "Not copied."


def test_a_message_stays_while_its_button_has_the_focus(qtbot: QtBot, lines: list[MessageLine]) -> None:
    line, later_line = lines
    with qtbot.waitActive(line):
        line.activateWindow()
    line.show_message(Tone.OK, "Added.", ("Show it", nothing))
    (button,) = (each for each in line.findChildren(QPushButton) if each.isVisible())
    button.setFocus()
    until_gone(qtbot, later_line)
    assert line.text == "Added."
    button.clearFocus()
    qtbot.waitUntil(lambda: line.tone is Tone.HINT)


def test_a_new_hint_does_not_replace_a_message(line: MessageLine) -> None:
    line.show_message(Tone.ERROR, "Not saved.")
    line.set_hint("Wait.")
    assert line.text == "Not saved."
    line.clear()
    assert line.text == "Wait."


def test_a_screen_reader_announces_the_sentence_and_the_buttons(line: MessageLine, spoken: list[str]) -> None:
    line.show_message(Tone.ERROR, "ID 1 is taken.", ("Use 2", nothing), ("Show that plant", nothing))
    line.show_message(Tone.OK, "Added.", ("Show it", nothing))
    line.show_message(Tone.OK, "Copied.")
    line.clear()
    assert spoken == ["ID 1 is taken. Buttons: “Use 2”, “Show that plant”.", "Added. Button: “Show it”.", "Copied."]


# --- bars -------------------------------------------------------------------------------------------------------------


def test_a_title_that_is_a_question_is_spoken_without_another_mark(
    qtbot: QtBot, theme: Theme, spoken: list[str]
) -> None:
    bar = InfoBar(theme)
    qtbot.addWidget(bar)
    bar.show_state(Tone.INFO, "Check for new versions of PlantDesk?", "It asks GitHub.")
    bar.show_state(Tone.WARNING, "API is off", "The port is taken.")
    assert spoken == ["Check for new versions of PlantDesk? It asks GitHub.", "API is off. The port is taken."]


def test_the_ways_on_of_the_state_before_are_gone(qtbot: QtBot, theme: Theme) -> None:
    bar = InfoBar(theme)
    qtbot.addWidget(bar)
    bar.show_state(Tone.ERROR, "One", "", ("First", print), persistent=True)
    bar.show_state(Tone.ERROR, "Two", "", ("Second", print), persistent=True)
    assert [button.text() for button in bar.findChildren(QPushButton) if not button.isHidden()] == ["Second"]
    closing = [each for each in bar.findChildren(QAbstractButton) if each.accessibleName() == "Close this message"]
    assert all(each.isHidden() for each in closing)
