"""What is new is offered once, by the first window of another version."""

import pytest
from pytestqt.qtbot import QtBot

from plantdesk import __version__
from plantdesk.ui.feature import WindowContext
from plantdesk.ui.window.notices import VersionNotice
from tests.support.window_driver import WindowDriver


@pytest.mark.parametrize(("is_first_start", "seen"), [(True, ""), (False, ""), (False, "0.0.9"), (False, __version__)])
def test_it_is_offered_after_an_update(
    qtbot: QtBot, context: WindowContext, *, is_first_start: bool, seen: str
) -> None:
    context.preferences.are_new = is_first_start
    context.preferences.change(seen_version=seen)
    notice, user = VersionNotice(context), WindowDriver(qtbot, context.page)
    notice.set_up()
    is_offered = not is_first_start and seen != __version__
    assert [bar.title for bar in user.bars] == [f"This is PlantDesk {__version__}"] * is_offered
    if is_offered:
        with qtbot.waitSignal(notice.news_requested):
            user.button("See what is new").click()
        user.bars[0].clear()
    notice.set_up()
    assert not user.bars
