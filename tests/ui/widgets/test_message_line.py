import pytest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.messages import MessageLine, Tone


@pytest.fixture
def line(qtbot: QtBot, theme: Theme) -> MessageLine:
    return shown_line(qtbot, theme)


@pytest.fixture
def later_line(qtbot: QtBot, theme: Theme) -> MessageLine:
    return shown_line(qtbot, theme)


def shown_line(qtbot: QtBot, theme: Theme) -> MessageLine:
    """Return a line away from the pointer, whose messages of success go at once."""
    line = MessageLine(theme, shown_ms=0)
    qtbot.addWidget(line)
    line.setGeometry(300, 300, 800, 30)
    line.set_hint("Type a name.")
    line.show()
    return line


def until_gone(qtbot: QtBot, line: MessageLine) -> None:
    line.show_message(Tone.OK, "Copied 2 plants.")
    assert line.text == "Copied 2 plants."
    qtbot.waitUntil(lambda: (line.tone, line.text) == (Tone.HINT, "Type a name."))


def nothing() -> None:
    """Do nothing."""


def test_a_message_of_success_goes_by_itself(qtbot: QtBot, line: MessageLine) -> None:
    until_gone(qtbot, line)


@pytest.mark.parametrize("tone", [Tone.ERROR, Tone.WARNING])
def test_a_fault_stays(qtbot: QtBot, line: MessageLine, later_line: MessageLine, tone: Tone) -> None:
    line.show_message(Tone.OK, "Copied 2 plants.")
    line.show_message(tone, "Not copied.")
    until_gone(qtbot, later_line)
    assert line.text == "Not copied."


def test_a_message_stays_while_its_button_has_the_focus(
    qtbot: QtBot, line: MessageLine, later_line: MessageLine
) -> None:
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


def test_markup_is_shown_as_it_is(line: MessageLine) -> None:
    line.show_message(Tone.OK, "Added")
    height = line.sizeHint().height()
    line.show_message(Tone.OK, "Added “<h1><img src=x height=500>”")
    assert line.sizeHint().height() == height
    assert "<h1>" in {each.text()[7:11] for each in line.findChildren(QLabel)}


def test_a_screen_reader_announces_the_sentence_and_the_buttons(line: MessageLine, spoken: list[str]) -> None:
    line.show_message(Tone.ERROR, "ID 1 is taken.", ("Use 2", nothing), ("Show that plant", nothing))
    line.show_message(Tone.OK, "Added.", ("Show it", nothing))
    line.show_message(Tone.OK, "Copied.")
    line.clear()
    assert spoken == [
        "ID 1 is taken. Buttons: “Use 2”, “Show that plant”.",
        "Added. Button: “Show it”.",
        "Copied.",
    ]
