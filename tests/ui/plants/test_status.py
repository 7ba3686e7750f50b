import pytest
from pytestqt.qtbot import QtBot

from plantdesk.ui.plants.status import PlantsStatus
from tests.support.window_driver import WindowDriver


@pytest.fixture
def status(qtbot: QtBot) -> PlantsStatus:
    """A status that shows “Saved” only until the event loop runs."""
    status = PlantsStatus(shown_ms=0)
    qtbot.addWidget(status)
    return status


@pytest.mark.parametrize(("count", "text"), [(0, ""), (1, "1 plant selected"), (1234567, "1,234,567 plants selected")])
def test_the_number_of_selected_plants_is_shown(qtbot: QtBot, status: PlantsStatus, count: int, text: str) -> None:
    status.show_selection(count)
    assert WindowDriver(qtbot, status).texts() == ["", text]


def test_saved_is_shown_for_a_moment_and_not_saved_stays(qtbot: QtBot, status: PlantsStatus) -> None:
    user = WindowDriver(qtbot, status)
    status.show_saving(True)
    assert user.texts() == ["Saving…", ""]
    status.show_saving(False)
    assert user.texts() == ["Saved", ""]
    qtbot.waitUntil(lambda: user.texts() == ["", ""])
    status.show_unsaved("store", is_unsaved=True)
    status.show_unsaved("note", is_unsaved=True)
    status.show_unsaved("note", is_unsaved=False)
    status.show_saving(False)
    qtbot.waitUntil(lambda: user.texts() == ["Not saved", ""])
    status.show_unsaved("store", is_unsaved=False)
    qtbot.waitUntil(lambda: user.texts() == ["", ""])
