import pytest
from PySide6.QtWidgets import QAbstractButton, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.messages import InfoBar, Tone


def test_a_state_shows_with_its_ways_on_and_can_be_closed(qtbot: QtBot, theme: Theme) -> None:
    bar = InfoBar(theme)
    qtbot.addWidget(bar)
    assert bar.isHidden()
    pressed: list[str] = []
    bar.show_state(Tone.WARNING, "API is off", "The port is taken.", ("Use port 2", lambda: pressed.append("2")))
    assert (bar.isHidden(), bar.title, bar.text) == (False, "API is off", "The port is taken.")
    bar.findChildren(QPushButton)[0].click()
    assert pressed == ["2"]
    close = next(each for each in bar.findChildren(QAbstractButton) if each.accessibleName() == "Close this message")
    close.click()
    assert bar.isHidden()


def test_a_title_that_is_a_question_is_spoken_without_another_mark(
    qtbot: QtBot, theme: Theme, spoken: list[str]
) -> None:
    bar = InfoBar(theme)
    qtbot.addWidget(bar)
    bar.show_state(Tone.INFO, "Check for new versions of PlantDesk?", "It asks GitHub.")
    bar.show_state(Tone.WARNING, "API is off", "The port is taken.")
    assert spoken == ["Check for new versions of PlantDesk? It asks GitHub.", "API is off. The port is taken."]


@pytest.mark.parametrize(("width", "beside"), [(1200, True), (760, False)])
def test_many_buttons_leave_the_text_its_width(qtbot: QtBot, theme: Theme, width: int, beside: bool) -> None:  # noqa: FBT001
    bar = InfoBar(theme)
    qtbot.addWidget(bar)
    bar.resize(width, 200)
    buttons = [("Restore a backup…", print), ("Start without plants", print), ("Choose another file…", print)]
    bar.show_state(Tone.ERROR, "Your plants could not be opened", "The file is gone. " * 10, *buttons, persistent=True)
    first = bar.findChildren(QPushButton)[0]
    text = next(each for each in bar.findChildren(QLabel) if each.text() == bar.text)
    qtbot.waitUntil(lambda: text.width() > width // 3)
    assert (first.y() < text.geometry().bottom()) is beside


def test_the_ways_on_of_the_state_before_are_gone(qtbot: QtBot, theme: Theme) -> None:
    bar = InfoBar(theme)
    qtbot.addWidget(bar)
    bar.show_state(Tone.ERROR, "One", "", ("First", print), persistent=True)
    bar.show_state(Tone.ERROR, "Two", "", ("Second", print), persistent=True)
    assert [each.text() for each in bar.findChildren(QPushButton) if not each.isHidden()] == ["Second"]
    closing = [each for each in bar.findChildren(QAbstractButton) if each.accessibleName() == "Close this message"]
    assert all(each.isHidden() for each in closing)
